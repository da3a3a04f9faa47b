"""Saved searches in the sidebar: saved, selected, renamed, removed, undone."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.session.subsets import Subset
from tests.support.clicks import RIGHT, choose, click, open_menu
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by

Key = Qt.Key


def search(desk: Desk, text: str) -> None:
    """Press Ctrl+F and type a text."""
    desk.press(Key.Key_F, CONTROL)
    bar = desk.window.workspace.search_bar
    desk.wait(bar.field.hasFocus)
    bar.field.clear()
    QTest.keyClicks(bar.field, text)
    desk.wait(lambda: desk.window.workspace.searching.text == text)


def save(desk: Desk, text: str) -> None:
    """Search, and click the button next to the field."""
    search(desk, text)
    bar = desk.window.workspace.search_bar
    desk.wait(bar.save_button.isVisible)
    changed_by(desk.qtbot, desk.window.session, lambda: desk.click(bar.save_button))
    desk.wait(lambda: text in names(desk))


def names(desk: Desk) -> list[str]:
    """Names of the saved searches."""
    return [each.name for each in desk.window.tree.subset_list.rows.searches]


def row(desk: Desk, place: int) -> QPoint:
    """The position of a saved search."""
    rows = desk.window.tree.subset_list
    return rows.visualRect(rows.rows.index(len(Subset) + place)).center()


@pytest.mark.slow
def test_a_search_is_saved_and_found_again_by_a_click(reviewing: Desk) -> None:
    """The row has a count; the button is hidden while a saved search is shown."""
    save(reviewing, "labelled OR flagged")
    bar, rows = reviewing.window.workspace.search_bar, reviewing.window.tree.subset_list
    assert not bar.save_button.isVisible()
    (saved,) = rows.rows.searches
    assert saved.count == 24
    reviewing.press(Key.Key_Escape)
    reviewing.window.tree.select_subset(Subset.TO_REVIEW)
    click(rows.viewport(), row(reviewing, 0))
    assert bar.field.text() == "labelled OR flagged"
    reviewing.wait(lambda: reviewing.grid.model().rowCount() == 24)
    assert rows.selected == saved


@pytest.mark.slow
def test_a_count_follows_labels(reviewing: Desk) -> None:
    """Counts are updated on a thread."""
    save(reviewing, "labelled")
    reviewing.press(Key.Key_Escape)
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_1)
    rows = reviewing.window.tree.subset_list.rows
    reviewing.wait(lambda: [each.count for each in rows.searches] == [25])


@pytest.mark.slow
def test_a_saved_search_is_renamed_removed_and_that_is_undone(reviewing: Desk) -> None:
    """The row is edited by its menu and by keys."""
    save(reviewing, "labelled")
    rows = reviewing.window.tree.subset_list
    # A new window ignores a pointer that does not move.
    QTest.mouseMove(rows.viewport(), QPoint(1, 1))
    click(rows.viewport(), row(reviewing, 0), RIGHT)
    choose(open_menu(), "Rename…")
    reviewing.wait(lambda: rows.findChild(QLineEdit) is not None)
    editor = rows.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, "All done")
    QTest.keyClick(editor, Key.Key_Return)
    reviewing.wait(lambda: names(reviewing) == ["All done"])
    click(rows.viewport(), row(reviewing, 0))
    rows.setFocus()
    reviewing.press(Key.Key_Delete)
    reviewing.wait(lambda: names(reviewing) == [])
    reviewing.grid.setFocus()
    reviewing.press(Key.Key_Z, CONTROL)
    reviewing.wait(lambda: names(reviewing) == ["All done"])
    assert QApplication.activePopupWidget() is None


def test_a_search_names_the_part_that_matches_nothing(reviewing: Desk) -> None:
    """The message is below the field, with a suggestion."""
    bar = reviewing.window.workspace.search_bar
    search(reviewing, "labelled dragon")
    reviewing.wait(lambda: bar.problem == "Nothing matches “dragon”.")
    assert not bar.save_button.isVisible()
    search(reviewing, "unlabeled")
    reviewing.wait(lambda: bar.problem == "Nothing matches “unlabeled”. Did you mean unlabelled?")
    search(reviewing, "labelled")
    reviewing.wait(lambda: bar.problem == "")
