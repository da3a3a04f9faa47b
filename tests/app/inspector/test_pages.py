"""The inspector's pages as widgets: they fit the pane, and are updated in place."""

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.class_page import ClassPage
from app.inspector.logic import Certainty, ClassPageFacts, ImageFacts
from app.inspector.page import ScoreLine
from tests.support.clipping import clipped
from tests.support.inspected import facts_of_class, facts_of_image
from tests.support.inspector_pane import Pane
from tests.support.sessions import LONG_MS
from tests.support.widgets import button, texts

LONG_NAMES = ("Ladybird " * 22 + "of", "x" * 200)


@pytest.mark.parametrize("width", [242, 260, 336])
@pytest.mark.parametrize(
    "facts",
    [
        each
        for name in LONG_NAMES
        for each in (
            facts_of_image(Certainty.COARSE, name=name),
            facts_of_image(Certainty.UNKNOWN, name=name),
            facts_of_class(name=name, parents=2),
            facts_of_class(name=name, parents=0, suggested=2),
        )
    ],
)
def test_no_name_is_too_long_for_the_pane(
    pane: Pane, facts: ImageFacts | ClassPageFacts, width: int
) -> None:
    """Names wrap or are elided; percentages and buttons stay visible, and nothing is clipped."""
    pane.area.resize(width, 800)
    page = pane.show(facts)
    assert page.width() == pane.area.viewport().width() <= width
    shown = [part for part in page.findChildren(QWidget) if part.isVisibleTo(page)]
    assert [
        part for part in shown if part.mapTo(page, QPoint(part.width(), 0)).x() > page.width()
    ] == []
    assert clipped(page) == []


@pytest.mark.parametrize("name", LONG_NAMES)
def test_what_is_elided_stands_in_a_tip(pane: Pane, name: str) -> None:
    """The names of the file, of the label and of each class."""
    page = pane.show_image(facts_of_image(name=name))
    assert {name, f"{name}.png"} <= {label.toolTip() for label in page.findChildren(QLabel)}
    assert {f"{name} / {name}"} <= {line.toolTip() for line in page.findChildren(ScoreLine)}


def test_without_a_label_its_button_takes_no_room(pane: Pane) -> None:
    """Also in the narrowest pane the text fits."""
    pane.area.resize(242, 800)
    page = pane.show_image(facts_of_image(is_labelled=False))
    (words,) = [label for label in page.findChildren(QLabel) if label.text() == "Not labelled yet"]
    assert words.fontMetrics().horizontalAdvance(words.text()) <= words.contentsRect().width()


class Windows(QObject):
    """Records widgets that are shown as windows."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Record the widget of a show event if it is a window."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(type(watched).__name__)
        return False


@pytest.mark.parametrize(
    "facts", [facts_of_image(), facts_of_class(), facts_of_class(parents=0, suggested=2)]
)
def test_no_part_of_a_page_flashes_up_as_a_window(
    pane: Pane, facts: ImageFacts | ClassPageFacts
) -> None:
    """A widget shown before it has a parent is a window for a moment, and takes the focus."""
    windows = Windows()
    pane.show(facts)
    assert windows.shown == []


def places(page: QWidget) -> list[int]:
    """Vertical positions of the rows of classes with a digit."""
    QApplication.processEvents()
    return [
        line.y()
        for line in page.findChildren(ScoreLine)
        if line.parent() is page and line.isVisibleTo(page)
    ]


def test_the_next_image_uses_the_same_widgets_in_the_same_places(pane: Pane) -> None:
    """With or without label and explanation, the rows of classes have the same positions."""
    page = pane.show_image(facts_of_image())
    parts, rows = page.findChildren(QWidget), places(page)
    assert len(rows) == 9
    for is_labelled, is_explained in ((False, True), (True, False), (False, False), (True, True)):
        pane.show_image(facts_of_image(is_labelled=is_labelled, is_explained=is_explained))
        assert places(page) == rows
        assert ("Why Gull" in texts(page)) is is_explained
        assert button(page, "Remove label").isVisible() is is_labelled
    assert page.findChildren(QWidget) == parts


def test_a_class_is_chosen_by_mouse_and_by_keys(pane: Pane, qtbot: QtBot) -> None:
    """A click leaves the focus; Tab reaches the rows, where Enter and Space choose."""
    page = pane.show_image(facts_of_image())
    chosen: list[int] = []
    page.row_chosen.connect(chosen.append)
    pane.area.activateWindow()
    pane.area.setFocus()
    qtbot.waitUntil(pane.area.hasFocus, timeout=LONG_MS)
    second = next(
        line for line in page.findChildren(ScoreLine) if line.class_id == 2 and line.isVisible()
    )
    QTest.mouseClick(second, Qt.MouseButton.LeftButton)
    assert (chosen, pane.area.hasFocus()) == ([2], True)
    for _ in range(4):  # past stars, flag and comment
        QTest.keyClick(QApplication.focusWidget() or pane.area, Qt.Key.Key_Tab)
    assert button(page, "Remove label").hasFocus()
    QTest.keyClick(button(page, "Remove label"), Qt.Key.Key_Tab)
    focused = QApplication.focusWidget()
    assert isinstance(focused, ScoreLine)
    QTest.keyClick(focused, Qt.Key.Key_Return)
    QTest.keyClick(focused, Qt.Key.Key_Space)
    assert chosen == [2, 1, 1]


def unlinking(page: ClassPage) -> list[QWidget]:
    """The buttons that unlink the class from a parent."""
    return [
        part
        for part in page.findChildren(QWidget)
        if part.accessibleName().startswith("Unlink from ")
    ]


def test_a_class_with_several_parents_can_be_unlinked_from_each(pane: Pane) -> None:
    """A button next to each names it; a single parent has none."""
    page = pane.show_class(facts_of_class(parents=2))
    asked: list[int] = []
    pane.requests.unlink_requested.connect(lambda _class_id, parent: asked.append(parent))
    for end in unlinking(page):
        QTest.mouseClick(end, Qt.MouseButton.LeftButton)
    assert asked == [2, 3]
    assert unlinking(pane.show_class(facts_of_class(parents=1))) == []
