"""The sections about classes: the confusion matrix, the figures of each, and how far off mistakes are."""

from typing import Final

from engine.report.document import (
    Bar,
    Block,
    ColumnPlot,
    FigureTable,
    Matrix,
    ReportSection,
    ReportText,
    TableColumn,
    Value,
    class_column,
    count_column,
    interval_column,
    share_column,
)
from engine.report.figures import Mistakes, Report
from engine.report.sections.audit import truth_line
from engine.report.sections.counts import class_balance
from engine.report.words import amount, class_of, phrase
from engine.texts import paragraph

MOST_PAIRS: Final = 100  # pairs of classes that a page lists


def confusion_section(report: Report) -> ReportSection | None:
    """None without a truth."""
    confusion = report.confusion
    if confusion is None:
        return None
    right = sum(count for true, predicted, count in confusion.pairs() if true == predicted)
    summary = phrase(
        "{right:,} of {images:,} images are predicted correctly.",
        right=right,
        images=confusion.images,
    )
    parts = [phrase("Rows are the correct classes, columns the predicted ones.")]
    if confusion.tree.several_parents:
        parts.append(phrase("A class with several parents stands under the oldest of them."))
    pairs = sorted(
        confusion.pairs(), key=lambda pair: (pair[0] == pair[1], -pair[2], pair[0], pair[1])
    )
    rows = [
        (class_of(report.tree, true), class_of(report.tree, predicted), count)
        for true, predicted, count in pairs
    ]
    title = phrase("Confusion matrix")
    table = FigureTable(
        "confusion", title, _pair_columns(), rows, is_in_chart=True, most_rows=MOST_PAIRS
    )
    return ReportSection(
        "confusion",
        phrase("Confusion"),
        (truth_line(report), Matrix(title, summary, confusion, paragraph(*parts)), table),
    )


def _pair_columns() -> tuple[TableColumn, ...]:
    return (
        class_column(phrase("Correct class"), "truth"), class_column(phrase("Predicted class"), "prediction"),
        count_column(phrase("Images"), "images"),
    )  # fmt: skip


def classes_section(report: Report) -> ReportSection | None:
    """Labels and found images; with a truth precision, recall and what they are taken for, too."""
    if not report.classes:
        return None
    is_judged = report.confusion is not None
    columns = [
        class_column(phrase("Class"), "class"), count_column(phrase("Labels"), "labels"),
        count_column(phrase("Predicted"), "found"),
    ]  # fmt: skip
    if is_judged:
        columns += [
            count_column(phrase("Tested"), "tested", is_detail=True), share_column(phrase("Precision"), "precision"),
            share_column(phrase("Recall"), "recall"),
            interval_column(phrase("95% interval"), "recall_interval"),
            share_column("F1", "f1", is_detail=True), class_column(phrase("Most confused with"), "most_confused_with"),
            count_column(phrase("Images"), "confused", is_detail=True),
        ]  # fmt: skip
    rows = []
    for each in report.classes:
        row: list[Value] = [class_of(report.tree, each.class_id), each.labels, each.found]
        if is_judged:
            mistaken = (
                None if each.confused_with is None else class_of(report.tree, each.confused_with)
            )
            row += [
                each.recall.count, each.precision.share, each.recall.share, each.recall.interval, each.f1, mistaken,
                each.confused or None,
            ]  # fmt: skip
        rows.append(tuple(row))
    notes = [phrase("Each class counts with all below it.")] if report.tree.parent else []
    notes.append(phrase("Predicted are images without a label."))
    if is_judged:
        notes.append(
            phrase(
                "Tested are images whose class is known. Recall is the share of them that is predicted correctly, with "
                "its 95% interval; precision is the share of correct ones among those predicted as the class."
            )
        )
    table = FigureTable(
        "classes", phrase("Figures of each class"), tuple(columns), rows, paragraph(*notes)
    )
    basis = (truth_line(report),) if is_judged else ()
    return ReportSection("classes", phrase("Classes"), (*class_balance(report), *basis, table))


def mistakes_section(report: Report) -> ReportSection | None:
    """None without a truth."""
    mistakes = report.mistakes
    if mistakes is None:
        return None
    if not mistakes.wrong:
        return ReportSection(
            "mistakes",
            phrase("Mistakes"),
            (ReportText(phrase("No image was taken for another class.")),),
        )
    return ReportSection(
        "mistakes", phrase("Mistakes"), (truth_line(report), *_mistake_blocks(report, mistakes))
    )


def _mistake_blocks(report: Report, mistakes: Mistakes) -> list[Block]:
    worst = [
        (class_of(report.tree, a), class_of(report.tree, b), count)
        for a, b, count in mistakes.worst
    ]
    table = FigureTable("mistakes", phrase("Most frequent mistakes"), _pair_columns(), worst)
    return [*_distance_blocks(mistakes), table] if report.tree.parent else [table]


def _distance_blocks(mistakes: Mistakes) -> list[Block]:
    title, wrong = phrase("Distance between correct and predicted class"), mistakes.wrong
    columns = tuple(
        Bar(str(distance), count, amount(count)) for distance, count in mistakes.by_distance
    )
    summary = phrase(
        "{wrong:,} mistakes; the lowest class above both classes is on average {height} levels above the finest.",
        wrong=wrong, height=f"{mistakes.mean_height:.2f}",
    )  # fmt: skip
    note = phrase(
        "{summary} Sibling classes have a distance of 2: one step up to their parent, one step down.",
        summary=summary,
    )
    chart = ColumnPlot(
        title,
        summary,
        columns,
        max(bar.value for bar in columns),
        (),
        phrase("Distance"),
        note,
        phrase("Images"),
    )
    head = (
        count_column(phrase("Distance"), "edges"), count_column(phrase("Images"), "images"),
        share_column(phrase("Share"), "share"),
    )  # fmt: skip
    table = FigureTable(
        "mistakes-by-distance",
        title,
        head,
        [(d, n, n / wrong) for d, n in mistakes.by_distance],
        is_in_chart=True,
    )
    return [chart, table]
