"""Texts about missing images."""

from pathlib import Path

import pytest

from app.moved_images.wording import (
    apply_text,
    checked_line,
    example_lines,
    left_lines,
    missing_line,
    progress_line,
    short_path,
    verdict,
    way_lines,
)
from engine.events import Progress
from engine.files import FileFailure, FoundFile
from engine.relink.records import Doubt, FolderCheck, MissingImage, Move, RelinkPlan, Way


def image(number: int) -> MissingImage:
    """A missing image."""
    return MissingImage(number, f"photos/{number}.jpg", 10, 0, None)


def move(number: int, way: Way = Way.PATH, *, size_bytes: int = 10) -> Move:
    """A found image."""
    return Move(
        image(number),
        FoundFile(Path("/new") / f"{number}.jpg", size_bytes, 0),
        way,
        is_same_content=False,
    )


def test_counts_are_whole_sentences() -> None:
    """Texts have singular and plural."""
    assert missing_line(1) == "1 image is missing."
    assert missing_line(40) == "40 images are missing."
    assert (apply_text(1), apply_text(2)) == (
        "Update the location of 1 image",
        "Update the location of 2 images",
    )


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(0, 64), "Checking which images are missing"),
        (Progress(10, 64), "Checking which images are missing  ·  10 of 64"),
        (Progress(500, 0, "files"), "Searching folders  ·  500"),
        (Progress(3, 0, "files read"), "Comparing contents  ·  3"),
    ],
)
def test_progress(progress: Progress, words: str) -> None:
    """The action and its progress."""
    assert progress_line(progress) == words


def test_a_preview_tells_everything() -> None:
    """Counts by kind of match, what stays, and examples of each."""
    moves = (
        *(move(number) for number in range(5)),
        move(5, Way.NAME),
        move(6, Way.CONTENT, size_bytes=11),
    )
    plan = RelinkPlan(
        images=20,
        moves=moves,
        strangers=(9, 10),
        doubts=(Doubt(image(7), (), 2),),
        taken=(move(8),),
        missing=(image(11),),
        failures=(FileFailure(Path("/new/locked"), "no"),),
    )
    assert verdict(plan) == "7 of 10 found"
    assert way_lines(plan) == (
        "5 by their folders",
        "1 by name and size",
        "1 by content",
        "new: 6 images, by name and size only",
        "1 changed in the meantime",
        "2 images added from the new place without a label will be replaced",
    )
    assert left_lines(plan) == (
        "1 could be several files. Choose a narrower folder to tell them apart.",
        "1 already in the project as another image with a label.",
        "1 not found there.",
        "locked could not be searched.",
    )
    assert example_lines(plan, Path("/old")) == tuple(
        f"photos/{number}.jpg → {Path('/new') / f'{number}.jpg'}" for number in (0, 2, 4)
    )


def test_nothing_found_and_nothing_missing() -> None:
    """The two results have different texts."""
    assert verdict(RelinkPlan(images=3)) == "No image is missing."
    assert verdict(RelinkPlan(images=3, missing=(image(1),))) == "None of them was found there."


def test_paths_are_short_beside_the_project() -> None:
    """Relative, as in the project file."""
    assert short_path(Path("/data/a/b.jpg"), Path("/data")) == "a/b.jpg"
    assert short_path(Path("/other/b.jpg"), Path("/data")) == str(Path("/other/b.jpg"))


@pytest.mark.parametrize(
    ("verified", "words"),
    [
        (140, "140 images, all verified by content"),
        (28, "140 images, 28 verified by content, 112 by name and size"),
        (0, "140 images, by name and size only"),
    ],
)
def test_what_was_compared(verified: int, words: str) -> None:
    """How the matches were verified."""
    assert checked_line(FolderCheck(Path("/new"), 140, verified)) == words


def test_another_picture_in_an_image_s_place_is_shown() -> None:
    """It is not relinked."""
    plan = RelinkPlan(images=1, mismatched=(move(1),))
    assert (
        left_lines(plan)[0]
        == "1 not updated: a file with the same name and size is a different image."
    )
