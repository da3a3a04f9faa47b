"""Results of one stage or one session, and their storage.

RUNS/honesty/<collection>/<backbone>-<hash>/<labels>[-elsewhere]/<20-classes-branch-3-shots>.json
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.collection.models import ModelFiles
from engine.errors import FormatError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, private_folder, write_file
from research.honesty.claims import ClaimTally

METHODS = {
    "program": "the program",
    "without": "the program without room for classes without examples",
    "softmax": "softmax of prototypes",
    "energy": "energy by rank",
    "distance": "nearest prototype, logistic",
}
"""Compared methods, with their titles in a table."""
OURS = "program"
WITHOUT = "without"

HonestyDraw = Mapping[str, ClaimTally]
"""Tally of each method."""


@dataclass(frozen=True)
class HonestyCell:
    """Key of a stored result.

    Attributes:
        collection: identity of the images.
        backbone, backbone_hash: its name and its file's hash.
        labels: the way of labelling.
        is_elsewhere: whether labels were given in `train` and the images are those of `val`.
        name: of the stage.
    """

    collection: str
    backbone: str
    backbone_hash: str
    labels: str
    is_elsewhere: bool
    name: str

    @staticmethod
    def of(
        collection: str, model: ModelFiles, labels: str, name: str, *, is_elsewhere: bool
    ) -> "HonestyCell":
        """The cell of a backbone."""
        return HonestyCell(collection, model.name, model.backbone_hash, labels, is_elsewhere, name)

    def path(self, runs: Path) -> Path:
        """File of its draws."""
        backbone = f"{self.backbone}-{self.backbone_hash[:8]}"
        folder = self.labels + "-elsewhere" * self.is_elsewhere
        return runs / "honesty" / self.collection / backbone / folder / f"{self.name}.json"


def write(cell: HonestyCell, draws: list[HonestyDraw], runs: Path) -> None:
    """Write all draws of a cell, atomically.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = cell.path(runs)
    plain = [{name: asdict(tally) for name, tally in draw.items()} for draw in draws]
    try:
        private_folder(path.parent)
        text = json.dumps({**asdict(cell), "draws": plain}, indent=1)
        write_file(path, text + "\n", mode=ORDINARY_FILE)
    except OSError as error:
        remedy = "make room or choose another folder"
        raise storage_error(path, error, "the result cannot be written", remedy) from error


def read(cell: HonestyCell, runs: Path) -> list[HonestyDraw]:
    """Stored draws of a cell; empty without a file.

    Raises:
        FormatError: the file is corrupt or of another cell.
    """
    path = cell.path(runs)
    if not path.exists():
        return []
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        draws = [{name: _tally(each) for name, each in draw.items()} for draw in facts.pop("draws")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_result(path, str(error)) from error
    if facts != asdict(cell):
        raise _no_result(path, "that of another cell")
    if any(set(draw) != set(METHODS) for draw in draws):
        raise _no_result(path, "other methods")
    return list(draws)


def _tally(facts: dict[str, Any]) -> ClaimTally:
    return ClaimTally(**{**facts, "gaps": tuple(map(float, facts["gaps"]))})


def _no_result(path: Path, found: str) -> FormatError:
    expected = "a file of `experiment honesty`"
    return FormatError(
        f"{path} holds no result", expected=expected, found=found, remedy="delete it"
    )
