"""Texts of the backbone panel."""

from dataclasses import replace

import pytest

from app.backbones.logic import Origin, PublishedRow
from app.backbones.wording import (
    comparison,
    download_button,
    download_question,
    failures_text,
    licence_text,
    measured_on,
    removal_consequence,
    removal_question,
    short_licence,
    verdict,
)
from engine.collection.backbone_change import ShotComparison
from tests.support.backbone_jobs import LARGE, SMALL
from tests.support.backbone_panel import backbone_row

FIGURES = ShotComparison(0.571, 0.619, 200, gained=12, lost=2)
SMALL_ROW = PublishedRow(SMALL)


def test_the_question_before_a_removal() -> None:
    """File and size, consequences for projects, and how to get the backbone back."""
    added = backbone_row(Origin.ADDED)
    assert (
        removal_question(added)
        == "Remove mine? This deletes mine.onnx (97.8\u00a0MB) from this computer for good."
    )
    assert "need it again" in removal_consequence(added)
    assert removal_consequence(added).endswith("It can be added again only from its ONNX file.")
    assert removal_consequence(backbone_row(Origin.PUBLISHED)).endswith(
        "It can be downloaded again."
    )


def test_the_question_before_a_download() -> None:
    """Button and question name size, host and licence."""
    assert download_button(SMALL_ROW) == "Download 4.8\u00a0MB…"
    assert (
        download_button(replace(SMALL_ROW, fetched_bytes=1_200_000))
        == "Resume: 1.2\u00a0MB of 4.8\u00a0MB done…"
    )
    assert download_question(SMALL_ROW).startswith(
        "Downloads 4.8\u00a0MB from 127.0.0.1 and keeps it"
    )
    assert (
        licence_text(SMALL_ROW)
        == "Licence: none named for the weights (https://example.org/licence)"
    )
    assert short_licence(SMALL_ROW) == "not named"
    assert short_licence(PublishedRow(LARGE)) == "CC-BY-NC 4.0"


@pytest.mark.parametrize(
    ("figures", "expected", "basis"),
    [
        (
            FIGURES,
            "tinyleaf is better",
            "95% confidence interval of the difference: 1.3 to 8.6 points.",
        ),
        (
            replace(FIGURES, before=0.7, gained=2, lost=12),
            "tinyleaf is worse",
            "-8.6 to -1.3 points.",
        ),
        (replace(FIGURES, shots=42, gained=4), "tinyleaf is about as good", "this may be chance."),
        (
            replace(FIGURES, after=0.571, lost=12),
            "tinyleaf is about as good",
            "There is no difference.",
        ),
        (replace(FIGURES, before=None, gained=None), "tinyleaf is ready", "each held out once."),
        (ShotComparison(None, None, 0), "tinyleaf is ready", ""),
    ],
)
def test_a_verdict_is_honest(figures: ShotComparison, expected: str, basis: str) -> None:
    """A difference within chance is reported as such."""
    assert verdict(figures, "tinyleaf") == expected
    assert measured_on(figures).endswith(basis)


def test_both_figures_or_why_not() -> None:
    """Accuracy before and after, or the reason why one is missing."""
    assert comparison(FIGURES) == "Current: 57.1%  ·  New: 61.9%"
    assert comparison(replace(FIGURES, before=None)) == "New: 61.9%"
    assert "at least two" in comparison(ShotComparison(0.5, None, 0))
    assert failures_text(0) == ""
    assert failures_text(1) == "1 image could not be read."
