"""Results of a method by draw, stored as a line of JSON for each draw.

RUNS/teach/<collection>/<backbone>-<hash>/<method>.jsonl
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.collection.models import ModelFiles
from engine.errors import FormatError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, private_folder, write_file
from research.teaching.person import ROUNDS, RoundOutcome

TaughtDraw = tuple[RoundOutcome, ...]
"""One outcome for each round."""


@dataclass(frozen=True)
class TeachCell:
    """Key of a result: a method on a backbone's embeddings of a collection.

    Attributes:
        collection: identity of the images.
        backbone: its name.
        backbone_hash: of its file.
        method: identifier.
    """

    collection: str
    backbone: str
    backbone_hash: str
    method: str

    @staticmethod
    def of(collection: str, model: ModelFiles, method: str) -> "TeachCell":
        """The cell of a backbone."""
        return TeachCell(collection, model.name, model.backbone_hash, method)

    def path(self, runs: Path) -> Path:
        """File of its draws."""
        return (
            runs
            / "teach"
            / self.collection
            / f"{self.backbone}-{self.backbone_hash[:8]}"
            / f"{self.method}.jsonl"
        )


@dataclass(frozen=True)
class TeachResult:
    """The draws 0, 1, ... of a cell."""

    cell: TeachCell
    draws: tuple[TaughtDraw, ...]

    def values(self, name: str, multiple: float) -> tuple[float, ...]:
        """Values of a figure by draw.

        Args:
            name: of a field of `RoundOutcome`.
            multiple: labels a class, one of `ROUNDS`.
        """
        place = ROUNDS.index(multiple)
        return tuple(float(getattr(draw[place], name)) for draw in self.draws)


def write(cell: TeachCell, draws: Sequence[TaughtDraw], runs: Path) -> None:
    """Write all draws of a cell, atomically.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = cell.path(runs)
    lines = [
        json.dumps(
            {
                **asdict(cell),
                "draw": number,
                "labels": ROUNDS,
                "rounds": [asdict(each) for each in draw],
            }
        )
        for number, draw in enumerate(draws)
    ]
    try:
        private_folder(path.parent)
        write_file(path, "".join(f"{line}\n" for line in lines), mode=ORDINARY_FILE)
    except OSError as error:
        remedy = "make room or choose another folder"
        raise storage_error(path, error, "the result cannot be written", remedy) from error


def read(cell: TeachCell, runs: Path) -> tuple[TaughtDraw, ...]:
    """Stored draws of a cell.

    Raises:
        FormatError: the file is corrupt, of another cell, or of other rounds.
    """
    path = cell.path(runs)
    if not path.exists():
        return ()
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        draws = tuple(tuple(RoundOutcome(**each) for each in line["rounds"]) for line in lines)
        is_same = all(_is_of(cell, line) for line in lines) and [
            line["draw"] for line in lines
        ] == list(range(len(lines)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_result(path, str(error)) from error
    if not is_same or any(len(draw) != len(ROUNDS) for draw in draws):
        raise _no_result(path, "that of another cell")
    return draws


def _is_of(cell: TeachCell, line: dict[str, object]) -> bool:
    return line["labels"] == list(ROUNDS) and all(
        line[name] == value for name, value in asdict(cell).items()
    )


def _no_result(path: Path, found: str) -> FormatError:
    return FormatError(
        f"{path} holds no result",
        expected="a file of `experiment teach`",
        found=found,
        remedy="delete it",
    )
