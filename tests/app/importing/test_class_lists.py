"""A class list on its way in, and what is said of it."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import recorded

NEW = "child,parent\nDune gull,Gulls\nGulls,\n"


@pytest.fixture
def class_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list that a person chooses in the dialog whenever it opens."""
    source = tmp_path / "classes.csv"
    monkeypatch.setattr(
        "app.importing.controller.QFileDialog.getOpenFileName", lambda *_texts, **_options: (str(source), "")
    )
    return source


def test_an_import_says_what_it_brought(reviewing: Desk, class_list: Path) -> None:
    """The number of new classes the first time, that there is nothing new the second; the menu quotes the same text."""
    class_list.write_text(NEW, encoding="utf-8")
    reviewing.press(Qt.Key.Key_I, CONTROL | SHIFT)
    reviewing.wait(lambda: reviewing.window.toast.message == "Imported 2 classes from classes.csv")
    assert reviewing.window.registry.action("undo").text() == "Undo “Imported 2 classes from classes.csv”"
    reviewing.press(Qt.Key.Key_I, CONTROL | SHIFT)
    reviewing.wait(lambda: reviewing.window.toast.message.startswith("Nothing new: all classes of classes.csv"))


def looks(desk: Desk) -> tuple[object, ...]:
    """What a person sees of classes and images: open rows, choice and scroll place."""
    tree, grid = desk.window.tree.front, desk.grid
    rows, index = [], tree.model().index(0, 0)
    while index.isValid():
        rows.append((index.data(), tree.isExpanded(index)))
        index = tree.indexBelow(index)
    return rows, tree.selected_class, tree.verticalScrollBar().value(), grid.selected_ids, grid.current_id


@pytest.mark.parametrize("content", ["child,parent\na,b\nb,a\n", "child,parent\nRed,\nRed disc,Red\n"])
def test_an_import_that_changes_nothing_leaves_all_in_place(reviewing: Desk, class_list: Path, content: str) -> None:
    """A list with a cycle, and one with nothing new: branches stay open, class and cards stay chosen."""
    class_list.write_text(content, encoding="utf-8")
    tree = reviewing.window.tree.front
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(tree.model().index(0, 0)).center())
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
        reviewing.press(key)
    reviewing.wait(lambda: tree.selected_class is not None and reviewing.grid.model().rowCount() > 1)
    reviewing.grid.setFocus()
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right):
        reviewing.press(key)
    before = looks(reviewing)
    assert any(is_open for _name, is_open in before[0])  # type: ignore[attr-defined]
    states = recorded(reviewing.window.session.state_changed)
    reviewing.press(Qt.Key.Key_I, CONTROL | SHIFT)
    reviewing.wait(
        lambda: bool(reviewing.window.toast.message) and (bool(states) or "new" in reviewing.window.toast.message)
    )
    assert looks(reviewing) == before
