"""Class lists come in through the window: looked through, taken over as one step, taken back."""

import gc
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog

from app.graph_import.controller import GraphImports
from app.graph_import.logic import GraphSurvey
from app.graph_import.view import GraphImportCard
from app.theme import set_scheme
from engine.project import Project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import Collection, write_graph
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by, recorded

Key = Qt.Key

NEW = "child,parent\nDune gull,Gulls\nGulls,\n"
NEXT_YEAR: Mapping[str, Sequence[str]] = {
    "Crimson": ("Red Disc", "Red stripes", "Red checks"),
    "Green": ("Green disc",),
    "Blue": ("Blue disc", "Blue stripes", "Green stripes", "Blue zigzag"),
}


def click(desk: Desk, part: QAbstractButton) -> None:
    """Press and let go on its mark or its words."""
    assert part.isEnabled()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


@pytest.fixture
def class_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list that a person chooses in the dialog whenever it opens."""
    source = tmp_path / "birds.csv"
    source.write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_texts, **_options: (str(source), ""))
    return source


def open_list(desk: Desk, key: Qt.Key = Key.Key_Space) -> GraphImportCard:
    """Open the card by its key, choose the file by another, and wait for what would be done, or why it cannot be."""
    desk.press(Key.Key_I, CONTROL | SHIFT)
    card = desk.window.of(GraphImports).card
    assert card is not None
    assert card.file_button.hasFocus()
    desk.press(key)
    desk.wait(lambda: bool(card.summary) or bool(card.failure.text))
    return card


@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Enter])
def test_enter_presses_the_button_that_has_the_focus(
    desk: Desk, collection: Collection, class_list: Path, key: Qt.Key
) -> None:
    """The dialog opens, as with Space."""
    desk.open(collection.project)
    assert class_list.is_file()
    assert open_list(desk, key).summary


def assert_words_are_whole(card: GraphImportCard) -> None:
    """In both looks: no word is cut, none lies on another, and the answers are in sight."""
    for scheme in ("light", "dark"):
        set_scheme(scheme)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        assert clipped(card) == []
        assert overlapping(card) == []
        assert card.rect().contains(card.panel.geometry())
        foot = card.import_button.mapTo(card.panel, card.import_button.rect().bottomRight())
        assert card.panel.rect().contains(foot)


def test_a_list_is_looked_through_imported_and_taken_back(reviewing: Desk, class_list: Path) -> None:
    """By keyboard alone: what is in it and how it begins; one step; the second time there is nothing new."""
    reviewing.window.resize(1000, 640)
    classes = len(reviewing.graph)
    card = open_list(reviewing)
    assert_words_are_whole(card)
    assert card.kind == "Table, 2 classes, 1 edge"
    assert card.summary == "2 new classes"
    assert card.levels.rows == [(0, "Gulls", "1"), (1, "Dune gull", "")]
    assert [section.title for section in card.sections.values() if section.title] == []
    assert not card.update_box.isVisible()
    assert len(reviewing.graph) == classes
    assert card.import_button.text() == "Import 2 classes"
    reviewing.press_for_change(Key.Key_Return)
    assert not card.isVisible()
    assert reviewing.window.registry.action("undo").text() == "Undo Import 2 classes from birds.csv"
    assert len(reviewing.graph) == classes + 2
    open_list(reviewing)
    assert card.summary == "Nothing new"
    assert card.besides == "2 classes are in the project already."
    assert not card.import_button.isEnabled()
    assert card.keep_button.hasFocus()
    reviewing.press(Key.Key_Escape)
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert len(reviewing.graph) == classes


def test_next_years_list_updates_what_was_imported(
    reviewing: Desk, collection: Collection, tmp_path: Path, class_list: Path
) -> None:
    """Renamed and moved classes keep their labels; both ways can be looked at; what is gone stays unless asked."""
    write_graph(class_list, NEXT_YEAR)
    red, labels = reviewing.graph.find("Red"), labels_by_class(reviewing)
    card = open_list(reviewing)
    assert card.update_box.isChecked()
    assert_words_are_whole(card)
    assert card.summary == "1 new class, 2 renamed, 1 moved"
    rows = {kind: section.rows for kind, section in card.sections.items() if section.title}
    assert rows == {
        "new": [("Blue/Blue zigzag",)],
        "renamed": [("Red", "Crimson", ""), ("Red/Red disc", "Red Disc", "3")],
        "moved": [("Green/Green stripes", "Blue/Green stripes", "3")],
        "gone": [("Blue/Blue checks", "3")],
    }
    assert card.sections["gone"].box.isHidden()
    click(reviewing, card.update_box)
    assert card.summary == "6 new classes"
    card.update_box.setFocus()
    reviewing.press(Key.Key_Space)
    assert card.summary == "1 new class, 2 renamed, 1 moved"
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button))
    assert reviewing.graph.name(red) == "Crimson"
    assert reviewing.graph.path_text(reviewing.graph.find("Green stripes")) == "Blue/Green stripes"
    assert labels_by_class(reviewing) == labels
    undo = reviewing.window.registry.action("undo").text()
    assert undo == "Undo Update from birds.csv: 1 new class, 2 renamed, 1 moved"
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert reviewing.graph.name(red) == "Red"


def labels_by_class(desk: Desk) -> dict[int, int]:
    """Number of labels of each class."""
    info = desk.window.session.info
    assert info is not None
    with Project.open(info.path, for_writing=False) as project:
        return project.labels.counts()


def test_what_is_gone_is_removed_when_the_box_says_so(reviewing: Desk, tmp_path: Path, class_list: Path) -> None:
    """Classes without labels alone; the box comes with the update and goes with it."""
    open_list(reviewing)
    reviewing.press_for_change(Key.Key_Return)
    class_list.write_text("child,parent\nSand gull,Gulls\nGulls,\n", encoding="utf-8")
    card = open_list(reviewing)
    gone = card.sections["gone"]
    assert (gone.title, gone.rows) == ("1 class is no longer in the file. It stays.", [("Gulls/Dune gull", "")])
    assert gone.box.text() == "Remove the one without labels"
    card.scroll_area.ensureWidgetVisible(gone.box)
    click(reviewing, gone.box)
    changed_by(reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button))
    assert [reviewing.graph.name(each) for each in reviewing.graph.children(reviewing.graph.find("Gulls"))] == [
        "Sand gull"
    ]


def test_a_broken_list_is_reported_in_place(reviewing: Desk, class_list: Path) -> None:
    """With the line of the circle; another file can be chosen at once, and Esc changes nothing."""
    classes = len(reviewing.graph)
    class_list.write_text("child,parent\na,b\nb,a\n", encoding="utf-8")
    card = open_list(reviewing)
    assert card.failure.text.startswith("Line 3 of birds.csv makes a class its own ancestor")
    assert card.file_button.hasFocus()
    class_list.write_text(NEW, encoding="utf-8")
    reviewing.press(Key.Key_Space)
    reviewing.wait(lambda: bool(card.summary))
    assert card.failure.text == ""
    reviewing.press(Key.Key_Escape)
    assert not card.isVisible()
    assert len(reviewing.graph) == classes


def test_a_list_that_closes_a_circle_with_ours_can_only_be_updated(reviewing: Desk, class_list: Path) -> None:
    """Adding is not possible and says why; as a new version it turns the edge round."""
    class_list.write_text(
        json.dumps({"name": "Red disc", "children": [{"name": "Red", "children": [
            {"name": "Red stripes"}, {"name": "Red checks"}]}]}), encoding="utf-8"
    )  # fmt: skip
    card = open_list(reviewing)
    assert card.update_box.isChecked()
    assert card.sections["moved"].rows[0][:2] == ("Red", "Red disc/Red")


def test_folders_are_a_class_list_too(reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chosen by the second button."""
    (tmp_path / "fruit" / "Apple" / "Granny Smith").mkdir(parents=True)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_texts, **_options: str(tmp_path / "fruit"))
    reviewing.press(Key.Key_I, CONTROL | SHIFT)
    card = reviewing.window.of(GraphImports).card
    assert card is not None
    assert clipped(card) + overlapping(card) == []
    click(reviewing, card.folder_button)
    reviewing.wait(lambda: bool(card.summary))
    assert (card.summary, card.kind) == ("2 new classes", "Folders, 2 classes, 1 edge")


def looks(desk: Desk) -> tuple[object, ...]:
    """What a person sees of classes and images: open rows, choice and scroll place."""
    tree, grid = desk.window.tree.front, desk.grid
    rows, index = [], tree.model().index(0, 0)
    while index.isValid():
        rows.append((index.data(), tree.isExpanded(index)))
        index = tree.indexBelow(index)
    return rows, tree.selected_class, tree.verticalScrollBar().value(), grid.selected_ids, grid.current_id


def test_looking_leaves_all_in_place(reviewing: Desk, class_list: Path) -> None:
    """Branches stay open, class and cards stay chosen, the keyboard is back, and the list is not kept in memory."""
    tree = reviewing.window.tree.front
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualRect(tree.model().index(0, 0)).center())
    for key in (Key.Key_Right, Key.Key_Down):
        reviewing.press(key)
    reviewing.wait(lambda: tree.selected_class is not None and reviewing.grid.model().rowCount() > 1)
    reviewing.grid.setFocus()
    for key in (Key.Key_Home, Key.Key_Right):
        reviewing.press(key)
    before = looks(reviewing)
    assert any(is_open for _name, is_open in before[0])  # type: ignore[attr-defined]
    states = recorded(reviewing.window.session.state_changed)
    open_list(reviewing)
    reviewing.press(Key.Key_Escape)
    assert looks(reviewing) == before
    assert reviewing.grid.hasFocus()
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is GraphSurvey]  # asks nothing of other objects
    assert not states
