"""Parts that screens are put together from."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QFrame, QLabel, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from app.controls import (
    dress_number_box,
    fill_bar,
    make_bar,
    make_choice_box,
    make_form,
    make_notice_column,
    make_scroll_area,
)
from engine.events import Progress


def test_a_bar_fills_once_the_total_is_known(qtbot: QtBot) -> None:
    """Until then it runs to and fro; billions of bytes fit, too."""
    bar = make_bar()
    qtbot.addWidget(bar)
    fill_bar(bar, Progress(3, 0))
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    fill_bar(bar, Progress(3 * 10**9, 4 * 10**9))
    assert bar.value() / bar.maximum() == 0.75


def test_a_notice_has_its_tone_and_holds_its_words(qtbot: QtBot) -> None:
    """One without a tone is plain."""
    plain, warning, words = QFrame(), QFrame(), QLabel("words")
    for frame in (plain, warning):
        qtbot.addWidget(frame)
    make_notice_column(plain)
    make_notice_column(warning, "warning").addWidget(words)
    assert (plain.property("role"), plain.property("tone")) == ("notice", None)
    assert (warning.property("role"), warning.property("tone")) == ("notice", "warning")
    assert words.parent() is warning


def test_a_scroll_area_is_no_stop_for_the_tab_key(qtbot: QtBot) -> None:
    """And it is as wide as it is: nothing scrolls sideways."""
    area = make_scroll_area()
    qtbot.addWidget(area)
    assert area.focusPolicy() is Qt.FocusPolicy.NoFocus
    assert area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff


@pytest.mark.parametrize("make", [lambda: dress_number_box(QSpinBox()), lambda: dress_number_box(QDoubleSpinBox())])
def test_a_number_box_is_like_the_other_fields(qtbot: QtBot, make: Callable[[], QSpinBox]) -> None:
    """As high, and its text begins where theirs does."""
    form = QWidget()
    qtbot.addWidget(form)
    number, line = make(), QLineEdit("8")
    number.setRange(0, 8888)
    number.setValue(8)
    form.setLayout(make_form({"Number": number, "Line": line}))
    form.show()
    number.clearFocus()
    line.clearFocus()
    assert number.height() == line.height()
    assert _first_ink(number) == pytest.approx(_first_ink(line), abs=3)


def _first_ink(field: QWidget) -> int:
    """Leftmost column with something dark inside of the frame."""
    image = field.grab().toImage()
    inside = range(5, image.height() - 5)
    return next(x for x in range(2, image.width()) if any(image.pixelColor(x, y).lightness() < 120 for y in inside))


def test_the_wheel_passes_over_fields(qtbot: QtBot) -> None:
    """A setting does not change because the pointer was over it."""
    form = QWidget()
    qtbot.addWidget(form)
    number, choice = dress_number_box(QSpinBox()), make_choice_box({1: "one", 2: "two"})
    number.setValue(5)
    form.setLayout(make_form({"Number": number, "Choice": choice}))
    form.show()
    for field in (number, choice):
        for turn in (120, -120):
            place = QPointF(field.rect().center())
            event = QWheelEvent(
                place, field.mapToGlobal(place), QPoint(), QPoint(0, turn), Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
            )  # fmt: skip
            QApplication.sendEvent(field, event)
            assert (number.value(), choice.currentIndex()) == (5, 0)
