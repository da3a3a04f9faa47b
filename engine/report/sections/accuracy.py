"""Accuracy section: by level, coverage and precision by confidence, and calibration."""

from engine.report.document import (
    Bar,
    BarPlot,
    Block,
    ColumnPlot,
    FigureTable,
    LinePlot,
    PlotCurve,
    ReportSection,
)
from engine.report.figures import (
    Accuracy,
    CalibrationFigures,
    Coverage,
    CoveragePoint,
    Proportion,
    Report,
)
from engine.report.sections.audit import truth_line
from engine.report.words import (
    DASH,
    count_column,
    interval_column,
    level_name,
    phrase,
    share,
    share_column,
    summary_of,
    text_column,
)
from engine.texts import number_text, paragraph

MAX_LEVELS = 12  # of the chart; the table has all
STEP_PERCENT = 5  # of the confidences in the table


def accuracy_section(report: Report) -> ReportSection | None:
    """None without ground truth."""
    accuracy, calibration, coverage = report.accuracy, report.calibration, report.coverage
    if accuracy is None or calibration is None or coverage is None:
        return None
    blocks = [truth_line(report), *_accuracy_blocks(accuracy)]
    blocks += _coverage_blocks(coverage, has_levels=len(accuracy.levels) > 1)
    blocks += _calibration_blocks(calibration)
    return ReportSection("accuracy", phrase("Accuracy"), blocks)


def _accuracy_blocks(accuracy: Accuracy) -> list[Block]:
    levels = accuracy.levels if len(accuracy.levels) > 1 else ()
    rows = [(level_name(number), each) for number, each in enumerate(levels)]
    rows += [
        (phrase("Finest class") if levels else phrase("Most likely class"), accuracy.top1),
        (phrase("Among the five most likely"), accuracy.top5),
    ]
    shown = [*rows[:MAX_LEVELS], *rows[max(len(levels), MAX_LEVELS) :]]
    bars = tuple(
        Bar(name, each.share, share(each.share), interval=each.interval)
        for name, each in shown
        if each.count
    )
    table = [(name, each.share, each.interval, each.hits, each.count) for name, each in rows]
    columns = (
        text_column("Level" if levels else phrase("Prediction"), "level"),
        share_column("Accuracy", "accuracy"),
        interval_column(),
        count_column("Correct", "right"),
        count_column("Images", "images"),
    )
    title = phrase("Accuracy by level") if levels else phrase("Accuracy of predictions")
    note = phrase("The thin line is the 95% interval.")
    chart = BarPlot(title, summary_of(bars), note, phrase("Correct predictions"), bars, 1.0)
    return [chart, FigureTable("accuracy", title, columns, table, is_in_chart=True)]


def _coverage_blocks(coverage: Coverage, *, has_levels: bool) -> list[Block]:
    title = phrase("Coverage and precision by minimum confidence")
    points = coverage.points
    precise = [each for each in points if each.right.count]
    curves = (
        PlotCurve(
            phrase("predicted"),
            tuple((each.bar, each.named / max(coverage.images, 1)) for each in points),
        ),
        PlotCurve(
            phrase("correct"),
            tuple((each.bar, each.right.share) for each in precise),
            tuple(each.right.interval for each in precise),
            is_main=True,
        ),
    )
    used = coverage.in_use
    low, high = coverage.bars
    needed = (
        share(low) if low == high else phrase("{low} to {high}", low=share(low), high=share(high))
    )
    summary = phrase(
        "With the minimum confidence in use ({needed}), {named} of the images get a class, "
        "and {right} of these are correct.",
        needed=needed,
        named=share(Proportion(used.named, coverage.images).share),
        right=share(used.right.share),
    )
    at_leaf = ""
    if has_levels:
        finest = share(Proportion(coverage.at_leaf, coverage.images).share)
        at_leaf = phrase("Of all images {leaf} get one of the finest classes.", leaf=finest)
    lines = phrase("The lines show the effect of a single minimum confidence for all classes.")
    chart = LinePlot(
        title,
        summary,
        paragraph(summary, at_leaf, lines),
        phrase("Minimum confidence"),
        phrase("Images"),
        curves,
        points[0].bar,
        1.0,
        used.bar,
        phrase("in use: {needed}", needed=needed),
    )
    return [chart, _coverage_table(title, coverage)]


def _coverage_table(title: str, coverage: Coverage) -> FigureTable:
    def row(name: str, point: CoveragePoint) -> tuple[str, int, float, float, tuple[float, float]]:
        named = Proportion(point.named, coverage.images)
        return name, point.named, named.share, point.right.share, point.right.interval

    columns = (
        text_column("Minimum confidence", "confidence"),
        count_column("Predicted", "named"),
        share_column("Coverage", "coverage"),
        share_column("Precision", "precision"),
        interval_column(),
    )
    listed = [
        each
        for each in coverage.points
        if round(100 * each.bar) % STEP_PERCENT == 0 or each is coverage.points[-1]
    ]
    rows = [row(phrase("in use"), coverage.in_use)]
    rows += [row(f"{each.bar:.2f}", each) for each in listed]
    return FigureTable("coverage", title, columns, rows, is_in_chart=True)


def _calibration_blocks(calibration: CalibrationFigures) -> list[Block]:
    bins, title = calibration.bins, phrase("Calibration")
    if not bins:
        return []
    columns = tuple(
        Bar(
            f"{number_text(100 * each.low, '.0f')}{DASH}{number_text(each.high, '.0%')}",
            each.right.share,
            share(each.right.share),
            interval=each.right.interval,
        )
        for each in bins
    )
    summary = phrase("Expected calibration error: {error}.", error=share(calibration.error))
    note = phrase(
        "{summary} Columns are the share of correct predictions, marks their mean score: the "
        "closer they are, the more reliable a score is.",
        summary=summary,
    )
    chart = ColumnPlot(
        title,
        summary,
        note,
        phrase("Score"),
        phrase("Correct predictions"),
        columns,
        tuple(each.score for each in bins),
    )
    rows = [
        (
            f"{each.low:.1f}{DASH}{each.high:.1f}",
            each.right.count,
            each.score,
            each.right.share,
            each.right.interval,
        )
        for each in bins
    ]
    head = (
        text_column("Score", "score"),
        count_column("Images", "images"),
        share_column("Mean score", "mean_score"),
        share_column("Correct", "right"),
        interval_column(),
    )
    return [chart, FigureTable("calibration", title, head, rows, is_in_chart=True)]
