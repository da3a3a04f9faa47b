"""What is shown of backbones before a project is made."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.language import ENGLISH, install_language
from app.welcome.logic import ExpectedSpeed, NewProject, Photos, speeds
from app.welcome.wording import duration_text, speed_text, subject
from engine.backbones.bundled import BackboneChoice, OfferedBackbone
from engine.collection.models import find_model
from engine.embedding.messages import PhotoRate


@pytest.mark.parametrize(
    ("speed", "is_measuring", "expected"),
    [
        (None, True, "Measuring the speed…"),
        (None, False, ""),
        (ExpectedSpeed(160.4, has_photos=True), False, "160\u00a0images/s on this computer"),
        (ExpectedSpeed(160.4), False, "Up to 160\u00a0images/s on this computer"),
        (ExpectedSpeed(2.44, is_scaled=True, has_photos=True), True, "About 2.4\u00a0images/s on this computer"),
    ],
)
def test_a_speed_says_what_it_was_measured_on(speed: ExpectedSpeed | None, is_measuring: bool, expected: str) -> None:
    """Without photos reading them does not count; a speed from another backbone's is marked as rough."""
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
    """Nobody plans by the second."""
    assert duration_text(ExpectedSpeed(10.0, has_photos=True), Photos(images)) == expected


def test_no_duration_is_shown_too_early() -> None:
    """Not while images are still counted, and not when no photo was tried."""
    assert duration_text(ExpectedSpeed(10.0, has_photos=True), Photos(800, is_counting=True)) == ""
    assert duration_text(ExpectedSpeed(10.0), Photos(800)) == ""


def test_a_backbone_that_is_not_ready_goes_by_the_other() -> None:
    """Its network takes so many times as long; reading the photos takes the same time."""
    files = find_model()
    fast = OfferedBackbone(BackboneChoice.FAST, "fast one", files.card, files.backbone)
    accurate = OfferedBackbone(BackboneChoice.ACCURATE, "accurate one", files.card, None, times_the_work=4.0)
    found = speeds((accurate, fast), {"fast one": PhotoRate(400.0, 100.0)})
    assert found["fast one"] == ExpectedSpeed(pytest.approx(80.0), has_photos=True)  # type: ignore[arg-type]
    assert found["accurate one"] == ExpectedSpeed(pytest.approx(50.0), is_scaled=True, has_photos=True)  # type: ignore[arg-type]
    assert speeds((accurate, fast), {}) == {}


def test_what_is_imported(compiled_languages: Path, qapp: QApplication) -> None:
    """One folder is no several, in a language without a plural, too."""
    one, two = (NewProject((), dropped=tuple(map(Path, names))) for names in ("a", "ab"))
    assert [subject(each, Photos(3)) for each in (one, two)] == ["“a”: 3 images", "“a” and more: 3 images"]
    install_language(qapp, str(compiled_languages / "protoleaf_zh_CN.qm"))
    try:
        assert [subject(each, Photos(3)) for each in (one, two)] == ["“a”\uff1a3 张图像", "“a”等\uff1a3 张图像"]
    finally:
        install_language(qapp, ENGLISH)
