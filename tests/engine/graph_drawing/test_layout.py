"""Where classes stand: nothing over anything else, parents above, wide branches stacked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import Layout, lay_out
from engine.graph_drawing.shown import ShownGraph, shown_graph
from tests.engine.graph_drawing.drawings import (
    CARD,
    TOUCH,
    bushy_graph,
    cards_over_one_another,
    edges_over_cards,
    graphs,
)
from tests.support.graphs import graph_of


def whole(graph: CategoryGraph) -> ShownGraph:
    return shown_graph(graph, frozenset(graph.classes()))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(graphs(), st.data())
def test_every_drawing_can_be_read(graph: CategoryGraph, data: st.DataObject) -> None:
    """Also one that follows another of the same classes, some of whose branches are closed."""
    opened = data.draw(st.sets(st.sampled_from(graph.classes()))) if len(graph) else set()
    first = shown_graph(graph, frozenset(opened))
    before = lay_out(first, CARD)
    check_drawing(first, before)
    check_drawing(whole(graph), lay_out(whole(graph), CARD, before=before))


def check_drawing(shown: ShownGraph, layout: Layout) -> None:
    """No overlap of cards, no edge over a card, classes below their parents, nothing left out."""
    assert set(layout.places) == {each.class_id for each in shown.classes}
    assert set(layout.routes) == set(shown.edges)
    assert cards_over_one_another(layout) == []
    assert list(edges_over_cards(layout)) == []
    assert is_inside_bounds(layout)
    for (parent, child), route in layout.routes.items():
        (x, y), (child_x, child_y) = layout.places[parent], layout.places[child]
        assert y + CARD.height + CARD.gap_along <= child_y + TOUCH
        assert (route[0], route[-1]) == (
            (x, y + CARD.height / 2),
            (child_x, child_y - CARD.height / 2),
        )


def is_inside_bounds(layout: Layout) -> bool:
    left, top, width, height = layout.bounds
    halves = (CARD.width / 2, CARD.height / 2)
    corners = [
        (x + side * halves[0], y + side * halves[1])
        for x, y in layout.places.values()
        for side in (-1, 1)
    ]
    points = [*corners, *(point for route in layout.routes.values() for point in route)]
    return all(
        left - TOUCH <= x <= left + width + TOUCH and top - TOUCH <= y <= top + height + TOUCH
        for x, y in points
    )


def test_a_parent_stands_in_the_middle_above_its_children() -> None:
    graph = graph_of(
        {"Animal": [], "Bird": ["Animal"], "Fish": ["Animal"], "Gull": ["Bird"], "Cod": ["Fish"]}
    )
    layout = lay_out(whole(graph), CARD)
    across = {graph.name(each): place[0] for each, place in layout.places.items()}
    assert across["Bird"] < across["Fish"]
    assert abs(across["Animal"] - (across["Bird"] + across["Fish"]) / 2) < 1
    assert abs(across["Gull"] - across["Bird"]) < 1


def test_two_thousand_leaves_become_a_block() -> None:
    """Not a line 350,000 units wide: the drawing stays a few times as wide as it is high."""
    graph = graph_of({"All": []} | {f"Class {number}": ["All"] for number in range(2000)})
    layout = lay_out(whole(graph), CARD)
    _left, _top, width, height = layout.bounds
    assert 1 < width / height < 2.6
    assert cards_over_one_another(layout) == []


@pytest.mark.parametrize(("classes", "further_edges"), [(12, 1), (120, 6), (1200, 30)])
def test_no_cards_overlap_in_large_drawings(classes: int, further_edges: int) -> None:
    layout = lay_out(whole(bushy_graph(classes, further_edges)), CARD)
    assert len(layout.places) == classes
    assert cards_over_one_another(layout) == []
    assert is_inside_bounds(layout)


def test_trees_are_drawn_without_a_crossing_in_the_order_of_their_names() -> None:
    names = ["Apple", "Fig", "Kiwi"]
    graph = graph_of(
        {"Fruit": []}
        | {name: ["Fruit"] for name in names[::-1]}
        | {f"{name} tree": [name] for name in names}
    )
    layout = lay_out(whole(graph), CARD)
    assert layout.crossings == 0
    assert sorted(names, key=lambda name: layout.places[graph.find(name)][0]) == names
