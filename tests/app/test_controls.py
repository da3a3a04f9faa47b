"""Widgets that screens are composed of."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QStyle,
    QStyleOptionButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.controls import (
    dress_number_box,
    fill_column,
    make_button,
    make_choice_box,
    make_form,
    make_hint,
    make_notice_column,
    make_scroll_area,
    set_variant,
)
from app.progress_bar import fill_bar, make_bar
from app.theme import apply_theme
from app.theme.tokens import tokens
from engine.events import Progress
from tests.support.sessions import LONG_MS

_MARK = 22
"""Width of a radio button's or check box's indicator, without the gap."""


def test_a_bar_fills_once_the_total_is_known(qtbot: QtBot) -> None:
    """Before that it is indeterminate; totals beyond 32 bits fit."""
    bar = make_bar()
    qtbot.addWidget(bar)
    fill_bar(bar, Progress(3, 0))
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    fill_bar(bar, Progress(3 * 10**9, 4 * 10**9))
    assert bar.value() / bar.maximum() == 0.75


def test_a_bar_that_moves_has_round_ends(qapp: QApplication, qtbot: QtBot) -> None:
    """Its corners stay unpainted at each position of the chunk, which moves."""
    apply_theme(qapp)
    bar = make_bar()
    qtbot.addWidget(bar)
    bar.setFixedSize(200, 6)
    bar.show()
    seen = set[int]()

    def look() -> bool:
        picture = bar.grab().toImage()
        corners = [
            picture.pixel(x, y) for x in (0, picture.width() - 1) for y in (0, picture.height() - 1)
        ]
        accent = QColor(tokens().colours.accent).rgb()
        assert accent not in corners
        seen.update(x for x in range(0, picture.width(), 20) if picture.pixel(x, 3) == accent)
        return len(seen) > 5

    qtbot.waitUntil(look, timeout=LONG_MS)


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
    """It never scrolls horizontally."""
    area = make_scroll_area()
    qtbot.addWidget(area)
    assert area.focusPolicy() is Qt.FocusPolicy.NoFocus
    assert area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff


@pytest.mark.parametrize(
    "make", [lambda: dress_number_box(QSpinBox()), lambda: dress_number_box(QDoubleSpinBox())]
)
def test_a_number_box_is_like_the_other_fields(
    qtbot: QtBot, qapp: QApplication, make: Callable[[], QSpinBox]
) -> None:
    """Height and text margin equal those of other fields."""
    apply_theme(qapp)
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
    """Leftmost dark column inside the frame."""
    image = field.grab().toImage()
    inside = range(5, image.height() - 5)
    return next(
        x
        for x in range(2, image.width())
        if any(image.pixelColor(x, y).lightness() < 120 for y in inside)
    )


def _left_ink_of(image: QImage) -> int:
    """Leftmost dark column of an image."""
    return next(
        x
        for x in range(image.width())
        if any(image.pixelColor(x, y).lightness() < 120 for y in range(image.height()))
    )


def test_the_wheel_passes_over_fields(qtbot: QtBot) -> None:
    """The wheel over a field must not change its value."""
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
                place,
                field.mapToGlobal(place),
                QPoint(),
                QPoint(0, turn),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            )
            QApplication.sendEvent(field, event)
            assert (number.value(), choice.currentIndex()) == (5, 0)


def test_the_icon_follows_the_variant(qtbot: QtBot) -> None:
    """A button that becomes primary gets its icon in the colour of its text."""
    button = make_button("Try it", lambda: None, icon_name="play")
    qtbot.addWidget(button)
    for variant, colour in (("primary", "on_accent"), ("", "text_secondary"), ("danger", "danger")):
        set_variant(button, variant)
        drawn = button.icon().pixmap(32, 32).toImage()
        colours = {
            drawn.pixelColor(x, y).name()
            for x in range(32)
            for y in range(32)
            if drawn.pixelColor(x, y).alpha() == 255
        }
        assert colours == {getattr(tokens().colours, colour)}


@pytest.mark.parametrize("kind", [QRadioButton, QCheckBox])
def test_a_hint_is_in_line_with_the_words_above_it(
    qtbot: QtBot, qapp: QApplication, kind: type[QRadioButton | QCheckBox]
) -> None:
    """The hint is aligned also after it is shown, hidden and shown again."""
    apply_theme(qapp)
    column, mark, hint = QWidget(), kind("Ink"), make_hint("Ink")
    qtbot.addWidget(column)
    fill_column(column, mark, hint)
    hint.hide()
    column.show()
    hint.show()
    QApplication.processEvents()
    picture = column.grab().toImage()
    words = _left_ink_of(picture.copy(mark.geometry().adjusted(_MARK, 0, 0, 0))) + _MARK
    assert _left_ink_of(picture.copy(hint.geometry())) == pytest.approx(words, abs=1)


@pytest.mark.parametrize("is_checked", [False, True])
@pytest.mark.parametrize("has_focus", [False, True])
def test_a_chip_has_room_for_its_words_in_every_state(
    qtbot: QtBot, qapp: QApplication, *, is_checked: bool, has_focus: bool
) -> None:
    """The text fits also when the chip is checked or focused."""
    apply_theme(qapp)
    row, chip = QWidget(), QPushButton("To review")
    qtbot.addWidget(row)
    chip.setProperty("role", "chip")
    chip.setCheckable(True)
    fill_column(row, chip)
    row.show()
    row.activateWindow()
    chip.resize(chip.sizeHint())
    chip.setChecked(is_checked)
    if has_focus:
        chip.setFocus()
    option = QStyleOptionButton()
    chip.initStyleOption(option)
    inside = chip.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, chip)
    assert inside.width() >= chip.fontMetrics().horizontalAdvance(chip.text())
    assert chip.sizeHint() == chip.size()
