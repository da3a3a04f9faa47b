"""`protoleaf experiment review` on drawn pictures."""

from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.transfer import write_shapes

QUICK = ("--way", "groups", "--device", "cpu")


@pytest.mark.slow
def test_collections_of_other_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One class of four has two thirds of the images; tables have sizes and rare classes."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "review", source, "--sizes", "one-large", "--classes", "4", *QUICK)
    text = done(capsys, *words).out
    assert "4 classes, 12 images, one large class" in text
    assert "images of all others" in text
    assert "all but the largest class right by then" in text
    fields = done(capsys, *words, "--no-errors", "--json").fields
    assert fields["sizes"] == "one-large"
    groups = fields["outcomes"]["groups"]
    assert groups["classes"][-1] >= 3
    assert 0 <= groups["rare"][-1] <= 1
    assert 1 <= groups["answers_of_largest"] <= 8


def test_unknown_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the known sizes, before anything is read."""
    assert "zipf" in refused(capsys, "experiment", "review", tmp_path, "--sizes", "huge", status=2)
