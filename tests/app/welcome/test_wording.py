"""Texts about backbones and photos before a project is created."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.welcome.logic import ExpectedSpeed, Photos, speeds
from app.welcome.recent_facts import RecentFacts
from app.welcome.wording import (
    class_folders_text,
    class_list_text,
    duration_text,
    recent_text,
    speed_text,
)
from engine.backbones.bundled import BackboneChoice, OfferedBackbone
from engine.collection.importing.folder_choice import read_class_text
from engine.collection.models import find_model
from engine.embedding.messages import PhotoRate

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("speed", "is_measuring", "expected"),
    [
        (None, True, "Measuring the speed…"),
        (None, False, ""),
        (ExpectedSpeed(160.4, has_photos=True), False, "160\u00a0images/s on this computer"),
        (ExpectedSpeed(160.4), False, "Up to 160\u00a0images/s on this computer"),
        (
            ExpectedSpeed(2.44, is_scaled=True, has_photos=True),
            True,
            "About 2.4\u00a0images/s on this computer",
        ),
    ],
)
def test_a_speed_says_what_it_was_measured_on(
    speed: ExpectedSpeed | None, is_measuring: bool, expected: str
) -> None:
    """Without photos decoding is not included; estimates from another backbone are marked."""
    assert speed_text(speed, is_measuring=is_measuring) == expected


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (0, ""),
        (1, "A few seconds for 1 image"),
        (370, "About 40\u00a0seconds for 370 images"),
        (590, "About 1\u00a0minute for 590 images"),
        (800, "About 1\u00a0minute for 800 images"),
        (10_000, "About 17\u00a0minutes for 10000 images"),
        (36_000, "About 1\u00a0hour for 36000 images"),
        (100_000, "About 3\u00a0hours for 100000 images"),
    ],
)
def test_a_duration_is_rough(images: int, expected: str) -> None:
    """It is not given in seconds."""
    assert duration_text(ExpectedSpeed(10.0, has_photos=True), Photos(images)) == expected


def test_no_duration_is_shown_too_early() -> None:
    """No duration is shown while images are being counted or without a measured photo."""
    assert duration_text(ExpectedSpeed(10.0, has_photos=True), Photos(800, is_counting=True)) == ""
    assert duration_text(ExpectedSpeed(10.0), Photos(800)) == ""


def test_a_backbone_that_is_not_ready_goes_by_the_other() -> None:
    """Its network takes a known multiple of the time; decoding takes the same."""
    files = find_model()
    fast = OfferedBackbone(BackboneChoice.FAST, "fast one", files.card, files.backbone)
    accurate = OfferedBackbone(
        BackboneChoice.ACCURATE, "accurate one", files.card, None, times_the_work=4.0
    )
    found = speeds((accurate, fast), {"fast one": PhotoRate(400.0, 100.0)})
    assert found["fast one"] == ExpectedSpeed(pytest.approx(80.0), has_photos=True)  # type: ignore[arg-type]
    scaled = ExpectedSpeed(pytest.approx(50.0), is_scaled=True, has_photos=True)  # type: ignore[arg-type]
    assert found["accurate one"] == scaled
    assert speeds((accurate, fast), {}) == {}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (RecentFacts(Path("a"), is_gone=True), "Not found"),
        (RecentFacts(Path("a")), "Cannot be read"),
        (RecentFacts(Path("a"), is_read=True, changed_at=NOW), "No images yet  ·  Today"),
        (
            RecentFacts(Path("a"), is_read=True, images=9, labelled=2, changed_at=NOW),
            "2 of 9 labelled  ·  Today",
        ),
        (
            RecentFacts(
                Path("a"), is_read=True, images=9, labelled=9, changed_at=NOW - timedelta(days=1)
            ),
            "All 9 labelled  ·  Yesterday",
        ),
    ],
)
def test_how_far_a_recent_project_is(facts: RecentFacts, expected: str) -> None:
    """The progress of labelling, and when it was changed."""
    assert recent_text(facts, NOW.date()) == expected


def test_classes_of_folders_are_counted() -> None:
    """Texts have singular and plural."""
    assert class_folders_text(0, 0, ()) == "Add a folder first."
    assert class_folders_text(1, 4, ()) == "1 folder is a class. Its images get labels."
    assert class_folders_text(12, 20, ()) == "12 folders are classes. Their images get labels."


def test_a_list_is_summed_up() -> None:
    """`21 classes on 2 levels`, and its first classes."""
    read = read_class_text("Bird\n  Gull\n  Tern\nFish\nFox\nOwl\nPig", "list")
    expected = "7 classes on 2 levels: Bird, Fish, Fox, Owl, …"
    assert class_list_text(read, is_reading=False) == expected
    assert class_list_text(read_class_text("Gull", "list"), is_reading=False) == "1 class: Gull"
    assert class_list_text(None, is_reading=True) == "Reading…"
