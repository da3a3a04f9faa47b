"""Results of one method in one situation by draw, and their storage.

RUNS/transfer/<collection>/<backbone>-<hash>/<5-shots-coarse-elsewhere-zipf-proportional-shots>/<method>.json
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.collection.models import ModelFiles
from engine.errors import FormatError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, private_folder, write_file
from research.transfer.class_sizes import AS_IS, EQUAL
from research.transfer.draws import Situation
from research.transfer.estimates import estimate

TOP1 = "top1"
BALANCED = "balanced"
MACRO_F1 = "macro_f1"
ACCURACIES: Mapping[str, str] = {
    TOP1: "leaf top-1",
    BALANCED: "balanced accuracy",
    MACRO_F1: "macro-F1",
}
"""Accuracies of every method, with titles; older files may lack all but the first."""

BEFORE = {"elsewhere": False, "sizes": AS_IS, "shot_sizes": EQUAL}
"""Values of fields in files that were written before these fields."""

Figures = Mapping[str, float]
"""Figures of one draw, by name; shares in [0, 1]."""

Outcome = Mapping[str, Figures]
"""Figures of each option of a method."""


@dataclass(frozen=True)
class TransferCell:
    """Key of a result: a method in a situation, on a backbone's embeddings of a collection.

    Attributes:
        collection: identity of the images.
        backbone: its name.
        backbone_hash: of its file.
        situation: shots and coarse labels, and what the collection is.
        method: identifier.
    """

    collection: str
    backbone: str
    backbone_hash: str
    situation: Situation
    method: str

    @staticmethod
    def of(collection: str, model: ModelFiles, situation: Situation, method: str) -> "TransferCell":
        """The cell of a backbone."""
        return TransferCell(collection, model.name, model.backbone_hash, situation, method)

    def path(self, runs: Path) -> Path:
        """File of its result."""
        backbone = f"{self.backbone}-{self.backbone_hash[:8]}"
        return (
            runs
            / "transfer"
            / self.collection
            / backbone
            / self.situation.folder
            / f"{self.method}.json"
        )


@dataclass(frozen=True)
class TransferResult:
    """Outcomes of the draws of a cell.

    Attributes:
        cell: its key.
        draws: one outcome for each draw, 0, 1, ...; all have the same options.
    """

    cell: TransferCell
    draws: tuple[Outcome, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options."""
        return tuple(self.draws[0])

    def best_option(self, name: str = TOP1) -> str:
        """Option of the best mean accuracy on the scored images; favours peers only."""
        means = {option: estimate(self.values(name, option)).mean for option in self.options}
        return max(means, key=lambda option: (not math.isnan(means[option]), means[option]))

    def values(self, name: str = TOP1, option: str | None = None) -> tuple[float, ...]:
        """Values of a figure by draw, NaN where missing; by default of the best option."""
        chosen = self.best_option(name) if option is None else option
        return tuple(draw.get(chosen, {}).get(name, math.nan) for draw in self.draws)

    def first(self, count: int) -> "TransferResult":
        """The result of the first draws only."""
        return TransferResult(self.cell, self.draws[:count])


def write(result: TransferResult, runs: Path) -> Path:
    """Write a result, atomically; an older one of the cell is replaced.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = result.cell.path(runs)
    try:
        private_folder(path.parent)
        facts = {**_facts(result.cell), "draws": [_plain(outcome) for outcome in result.draws]}
        write_file(path, json.dumps(facts, indent=1) + "\n", mode=ORDINARY_FILE)
    except OSError as error:
        remedy = "make room or choose another folder"
        raise storage_error(path, error, "the result cannot be written", remedy) from error
    return path


def read(cell: TransferCell, runs: Path) -> TransferResult | None:
    """Stored result of a cell, or None.

    Raises:
        FormatError: the file is corrupt or of another cell.
    """
    path = cell.path(runs)
    if not path.exists():
        return None
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        draws = tuple(_outcome(outcome) for outcome in facts.pop("draws"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_result(path, str(error)) from error
    if {**BEFORE, **facts} != _facts(cell) or not draws:
        raise _no_result(path, "that of another cell")
    return TransferResult(cell, draws)


def _no_result(path: Path, found: str) -> FormatError:
    return FormatError(
        f"{path} holds no result",
        expected="a file of `experiment transfer`",
        found=found,
        remedy="delete it",
    )


def _facts(cell: TransferCell) -> dict[str, object]:
    return {
        "collection": cell.collection,
        "backbone": cell.backbone,
        "backbone_hash": cell.backbone_hash,
        "shots": cell.situation.shots,
        "coarse_labels": cell.situation.has_coarse_labels,
        "elsewhere": cell.situation.is_elsewhere,
        "sizes": cell.situation.sizes,
        "shot_sizes": cell.situation.shot_sizes,
        "method": cell.method,
    }


def _plain(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Without NaN, which JSON lacks."""
    return {
        option: {name: value for name, value in figures.items() if not math.isnan(value)}
        for option, figures in outcome.items()
    }


def _outcome(facts: Mapping[str, Mapping[str, float]]) -> Outcome:
    found = {
        option: {name: float(value) for name, value in figures.items()}
        for option, figures in facts.items()
    }
    if not found or any(TOP1 not in figures for figures in found.values()):
        raise ValueError("a draw has no accuracy")
    return found


def by_method(results: Sequence[TransferResult]) -> dict[tuple[Situation, str], TransferResult]:
    """The results of one backbone by situation and method."""
    return {(result.cell.situation, result.cell.method): result for result in results}
