"""The section that puts two models or settings side by side."""

import math
from dataclasses import replace
from typing import Final

from engine.report.document import (
    Block,
    Fact,
    Facts,
    FigureTable,
    ReportSection,
    ReportText,
    count_column,
    share_column,
    text_column,
)
from engine.report.figures import ComparedSide, ModelComparison, Report
from engine.report.sections.audit import truth_line
from engine.report.words import level_name, phrase, setting_name, share, span

SURE: Final = 0.001  # probabilities below this are shown as below it


def comparison_section(report: Report) -> ReportSection | None:
    """None where nothing was compared."""
    comparison = report.comparison
    if comparison is None:
        return None
    a, b = _named(comparison.first), _named(comparison.second)
    low, high = comparison.gain
    verdict = (
        phrase("{better} is better on these images.", better=b.name if low > 0 else a.name)
        if low > 0 or high < 0
        else phrase("These images do not tell which one is better.")
    )
    points = phrase("{low} to {high}", low=f"{100 * low:+.1f}", high=f"{100 * high:+.1f}")
    facts = Facts(
        (
            Fact(
                a.name,
                share(a.right.share),
                phrase("95% interval {span}", span=span(a.right.interval)),
            ),
            Fact(
                b.name,
                share(b.right.share),
                phrase("95% interval {span}", span=span(b.right.interval)),
            ),
            Fact(phrase("Difference in points"), points, phrase("95% interval, paired")),
            Fact(
                phrase("McNemar's test"),
                f"p = {comparison.p_value:.3f}" if comparison.p_value >= SURE else "p < 0.001",
            ),
        )
    )
    basis = phrase(
        "Both on the same {images:,} images. {verdict}", images=comparison.images, verdict=verdict
    )
    return ReportSection(
        "compare",
        phrase("Compare"),
        (truth_line(report), facts, ReportText(basis), *_comparison_tables(comparison)),
    )


def _comparison_tables(comparison: ModelComparison) -> list[Block]:
    a, b = _named(comparison.first), _named(comparison.second)
    depth = max(len(a.levels), len(b.levels))
    name = phrase("Finest class correct") if depth > 1 else phrase("Correct")
    rows = [(name, a.right.share, b.right.share)]
    for level in range(depth if depth > 1 else 0):
        pair = [
            side.levels[level].share if level < len(side.levels) else math.nan for side in (a, b)
        ]
        rows.append((phrase("{level} correct", level=level_name(level)), pair[0], pair[1]))
    rows += [
        (phrase("Predicted with the minimum confidence"), a.named.share, b.named.share),
        (phrase("Correct among them"), a.safe_right.share, b.safe_right.share),
        (phrase("Calibration error"), a.calibration_error, b.calibration_error),
    ]
    head = (
        text_column(phrase("Figure"), "figure"),
        share_column(a.name, "first"), share_column(b.name, "second"),
    )  # fmt: skip
    four = [
        (phrase("Both correct"), comparison.both), (phrase("Only {name} correct", name=a.name), comparison.only_first),
        (phrase("Only {name} correct", name=b.name), comparison.only_second),
        (phrase("Both wrong"), comparison.neither),
    ]  # fmt: skip
    pairs = (
        text_column(phrase("Outcome"), "outcome"),
        count_column(phrase("Images"), "images"),
    )
    return [
        FigureTable("comparison", phrase("Side by side"), head, rows),
        FigureTable("comparison-pairs", phrase("Image by image"), pairs, four),
    ]


def _named(side: ComparedSide) -> ComparedSide:
    return replace(side, name=setting_name(side.name))
