"""`protoleaf suggest`: the images to label first."""

from pathlib import Path

import pytest

from engine.cli.output import probability_text
from tests.support.collections import Collection
from tests.support.command_line import done, refused


@pytest.mark.slow
def test_text_and_json(capsys: pytest.CaptureFixture[str], collection: Collection) -> None:
    """The requested number, best first, with the predicted class; the file is unchanged."""
    before = collection.project.read_bytes()
    lines = done(capsys, "suggest", collection.project, "--count", "3").out.splitlines()
    images = done(capsys, "suggest", collection.project, "--count", "3", "--json").fields["images"]
    assert [line.split("  ")[0] for line in lines] == [image["image"] for image in images]
    assert len(images) == 3
    assert all((collection.folder / image["image"]).is_file() for image in images)
    assert all(0 < image["score"] <= 1 and image["class"] for image in images)
    assert lines[0].endswith(f"  {images[0]['class']} {probability_text(images[0]['score'])}")
    assert collection.project.read_bytes() == before


@pytest.mark.slow
def test_at_random(capsys: pytest.CaptureFixture[str], collection: Collection) -> None:
    """Unlabelled images, equal for equal seeds.

    An unknown method is refused.
    """

    def drawn(*options: str) -> list[str]:
        found = done(
            capsys, "suggest", collection.project, "--by", "random", "--json", *options
        ).fields["images"]
        return [image["image"] for image in found]

    assert (
        drawn("--count", "5")
        == drawn("--count", "5", "--seed", "0")
        != drawn("--count", "5", "--seed", "1")
    )
    assert len(set(drawn("--count", "100"))) == 40
    message = refused(capsys, "suggest", collection.project, "--by", "magic", status=2)
    assert "expected teach-first or random, found magic" in message


def test_nothing_to_choose_among(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The error says what to do first."""
    project = tmp_path / "new.protoleaf"
    done(capsys, "new", project)
    assert "Import images first" in refused(capsys, "suggest", project)
    refused(capsys, "suggest", project, "--count", "0", status=2)


def test_no_prediction_is_certain() -> None:
    """Rounded scores reach neither 0 nor 1."""
    shown = [probability_text(each) for each in (0.0, 0.0004, 0.431, 0.999, 0.9996, 1.0)]
    assert shown == ["<0.1%", "<0.1%", "43.1%", "99.9%", ">99.9%", ">99.9%"]
