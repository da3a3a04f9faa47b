"""Class lists imported from the window: previewed, imported in one step, undone."""

import gc
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QFileDialog

from app.graph_import.controller import GraphImports
from app.graph_import.logic import GraphSurvey
from app.graph_import.view import GraphImportCard
from app.theme import set_scheme
from engine.project import Project
from tests.support.clipping import clipped, overlapping
from tests.support.collections import Collection, write_graph
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by, recorded
from tests.support.widgets import button

Key = Qt.Key

NEW = "child,parent\nDune gull,Gulls\nGulls,\n"
NEXT_YEAR: Mapping[str, Sequence[str]] = {
    "Crimson": ("Red Disc", "Red stripes", "Red checks"),
    "Green": ("Green disc",),
    "Blue": ("Blue disc", "Blue stripes", "Green stripes", "Blue zigzag"),
}


def click(desk: Desk, part: QAbstractButton) -> None:
    """Click on a check box or button near its left edge."""
    assert part.isEnabled()
    desk.qtbot.mouseClick(part, Qt.MouseButton.LeftButton, pos=QPoint(12, part.height() // 2))


@pytest.fixture
def class_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list that the patched file dialog always returns."""
    source = tmp_path / "birds.csv"
    source.write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_texts, **_options: (str(source), "")
    )
    return source


def open_list(desk: Desk) -> GraphImportCard:
    """Open the list by the key and the dialog; wait for the preview or an error."""
    desk.press(Key.Key_I, CONTROL | SHIFT)
    card = desk.window.of(GraphImports).card
    assert card is not None
    desk.wait(lambda: bool(card.summary) or bool(card.failure.text))
    return card


@pytest.fixture
def cancelled_dialog(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Cancel the file dialog; returns the folders in which it was opened."""
    folders: list[str] = []

    def cancel(_parent: object, _title: str, folder: str, *_texts: str) -> tuple[str, str]:
        folders.append(folder)
        return "", ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", cancel)
    return folders


def test_the_dialog_comes_at_once_in_the_folder_used_last(
    reviewing: Desk, class_list: Path, request: pytest.FixtureRequest
) -> None:
    """The card opens after the file is read; the next dialog starts in the file's folder."""
    assert open_list(reviewing).summary == "2 new classes"
    reviewing.press(Key.Key_Escape)
    folders = request.getfixturevalue("cancelled_dialog")
    reviewing.press(Key.Key_I, CONTROL | SHIFT)
    assert folders == [str(class_list.parent)]


@pytest.mark.slow
@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_Enter, Key.Key_Space])
def test_a_cancelled_dialog_leaves_the_choice_of_a_folder(
    reviewing: Desk, cancelled_dialog: list[str], key: Qt.Key
) -> None:
    """The file dialog cannot choose folders; the focused button also reacts to Enter."""
    reviewing.press(Key.Key_I, CONTROL | SHIFT)
    card = reviewing.window.of(GraphImports).card
    assert card is not None
    assert card.folder_button.isVisible()
    assert card.file_button.hasFocus()
    reviewing.press(key)
    assert len(cancelled_dialog) == 2


@pytest.mark.slow
def test_the_link_in_an_empty_tree_imports_a_list(
    desk: Desk, tmp_path: Path, class_list: Path
) -> None:
    """It is shown while there are no classes, and is reachable by Tab."""
    desk.window.session.create(tmp_path / "new.protoleaf")
    tree = desk.window.tree
    link = button(tree, "Import a list…")
    desk.wait(link.isVisible)
    assert link.focusPolicy() & Qt.FocusPolicy.TabFocus
    desk.qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    card = desk.window.of(GraphImports).card
    assert card is not None
    desk.wait(lambda: bool(card.summary))
    desk.press_for_change(Key.Key_Return)
    desk.wait(lambda: not link.isVisible())


TYPED = "Top,Below,What\nBirds,Gulls,Herring gull\nBirds,Gulls,Sand gull\nBirds,,Crow\n"


def choose_role(desk: Desk, box: QComboBox, title: str) -> None:
    """Open a column's combo box, select an item, and press Enter."""
    desk.qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    rows = box.view()
    desk.wait(rows.isVisible)
    rows.setCurrentIndex(box.model().index(box.findText(title), 0))
    desk.qtbot.keyClick(rows, Key.Key_Return)
    assert box.currentText() == title


@pytest.mark.slow
def test_columns_are_mapped_by_hand_and_remembered(reviewing: Desk, class_list: Path) -> None:
    """Other columns become levels; the next file with the same header reuses the mapping."""
    class_list.write_text(TYPED, encoding="utf-8")
    reviewing.press(Key.Key_I, CONTROL | SHIFT)
    card = reviewing.window.of(GraphImports).card
    assert card is not None
    reviewing.wait(card.columns.isVisible)
    assert card.columns.words.text().startswith(
        "Choose the content of each column: at least the name of the class"
    )
    assert card.failure.text == ""
    assert not card.import_button.isEnabled()
    assert_words_are_whole(card)
    cell = card.columns.table.item(1, 2)
    assert cell is not None
    assert cell.text() == "Herring gull"
    for column, title in enumerate(("Level 1", "Level 2", "Level 3")):
        choose_role(reviewing, card.columns.boxes[column], title)
    reviewing.wait(lambda: card.summary == "5 new classes")
    assert card.levels.rows[0] == (0, "Birds", "4")
    assert (1, "Gulls", "2") in card.levels.rows
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button)
    )
    class_list.write_text(f"{TYPED}Birds,Gulls,Dune gull\n", encoding="utf-8")
    # The offscreen plugin does not activate it after the popups of combo boxes.
    reviewing.window.activateWindow()
    reviewing.wait(reviewing.window.isActiveWindow)
    reviewing.grid.setFocus()
    open_list(reviewing)
    assert card.summary == "1 new class"
    assert not card.columns.isVisible()
    click(reviewing, card.columns_button)
    assert [box.currentText() for box in card.columns.boxes] == ["Level 1", "Level 2", "Level 3"]
    assert_words_are_whole(card)
    crow = reviewing.graph.find("Crow")
    assert reviewing.graph.attributes(crow).rank == ""


def assert_words_are_whole(card: GraphImportCard) -> None:
    """In both colour schemes: no text is clipped or overlapped, and the buttons are visible."""
    for scheme in ("light", "dark"):
        set_scheme(scheme)
        QApplication.sendPostedEvents()
        QApplication.processEvents()
        assert clipped(card) == []
        assert overlapping(card) == []
        assert card.rect().contains(card.panel.geometry())
        footer = card.import_button.mapTo(card.panel, card.import_button.rect().bottomRight())
        assert card.panel.rect().contains(footer)


@pytest.mark.slow
def test_a_list_is_looked_through_imported_and_taken_back(
    reviewing: Desk, class_list: Path
) -> None:
    """By keyboard alone: contents and preview; one step; the second import has nothing new."""
    reviewing.window.resize(1000, 640)
    classes = len(reviewing.graph)
    card = open_list(reviewing)
    assert_words_are_whole(card)
    assert card.kind.text() == "Table, 2 classes, 1 edge"
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
    assert card.besides.text() == "2 classes are in the project already."
    assert not card.import_button.isEnabled()
    assert card.keep_button.hasFocus()
    reviewing.press(Key.Key_Escape)
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert len(reviewing.graph) == classes


@pytest.mark.slow
def test_next_years_list_updates_what_was_imported(
    reviewing: Desk, collection: Collection, tmp_path: Path, class_list: Path
) -> None:
    """Renamed and moved classes keep their labels; removed ones stay unless requested."""
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
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button)
    )
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


@pytest.mark.slow
def test_what_is_gone_is_removed_when_the_box_says_so(
    reviewing: Desk, tmp_path: Path, class_list: Path
) -> None:
    """Only classes without labels are removed; the check box is shown for updates only."""
    open_list(reviewing)
    reviewing.press_for_change(Key.Key_Return)
    class_list.write_text("child,parent\nSand gull,Gulls\nGulls,\n", encoding="utf-8")
    card = open_list(reviewing)
    gone = card.sections["gone"]
    assert (gone.title, gone.rows) == (
        "1 class is no longer in the file. It stays.",
        [("Gulls/Dune gull", "")],
    )
    assert gone.box.text() == "Remove the one without labels"
    card.scroll_area.ensureWidgetVisible(gone.box)
    click(reviewing, gone.box)
    changed_by(
        reviewing.qtbot, reviewing.window.session, lambda: click(reviewing, card.import_button)
    )
    assert [
        reviewing.graph.name(each)
        for each in reviewing.graph.children(reviewing.graph.find("Gulls"))
    ] == ["Sand gull"]


@pytest.mark.slow
def test_a_broken_list_is_reported_in_place(reviewing: Desk, class_list: Path) -> None:
    """The error has the line of the cycle; another file can be chosen, and Esc changes nothing."""
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


@pytest.mark.slow
def test_a_list_that_closes_a_circle_with_ours_can_only_be_updated(
    reviewing: Desk, class_list: Path
) -> None:
    """Adding is impossible, with the reason; as a new version it reverses the edge."""
    class_list.write_text(
        json.dumps(
            {
                "name": "Red disc",
                "children": [
                    {"name": "Red", "children": [{"name": "Red stripes"}, {"name": "Red checks"}]}
                ],
            }
        ),
        encoding="utf-8",
    )
    card = open_list(reviewing)
    assert card.update_box.isChecked()
    assert card.sections["moved"].rows[0][:2] == ("Red", "Red disc/Red")


@pytest.mark.slow
@pytest.mark.usefixtures("cancelled_dialog")
def test_folders_are_a_class_list_too(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chosen by the second button, after the file dialog was cancelled."""
    (tmp_path / "fruit" / "Apple" / "Granny Smith").mkdir(parents=True)
    monkeypatch.setattr(
        QFileDialog, "getExistingDirectory", lambda *_texts, **_options: str(tmp_path / "fruit")
    )
    reviewing.press(Key.Key_I, CONTROL | SHIFT)
    card = reviewing.window.of(GraphImports).card
    assert card is not None
    assert clipped(card) + overlapping(card) == []
    click(reviewing, card.folder_button)
    reviewing.wait(lambda: bool(card.summary))
    assert (card.summary, card.kind.text()) == ("2 new classes", "Folders, 2 classes, 1 edge")


def looks(desk: Desk) -> tuple[object, ...]:
    """Expanded rows, selection and scroll positions of tree and grid."""
    tree, grid = desk.window.tree.front, desk.grid
    rows, index = [], tree.model().index(0, 0)
    while index.isValid():
        rows.append((index.data(), tree.isExpanded(index)))
        index = tree.indexBelow(index)
    return (
        rows,
        tree.selected_class,
        tree.verticalScrollBar().value(),
        grid.selected_ids,
        grid.current_id,
    )


@pytest.mark.slow
def test_looking_leaves_all_in_place(reviewing: Desk, class_list: Path) -> None:
    """Expansion, selection and focus are restored, and the list is released from memory."""
    tree = reviewing.window.tree.front
    QTest.mouseClick(
        tree.viewport(),
        Qt.MouseButton.LeftButton,
        pos=tree.visualRect(tree.model().index(0, 0)).center(),
    )
    for key in (Key.Key_Right, Key.Key_Down):
        reviewing.press(key)
    reviewing.wait(
        lambda: tree.selected_class is not None and reviewing.grid.model().rowCount() > 1
    )
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
    # `type` queries no attribute of other objects.
    assert not [each for each in gc.get_objects() if type(each) is GraphSurvey]
    assert not states
