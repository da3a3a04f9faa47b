"""Result of one training in a collection, stored as a line of JSON."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.errors import FormatError
from engine.full_disk import writing
from engine.new_file import ORDINARY_FILE, private_folder, write_file
from engine.project.records import Plain

FILE_NAME = "training.jsonl"


@dataclass(frozen=True)
class TrainingCell:
    """Key of a training: a draw of shots, a backbone, and settings.

    Attributes:
        collection: identity of the images.
        backbone: its name.
        backbone_hash: of its file.
        shots: of each leaf.
        seed: number of the draw.
        settings: chosen ones, by name.
    """

    collection: str
    backbone: str
    backbone_hash: str
    shots: int
    seed: int
    settings: Mapping[str, Plain]


@dataclass(frozen=True)
class TrainingGain:
    """Result of a training.

    Attributes:
        cell: its key.
        figures: accuracy in [0, 1], minutes, images a second; by name.
    """

    cell: TrainingCell
    figures: Mapping[str, float | None]


def stored(runs: Path) -> Iterator[TrainingGain]:
    """All results in a folder; an incomplete last line is ignored.

    Raises:
        FormatError: a line is no result.
    """
    path = runs / FILE_NAME
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not line.endswith("\n"):
            return
        try:
            facts = json.loads(line)
            yield TrainingGain(TrainingCell(**facts["cell"]), dict(facts["figures"]))
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(
                "a line holds no result of a training",
                expected="a line of `experiment training`",
                found=f"{path}, line {number}: {error}",
                remedy="delete the line",
            ) from error


def keep(gain: TrainingGain, runs: Path) -> None:
    """Append a result.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = runs / FILE_NAME
    with writing(path, "the result cannot be written", "make room or choose another folder"):
        private_folder(runs)
        before = path.read_bytes() if path.is_file() else b""
        whole = before[: before.rfind(b"\n") + 1]
        write_file(path, whole + (json.dumps(asdict(gain)) + "\n").encode(), mode=ORDINARY_FILE)
