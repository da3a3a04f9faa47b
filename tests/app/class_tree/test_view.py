"""The left pane with a real project: subsets, filter, and one selection for both."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.class_requests import ClassRequests
from app.class_tree.delegate import DOT_ROOM, HEIGHT_WITH_PATH
from app.class_tree.row_data import NAME, PATH_ROLE
from app.class_tree.view import ClassTree
from app.session import Session
from app.session.subsets import Subset
from tests.support.collections import Collection
from tests.support.sessions import LONG_MS, act, open_project, recorded
from tests.support.widgets import texts

MORE_THAN_ONE_COLOUR = 3
"""The background of a row, and at most its edge."""


@pytest.fixture
def pane(qtbot: QtBot, session: Session, collection: Collection) -> Iterator[ClassTree]:
    """The pane with the small collection open."""
    pane = ClassTree(session, ClassRequests())
    qtbot.addWidget(pane)
    pane.resize(280, 600)
    pane.show()
    open_project(qtbot, session, collection.project)
    yield pane
    pane.hide()


def type_filter(qtbot: QtBot, pane: ClassTree, text: str) -> None:
    """Type into the filter field and wait for the debounce timer."""
    field = pane.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setText(text)
    qtbot.waitUntil(lambda: not pane._filter_timer.isActive(), timeout=LONG_MS)  # noqa: SLF001 (waits for the pause after typing)


def found_names(pane: ClassTree) -> set[str]:
    """Names of the expanded rows of the visible tree."""
    tree, names = pane.front, set()
    index = tree.model().index(0, 0)
    while index.isValid():
        names.add(str(index.data()))
        index = tree.indexBelow(index)
    return names


@pytest.mark.slow
def test_a_class_and_a_subset_are_one_choice(pane: ClassTree, session: Session) -> None:
    """Selecting a class deselects the subset, and vice versa."""
    classes, subsets = recorded(pane.class_selected), recorded(pane.subset_selected)
    pane.select_subset(Subset.TO_REVIEW)
    disc = session.graph.find("Red disc")
    pane.select_class(disc)
    assert (pane.selected_class, pane.selected_subset) == (disc, None)
    pane.select_subset(Subset.ALL)
    assert (pane.selected_class, pane.selected_subset) == (None, Subset.ALL)
    assert classes == [(disc,)]
    assert subsets == [(Subset.TO_REVIEW,), (Subset.ALL,)]


@pytest.mark.slow
def test_a_search_shows_flat_rows_with_their_path(
    qtbot: QtBot, pane: ClassTree, session: Session
) -> None:
    """Only matching classes, each with its path; the selection stays when the filter is cleared."""
    type_filter(qtbot, pane, "checks")
    assert found_names(pane) == {"Red checks", "Blue checks"}
    checks = session.graph.find("Blue checks")
    row = pane.front.model().index(1, NAME)
    assert (row.data(), row.data(PATH_ROLE)) == ("Blue checks", "Blue")
    place = pane.front.visualRect(row)
    assert place.height() == HEIGHT_WITH_PATH
    qtbot.mouseClick(pane.front.viewport(), Qt.MouseButton.LeftButton, pos=place.center())
    assert pane.selected_class == checks
    picture = pane.front.viewport().grab(place).toImage()
    lower = range(round(picture.height() * 0.6), picture.height() - 4)
    middle = picture.width() // 2
    ink = {picture.pixel(x, y) for y in lower for x in range(DOT_ROOM + 2, middle)}
    assert len(ink) > MORE_THAN_ONE_COLOUR  # the path is painted there
    type_filter(qtbot, pane, "")
    assert pane.selected_class == checks
    assert "Green" in found_names(pane)


@pytest.mark.slow
def test_a_filter_without_matches_says_so(qtbot: QtBot, pane: ClassTree) -> None:
    """The pane quotes the filter text; the tree returns when the filter is cleared."""
    type_filter(qtbot, pane, "zebra")
    assert "zebra" in texts(pane)
    type_filter(qtbot, pane, "")
    assert found_names(pane) >= {"Red", "Green", "Blue"}


@pytest.mark.slow
def test_enter_in_the_filter_goes_to_the_best_fit(
    qtbot: QtBot, pane: ClassTree, session: Session
) -> None:
    """A few letters and Enter select the class in the unfiltered tree."""
    field = pane.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    qtbot.keyClicks(field, "green str")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.selected_class == session.graph.find("Green stripes")
    assert field.text() == ""


@pytest.mark.slow
def test_an_edit_shows_while_filtering(qtbot: QtBot, pane: ClassTree, session: Session) -> None:
    """A new class that matches is added to the rows."""
    type_filter(qtbot, pane, "checks")
    green = session.graph.find("Green")
    act(qtbot, session, lambda project: project.classes.add("Green checks", (green,))[0])
    assert "Green checks" in found_names(pane)


def test_a_project_without_classes_says_what_to_do(
    qtbot: QtBot, session: Session, collection: Collection
) -> None:
    """An empty tree shows a hint."""
    pane = ClassTree(session, ClassRequests())
    qtbot.addWidget(pane)
    with qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.create(collection.folder / "empty.protoleaf")
    assert "Click + to add a class" in texts(pane)
    asked = recorded(pane.requests.create_requested)
    qtbot.keyClick(pane, Qt.Key.Key_Insert)
    assert asked == [(None,)]


@pytest.mark.slow
def test_subsets_count_the_collection(pane: ClassTree, session: Session) -> None:
    """24 of 64 images are labelled, 40 are to review."""
    counts = pane.subset_list.rows.counts  # as numbers, not as painted
    assert (counts[Subset.ALL], counts[Subset.LABELLED], counts[Subset.TO_REVIEW]) == (64, 24, 40)
    assert session.state is not None
