"""Counts of images: by class, and the section of those by folder, month, camera and place."""

from collections.abc import Sequence
from typing import Final

from engine.report.document import (
    Bar,
    BarPlot,
    Block,
    ColumnPlot,
    FigureTable,
    ReportSection,
    class_column,
    count_column,
    text_column,
)
from engine.report.figures import CountRow, Report
from engine.report.words import MOST_COLUMNS, amount, class_of, phrase

MOST_BARS: Final = 25  # bars of a chart; the table has the rest


def counts_section(report: Report) -> ReportSection | None:
    """Charts and tables of the counts that are known."""
    counts = report.counts
    blocks: list[Block] = [
        *_bars("folders", phrase("Images by folder"), phrase("Folder"), counts.by_folder),
        *_months(counts.by_month),
        *_bars("cameras", phrase("Images by camera"), phrase("Camera"), counts.by_camera),
        *_bars("places", phrase("Images by place"), phrase("Degrees north, east"), counts.by_place),
    ]
    return ReportSection("counts", phrase("Counts"), tuple(blocks)) if blocks else None


def class_balance(report: Report) -> list[Block]:
    """Labelled and predicted images of each class, most first."""
    rows = report.counts.by_class
    if not rows:
        return []
    title = phrase("Class balance")
    columns = (
        class_column(phrase("Class"), "class"), count_column(phrase("Labelled"), "labelled"),
        count_column(phrase("Predicted"), "predicted"),
    )  # fmt: skip
    values = [
        (class_of(report.tree, row.class_id), row.labelled, row.images - row.labelled)
        for row in rows
        if row.class_id is not None
    ]
    return [
        _chart(title, rows, phrase("The first part of each bar is labelled, the rest predicted.")),
        FigureTable("images-by-class", title, columns, values, is_in_chart=len(rows) <= MOST_BARS),
    ]


def _bars(name: str, title: str, what: str, rows: Sequence[CountRow]) -> list[Block]:
    if not rows:
        return []
    return [
        _chart(title, rows, phrase("The first part of each bar is labelled.")),
        _table(name, title, what, rows),
    ]


def _table(name: str, title: str, what: str, rows: Sequence[CountRow]) -> FigureTable:
    columns = (
        text_column(what, name), count_column(phrase("Images"), "images"),
        count_column(phrase("Labelled"), "labelled"),
    )  # fmt: skip
    values = [(row.name, row.images, row.labelled) for row in rows]
    return FigureTable(
        f"images-by-{name}", title, columns, values, is_in_chart=len(rows) <= MOST_BARS
    )


def _chart(title: str, rows: Sequence[CountRow], note: str) -> BarPlot:
    shown = sorted(rows, key=lambda row: -row.images)[:MOST_BARS] if len(rows) > MOST_BARS else rows
    bars = tuple(
        Bar(row.name, row.images, amount(row.images), row.labelled, class_id=row.class_id)
        for row in shown
    )
    if len(shown) < len(rows):
        note += " " + phrase(
            "The {shown:,} largest of {count:,}.", shown=len(shown), count=len(rows)
        )
    return BarPlot(
        title,
        _summary(rows),
        bars,
        max((bar.value for bar in bars), default=1.0),
        note,
        phrase("Images"),
    )


def _months(rows: Sequence[CountRow]) -> list[Block]:
    if not rows:
        return []
    title, shown = phrase("Images by month"), rows[-MOST_COLUMNS:]
    columns = tuple(Bar(row.name, row.images, amount(row.images), row.labelled) for row in shown)
    note = phrase("The lower part of each column is labelled.")
    if len(shown) < len(rows):
        note += " " + phrase("The last {count:,} months.", count=len(shown))
    highest = max(bar.value for bar in columns)
    return [
        ColumnPlot(
            title, _summary(rows), columns, highest, (), phrase("Month"), note, phrase("Images")
        ),
        _table("months", title, phrase("Month"), rows),
    ]


def _summary(rows: Sequence[CountRow]) -> str:
    largest = max(rows, key=lambda row: row.images)
    return phrase(
        "{count:,} in all; most images: {name}, {images:,}",
        count=len(rows),
        name=largest.name,
        images=largest.images,
    )
