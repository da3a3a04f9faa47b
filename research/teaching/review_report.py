"""Keys of a review by order, and expected and true errors: tables, data and a curve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.events import CancelToken, OnProgress, ProgressMeter
from research.reports import drawing
from research.reports.folder import writing_into
from research.reports.text_table import TextTable, titled_tables
from research.teaching.expected_errors import SHOTS, ExpectedErrors, errors_of_groups
from research.teaching.review_person import (
    ENOUGH,
    Desk,
    Integers,
    ReviewOutcome,
    in_folder_order,
    in_random_order,
    least_certain_first,
    review_cards,
    review_groups,
    teaching_first,
)
from research.transfer.class_sizes import AS_IS, SIZES
from research.transfer.embedded import EmbeddedCollection

if TYPE_CHECKING:
    from collections.abc import Callable

STEM = "right-labels-against-keys"
GROUPS = "groups"
FOLDER = "folder"
WAYS: "Mapping[str, tuple[str, Callable[[Desk], ReviewOutcome]]]" = {
    GROUPS: ("review by group", review_groups),
    "teach-first": ("single cards, Teach first", lambda desk: review_cards(desk, teaching_first)),
    FOLDER: ("single cards, folder order", lambda desk: review_cards(desk, in_folder_order)),
    "random": ("single cards, random order", lambda desk: review_cards(desk, in_random_order)),
    "uncertainty": (
        "single cards, least certain first",
        lambda desk: review_cards(desk, least_certain_first),
    ),
}
BULK_KEYS = 2  # select all, Enter
MARKS = (0.5, 0.8, ENOUGH)
_COLOURS = (drawing.VERMILION, "#0072b2", drawing.INK, "#e69f00", "#009e73")


def reviewed(
    embedded: EmbeddedCollection,
    rows: Integers,
    ways: Sequence[str],
    *,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> dict[str, ReviewOutcome]:
    """Simulate the review of the images at these rows in each way.

    Raises:
        Cancelled: `cancel` was set.
    """
    outcomes, meter = dict[str, ReviewOutcome](), ProgressMeter(len(ways), on_progress, unit="ways")
    for way in ways:
        cancel.raise_if_cancelled()
        outcomes[way] = WAYS[way][1](Desk(embedded, rows))
        meter.advance()
    return outcomes


@dataclass(frozen=True)
class ReviewReport:
    """Results of one collection on one backbone.

    Attributes:
        collection: name of the folder.
        backbone: its name.
        images, classes: counts.
        outcomes: by way.
        errors: expected and true errors.
        sizes: of the classes.
    """

    collection: str
    backbone: str
    images: int
    classes: int
    outcomes: Mapping[str, ReviewOutcome]
    errors: tuple[ExpectedErrors, ...]
    sizes: str = AS_IS

    def as_text(self, *, is_markdown: bool = False) -> str:
        """Tables for a terminal, or for the documents."""
        return titled_tables(self._tables(), is_markdown=is_markdown)

    def as_fields(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "collection": self.collection,
            "backbone": self.backbone,
            "images": self.images,
            "classes": self.classes,
            "sizes": self.sizes,
            "outcomes": {
                way: {
                    "keys": [point.keys for point in outcome.curve],
                    "right": [point.right for point in outcome.curve],
                    "with_predictions": [point.with_predictions for point in outcome.curve],
                    "rare": [point.rare for point in outcome.curve],
                    "classes": [point.classes for point in outcome.curve],
                    "answers_of_largest": outcome.curve[-1].answers_of_largest,
                    "groups": [asdict(group) for group in outcome.groups],
                }
                for way, outcome in self.outcomes.items()
            },
            "expected_errors": [
                {**asdict(each), "image_interval": each.image_interval, "interval": each.interval}
                for each in self.errors
            ],
        }

    def _tables(self) -> Iterator[tuple[str, TextTable]]:
        facts = (
            f"{self.collection}, {self.backbone}, {self.classes} classes, {self.images:,} images"
        )
        facts = ", ".join(filter(None, (facts, SIZES[self.sizes])))
        if self.outcomes:
            marks = [f"{mark:.0%} right" for mark in MARKS]
            bulk = f"bulk accept that makes {ENOUGH:.0%} right"
            half = (
                "classes seen after half of the keys",
                "all but the largest class right by then",
            )
            columns = (
                "keys until",
                *marks,
                "answers",
                "images an answer",
                "of the largest class",
                *half,
                bulk,
            )
            rows = [self._row(way, outcome) for way, outcome in self.outcomes.items()]
            yield (
                f"keys pressed until so many images are labelled rightly; {facts}",
                TextTable(columns, tuple(rows)),
            )
        answered = self.outcomes[GROUPS].groups if GROUPS in self.outcomes else ()
        if answered:
            columns = (
                "of all answers",
                "images",
                "errors expected",
                "true",
                "95 % interval by group",
                "",
            )
            rows = [_answered_row(each) for each in errors_of_groups(answered, 0)]
            yield f"groups that were answered; {facts}", TextTable(columns, tuple(rows))
        if self.errors:
            intervals = ("95 % interval, each image by itself", "by group", "")
            columns = (
                "labels a class",
                "accepted",
                "images",
                "errors expected",
                "true",
                *intervals,
            )
            others = "of val" if self.sizes == AS_IS else "of all others"
            title = f"labels from train, images {others}; {facts}"
            yield title, TextTable(columns, tuple(map(_errors_row, self.errors)))

    def _row(self, way: str, outcome: ReviewOutcome) -> tuple[str, ...]:
        keys = [
            f"{next(point.keys for point in outcome.curve if point.right >= mark):,}"
            for mark in MARKS
        ]
        end = outcome.curve[-1]
        half = next(point for point in outcome.curve if point.keys >= end.keys / 2)
        of_largest = end.right_of_largest / max(end.answers_of_largest, 1)
        bulk = next((point for point in outcome.curve if point.with_predictions >= ENOUGH), None)
        after = "" if bulk is None else f"after {bulk.keys + BULK_KEYS:,}"
        return (
            WAYS[way][0],
            *keys,
            f"{end.decisions:,}",
            f"{end.right * self.images / end.decisions:.1f}",
            f"{of_largest:.1f}",
            f"{half.classes} of {self.classes}",
            f"{half.rare:.0%}",
            after,
        )


def _errors_row(each: ExpectedErrors) -> tuple[str, ...]:
    intervals = [f"{low:.0f} to {high:.0f}" for low, high in (each.image_interval, each.interval)]
    return (
        "all" if each.shots == SHOTS[-1] else str(each.shots),
        each.kind,
        f"{each.images:,}",
        f"{each.expected:.1f}",
        str(each.wrong),
        *intervals,
        "" if each.is_kept else "outside",
    )


def _answered_row(each: ExpectedErrors) -> tuple[str, ...]:
    low, high = each.interval
    counts = f"{each.images:,}", f"{each.expected:.1f}", str(each.wrong)
    return (each.kind, *counts, f"{low:.0f} to {high:.0f}", "" if each.is_kept else "outside")


def right_labels_against_keys(report: ReviewReport, out: Path) -> tuple[Path, Path]:
    """Draw the share of correctly labelled images by keys, a line for each way; PNG and SVG.

    Raises:
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    with drawing.styled(), writing_into(out):
        figure = drawing.new_figure(6.4, 4.4)
        panel = figure.subplots()
        for (way, outcome), colour in zip(report.outcomes.items(), _COLOURS, strict=False):
            keys, right = (
                [point.keys for point in outcome.curve],
                [100 * point.right for point in outcome.curve],
            )
            panel.plot(
                keys,
                right,
                color=colour,
                label=WAYS[way][0],
                linewidth=2.4 if way == GROUPS else 1.3,
            )
        panel.axhline(100 * ENOUGH, color="#8a8a8a", linewidth=0.8, linestyle=":")
        panel.set_title(f"{report.collection}: {report.classes} classes, {report.images:,} images")
        panel.set_xlabel("keys pressed, clicks counted")
        panel.set_ylabel("images labelled rightly (%)")
        panel.legend(loc="lower right")
        return drawing.save(figure, out / STEM)
