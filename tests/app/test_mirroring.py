"""Positions, keys and texts in a right-to-left window."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.mirroring import isolated, key_in_reading_order, leading_edge, left_to_right, placed
from app.texts import speak, tr
from app.theme.icons import icon_pixmap
from engine.errors import ModelError
from engine.search_folding import folded


@pytest.fixture
def mirrored(qapp: QApplication) -> Iterator[None]:
    """A right-to-left layout."""
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_from_left_to_right_nothing_changes(qapp: QApplication) -> None:
    assert placed(QRect(1, 2, 3, 4), QRect(0, 0, 10, 10)) == QRect(1, 2, 3, 4)
    assert key_in_reading_order(Qt.Key.Key_Left) == Qt.Key.Key_Left
    assert isolated("8%") == left_to_right("8%") == "8%"
    assert tr("{1} of {2}", "1", "2") == "1 of 2"


@pytest.mark.usefixtures("mirrored")
def test_a_part_lies_as_far_from_the_other_edge() -> None:
    """Rectangles outside of the enclosing one are mirrored, too; mirrored twice is unchanged."""
    around = QRect(100, 0, 50, 20)
    for part, seen in (
        (QRect(100, 3, 10, 4), QRect(140, 3, 10, 4)),
        (QRect(85, 3, 15, 4), QRect(150, 3, 15, 4)),
    ):
        assert placed(part, around) == seen
        assert placed(seen, around) == part
        assert placed(QRectF(part), QRectF(around)) == QRectF(seen)


@pytest.mark.usefixtures("mirrored")
def test_left_is_onwards() -> None:
    keys = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up)
    assert [key_in_reading_order(key) for key in keys] == [
        Qt.Key.Key_Right,
        Qt.Key.Key_Left,
        Qt.Key.Key_Up,
    ]


@pytest.mark.usefixtures("mirrored")
def test_values_are_kept_apart_from_the_words_around_them() -> None:
    """Bidirectional isolates in texts of window and engine; a search ignores them."""
    assert tr("{1} of {2}", "/a", "2") == "\u2068/a\u2069 of \u20682\u2069"
    assert isolated("") == left_to_right("") == ""
    assert folded(tr("{1} of {2}", "1", "2")) == "1 of 2"
    error = ModelError("{path} is empty", path="/a")
    speak_backwards()
    try:
        assert error.translated() == "\u2068/a\u2069 is empty"
    finally:
        speak(None)
    assert str(error) == "/a is empty"


def speak_backwards() -> None:
    """Install a translator without translations, with right-to-left marks."""
    from PySide6.QtCore import QTranslator

    speak(QTranslator())


@pytest.mark.usefixtures("mirrored")
def test_lines_begin_at_one_edge(qtbot: QtBot) -> None:
    """Labels in any script are aligned to the leading edge, although Qt aligns by the text."""
    starts = []
    for words in ("Möwe", "שחף"):
        label = QLabel(words)
        qtbot.addWidget(label)
        label.setAlignment(leading_edge())
        label.resize(300, 30)
        picture = label.grab().toImage()
        ground = picture.pixel(0, 0)
        starts.append(
            max(x for x in range(300) if any(picture.pixel(x, y) != ground for y in range(30)))
        )
    assert all(start > 290 for start in starts)


def test_what_points_onwards_is_mirrored(qapp: QApplication) -> None:
    """Chevrons are mirrored, but neither rotation icons nor pictures of things."""
    names = ("chevron_right", "rotate_right", "search")
    before = [icon_pixmap(name, 24).toImage() for name in names]
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    after = [icon_pixmap(name, 24).toImage() for name in names]
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert after[0] == before[0].flipped(Qt.Orientation.Horizontal) != before[0]
    assert after[1:] == before[1:]
