"""Texts of random audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.texts import plural, tr
from app.wording import in_sentences, number, percent

if TYPE_CHECKING:
    from engine.collection.audit_figures import AuditFigures


def title_text() -> str:
    """Title of the image set in the grid."""
    return tr("Checked at random")


def command_text(*, is_begun: bool) -> str:
    """Title of the menu action."""
    return tr("Continue checking at random") if is_begun else tr("Check 50 at random")


def progress_line(figures: AuditFigures) -> str:
    """`12 of 50 answered`, or the result."""
    if figures.answered and figures.is_done:
        return result_line(figures)
    done = tr("{1} of {2} answered", number(figures.answered), number(figures.asked))
    if figures.in_bulk:
        return in_sentences(done, _bulk_line(figures.in_bulk))
    return (
        done if figures.answered else in_sentences(done, tr("Label these images like any others"))
    )


def result_line(figures: AuditFigures) -> str:
    """`46 of 50 right: 92%, 80% to 97% of all that had no label then`."""
    found = figures.accuracy
    low, high = found.interval
    return tr(
        "{1} of {2} right: {3}, {4} to {5} of all that had no label then",
        number(found.right),
        number(found.count),
        percent(found.share),
        percent(low),
        percent(high),
    )


def _bulk_line(count: int) -> str:
    return plural(
        count,
        "1 was accepted in bulk: label it by itself so that it counts",
        "{n} were accepted in bulk: label them one by one so that they count",
    )


def more_text(count: int) -> str:
    """Text of the button that enlarges the sample."""
    return plural(count, "Check 1 more", "Check {n} more")
