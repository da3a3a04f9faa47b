"""The frame of the side panels."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.side_panel.frame import NARROWEST, SidePanel, SidePlace
from tests.support.sessions import LONG_MS
from tests.support.widgets import button, scroll_area


def shown_panel(qtbot: QtBot, count: int = 1) -> tuple[SidePanel, list[QLabel]]:
    """A low panel with some lines."""
    panel, parts = SidePanel(), [QLabel(f"line {place}") for place in range(count)]
    qtbot.addWidget(panel)
    panel.lay_out("Heading", "Close; it goes on", parts)
    panel.resize(200, 160)
    panel.show()
    qtbot.waitExposed(panel, timeout=LONG_MS)
    return panel, parts


def test_esc_and_the_button_ask_to_close(qtbot: QtBot) -> None:
    """The panel only emits the request."""
    panel, _ = shown_panel(qtbot)
    with qtbot.waitSignal(panel.close_requested, timeout=LONG_MS):
        qtbot.keyClick(panel, Qt.Key.Key_Escape)
    with qtbot.waitSignal(panel.close_requested, timeout=LONG_MS):
        button(panel, "Close").click()
    with qtbot.assertNotEmitted(panel.close_requested):
        qtbot.keyClick(panel, Qt.Key.Key_Return)
    assert panel.isVisible()
    assert button(panel, "Close").accessibleName() == "Close; it goes on"


def test_a_part_below_the_edge_is_scrolled_to(qtbot: QtBot) -> None:
    """Scrolling follows the event that requested it."""
    panel, parts = shown_panel(qtbot, 40)
    last = parts[-1]
    assert last.visibleRegion().isEmpty()
    panel.bring_into_sight(last)
    qtbot.waitUntil(lambda: last.visibleRegion().boundingRect() == last.rect(), timeout=LONG_MS)


def test_the_page_keys_scroll(qtbot: QtBot) -> None:
    """Page keys work on the panel and its buttons, so that plain text can be read by keyboard."""
    panel, parts = shown_panel(qtbot, 40)
    inside = QPushButton("A button", parts[0])
    inside.show()
    bar = scroll_area(panel).verticalScrollBar()
    for focused in (panel, button(panel, "Close"), inside):
        focused.setFocus()
        qtbot.keyClick(focused, Qt.Key.Key_PageDown)
        assert bar.value() == bar.pageStep()
        qtbot.keyClick(focused, Qt.Key.Key_PageUp)
        assert bar.value() == 0


def test_the_tab_key_stops_at_controls_only(qtbot: QtBot) -> None:
    """The scroll area takes no focus but follows it; a button below the edge becomes visible."""
    panel, parts = shown_panel(qtbot, 40)
    inside = QPushButton("A button", parts[-1])
    inside.show()
    button(panel, "Close").setFocus()
    qtbot.keyClick(button(panel, "Close"), Qt.Key.Key_Tab)
    assert panel.focusWidget() is inside
    assert not inside.visibleRegion().isEmpty()


USUAL_WIDTH = 100


@pytest.fixture
def place(qtbot: QtBot) -> SidePlace:
    """A side place with its default widget."""
    place = SidePlace(QWidget())
    qtbot.addWidget(place)
    place.setMinimumWidth(USUAL_WIDTH)
    return place


def panel_of(qtbot: QtBot) -> QWidget:
    """A panel."""
    panel = QWidget()
    qtbot.addWidget(panel)
    return panel


def test_a_panel_stands_in_and_goes_again(qtbot: QtBot, place: SidePlace) -> None:
    """The default widget is shown again, with its former minimum width."""
    usual, panel = place.currentWidget(), panel_of(qtbot)
    for _ in range(2):
        place.show_panel(panel)
        assert (place.currentWidget(), place.minimumWidth()) == (panel, NARROWEST)
    for _ in range(2):
        place.close_panel(panel)
        assert (place.currentWidget(), place.minimumWidth()) == (usual, USUAL_WIDTH)


def test_one_panel_at_a_time(qtbot: QtBot, place: SidePlace) -> None:
    """A second one replaces the first."""
    first, second = panel_of(qtbot), panel_of(qtbot)
    place.show_panel(first)
    place.show_panel(second)
    assert (place.currentWidget(), place.indexOf(first)) == (second, -1)


def test_the_heading_stays_above_where_nothing_fills_the_panel(qtbot: QtBot) -> None:
    """Directly above its parts."""
    panel, part, filling = SidePanel(), QLabel("nothing changed"), QLabel("a list")
    qtbot.addWidget(panel)
    panel.lay_out("Heading", "Close", [part], filling=filling)
    panel.resize(320, 700)
    panel.show()
    tops = []
    for is_filled in (True, False):
        filling.setVisible(is_filled)
        QApplication.processEvents()
        tops.append([each.mapTo(panel, QPoint()).y() for each in (button(panel, "Close"), part)])
    assert tops[0] == tops[1]
    assert tops[1][1] < 100
