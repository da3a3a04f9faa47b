"""What was measured, as tables and as plain data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from research.reports.text_table import TextTable, titled_tables
from research.transfer.candidates import MeasuredBackbone
from research.transfer.collection import TRAIN, VAL
from research.transfer.draws import Situation
from research.transfer.estimates import estimate
from research.transfer.methods import EVERYDAY, METHODS, PROTOTYPES
from research.transfer.parts import figure_of
from research.transfer.results import TOP1, TransferResult, by_method
from research.transfer.tables import HONESTY, accuracies, cell_text, differences, honesty, parts_of, situations_of


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
        return titled_tables(self._tables(), is_markdown=is_markdown)

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
                parts = parts_of(some)
                for part in parts:
                    yield f"{about}{_of(part)}: leaf top-1 in %, {self._facts(some, part)}", accuracies(some, part)
                if any(result.cell.method == EVERYDAY for result in some):
                    caption = "the everyday model minus each, in points, paired draw by draw"
                    yield from ((f"{about}{_of(part)}: {caption}", differences(some, part)) for part in parts)
                    caption = "what the everyday model says of itself, in %"
                    yield from ((f"{about}{_of(part)}: {caption}", honesty(some, part)) for part in parts)
        if self.candidates:
            for is_elsewhere in sorted({result.cell.situation.is_elsewhere for result in self.results}):
                yield from self._candidates(is_elsewhere=is_elsewhere)

    def _facts(self, results: Sequence[TransferResult], part: str | None) -> str:
        first = results[0]
        if first.cell.situation.is_elsewhere or part == VAL:
            images = f"{self.val_images:,} images in val"
        elif part == TRAIN:
            images = f"{self.images - self.val_images:,} images in train"
        else:
            images = f"{self.images:,} images"
        draws = len(first.draws)
        return f"{self.classes} classes, {images}, {draws} draw{'s' * (draws > 1)}, 95 % interval"

    def _candidates(self, *, is_elsewhere: bool) -> Iterator[tuple[str, TextTable]]:
        there = [each for each in self.results if each.cell.situation.is_elsewhere == is_elsewhere]
        shots = sorted({each.shots for each in situations_of(there)})
        columns = [Situation(False, count, is_elsewhere) for count in shots]
        header = ("backbone", "MB", "side", "images/s", *(column.name for column in columns))
        about = f"backbones, {_title_of(Situation(False, 1, True))}" if is_elsewhere else "backbones"
        for part in parts_of(there):
            rows = []
            for candidate, results in zip(self.candidates, self.by_backbone.values(), strict=True):
                known = by_method(results)
                cells = [cell_text(known.get((column, PROTOTYPES)), figure_of(TOP1, part)) for column in columns]
                size, rate = f"{candidate.size_mb:.1f}", f"{candidate.images_per_s:.0f}"
                rows.append((candidate.name, size, str(candidate.input_side), rate, *cells))
            yield f"{about}{_of(part)}; nearest prototype, leaf top-1 in %", TextTable(header, tuple(rows))


def fields_of(result: TransferResult) -> dict[str, Any]:
    """A cell with its estimates and the values of each draw: of the best option, and of every option."""
    cell = result.cell
    return {
        "backbone": cell.backbone,
        "shots": cell.situation.shots,
        "coarse_labels": cell.situation.has_coarse_labels,
        "elsewhere": cell.situation.is_elsewhere,
        "method": cell.method,
        "option": result.best_option(),
        "default_option": METHODS[cell.method].default,
        "figures": _plain_figures(result, result.best_option()),
        "options": {option: _plain_figures(result, option) for option in result.options},
    }


def _plain_figures(result: TransferResult, option: str) -> dict[str, Any]:
    names = [figure_of(name, part) for part in parts_of([result]) for name in (TOP1, *HONESTY)]
    return {
        name: _plain_estimate(values)
        for name in names
        if not all(map(math.isnan, values := result.values(name, option)))
    }


def _plain_estimate(values: Sequence[float]) -> dict[str, Any]:
    found = estimate(values)
    numbers = {"mean": found.mean, "half_width": found.half_width}
    plain = {name: None if math.isnan(number) else number for name, number in numbers.items()}
    return {**plain, "draws": [None if math.isnan(value) else value for value in values]}


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


def _of(part: str | None) -> str:
    """What a title says of the images that count."""
    return "" if part is None else f", photos of {part}"
