"""The sections about classes: the confusion matrix, the figures of each, and how far off mistakes are."""

from typing import Final

from engine.collection.report.document import (
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
from engine.collection.report.figures import Mistakes, Report
from engine.collection.report.sections.audit import truth_line
from engine.collection.report.words import amount, class_of, phrase

MOST_PAIRS: Final = 100  # pairs of classes that a page lists


def confusion_section(report: Report) -> ReportSection | None:
    """None without a truth."""
    confusion = report.confusion
    if confusion is None:
        return None
    right = sum(count for true, predicted, count in confusion.pairs() if true == predicted)
    summary = phrase(
        "{right:,} of {images:,} images have the right finest class.", right=right, images=confusion.images
    )
    note = phrase("Rows are the truth, columns the prediction. Open a branch to see the classes below it.")
    if confusion.tree.several_parents:
        note += " " + phrase("A class with several parents stands under the oldest of them.")
    pairs = sorted(confusion.pairs(), key=lambda pair: (pair[0] == pair[1], -pair[2], pair[0], pair[1]))
    rows = [(class_of(report.tree, true), class_of(report.tree, predicted), count) for true, predicted, count in pairs]
    title = phrase("Confusion matrix")
    table = FigureTable("confusion", title, _pair_columns(), rows, is_in_chart=True, most_rows=MOST_PAIRS)
    return ReportSection(
        "confusion", phrase("Confusion"), (truth_line(report), Matrix(title, summary, confusion, note), table)
    )


def _pair_columns() -> tuple[TableColumn, ...]:
    return (
        class_column(phrase("Truth"), "truth"), class_column(phrase("Prediction"), "prediction"),
        count_column(phrase("Images"), "images"),
    )  # fmt: skip


def classes_section(report: Report) -> ReportSection | None:
    """Labels and found images; with a truth precision, recall and what they are taken for, too."""
    if not report.classes:
        return None
    is_judged = report.confusion is not None
    columns = [
        class_column(phrase("Class"), "class"), count_column(phrase("Labels"), "labels"),
        count_column(phrase("Found"), "found"),
    ]  # fmt: skip
    if is_judged:
        columns += [
            count_column(phrase("Tested"), "tested"), share_column(phrase("Precision"), "precision"),
            share_column(phrase("Recall"), "recall"),
            interval_column(phrase("95% interval"), "recall_interval"),
            share_column("F1", "f1"), class_column(phrase("Most confused with"), "most_confused_with"),
            count_column(phrase("So often"), "confused"),
        ]  # fmt: skip
    rows = []
    for each in report.classes:
        row: list[Value] = [class_of(report.tree, each.class_id), each.labels, each.found]
        if is_judged:
            mistaken = None if each.confused_with is None else class_of(report.tree, each.confused_with)
            row += [
                each.recall.count, each.precision.share, each.recall.share, each.recall.interval, each.f1, mistaken,
                each.confused or None,
            ]  # fmt: skip
        rows.append(tuple(row))
    note = phrase("Of each class with all below it. Found are images without a label that are predicted so.")
    if is_judged:
        note += " " + phrase(
            "Tested are images whose class is known; recall is the share of them that is found, with its 95% interval; "
            "precision the share of right ones among those predicted so."
        )
    table = FigureTable("classes", phrase("Figures of each class"), tuple(columns), rows, note)
    basis = (truth_line(report),) if is_judged else ()
    return ReportSection("classes", phrase("Classes"), (*basis, table))


def mistakes_section(report: Report) -> ReportSection | None:
    """None without a truth."""
    mistakes = report.mistakes
    if mistakes is None:
        return None
    if not mistakes.wrong:
        return ReportSection(
            "mistakes", phrase("Mistakes"), (ReportText(phrase("No image was taken for another class.")),)
        )
    return ReportSection("mistakes", phrase("Mistakes"), (truth_line(report), *_mistake_blocks(report, mistakes)))


def _mistake_blocks(report: Report, mistakes: Mistakes) -> list[Block]:
    title, wrong = phrase("How far off mistakes are"), mistakes.wrong
    columns = tuple(Bar(str(distance), count, amount(count)) for distance, count in mistakes.by_distance)
    summary = phrase(
        "{wrong:,} mistakes; the lowest class above both truth and prediction is on average {height} levels above "
        "the finest.",
        wrong=wrong, height=f"{mistakes.mean_height:.2f}",
    )  # fmt: skip
    note = phrase("{summary} Siblings are 2 edges apart: one up to their parent, one down.", summary=summary)
    chart = ColumnPlot(
        title,
        summary,
        columns,
        max(bar.value for bar in columns),
        (),
        phrase("Edges between truth and prediction"),
        note,
    )
    head = (
        count_column(phrase("Edges"), "edges"), count_column(phrase("Images"), "images"),
        share_column(phrase("Share"), "share"),
    )  # fmt: skip
    table = FigureTable(
        "mistakes-by-distance", title, head, [(d, n, n / wrong) for d, n in mistakes.by_distance], is_in_chart=True
    )
    worst = [(class_of(report.tree, a), class_of(report.tree, b), count) for a, b, count in mistakes.worst]
    return [chart, table, FigureTable("mistakes", phrase("Most frequent mistakes"), _pair_columns(), worst)]
