"""Counts of images: by class, and the section of counts by folder, month, camera and place."""

from collections.abc import Sequence

from engine.report.document import (
    Bar,
    BarPlot,
    Block,
    ColumnPlot,
    FigureTable,
    ReportSection,
    TableColumn,
    ValueKind,
)
from engine.report.figures import CountRow, Report
from engine.report.words import MAX_COLUMNS, amount, class_column, class_of, count_column, phrase

MAX_BARS = 25  # of a chart; the table has all rows


def counts_section(report: Report) -> ReportSection | None:
    """Charts and tables of the counts that are known; None without any."""
    counts = report.counts
    blocks = [
        *_bars("folders", phrase("Images by folder"), phrase("Folder"), counts.by_folder),
        *_months(counts.by_month),
        *_bars("cameras", phrase("Images by camera"), phrase("Camera"), counts.by_camera),
        *_bars("places", phrase("Images by place"), phrase("Degrees north, east"), counts.by_place),
    ]
    return ReportSection("counts", phrase("Counts"), blocks) if blocks else None


def class_balance(report: Report) -> list[Block]:
    """Labelled and predicted images of each class, largest first."""
    rows = report.counts.by_class
    if not rows:
        return []
    title = phrase("Class balance")
    columns = (
        class_column("Class", "class"),
        count_column("Labelled", "labelled"),
        count_column("Predicted", "predicted"),
    )
    values = [
        (class_of(report.tree, row.class_id), row.labelled, row.images - row.labelled)
        for row in rows
        if row.class_id is not None
    ]
    return [
        _chart(title, rows, phrase("The first part of each bar is labelled, the rest predicted.")),
        FigureTable("images-by-class", title, columns, values, is_in_chart=len(rows) <= MAX_BARS),
    ]


def _bars(name: str, title: str, heading: str, rows: Sequence[CountRow]) -> list[Block]:
    if not rows:
        return []
    return [
        _chart(title, rows, phrase("The first part of each bar is labelled.")),
        _table(name, title, heading, rows),
    ]


def _table(name: str, title: str, heading: str, rows: Sequence[CountRow]) -> FigureTable:
    columns = (
        TableColumn(heading, name, ValueKind.TEXT),
        count_column("Images", "images"),
        count_column("Labelled", "labelled"),
    )
    values = [(row.name, row.images, row.labelled) for row in rows]
    return FigureTable(
        f"images-by-{name}", title, columns, values, is_in_chart=len(rows) <= MAX_BARS
    )


def _bars_of(rows: Sequence[CountRow]) -> tuple[Bar, ...]:
    return tuple(Bar(row.name, row.images, amount(row.images), row.labelled) for row in rows)


def _chart(title: str, rows: Sequence[CountRow], note: str) -> BarPlot:
    shown = rows
    if len(rows) > MAX_BARS:
        shown = sorted(rows, key=lambda row: -row.images)[:MAX_BARS]
        note += " " + phrase(
            "The {shown:,} largest of {count:,}.", shown=len(shown), count=len(rows)
        )
    highest = max(row.images for row in shown)
    return BarPlot(title, _summary(rows), note, phrase("Images"), _bars_of(shown), highest)


def _months(rows: Sequence[CountRow]) -> list[Block]:
    if not rows:
        return []
    title, month, shown = phrase("Images by month"), phrase("Month"), rows[-MAX_COLUMNS:]
    note = phrase("The lower part of each column is labelled.")
    if len(shown) < len(rows):
        note += " " + phrase("The last {count:,} months.", count=len(shown))
    chart = ColumnPlot(title, _summary(rows), note, month, phrase("Images"), _bars_of(shown))
    return [chart, _table("months", title, month, rows)]


def _summary(rows: Sequence[CountRow]) -> str:
    largest = max(rows, key=lambda row: row.images)
    return phrase(
        "{count:,} in all; most images: {name}, {images:,}",
        count=len(rows),
        name=largest.name,
        images=largest.images,
    )
