"""A drawing that follows another differs little from it.

What was there stays in its order, and nearly in its place.
"""

import statistics
from collections.abc import Callable

import pytest

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph_drawing.layout import Layout, lay_out
from engine.graph_drawing.shown import opened_to, shown_graph
from tests.engine.graph_drawing.drawings import CARD, bushy_graph
from tests.support.graphs import graph_of


def whole_drawing(graph: CategoryGraph, before: Layout | None = None) -> Layout:
    return lay_out(shown_graph(graph, frozenset(graph.classes())), CARD, before=before)


def moves(before: Layout, after: Layout) -> list[float]:
    """How far each class that is in both has moved, in widths of a card."""
    both = [each for each in before.places if each in after.places]
    return [abs(before.places[each][0] - after.places[each][0]) / CARD.width for each in both]


def test_the_same_again_moves_nothing() -> None:
    graph = bushy_graph(120, 6)
    before = whole_drawing(graph)
    assert whole_drawing(graph, before).places == before.places


def test_the_same_graph_is_drawn_the_same_way_each_time() -> None:
    assert whole_drawing(bushy_graph(120, 6)) == whole_drawing(bushy_graph(120, 6))


def leaf_of(graph: CategoryGraph) -> ClassId:
    return graph.leaves()[len(graph.leaves()) // 2]


def coarse_of(graph: CategoryGraph) -> ClassId:
    return next(each for each in graph.levels()[1] if graph.children(each))


EDITS: dict[str, Callable[[CategoryGraph], object]] = {
    "child added": lambda graph: graph.add_class("New", [coarse_of(graph)]),
    "leaf gets a child": lambda graph: graph.add_class("New", [leaf_of(graph)]),
    "leaf removed": lambda graph: graph.remove(leaf_of(graph)),
    "renamed": lambda graph: graph.rename(coarse_of(graph), "zzz"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("seed", range(3))
def test_a_small_edit_moves_little(edit: str, seed: int) -> None:
    """Most classes stay where they are, to a third of a card.

    Of twenty, one may go further than one and a half.
    """
    graph = bushy_graph(120, 6, seed=seed)
    before = whole_drawing(graph)
    EDITS[edit](graph)
    moved = sorted(moves(before, whole_drawing(graph, before)))
    assert statistics.median(moved) <= 0.33
    assert moved[len(moved) * 19 // 20] <= 1.5


def branches() -> CategoryGraph:
    names = {"A": [], "B": ["A"], "C": ["A"], "D": ["A"], "E": ["C"], "F": ["C"]}
    return graph_of(names | {f"{name} leaf": [name] for name in "BDEF"})


def below_top(graph: CategoryGraph, drawn: Layout) -> list[str]:
    return [
        graph.name(each)
        for each in sorted(graph.levels()[1], key=lambda each: drawn.places[each][0])
    ]


def test_what_a_removed_class_held_comes_up_where_it_stood() -> None:
    """Its children stand under its parent then, in the order and about the place that they had."""
    graph = branches()
    before = whole_drawing(graph)
    graph.remove(graph.find("C"))
    after = whole_drawing(graph, before)
    assert below_top(graph, after) == ["B", "E", "F", "D"]
    assert max(moves(before, after)) <= 1


def test_a_class_put_between_two_stands_where_the_lower_one_stood() -> None:
    graph = branches()
    before = whole_drawing(graph)
    graph.move(graph.find("C"), graph.find("A"), graph.add_class("Z", [graph.find("A")]))
    after = whole_drawing(graph, before)
    assert below_top(graph, after) == ["B", "Z", "D"]
    assert max(moves(before, after)) <= 1


def test_a_branch_that_is_opened_and_closed_again_leaves_no_trace() -> None:
    graph = bushy_graph(120, 6)
    closed = shown_graph(graph, opened_to(graph, frozenset(graph.roots()), coarse_of(graph)))
    opened = shown_graph(graph, frozenset(graph.roots()) | {coarse_of(graph)})
    before = lay_out(closed, CARD)
    between = lay_out(opened, CARD, before=before)
    after = lay_out(closed, CARD, before=between)
    assert len(between.places) > len(before.places)
    assert max(moves(before, after)) < 0.01


def test_a_new_class_stands_among_its_siblings_by_name() -> None:
    """Though the order around it is that of the drawing before.

    A class that is moved takes along what is below it.
    """
    names = ["Apple", "Fig", "Kiwi"]
    graph = graph_of(
        {"Fruit": [], "Tool": []}
        | {each: ["Fruit"] for each in names}
        | {f"{each} 1": [each] for each in names}
    )
    before = whole_drawing(graph)
    date = graph.add_class("Date", [graph.find("Fruit")])
    graph.add_class("Date 1", [date])
    graph.move(graph.find("Kiwi"), graph.find("Fruit"), graph.find("Tool"))
    after = whole_drawing(graph, before)
    across = {graph.name(each): place[0] for each, place in after.places.items()}
    assert across["Apple"] < across["Date"] < across["Fig"] < across["Kiwi"]
    assert across["Kiwi 1"] == pytest.approx(across["Kiwi"], abs=1)
    assert after.crossings == 0
