"""Results, as tables and as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from research.reports.text_table import TextTable, titled_tables
from research.teaching.methods import METHODS, OURS
from research.teaching.person import ROUNDS
from research.teaching.results import TeachResult
from research.transfer.estimates import estimate, paired_difference

BUDGETS = (1.0, 2.0, 5.0)
"""Labels a class in the tables; the curve has all of `ROUNDS`."""
FIGURES = {
    "named": "images whose leaf is right, labelled ones counted, in %",
    "predicted": "unlabelled images whose leaf is right, in %",
}
"""Shares of a `RoundOutcome`, with their part of a table's title."""


@dataclass(frozen=True)
class TeachReport:
    """Results of the methods on one backbone.

    Attributes:
        collection: name of the folder.
        images: number of images of a draw.
        classes: number of classes.
        results: at least one.
    """

    collection: str
    images: int
    classes: int
    results: tuple[TeachResult, ...]

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "collection": self.collection,
            "images": self.images,
            "classes": self.classes,
            "backbone": self.results[0].cell.backbone,
            "labels_per_class": list(ROUNDS),
            "methods": [_fields_of(result) for result in self.results],
        }

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        first = self.results[0]
        draws = len(first.draws)
        facts = (
            f"{first.cell.backbone}, {self.classes} classes, {self.images:,} images, "
            f"{draws} draw{'s' * (draws > 1)}, 95 % interval"
        )
        for name, title in FIGURES.items():
            yield f"{title}; {facts}", accuracies(self.results, name)
        if OURS in self._by_method and len(self.results) > 1:
            for name, title in FIGURES.items():
                about = title.removesuffix(", in %")
                yield (
                    f"{METHODS[OURS].title} minus each, in points, paired draw by draw: {about}",
                    self._minus(name),
                )
        yield "classes with a label", _classes(self.results)

    @property
    def _by_method(self) -> Mapping[str, TeachResult]:
        return {result.cell.method: result for result in self.results}

    def _minus(self, name: str) -> TextTable:
        ours = self._by_method[OURS]
        rows = []
        for result in self.results:
            if result is not ours:
                found = [
                    paired_difference(ours.values(name, each), result.values(name, each))
                    for each in BUDGETS
                ]
                cells = [
                    each.as_percent(with_sign=True) + " *" * each.is_above_zero for each in found
                ]
                rows.append((METHODS[result.cell.method].title, *cells))
        return TextTable(("minus", *_columns()), tuple(rows))


def accuracies(results: tuple[TeachResult, ...], name: str) -> TextTable:
    """Mean of a share with interval; rows are methods, columns numbers of labels."""
    rows = [
        (
            METHODS[result.cell.method].title,
            *(estimate(result.values(name, each)).as_percent() for each in BUDGETS),
        )
        for result in results
    ]
    return TextTable(("method", *_columns()), tuple(rows))


def _classes(results: tuple[TeachResult, ...]) -> TextTable:
    rows = [
        (
            METHODS[result.cell.method].title,
            *(f"{estimate(result.values('classes', each)).mean:.1f}" for each in BUDGETS),
        )
        for result in results
    ]
    return TextTable(("method", *_columns()), tuple(rows))


def _columns() -> tuple[str, ...]:
    return tuple(f"{budget:.0f} label{'s' * (budget > 1)} a class" for budget in BUDGETS)


def _fields_of(result: TeachResult) -> dict[str, Any]:
    figures = {}
    for name in (*FIGURES, "classes"):
        found = [estimate(result.values(name, each)) for each in ROUNDS]
        figures[name] = {
            "mean": [each.mean for each in found],
            "half_width": [each.half_width for each in found],
            "draws": [list(result.values(name, each)) for each in ROUNDS],
        }
    return {"method": result.cell.method, "figures": figures}
