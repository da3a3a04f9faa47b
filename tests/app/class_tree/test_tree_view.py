"""The tree view: expansion and selection, keys and drops."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QModelIndex, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.class_requests import ClassRequests
from app.class_tree.delegate import DOT_ROOM, LEAST_NAME, WIDEST_INDENT, ClassDelegate
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, NAME
from app.class_tree.tree_view import ClassTreeView
from app.dragging import CLASS_MIME, IMAGES_MIME, classes_mime_data
from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import add_parent
from tests.support.deep_graphs import add_all, chain, ladder
from tests.support.graphs import seaside_graph
from tests.support.sessions import LONG_MS, recorded

NO_KEYS = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Tree:
    """A graph and its visible tree."""

    def __init__(self, graph: CategoryGraph) -> None:
        self.graph = graph
        self.model = ClassTreeModel()
        self.view = ClassTreeView(self.model, ClassRequests())
        self.model.set_graph(graph)
        self.view.resize(300, 500)

    def row(self, *names: str) -> QModelIndex:
        """The row at the end of a path of names; its branches are expanded."""
        index = QModelIndex()
        for name in names:
            rows = [self.model.index(row, NAME, index) for row in range(self.model.rowCount(index))]
            index = next(each for each in rows if each.data() == name)
            self.view.expand(index)
        return index

    def edit(self, name: str, *values: object) -> None:
        """Edit the graph and apply the edits to the tree."""
        with self.graph.record() as edits:
            getattr(self.graph, name)(*values)
        self.model.apply_edits(edits)

    def drop(
        self, data: QMimeData, target: QModelIndex, keys: Qt.KeyboardModifier = NO_KEYS
    ) -> tuple[bool, bool]:
        """Drag over a row and drop there, below all rows for an invalid index.

        Returns whether the move and the drop were accepted.
        """
        place = self.view.visualRect(target).center() if target.isValid() else QPoint(20, 480)
        every = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction | Qt.DropAction.LinkAction
        button = Qt.MouseButton.LeftButton
        move = QDragMoveEvent(place, every, data, button, keys)
        self.view.dragMoveEvent(move)
        drop = QDropEvent(QPointF(place), every, data, button, keys)
        drop.ignore()
        self.view.dropEvent(drop)
        return move.isAccepted(), drop.isAccepted()


@pytest.fixture
def tree(qtbot: QtBot) -> Tree:
    """Nine classes, all branches expanded."""
    tree = Tree(seaside_graph())
    qtbot.addWidget(tree.view)
    tree.view.show()
    for path in (("Animal", "Bird", "Gull"), ("Animal", "Diver"), ("Plant",)):
        tree.row(*path)
    return tree


# -- expansion and selection


def test_an_edit_elsewhere_keeps_branches_and_choice(tree: Tree) -> None:
    """A new class collapses nothing and keeps the selection."""
    seal = tree.row("Animal", "Diver", "Seal")
    tree.view.select(seal)
    chosen = recorded(tree.view.class_selected)
    tree.edit("add_class", "Auk", [tree.graph.find("Bird")])
    assert tree.view.isExpanded(tree.row("Animal", "Bird"))
    assert tree.view.isExpanded(tree.row("Animal", "Bird", "Gull"))
    assert tree.view.selected_class == tree.graph.find("Seal")
    assert chosen == []


def test_a_moved_branch_stays_open_and_chosen(tree: Tree) -> None:
    """Gull moves to Diver, still expanded and selected, without a signal of another selection."""
    gull, bird, diver = (tree.graph.find(name) for name in ("Gull", "Bird", "Diver"))
    tree.view.select(tree.row("Animal", "Bird", "Gull"))
    chosen = recorded(tree.view.class_selected)
    tree.edit("move", gull, bird, diver)
    moved = tree.model.indexes_of(gull)
    assert [index.parent().data() for index in moved] == ["Diver"]
    assert tree.view.isExpanded(moved[0])
    assert (tree.view.selected_class, tree.view.selected_parent) == (gull, diver)
    assert chosen == []


def test_a_removed_class_hands_the_choice_on(tree: Tree) -> None:
    """The class that is selected instead is reported."""
    kelp = tree.graph.find("Kelp")
    tree.view.select(tree.row("Plant", "Kelp"))
    chosen = recorded(tree.view.class_selected)
    tree.edit("remove", kelp)
    assert tree.view.selected_class is not None
    assert chosen == [(tree.view.selected_class,)]


def test_a_renamed_class_stays_chosen(tree: Tree) -> None:
    """Its row moves among its siblings and stays selected."""
    gull = tree.graph.find("Gull")
    tree.view.select(tree.row("Animal", "Bird", "Gull"))
    tree.edit("rename", gull, "Zebra gull")
    assert tree.view.selected_class == gull
    assert tree.view.isExpanded(tree.view.selected_index)


@pytest.mark.slow
def test_painting_costs_what_is_visible(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20,000 siblings only the visible rows are painted."""
    graph = CategoryGraph()
    for number in range(20_000):
        graph.add_class(f"class {number}")
    tree = Tree(graph)
    qtbot.addWidget(tree.view)
    tree.view.show()
    painted: list[int] = []
    paint = ClassDelegate.paint

    def counting(*arguments: Any) -> None:
        painted.append(1)
        paint(*arguments)

    monkeypatch.setattr(ClassDelegate, "paint", counting)
    tree.view.viewport().grab()
    assert 0 < len(painted) < 100
    tree.edit("add_class", "class 9999 and a half")
    assert tree.model.rowCount() == 20_001


# -- keys


def test_keys_ask_for_new_classes(qtbot: QtBot, tree: Tree) -> None:
    """Insert and Ctrl+N request a class below the selected one."""
    created = recorded(tree.view.requests.create_requested)
    seal = tree.graph.find("Seal")
    tree.view.select(tree.row("Animal", "Diver", "Seal"))
    qtbot.keyClick(tree.view, Qt.Key.Key_Insert)
    qtbot.keyClick(tree.view, Qt.Key.Key_N, CONTROL)
    assert created == [(seal,), (seal,)]


def test_f2_opens_a_field_and_enter_asks_for_the_name(qtbot: QtBot, tree: Tree) -> None:
    """The editor holds the current name; the typed one is requested."""
    wishes = recorded(tree.model.rename_requested)
    tree.view.select(tree.row("Animal", "Diver", "Seal"))
    qtbot.keyClick(tree.view, Qt.Key.Key_F2)
    field = tree.view.viewport().findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == "Seal"
    qtbot.keyClicks(field, "Grey seal")
    with qtbot.waitSignal(tree.model.rename_requested, timeout=LONG_MS):
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert wishes == [(tree.graph.find("Seal"), "Grey seal")]


def test_a_read_only_tree_asks_for_nothing(qtbot: QtBot, tree: Tree) -> None:
    """Keys and drops do nothing in a read-only project."""
    tree.model.is_editable = False
    asked = [
        recorded(signal)
        for signal in (tree.view.requests.create_requested, tree.view.requests.classes_dropped)
    ]
    tree.view.select(tree.row("Animal", "Diver", "Seal"))
    for key in (Qt.Key.Key_Insert, Qt.Key.Key_F2):
        qtbot.keyClick(tree.view, key)
    assert tree.view.viewport().findChild(QLineEdit) is None
    data = classes_mime_data(((tree.graph.find("Kelp"), tree.graph.find("Plant")),), ["Kelp"])
    assert tree.drop(data, tree.row("Animal")) == (False, False)
    assert asked == [[], []]


# -- drops


def test_a_class_is_moved_and_with_ctrl_linked(tree: Tree) -> None:
    """The drop reports class, old parent, new parent, and whether to link."""
    dropped = recorded(tree.view.requests.classes_dropped)
    kelp, plant, diver = (tree.graph.find(name) for name in ("Kelp", "Plant", "Diver"))
    data = classes_mime_data(((kelp, plant),), ["Kelp"])
    assert tree.drop(data, tree.row("Animal", "Diver")) == (True, True)
    assert tree.drop(data, tree.row("Animal", "Diver"), CONTROL) == (True, True)
    assert tree.drop(data, QModelIndex()) == (True, True)
    places = ((kelp, plant),)
    assert dropped == [(places, diver, False), (places, diver, True), (places, None, False)]


def test_a_drop_where_nothing_would_change_is_refused(tree: Tree) -> None:
    """On itself, its current parent, or for a root the root level, a drop is rejected."""
    dropped = recorded(tree.view.requests.classes_dropped)
    kelp, plant = tree.graph.find("Kelp"), tree.graph.find("Plant")
    assert tree.drop(classes_mime_data(((kelp, plant),), ["Kelp"]), tree.row("Plant", "Kelp")) == (
        False,
        False,
    )
    assert tree.drop(classes_mime_data(((kelp, plant),), ["Kelp"]), tree.row("Plant")) == (
        False,
        False,
    )
    assert tree.drop(classes_mime_data(((plant, None),), ["Plant"]), QModelIndex()) == (
        False,
        False,
    )
    assert dropped == []


@pytest.mark.parametrize(
    ("taken", "target", "keys"),
    [
        pytest.param(("Animal",), ("Animal", "Bird", "Gull"), NO_KEYS, id="below itself"),
        pytest.param(
            ("Animal", "Diver"),
            ("Animal", "Bird", "Puffin"),
            NO_KEYS,
            id="below itself on another way",
        ),
        pytest.param(
            ("Animal", "Bird", "Puffin"),
            ("Animal", "Diver"),
            CONTROL,
            id="linked where it is already",
        ),
        pytest.param(
            ("Animal", "Bird", "Puffin"), (), NO_KEYS, id="to the top level with another parent"
        ),
        pytest.param(
            ("Animal", "Bird", "Gull"), ("Animal", "Bird"), CONTROL, id="linked where it was taken"
        ),
    ],
)
def test_what_the_graph_forbids_is_refused(
    taken: tuple[str, ...], target: tuple[str, ...], keys: Qt.KeyboardModifier, tree: Tree
) -> None:
    """The drop is rejected during the drag, not only on release."""
    dropped = recorded(tree.view.requests.classes_dropped)
    row = tree.row(*taken)
    data = tree.model.mimeData([row])
    assert tree.drop(data, tree.row(*target) if target else QModelIndex(), keys) == (False, False)
    assert dropped == []


def test_what_another_window_drags_is_no_class_and_no_image_here(tree: Tree) -> None:
    """Another process may have another project, so its ids mean nothing here."""
    before = classes_mime_data(((tree.graph.find("Kelp"), None),), ["Kelp"])
    for own in (CLASS_MIME, IMAGES_MIME):
        data = QMimeData()
        data.setData(own.replace(str(os.getpid()), "1"), before.data(CLASS_MIME))
        assert tree.drop(data, tree.row("Animal")) == (False, False)


def image_data() -> QMimeData:
    """Two images of the project."""
    data = QMimeData()
    data.setData(IMAGES_MIME, QByteArray(json.dumps([7, 9]).encode()))
    return data


def file_data() -> QMimeData:
    """A local file and a web address."""
    data = QMimeData()
    data.setUrls(
        [QUrl.fromLocalFile(str(Path("/photos/a.jpg"))), QUrl("https://example.org/b.jpg")]
    )
    return data


def test_dropped_images_are_reported_with_their_class(tree: Tree) -> None:
    """Images are reported with the class below them, or for a new class."""
    dropped = recorded(tree.view.requests.images_dropped)
    assert tree.drop(image_data(), tree.row("Animal", "Diver", "Seal")) == (True, True)
    assert tree.drop(image_data(), QModelIndex()) == (True, True)
    assert dropped == [(tree.graph.find("Seal"), (7, 9)), (None, (7, 9))]


def test_files_need_a_class(tree: Tree) -> None:
    """On a class they are reported with it; below all classes they are rejected."""
    dropped = recorded(tree.view.requests.files_dropped)
    assert tree.drop(file_data(), tree.row("Animal", "Diver", "Seal")) == (True, True)
    assert tree.drop(file_data(), QModelIndex()) == (False, False)
    assert dropped == [(tree.graph.find("Seal"), (Path("/photos/a.jpg"),))]


def test_foreign_things_are_refused(tree: Tree) -> None:
    """Plain text is rejected."""
    data = QMimeData()
    data.setText("hello")
    assert tree.drop(data, tree.row("Animal")) == (False, False)


def test_a_branch_springs_open_under_a_drag(qtbot: QtBot, tree: Tree) -> None:
    """Hovering over a collapsed branch expands it."""
    bird = tree.row("Animal", "Bird")
    tree.view.collapse(bird)
    place = tree.view.visualRect(bird).center()
    data = image_data()
    tree.view.dragMoveEvent(
        QDragMoveEvent(place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, NO_KEYS)
    )
    qtbot.waitUntil(lambda: tree.view.isExpanded(bird), timeout=LONG_MS)


# -- several classes


def test_several_classes_are_chosen_with_shift_and_ctrl(qtbot: QtBot, tree: Tree) -> None:
    """The selection is reported once per current class; rows are in visual order."""
    tree.view.select(tree.row("Animal", "Bird", "Puffin"))
    tree.view.setFocus()
    chosen = recorded(tree.view.class_selected)
    qtbot.keyClick(tree.view, Qt.Key.Key_Down, SHIFT)
    click_row(qtbot, tree, tree.row("Plant"), CONTROL)
    names = ("Puffin", "Bird", "Diver", "Animal", "Plant")
    puffin, bird, diver, animal, plant = map(tree.graph.find, names)
    assert tree.view.selected_places == ((puffin, bird), (diver, animal), (plant, None))
    assert tree.view.selected_class == plant
    assert chosen == [(diver,), (plant,)]


def test_what_is_folded_away_is_not_chosen_any_more(qtbot: QtBot, tree: Tree) -> None:
    """Collapsed rows are deselected, alone or among others."""
    tree.view.select(tree.row("Animal", "Bird", "Gull"))
    click_row(qtbot, tree, tree.row("Plant"), CONTROL)
    tree.view.collapse(tree.row("Animal").siblingAtColumn(NAME))
    assert [index.data() for index in tree.view.selected_rows] == ["Plant"]
    tree.view.select(tree.row("Animal", "Bird", "Gull"))
    tree.view.collapse(tree.model.index(0, NAME))
    assert [index.data() for index in tree.view.selected_rows] == ["Animal"]


def click_row(qtbot: QtBot, tree: Tree, index: QModelIndex, keys: Qt.KeyboardModifier) -> None:
    """Click a row with modifiers."""
    place = tree.view.visualRect(index).center()
    qtbot.mouseClick(tree.view.viewport(), Qt.MouseButton.LeftButton, keys, place)


def test_moved_classes_stay_chosen_together(tree: Tree) -> None:
    """Moved classes stay selected, whichever is current, also if one is removed."""
    gull, kelp, bird, plant, diver = map(
        tree.graph.find, ("Gull", "Kelp", "Bird", "Plant", "Diver")
    )
    tree.view.select(tree.row("Animal", "Bird", "Gull"))
    tree.row("Plant", "Kelp")
    tree.view.select_all_built([kelp])
    with tree.graph.record() as edits:
        tree.graph.move(gull, bird, diver)
        tree.graph.move(kelp, plant, diver)
    tree.model.apply_edits(edits)
    assert tree.view.selected_places == ((gull, diver), (kelp, diver))
    assert tree.view.selected_class == gull
    tree.edit("remove", gull)
    assert tree.view.selected_class == kelp


def test_branches_stay_open_below_a_new_parent(tree: Tree) -> None:
    """The inserted class is expanded with them."""
    bird, animal = tree.graph.find("Bird"), tree.graph.find("Animal")
    with tree.graph.record() as edits:
        add_parent(tree.graph, "Winged", [bird], animal)
    tree.model.apply_edits(edits)
    (row,) = tree.model.indexes_of(bird)
    assert row.parent().data() == "Winged"
    assert tree.view.isExpanded(row.parent())
    assert tree.view.isExpanded(row)


# -- more paths than could be expanded


@pytest.fixture
def ladder_tree(qtbot: QtBot) -> Tree:
    """Sixteen levels of two classes with both parents each (131,070 rows); one path is expanded."""
    graph = CategoryGraph()
    add_all(graph, ladder(16))
    tree = Tree(graph)
    qtbot.addWidget(tree.view)
    tree.view.show()
    tree.row(*(f"left {level}" for level in range(16)))
    return tree


def rows_built(tree: Tree) -> int:
    return sum(len(tree.model.indexes_of(class_id)) for class_id in tree.graph.classes())


def test_the_key_for_a_whole_branch_opens_the_first_rows(qtbot: QtBot, ladder_tree: Tree) -> None:
    """The key * expands only the first rows, while Qt's own would expand every path."""
    ladder_tree.view.select(ladder_tree.row("right 0"))
    qtbot.keyClick(ladder_tree.view, Qt.Key.Key_Asterisk)
    assert ladder_tree.view.isExpanded(
        ladder_tree.row("right 0").model().index(0, NAME, ladder_tree.row("right 0"))
    )
    assert rows_built(ladder_tree) < 2_000


def test_a_moved_branch_opens_no_more_rows_than_anybody_looks_through(ladder_tree: Tree) -> None:
    """What was expanded on one path is expanded again, but only on that path."""
    top = ladder_tree.graph.add_class("top")
    ladder_tree.edit("move", ladder_tree.graph.find("left 0"), None, top)
    assert ladder_tree.view.isExpanded(ladder_tree.row("top", "left 0", "left 1"))
    assert rows_built(ladder_tree) < 2_000


# -- deep trees


@pytest.mark.parametrize("levels", [12, 60])
def test_a_name_keeps_its_room_at_any_depth(qtbot: QtBot, levels: int) -> None:
    """Going down an expanded chain, the indentation shrinks and each name stays readable."""
    graph = CategoryGraph()
    add_all(graph, chain(levels))
    tree = Tree(graph)
    qtbot.addWidget(tree.view)
    tree.view.resize(240, 500)
    tree.view.show()
    tree.view.setFocus()
    qtbot.keyClick(tree.view, Qt.Key.Key_Home)
    qtbot.keyClick(tree.view, Qt.Key.Key_Asterisk)
    qtbot.waitUntil(lambda: tree.view.indentation() < WIDEST_INDENT, timeout=LONG_MS)
    for level in range(1, levels):
        qtbot.keyClick(tree.view, Qt.Key.Key_Down)
        row = tree.view.currentIndex()
        assert row.data() == f"level {level}"
        assert tree.view.viewport().rect().top() <= tree.view.visualRect(row).top()
        # Rounding by Qt.
        assert tree.view.visualRect(row).bottom() <= tree.view.viewport().rect().bottom() + 1
        assert_name_has_room(tree, row)
    for _level in range(levels - 1):
        qtbot.keyClick(tree.view, Qt.Key.Key_Up)
        assert_name_has_room(tree, tree.view.currentIndex())
    assert tree.view.horizontalScrollBar().value() == 0
    qtbot.keyClick(tree.view, Qt.Key.Key_Minus)
    qtbot.waitUntil(lambda: tree.view.indentation() == WIDEST_INDENT, timeout=LONG_MS)
    assert tree.view.horizontalScrollBar().maximum() == 0


def assert_name_has_room(tree: Tree, row: QModelIndex) -> None:
    """A row's name starts in the viewport, before the counts, with room for about ten letters."""
    start = tree.view.visualRect(row).x()
    assert start >= 0
    assert (
        tree.view.viewport().width() - tree.view.header().sectionSize(COUNT) - start
        >= DOT_ROOM + LEAST_NAME
    )


def test_a_click_does_not_scroll_sideways(qtbot: QtBot) -> None:
    """Visible rows keep their horizontal position."""
    graph = CategoryGraph()
    ids = add_all(graph, chain(60))
    tree = Tree(graph)
    qtbot.addWidget(tree.view)
    tree.view.resize(240, 500)
    tree.view.show()
    tree.view.select_path(graph.paths(ids["level 50"])[0])
    bar = tree.view.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0, timeout=LONG_MS)
    place, row = bar.value(), tree.view.currentIndex().parent()
    qtbot.mouseClick(
        tree.view.viewport(), Qt.MouseButton.LeftButton, pos=tree.view.visualRect(row).center()
    )
    assert (tree.view.currentIndex().data(), bar.value()) == ("level 49", place)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["level 0", "level 30"])
def test_a_chevron_is_hit_at_any_depth(qtbot: QtBot, name: str) -> None:
    """Clicks on its left and right edge expand and collapse the branch without selecting it."""
    graph = CategoryGraph()
    ids = add_all(graph, chain(60))
    tree = Tree(graph)
    qtbot.addWidget(tree.view)
    tree.view.resize(240, 500)
    tree.view.show()
    tree.view.select_path(graph.paths(ids["level 35"])[0])
    bar, port = tree.view.horizontalScrollBar(), tree.view.viewport()
    qtbot.waitUntil(lambda: bar.value() > 0, timeout=LONG_MS)
    row = tree.model.indexes_of(ids[name])[0]
    tree.view.scrollTo(row)
    for inwards, is_open in ((2, False), (WIDEST_INDENT - 3, True)):
        place = tree.view.visualRect(row)
        point = QPoint(place.x() - WIDEST_INDENT + inwards, place.center().y())
        qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=point)
        assert tree.view.isExpanded(row) is is_open
        qtbot.wait(QApplication.doubleClickInterval() + 50)
    # Its branch was collapsed with the selected class in it.
    assert tree.view.currentIndex().data() == name
    dot = tree.view.visualRect(row)
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPoint(dot.x() + 4, dot.center().y()))
    assert tree.view.isExpanded(row)
