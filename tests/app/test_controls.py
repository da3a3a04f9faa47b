"""Parts that screens are put together from."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel
from pytestqt.qtbot import QtBot

from app.controls import fill_bar, make_bar, make_notice_column, make_scroll_area
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
