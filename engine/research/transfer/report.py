"""What was measured, as tables and as plain data."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from engine.research.reports.text_table import MISSING, TextTable
from engine.research.transfer.candidates import MeasuredBackbone
from engine.research.transfer.draws import Situation
from engine.research.transfer.estimates import Estimate, estimate, paired_difference
from engine.research.transfer.methods import EVERYDAY, METHODS, PROTOTYPES
from engine.research.transfer.results import TOP1, TransferResult, by_method

HONESTY: Final = {
    "calibration_error": "calibration error",
    "safe_accuracy": "safe class right",
    "coverage": "coverage",
}
"""Figures that only the everyday model has, with their names in a table."""

ResultOf = Mapping[tuple[Situation, str], TransferResult]


@dataclass(frozen=True)
class TransferReport:
    """Results of any number of backbones, and what the backbones cost.

    Attributes:
        collection: name of the folder.
        images: in it.
        val_images: of them in `val`.
        classes: to choose among.
        results: of all backbones.
        candidates: empty where the backbones were not timed.
    """

    collection: str
    images: int
    val_images: int
    classes: int
    results: tuple[TransferResult, ...]
    candidates: tuple[MeasuredBackbone, ...] = ()

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        parts = []
        for title, table in self._tables():
            parts += [title, table.as_markdown() if is_markdown else table.as_text()]
        return "\n\n".join(parts)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data; what is no number is None."""
        return {
            "collection": self.collection,
            "images": self.images,
            "val_images": self.val_images,
            "classes": self.classes,
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "cells": [fields_of(result) for result in self.results],
        }

    @property
    def by_backbone(self) -> dict[tuple[str, str], tuple[TransferResult, ...]]:
        """Results by name and hash of the backbone, in the order in which they came."""
        found: dict[tuple[str, str], tuple[TransferResult, ...]] = {}
        for result in self.results:
            key = (result.cell.backbone, result.cell.backbone_hash)
            found[key] = (*found.get(key, ()), result)
        return found

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        for (backbone, _), results in self.by_backbone.items():
            for kind, some in _by_kind(results).items():
                about = f"{backbone}, {kind}"
                yield f"{about}: leaf top-1 in %, {self._facts(some)}", accuracies(some)
                if any(result.cell.method == EVERYDAY for result in some):
                    yield f"{about}: the everyday model minus each, in points, paired draw by draw", differences(some)
                    yield f"{about}: what the everyday model says of itself, in %", honesty(some)
        if self.candidates:
            for is_elsewhere in sorted({result.cell.situation.is_elsewhere for result in self.results}):
                about = f"backbones, {_title_of(Situation(False, 1, True))}" if is_elsewhere else "backbones"
                yield f"{about}; nearest prototype, leaf top-1 in %", self._candidates(is_elsewhere=is_elsewhere)

    def _facts(self, results: Sequence[TransferResult]) -> str:
        first = results[0]
        images = (
            f"{self.val_images:,} images in val" if first.cell.situation.is_elsewhere else f"{self.images:,} images"
        )
        draws = len(first.draws)
        return f"{self.classes} classes, {images}, {draws} draw{'s' * (draws > 1)}, 95 % interval"

    def _candidates(self, *, is_elsewhere: bool) -> TextTable:
        there = [each for each in _situations(self.results) if each.is_elsewhere == is_elsewhere]
        columns = [Situation(False, shots, is_elsewhere) for shots in sorted({each.shots for each in there})]
        header = ("backbone", "MB", "side", "images/s", *(column.name for column in columns))
        rows = []
        for candidate, results in zip(self.candidates, self.by_backbone.values(), strict=True):
            known = by_method(results)
            cells = [_cell(known.get((column, PROTOTYPES))) for column in columns]
            size, rate = f"{candidate.size_mb:.1f}", f"{candidate.images_per_s:.0f}"
            rows.append((candidate.name, size, str(candidate.input_side), rate, *cells))
        return TextTable(header, tuple(rows))


def accuracies(results: Sequence[TransferResult]) -> TextTable:
    """Mean accuracy with interval, a row for each method and a column for each number of shots."""
    known, situations = by_method(results), _situations(results)
    rows = [
        (METHODS[method].title, *(_cell(known.get((situation, method))) for situation in situations))
        for method in _methods(results)
    ]
    return TextTable(("method", *(situation.name for situation in situations)), tuple(rows))


def differences(results: Sequence[TransferResult]) -> TextTable:
    """How far the everyday model is above each other method, in points; `*` where the interval lies above 0."""
    known, situations = by_method(results), _situations(results)
    others = [method for method in _methods(results) if method != EVERYDAY]
    rows = [
        (METHODS[method].title, *(_difference(known, situation, method) for situation in situations))
        for method in others
    ]
    return TextTable(("minus", *(situation.name for situation in situations)), tuple(rows))


def honesty(results: Sequence[TransferResult]) -> TextTable:
    """Calibration error, accuracy and coverage of the safe class."""
    known, situations = by_method(results), _situations(results)
    rows = []
    for method in _methods(results):
        if METHODS[method].is_ours:
            for name, title in HONESTY.items():
                cells = [_cell(known.get((situation, method)), name) for situation in situations]
                rows.append((f"{METHODS[method].title}: {title}", *cells))
    return TextTable(("figure", *(situation.name for situation in situations)), tuple(rows))


def fields_of(result: TransferResult) -> dict[str, Any]:
    """A cell with its estimates and the values of each draw."""
    cell = result.cell
    return {
        "backbone": cell.backbone,
        "shots": cell.situation.shots,
        "coarse_labels": cell.situation.has_coarse_labels,
        "elsewhere": cell.situation.is_elsewhere,
        "method": cell.method,
        "option": result.best_option,
        "figures": {
            name: _plain_estimate(values)
            for name in (TOP1, *HONESTY)
            if not all(map(math.isnan, values := result.values(name)))
        },
    }


def _plain_estimate(values: Sequence[float]) -> dict[str, Any]:
    found = estimate(values)
    numbers = {"mean": found.mean, "half_width": found.half_width}
    plain = {name: None if math.isnan(number) else number for name, number in numbers.items()}
    return {**plain, "draws": [None if math.isnan(value) else value for value in values]}


def _methods(results: Sequence[TransferResult]) -> list[str]:
    there = {result.cell.method for result in results}
    return [method for method in METHODS if method in there]


def _by_kind(results: Sequence[TransferResult]) -> dict[str, list[TransferResult]]:
    """Results that share tables, by what a table's title says of them."""
    found: dict[str, list[TransferResult]] = {}
    for result in sorted(results, key=_kind_of):
        found.setdefault(_title_of(result.cell.situation), []).append(result)
    return found


def _kind_of(result: TransferResult) -> tuple[bool, bool]:
    return result.cell.situation.is_elsewhere, result.cell.situation.has_coarse_labels


def _title_of(situation: Situation) -> str:
    labels = "shots and coarse labels" if situation.has_coarse_labels else "shots"
    if situation.is_elsewhere:
        return f"{labels} from train, the collection is val"
    return labels if situation.has_coarse_labels else f"{labels} alone"


def _situations(results: Sequence[TransferResult]) -> list[Situation]:
    return sorted({result.cell.situation for result in results})


def _cell(result: TransferResult | None, name: str = TOP1) -> str:
    return MISSING if result is None else estimate(result.values(name)).as_percent()


def _difference(known: ResultOf, situation: Situation, method: str) -> str:
    ours, other = known.get((situation, EVERYDAY)), known.get((situation, method))
    if ours is None or other is None:
        return MISSING
    found: Estimate = paired_difference(ours.values(), other.values())
    return found.as_percent(with_sign=True) + " *" * found.is_above_zero
