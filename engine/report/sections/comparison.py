"""Comparison section: two models or settings side by side."""

import math

from engine.report.document import (
    Block,
    Fact,
    Facts,
    FigureTable,
    ReportSection,
    ReportText,
    TableColumn,
    ValueKind,
)
from engine.report.figures import ModelComparison, Report
from engine.report.sections.audit import truth_line
from engine.report.words import (
    count_column,
    level_name,
    phrase,
    setting_name,
    share_fact,
    text_column,
)

SMALLEST_P = 0.001  # smaller p-values are shown as "p < 0.001"


def comparison_section(report: Report) -> ReportSection | None:
    """None where nothing was compared."""
    comparison = report.comparison
    if comparison is None:
        return None
    a, b = comparison.first, comparison.second
    first, second = setting_name(a.name), setting_name(b.name)
    low, high = comparison.gain
    verdict = (
        phrase("{better} is better on these images.", better=second if low > 0 else first)
        if low > 0 or high < 0
        else phrase("These images do not tell which one is better.")
    )
    points = phrase("{low} to {high}", low=f"{100 * low:+.1f}", high=f"{100 * high:+.1f}")
    p_value = comparison.p_value
    facts = (
        share_fact(first, a.right),
        share_fact(second, b.right),
        Fact(phrase("Difference in points"), points, phrase("95% interval, paired")),
        Fact(
            phrase("McNemar's test"), f"p = {p_value:.3f}" if p_value >= SMALLEST_P else "p < 0.001"
        ),
    )
    basis = phrase(
        "Both on the same {images:,} images. {verdict}", images=comparison.images, verdict=verdict
    )
    blocks: list[Block] = [truth_line(report), Facts(facts), ReportText(basis)]
    blocks += _comparison_tables(comparison, first, second)
    return ReportSection("compare", phrase("Compare"), blocks)


def _comparison_tables(comparison: ModelComparison, first: str, second: str) -> list[Block]:
    a, b = comparison.first, comparison.second
    depth = max(len(a.levels), len(b.levels))
    name = phrase("Finest class correct") if depth > 1 else phrase("Correct")
    rows = [(name, a.right.share, b.right.share)]
    for level in range(depth if depth > 1 else 0):
        of_first, of_second = (
            side.levels[level].share if level < len(side.levels) else math.nan for side in (a, b)
        )
        rows.append((phrase("{level} correct", level=level_name(level)), of_first, of_second))
    rows += [
        (phrase("Predicted with the minimum confidence"), a.named.share, b.named.share),
        (phrase("Correct among them"), a.safe_right.share, b.safe_right.share),
        (phrase("Calibration error"), a.calibration_error, b.calibration_error),
    ]
    head = (
        text_column("Figure", "figure"),
        TableColumn(first, "first", ValueKind.SHARE),
        TableColumn(second, "second", ValueKind.SHARE),
    )
    outcomes = [
        (phrase("Both correct"), comparison.both),
        (phrase("Only {name} correct", name=first), comparison.only_first),
        (phrase("Only {name} correct", name=second), comparison.only_second),
        (phrase("Both wrong"), comparison.neither),
    ]
    pairs = text_column("Outcome", "outcome"), count_column("Images", "images")
    return [
        FigureTable("comparison", phrase("Side by side"), head, rows),
        FigureTable("comparison-pairs", phrase("Image by image"), pairs, outcomes),
    ]
