"""Drag and drop in the class tree by mouse: classes, and feedback for any drag."""

import json

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.dragging import CLASS_MIME
from app.drops import DropChip
from app.theme.tokens import tokens
from engine.graph.category_graph import CategoryGraph
from tests.app.class_tree.test_tree_view import Tree
from tests.support.graphs import seaside_graph
from tests.support.hand import Hand, Spot, Step
from tests.support.sessions import LONG_MS, recorded

NO_KEYS = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


class Pane(QWidget):
    """A tree above a widget that accepts no drops."""

    def __init__(self, graph: CategoryGraph) -> None:
        super().__init__()
        self.tree = Tree(graph)
        self.elsewhere = QLabel("elsewhere")
        layout = QVBoxLayout(self)
        layout.addWidget(self.tree.view)
        layout.addWidget(self.elsewhere)
        self.resize(320, 560)

    def row(self, *names: str) -> Spot:
        """The centre of a row; its branches are expanded."""
        index = QModelIndex()
        for name in names:
            if index.isValid():
                self.tree.view.expand(index)
            rows = [
                self.tree.model.index(row, 0, index)
                for row in range(self.tree.model.rowCount(index))
            ]
            index = next(each for each in rows if each.data() == name)
        return Spot(self.tree.view.viewport(), self.tree.view.visualRect(index).center())

    def is_open(self, *names: str) -> bool:
        """Whether a row is expanded."""
        return self.tree.view.isExpanded(self.tree.view.indexAt(self.row(*names).point))

    @property
    def chip(self) -> str:
        """The text of the chip at the pointer, "" if hidden."""
        return "".join(each.text for each in self.findChildren(DropChip) if each.isVisible())


@pytest.fixture
def pane(qtbot: QtBot) -> Pane:
    """Nine classes, all branches collapsed."""
    pane = Pane(seaside_graph())
    qtbot.addWidget(pane)
    pane.show()
    qtbot.waitExposed(pane, timeout=LONG_MS)
    return pane


def class_id(pane: Pane, name: str) -> int:
    """A class by its name."""
    return pane.tree.graph.find(name)


@pytest.mark.parametrize("is_chosen", [False, True])
@pytest.mark.parametrize(
    ("keys", "words"), [(NO_KEYS, "Move under Diver"), (CONTROL, "Add Diver as a parent")]
)
def test_a_class_is_dragged_onto_another(
    keys: Qt.KeyboardModifier, words: str, is_chosen: bool, pane: Pane, hand: Hand
) -> None:
    """It moves; with Ctrl it is linked, as the chip says; whether it was selected before or not."""
    dropped = recorded(pane.tree.view.requests.classes_dropped)
    chips: list[str] = []
    target, source = pane.row("Animal", "Diver"), pane.row("Plant", "Kelp")
    if is_chosen:
        hand.click(source)
    hand.drag(source, target, lambda: chips.append(pane.chip), keys=keys)
    kelp, plant, diver = (class_id(pane, name) for name in ("Kelp", "Plant", "Diver"))
    assert dropped == [(((kelp, plant),), diver, keys == CONTROL)]
    assert chips == [words]
    assert pane.chip == ""


def test_ctrl_may_come_on_the_way(pane: Pane, hand: Hand) -> None:
    """The modifier at the release decides whether to move or link."""
    dropped = recorded(pane.tree.view.requests.classes_dropped)
    target, source = pane.row("Animal", "Diver"), pane.row("Plant", "Kelp")
    hand.drag(source, target, lambda: setattr(hand, "keys", CONTROL), target)
    assert [each[-1] for each in dropped] == [True]


def test_a_class_goes_to_the_top_below_all_others(pane: Pane, hand: Hand) -> None:
    """The area below the rows is highlighted and accepts the class."""
    dropped = recorded(pane.tree.view.requests.classes_dropped)
    chips: list[str] = []
    source = pane.row("Plant", "Kelp")
    view = pane.tree.view
    room = Spot(view.viewport(), QPoint(60, view.viewport().height() - 30))
    before, during = pixel(pane, room), []
    hand.drag(
        source, room, lambda: chips.append(pane.chip), lambda: during.append(pixel(pane, room))
    )
    assert dropped == [(((class_id(pane, "Kelp"), class_id(pane, "Plant")),), None, False)]
    assert chips == ["Move to the top level"]
    assert during == [tokens().colours.accent_soft]
    assert before == pixel(pane, room) != during[0]


def pixel(pane: Pane, spot: Spot) -> str:
    """The colour of a pixel of the tree."""
    return pane.tree.view.viewport().grab().toImage().pixelColor(spot.point).name()


def test_a_row_where_nothing_would_change_refuses(pane: Pane, hand: Hand) -> None:
    """Its parent and itself reject it, also after entering the tree again; other rows accept."""
    dropped = recorded(pane.tree.view.requests.classes_dropped)
    source = pane.row("Plant", "Kelp")
    welcome: list[bool] = []
    hand.drag(source, pane.row("Plant"), lambda: welcome.append(hand.is_welcome))
    hand.drag(source, source, pane.row("Animal"), lambda: welcome.append(hand.is_welcome))
    assert welcome == [False, True]
    assert [each[1] for each in dropped] == [class_id(pane, "Animal")]
    assert hand.carried is not None
    assert json.loads(bytes(hand.carried.data(CLASS_MIME).data()))[0][0] == class_id(pane, "Kelp")


@pytest.mark.parametrize(
    ("way", "gives_up"),
    [
        pytest.param(("Animal", "Bird"), False, id="dropped inside"),
        pytest.param(("Plant",), True, id="given up"),
        pytest.param((), False, id="let go elsewhere"),
    ],
)
def test_rows_spring_open_and_fold_back(
    way: tuple[str, ...], gives_up: bool, qtbot: QtBot, pane: Pane, hand: Hand
) -> None:
    """Hovering expands a collapsed class; it stays expanded only if the drop was in it."""
    source = pane.row("Plant")
    assert not pane.is_open("Animal")
    opened: list[bool] = []

    def rest() -> None:
        qtbot.waitUntil(lambda: pane.is_open("Animal"), timeout=LONG_MS)
        opened.append(True)

    end: Step = (lambda: hand.go_on(pane.row(*way))) if way else Spot(pane.elsewhere, QPoint(5, 5))
    hand.drag(source, pane.row("Animal"), rest, end, gives_up=gives_up)
    assert opened == [True]
    assert hand.was_dropped is (way == ("Animal", "Bird"))
    assert pane.is_open("Animal") is hand.was_dropped


def test_a_circle_is_refused_visibly(pane: Pane, hand: Hand) -> None:
    """The chip has the reason, and the path is highlighted, until the drag moves on."""
    source, target = pane.row("Animal"), pane.row("Animal", "Bird", "Gull")
    way = [pane.row("Animal"), pane.row("Animal", "Bird"), pane.row("Animal", "Bird", "Gull")]
    beside = [pane.row("Animal", "Bird", "Puffin"), pane.row("Plant")]
    chips: list[str] = []
    lit: list[list[bool]] = []

    def look() -> None:
        chips.append(pane.chip)
        lit.append([is_danger(pane, spot) for spot in (*way, *beside)])

    hand.drag(source, target, look, pane.row("Plant"), look)
    assert chips == ["Animal cannot be its own ancestor: Animal > Bird > Gull", "Move under Plant"]
    assert lit == [[True, True, True, False, False], [False] * 5]
    assert hand.was_dropped


def is_danger(pane: Pane, spot: Spot) -> bool:
    """Whether a row is painted as rejecting, sampled right of its text."""
    place = QPoint(spot.widget.width() - 60, spot.point.y())
    return (
        pane.tree.view.viewport().grab().toImage().pixelColor(place).name()
        == tokens().colours.danger_soft
    )


@pytest.mark.parametrize(
    ("way", "keys", "words"),
    [
        (("Puffin", ("Animal", "Diver")), CONTROL, "Puffin is already under Diver"),
        (("Auk", ("Plant",)), NO_KEYS, "There is already a class “Auk” under Plant"),
        (("Auk", ("Plant",)), CONTROL, "There is already a class “Auk” under Plant"),
    ],
)
def test_a_row_that_refuses_says_why(
    way: tuple[str, tuple[str, ...]], keys: Qt.KeyboardModifier, words: str, pane: Pane, hand: Hand
) -> None:
    """In one sentence at the pointer; the row is not highlighted, and nothing is dropped."""
    graph = pane.tree.graph
    for parent in ("Bird", "Plant"):
        pane.tree.edit("add_class", "Auk", [graph.find(parent)])
    pane.tree.view.doItemsLayout()
    pane.row("Animal", "Bird", way[0])
    place, taken = pane.row(*way[1]), pane.row("Animal", "Bird", way[0])
    chips: list[str] = []
    lit: list[bool] = []
    look = lambda: lit.append(pixel(pane, place) == tokens().colours.accent_soft)  # noqa: E731
    hand.drag(taken, place, lambda: chips.append(pane.chip), look, keys=keys)
    assert (chips, lit) == ([words], [False])
    assert hand.has_carried
    assert not hand.was_dropped


def test_all_chosen_rows_are_dragged(pane: Pane, hand: Hand) -> None:
    """Started on any of them; each is moved from the parent it was selected under."""
    dropped, chips = recorded(pane.tree.view.requests.classes_dropped), []
    seal, kelp, bird = (
        pane.row("Animal", "Diver", "Seal"),
        pane.row("Plant", "Kelp"),
        pane.row("Animal", "Bird"),
    )
    seal = pane.row("Animal", "Diver", "Seal")  # rows above have expanded since
    hand.click(kelp)
    hand.click(seal, CONTROL)
    hand.drag(seal, bird, lambda: chips.append(pane.chip))
    places = (
        (class_id(pane, "Seal"), class_id(pane, "Diver")),
        (class_id(pane, "Kelp"), class_id(pane, "Plant")),
    )
    assert dropped == [(places, class_id(pane, "Bird"), False)]
    assert chips == ["Move 2 classes under Bird"]


def test_a_row_that_was_not_chosen_goes_alone(pane: Pane, hand: Hand) -> None:
    """With Ctrl, too, which would extend the selection: only the dragged row is linked."""
    dropped = recorded(pane.tree.view.requests.classes_dropped)
    bird, kelp = pane.row("Animal", "Bird"), pane.row("Plant", "Kelp")
    hand.click(pane.row("Plant"))
    hand.drag(kelp, bird, keys=CONTROL)
    assert dropped == [
        (((class_id(pane, "Kelp"), class_id(pane, "Plant")),), class_id(pane, "Bird"), True)
    ]


@pytest.fixture
def long_pane(qtbot: QtBot) -> Pane:
    """More classes than fit the viewport."""
    graph = CategoryGraph()
    for number in range(60):
        last = graph.add_class(f"class {number:03}")
    graph.add_class("leaf", [last])
    pane = Pane(graph)
    qtbot.addWidget(pane)
    pane.show()
    qtbot.waitExposed(pane, timeout=LONG_MS)
    return pane


@pytest.mark.slow
@pytest.mark.parametrize("is_down", [True, False])
def test_the_tree_scrolls_at_its_edges(
    is_down: bool, qtbot: QtBot, long_pane: Pane, hand: Hand
) -> None:
    """Near the upper or lower edge it scrolls continuously, until the drag ends."""
    view = long_pane.tree.view
    bar = view.verticalScrollBar()
    bar.setValue(0 if is_down else bar.maximum())
    begin, middle = bar.value(), Spot(view.viewport(), QPoint(60, view.viewport().height() // 2))
    edge = Spot(view.viewport(), QPoint(60, view.viewport().height() - 3 if is_down else 3))
    hand.drag(
        middle,
        edge,
        lambda: qtbot.waitUntil(lambda: abs(bar.value() - begin) > 150, timeout=LONG_MS),
        gives_up=True,
    )
    still = bar.value()
    qtbot.wait(50)
    assert bar.value() == still
    assert (still > begin) is is_down


def test_below_a_long_tree_there_is_room_too(qtbot: QtBot, long_pane: Pane, hand: Hand) -> None:
    """The drag scrolls to it, and it stays visible after a new layout."""
    view, tree = long_pane.tree.view, long_pane.tree
    dropped, chips = recorded(view.requests.classes_dropped), []
    row = tree.row("class 059", "leaf")
    bar, edge = (
        view.verticalScrollBar(),
        Spot(view.viewport(), QPoint(60, view.viewport().height() - 6)),
    )
    view.doItemsLayout()
    bar.setValue(bar.maximum() - 20)

    def rest() -> None:
        qtbot.waitUntil(lambda: bar.value() == bar.maximum(), timeout=LONG_MS)
        view.doItemsLayout()
        chips.append(long_pane.chip)

    hand.drag(Spot(view.viewport(), view.visualRect(row).center()), edge, rest)
    assert chips == ["Move to the top level"]
    assert dropped == [
        (((class_id(long_pane, "leaf"), class_id(long_pane, "class 059")),), None, False)
    ]
