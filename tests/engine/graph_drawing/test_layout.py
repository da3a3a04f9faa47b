"""Where classes stand: nothing over anything else, parents above, wide branches stacked."""

from hypothesis import given, settings

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.layout import lay_out
from engine.graph_drawing.shown import ShownGraph, shown_graph
from tests.engine.graph_drawing.drawings import CARD, cards_over_one_another, edges_over_cards, graphs
from tests.support.graphs import graph_of


def whole(graph: CategoryGraph) -> ShownGraph:
    return shown_graph(graph, frozenset(graph.classes()))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_every_drawing_can_be_read(graph: CategoryGraph) -> None:
    """No two cards overlap, no edge runs over a card, each class stands below all its parents, nothing is left out."""
    layout = lay_out(whole(graph), CARD)
    assert set(layout.places) == set(graph.classes())
    assert set(layout.routes) == set(graph.edges())
    assert cards_over_one_another(layout) == []
    assert list(edges_over_cards(layout)) == []
    for (parent, child), route in layout.routes.items():
        (x, y), (child_x, child_y) = layout.places[parent], layout.places[child]
        assert y + CARD.height + CARD.gap_along <= child_y + 1e-6
        assert (route[0], route[-1]) == ((x, y + CARD.height / 2), (child_x, child_y - CARD.height / 2))


@given(graphs())
@settings(max_examples=30, deadline=None)
def test_bounds_hold_everything(graph: CategoryGraph) -> None:
    layout = lay_out(whole(graph), CARD)
    left, top, width, height = layout.bounds
    points = [point for route in layout.routes.values() for point in route]
    corners = [
        (x + across * CARD.width / 2, y + along * CARD.height / 2)
        for x, y in layout.places.values()
        for across in (-1, 1)
        for along in (-1, 1)
    ]
    assert all(left <= x <= left + width + 1e-6 and top <= y <= top + height + 1e-6 for x, y in [*points, *corners])


def test_a_parent_stands_in_the_middle_above_its_children() -> None:
    graph = graph_of({"Animal": [], "Bird": ["Animal"], "Fish": ["Animal"], "Gull": ["Bird"], "Cod": ["Fish"]})
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


def test_trees_are_drawn_without_a_crossing_in_the_order_of_their_names() -> None:
    names = ["Apple", "Fig", "Kiwi"]
    graph = graph_of(
        {"Fruit": []} | {name: ["Fruit"] for name in names[::-1]} | {f"{name} tree": [name] for name in names}
    )
    layout = lay_out(whole(graph), CARD)
    assert layout.crossings == 0
    assert sorted(names, key=lambda name: layout.places[graph.find(name)][0]) == names
