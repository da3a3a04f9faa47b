"""Results, as tables and as plain data."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from research.reports.text_table import TextTable, titled_tables
from research.transfer.candidates import MeasuredBackbone
from research.transfer.class_sizes import AS_IS
from research.transfer.collection import TRAIN, VAL
from research.transfer.draws import Situation
from research.transfer.estimates import estimate
from research.transfer.methods import EVERYDAY, METHODS, PROTOTYPES
from research.transfer.parts import figure_of
from research.transfer.results import ACCURACIES, TOP1, TransferResult, by_method
from research.transfer.tables import (
    HONESTY,
    accuracies,
    cell_text,
    differences,
    honesty,
    parts_of,
    situations_of,
)


@dataclass(frozen=True)
class TransferReport:
    """Results of any number of backbones, and their cost.

    Attributes:
        collection: name of the folder.
        images: number of images.
        val_images: number of images in `val`.
        classes: number of classes.
        results: of all backbones.
        candidates: empty where the backbones were not timed.
        is_balanced: whether balanced accuracy and macro-F1 have tables even where class sizes are
            as they are.
    """

    collection: str
    images: int
    val_images: int
    classes: int
    results: tuple[TransferResult, ...]
    candidates: tuple[MeasuredBackbone, ...] = ()
    is_balanced: bool = False

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data; None in place of NaN."""
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
        """Results by name and hash of the backbone, in order."""
        found: dict[tuple[str, str], tuple[TransferResult, ...]] = {}
        for result in self.results:
            key = (result.cell.backbone, result.cell.backbone_hash)
            found[key] = (*found.get(key, ()), result)
        return found

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        for (backbone, _), results in self.by_backbone.items():
            for kind, some in _by_kind(results).items():
                yield from self._tables_of(f"{backbone}, {kind}", some)
        if self.candidates:
            situations = {
                replace(result.cell.situation, has_coarse_labels=False, shots=1)
                for result in self.results
            }
            for situation in sorted(situations):
                yield from self._candidates(situation)

    def _tables_of(
        self, about: str, results: Sequence[TransferResult]
    ) -> Iterator[tuple[str, TextTable]]:
        is_uneven = results[0].cell.situation.sizes != AS_IS
        names = tuple(ACCURACIES) if is_uneven or self.is_balanced else (TOP1,)
        parts = parts_of(results)
        for part, name in product(parts, names):
            title = f"{about}{_of(part)}: {ACCURACIES[name]} in %, {self._facts(results, part)}"
            yield title, accuracies(results, part, name)
        if any(result.cell.method == EVERYDAY for result in results):
            caption = "the everyday model minus each, in points, paired draw by draw"
            for part, name in product(parts, names):
                figure = "" if name == TOP1 else f"{ACCURACIES[name]}, "
                yield f"{about}{_of(part)}: {figure}{caption}", differences(results, part, name)
            caption = "what the everyday model says of itself, in %"
            yield from (
                (f"{about}{_of(part)}: {caption}", honesty(results, part)) for part in parts
            )

    def _facts(self, results: Sequence[TransferResult], part: str | None) -> str:
        first = results[0]
        if first.cell.situation.is_elsewhere or part == VAL:
            images = f"{self.val_images:,} images in val"
        elif part == TRAIN:
            images = f"{self.images - self.val_images:,} images in train"
        else:
            images = f"{self.images:,} images"
        drawn = "drawn from " * (first.cell.situation.sizes != AS_IS)
        draws = len(first.draws)
        return (
            f"{self.classes} classes, {drawn}{images}, {draws} draw{'s' * (draws > 1)}, 95 "
            "% interval"
        )

    def _candidates(self, kind: Situation) -> Iterator[tuple[str, TextTable]]:
        """Cost of backbones, beside accuracy of prototypes in otherwise equal situations."""
        there = [each for each in self.results if replace(each.cell.situation, shots=1) == kind]
        columns = situations_of(there)
        header = ("backbone", "MB", "side", "images/s", *(column.name for column in columns))
        about = "backbones" if kind == Situation(False, 1) else f"backbones, {kind.title}"
        for part in parts_of(there):
            rows = []
            for candidate, results in zip(self.candidates, self.by_backbone.values(), strict=True):
                known = by_method(results)
                cells = [
                    cell_text(known.get((column, PROTOTYPES)), figure_of(TOP1, part))
                    for column in columns
                ]
                size, rate = f"{candidate.size_mb:.1f}", f"{candidate.images_per_s:.0f}"
                rows.append((candidate.name, size, str(candidate.input_side), rate, *cells))
            yield (
                f"{about}{_of(part)}; nearest prototype, leaf top-1 in %",
                TextTable(header, tuple(rows)),
            )


def fields_of(result: TransferResult) -> dict[str, Any]:
    """A cell with its estimates and values by draw: of the best option, and of every option."""
    cell = result.cell
    return {
        "backbone": cell.backbone,
        "shots": cell.situation.shots,
        "coarse_labels": cell.situation.has_coarse_labels,
        "elsewhere": cell.situation.is_elsewhere,
        "sizes": cell.situation.sizes,
        "shot_sizes": cell.situation.shot_sizes,
        "method": cell.method,
        "option": result.best_option(),
        "best_options": {name: result.best_option(name) for name in ACCURACIES},
        "default_option": METHODS[cell.method].default,
        "figures": _plain_figures(result, result.best_option()),
        "options": {option: _plain_figures(result, option) for option in result.options},
    }


def _plain_figures(result: TransferResult, option: str) -> dict[str, Any]:
    names = [
        figure_of(name, part) for part in parts_of([result]) for name in (*ACCURACIES, *HONESTY)
    ]
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
    """Results that share tables, by their part of a table's title."""
    found: dict[str, list[TransferResult]] = {}
    for result in sorted(results, key=lambda each: _order_of(each.cell.situation)):
        found.setdefault(result.cell.situation.title, []).append(result)
    return found


def _order_of(situation: Situation) -> tuple[bool, str, str, bool]:
    return (
        situation.is_elsewhere,
        situation.sizes,
        situation.shot_sizes,
        situation.has_coarse_labels,
    )


def _of(part: str | None) -> str:
    """Part of a title that names the scored images."""
    return "" if part is None else f", photos of {part}"
