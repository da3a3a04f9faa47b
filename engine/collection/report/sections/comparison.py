"""The section that puts two models or settings side by side."""

import math
from dataclasses import replace
from typing import Final

from engine.collection.report.document import (
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
from engine.collection.report.figures import ComparedSide, ModelComparison, Report
from engine.collection.report.sections.audit import truth_line
from engine.collection.report.words import phrase, setting_name, share, span

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
            Fact(a.name, share(a.right.share), phrase("95% interval {span}", span=span(a.right.interval))),
            Fact(b.name, share(b.right.share), phrase("95% interval {span}", span=span(b.right.interval))),
            Fact(phrase("Difference in points"), points, phrase("95% interval, paired")),
            Fact(
                phrase("McNemar's test"),
                f"p = {comparison.p_value:.3f}" if comparison.p_value >= SURE else "p < 0.001",
            ),
        )
    )
    basis = phrase("Both on the same {images:,} images. {verdict}", images=comparison.images, verdict=verdict)
    return ReportSection(
        "compare", phrase("Compare"), (truth_line(report), facts, ReportText(basis), *_comparison_tables(comparison))
    )


def _comparison_tables(comparison: ModelComparison) -> list[Block]:
    a, b = _named(comparison.first), _named(comparison.second)
    rows = [(phrase("Finest class right"), a.right.share, b.right.share)]
    for level in range(max(len(a.levels), len(b.levels))):
        pair = [side.levels[level].share if level < len(side.levels) else math.nan for side in (a, b)]
        rows.append((phrase("Level {level} right", level=level), pair[0], pair[1]))
    rows += [
        (phrase("Named with the confidence needed"), a.named.share, b.named.share),
        (phrase("Right among them"), a.safe_right.share, b.safe_right.share),
        (phrase("Calibration error"), a.calibration_error, b.calibration_error),
    ]
    head = (
        text_column(phrase("Figure"), "figure"),
        share_column(a.name, "first"), share_column(b.name, "second"),
    )  # fmt: skip
    four = [
        (phrase("Both right"), comparison.both), (phrase("Only {name} right", name=a.name), comparison.only_first),
        (phrase("Only {name} right", name=b.name), comparison.only_second), (phrase("Both wrong"), comparison.neither),
    ]  # fmt: skip
    pairs = (
        text_column(phrase("Finest class"), "outcome"),
        count_column(phrase("Images"), "images"),
    )
    return [
        FigureTable("comparison", phrase("Side by side"), head, rows),
        FigureTable("comparison-pairs", phrase("Image by image"), pairs, four),
    ]


def _named(side: ComparedSide) -> ComparedSide:
    return replace(side, name=setting_name(side.name))
