"""Texts of the report page; those of the report itself are in the engine."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.texts import marked, plural, tr
from app.wording import clock_text, images, titled
from engine.everyday.classifier import Setting
from engine.files import shown

if TYPE_CHECKING:
    from app.report.logic import Stale

SETTINGS: Mapping[Setting, str] = {
    Setting.PPN_PLUS: marked("PPN+"),
    Setting.PPN: marked("PPN"),
    Setting.PROTOTYPES: marked("prototypes"),
    Setting.REGRESSION: marked("logistic regression"),
}
KINDS: Mapping[str, str] = {
    ".html": marked("Web page"),
    ".pdf": marked("PDF"),
    ".zip": marked("CSV tables in an archive"),
    ".csv": marked("All figures in one CSV"),
}


def cell_text(truth: str, prediction: str, count: int) -> str:
    """`Fox, predicted Dog: 12 images`; without a prediction `Fox: 40 images`."""
    if not prediction:
        return titled(truth, images(count))
    return tr("{1}, predicted {2}: {3}", truth, prediction, images(count))


def set_title(truth: str, prediction: str) -> str:
    """Title of the images of a cell; their count is shown next to it."""
    return tr("{1}, predicted {2}", truth, prediction)


def stale_text(made_at: datetime, stale: Stale) -> str:
    """`12 new labels since 14:03.`, or which other changes there are."""
    made = clock_text(made_at)
    if stale.labels and not stale.has_other:
        return plural(stale.labels, "1 new label since {1}.", "{n} new labels since {1}.", made)
    if stale.labels:
        return plural(
            stale.labels,
            "1 new label and other changes since {1}.",
            "{n} new labels and other changes since {1}.",
            made,
        )
    return tr("Classes, images or the model have changed since {1}.", made)


def truth_text(truth: Path | None) -> str:
    """Label of the button that chooses the ground truth."""
    return tr("Held-out labels") if truth is None else shown(truth.name)


def save_filters() -> dict[str, str]:
    """File filters by suffix."""
    return {suffix: f"{tr(text)} (*{suffix})" for suffix, text in KINDS.items()}
