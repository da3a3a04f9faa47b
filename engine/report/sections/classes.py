"""Class sections: confusion matrix, figures of each class, and mistakes by distance."""

from collections.abc import Iterable

from engine.report.document import (
    MOST_ROWS,
    Bar,
    Block,
    ColumnPlot,
    FigureTable,
    Matrix,
    ReportSection,
    ReportText,
    TableColumn,
    Value,
    ValueKind,
)
from engine.report.figures import Mistakes, Report
from engine.report.sections.audit import truth_line
from engine.report.sections.counts import class_balance
from engine.report.words import (
    amount,
    class_column,
    class_of,
    count_column,
    interval_column,
    phrase,
    share_column,
)
from engine.texts import paragraph

MAX_PAIRS = 100  # pairs of classes that a page lists


def confusion_section(report: Report) -> ReportSection | None:
    """None without ground truth."""
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
        parts.append(phrase("A class with several parents is shown under the oldest of them."))
    matrix = Matrix(phrase("Confusion matrix"), summary, confusion, paragraph(*parts))
    pairs = sorted(
        confusion.pairs(), key=lambda pair: (pair[0] == pair[1], -pair[2], pair[0], pair[1])
    )
    table = _pair_table(report, "confusion", matrix.title, pairs, MAX_PAIRS, is_in_chart=True)
    return ReportSection("confusion", phrase("Confusion"), (truth_line(report), matrix, table))


def _pair_table(
    report: Report,
    name: str,
    title: str,
    pairs: Iterable[tuple[int, int, int]],
    most_rows: int = MOST_ROWS,
    *,
    is_in_chart: bool = False,
) -> FigureTable:
    """Number of images by true and predicted class."""
    columns = (
        class_column("Correct class", "truth"),
        class_column("Predicted class", "prediction"),
        count_column("Images", "images"),
    )
    rows = [
        (class_of(report.tree, true), class_of(report.tree, predicted), count)
        for true, predicted, count in pairs
    ]
    return FigureTable(name, title, columns, rows, most_rows=most_rows, is_in_chart=is_in_chart)


def classes_section(report: Report) -> ReportSection | None:
    """Labels and predictions by class; with ground truth, precision, recall and confusion too."""
    if not report.classes:
        return None
    is_judged = report.confusion is not None
    columns = [
        class_column("Class", "class"),
        count_column("Labels", "labels"),
        count_column("Predicted", "found"),
    ]
    if is_judged:
        columns += [
            count_column("Tested", "tested", is_detail=True),
            share_column("Precision", "precision"),
            share_column("Recall", "recall"),
            interval_column("recall_interval"),
            TableColumn("F1", "f1", ValueKind.SHARE, is_detail=True),
            class_column("Most confused with", "most_confused_with"),
            count_column("Images", "confused", is_detail=True),
        ]
    rows = []
    for each in report.classes:
        row: list[Value] = [class_of(report.tree, each.class_id), each.labels, each.found]
        if is_judged:
            row += [
                each.recall.count,
                each.precision.share,
                each.recall.share,
                each.recall.interval,
                each.f1,
                None if each.confused_with is None else class_of(report.tree, each.confused_with),
                each.confused or None,
            ]
        rows.append(tuple(row))
    notes = [phrase("Each class includes all its descendants.")] if report.tree.parent else []
    notes.append(phrase("Predicted are images without a label."))
    blocks = class_balance(report)
    if is_judged:
        blocks.append(truth_line(report))
        notes.append(
            phrase(
                "Tested are images whose class is known. Recall is the share of them that is "
                "predicted correctly, with its 95% interval; precision is the share of correct "
                "ones among those predicted as the class."
            )
        )
    blocks.append(
        FigureTable("classes", phrase("Figures of each class"), columns, rows, paragraph(*notes))
    )
    return ReportSection("classes", phrase("Classes"), blocks)


def mistakes_section(report: Report) -> ReportSection | None:
    """None without ground truth."""
    mistakes = report.mistakes
    if mistakes is None:
        return None
    blocks: list[Block] = []
    if not mistakes.wrong:
        blocks.append(ReportText(phrase("No image was confused with another class.")))
    else:
        blocks.append(truth_line(report))
        if report.tree.parent:
            blocks += _distance_blocks(mistakes)
        title = phrase("Most frequent mistakes")
        blocks.append(_pair_table(report, "mistakes", title, mistakes.worst))
    return ReportSection("mistakes", phrase("Mistakes"), blocks)


def _distance_blocks(mistakes: Mistakes) -> list[Block]:
    title, wrong = phrase("Distance between correct and predicted class"), mistakes.wrong
    columns = tuple(
        Bar(str(distance), count, amount(count)) for distance, count in mistakes.by_distance
    )
    summary = phrase(
        "{wrong:,} mistakes; the lowest class above both classes is on average {height} levels "
        "above the finest.",
        wrong=wrong,
        height=f"{mistakes.mean_height:.2f}",
    )
    note = phrase(
        "{summary} Sibling classes have a distance of 2: one step up to their parent, one step "
        "down.",
        summary=summary,
    )
    chart = ColumnPlot(title, summary, note, phrase("Distance"), phrase("Images"), columns)
    head = (
        count_column("Distance", "edges"),
        count_column("Images", "images"),
        share_column("Share", "share"),
    )
    rows = [(distance, count, count / wrong) for distance, count in mistakes.by_distance]
    return [chart, FigureTable("mistakes-by-distance", title, head, rows, is_in_chart=True)]
