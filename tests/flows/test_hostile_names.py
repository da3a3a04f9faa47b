"""Names with markup are shown as plain text everywhere, and load nothing."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtGui import Qt as Gui
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.controls import make_button
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import Desk

PICTURE = "<img src='file:///nowhere/picture.png'>"
MOST_ROWS = 12


@pytest.fixture
def hostile(desk: Desk, collection: Collection) -> Desk:
    """The small collection, with markup in class names."""
    with Project.open(collection.project) as project:
        for place, class_id in enumerate(project.classes.graph.classes()):
            project.classes.rename(class_id, f"{PICTURE}<b>{place}</b> & Co")
    desk.open(collection.project)
    return desk


def hovered(widget: QWidget, place: QPoint) -> str:
    """The tooltip of a widget at a point, "" for none."""
    QToolTip.hideText()
    QApplication.sendEvent(
        widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
    )
    return QToolTip.text()


def places(view: QAbstractItemView) -> Iterator[QRect]:
    """Rectangles of the first rows of a view."""
    model = view.model()
    index = model.index(0, 0)
    for _ in range(MOST_ROWS):
        if not index.isValid():
            return
        yield view.visualRect(index)
        index = model.index(index.row() + 1, 0)


def every_tip(window: QWidget) -> Iterator[str]:
    """Tooltips of all visible widgets and rows."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        yield hovered(widget, widget.rect().center())
        if isinstance(widget, QAbstractItemView):
            for place in places(widget):
                yield hovered(widget.viewport(), place.center())


def assert_plain(desk: Desk) -> set[str]:
    """Assert that no label, button or tooltip interprets markup; returns the tooltips."""
    labels = [
        label for label in desk.window.findChildren(QLabel) if label.isVisible() and label.text()
    ]
    rich = [
        label.text()
        for label in labels
        if label.textFormat() is not Qt.TextFormat.PlainText and Gui.mightBeRichText(label.text())
    ]
    assert rich == []
    tips = {tip for tip in every_tip(desk.window) if tip}
    assert [tip for tip in tips if Gui.mightBeRichText(tip) and "<img" in tip] == []
    return tips


@pytest.mark.slow
def test_names_are_text_in_tree_grid_and_inspector(hostile: Desk) -> None:
    """Tooltips of classes, images and their pages show the name with its brackets."""
    hostile.choose(0)
    tips = assert_plain(hostile)
    assert any("&lt;img" in tip for tip in tips), "a name was shown, escaped"


@pytest.mark.slow
def test_names_are_text_on_class_pages_and_in_the_graph(hostile: Desk) -> None:
    """No page of a class and no drawing of the graph interprets markup."""
    hostile.window.registry.trigger("show_graph")
    QApplication.processEvents()
    assert_plain(hostile)


def test_a_button_shows_an_ampersand_as_itself(qtbot: QtBot) -> None:
    """`&` in a name makes no mnemonic."""
    button = make_button("Gull & Co", lambda: None)
    qtbot.addWidget(button)
    assert button.text() == "Gull && Co"
    assert button.shortcut().isEmpty()
