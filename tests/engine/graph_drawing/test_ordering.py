"""How many edges cross, counted by hand, by pairs of lines, and beside the library's own order."""

from itertools import combinations

import pytest
from hypothesis import given, settings

from engine.graph.category_graph import CategoryGraph
from engine.graph_drawing.ordering import (
    count_crossings,
    fresh_order,
    order_as_listed,
    order_by_library,
)
from engine.graph_drawing.shown import Tiers, shown_graph, tiers_of
from tests.engine.graph_drawing.drawings import bushy_graph, graphs
from tests.support.graphs import graph_of


def tiers(graph: CategoryGraph) -> Tiers:
    return tiers_of(shown_graph(graph, frozenset(graph.classes())))


def by_pairs(tiers: Tiers, rows: list[list[int]]) -> int:
    """Pairs of links that change sides, as many times as edges run there.

    Pairs into a block apart.
    """
    place = {item: number for row in rows for number, item in enumerate(row)}
    links = [
        (tiers.tier[item], place[up], place[item], tiers.strands[item])
        for item in place
        for up in tiers.above[item]
    ]
    between = sum(
        one[3] * other[3]
        for one, other in combinations(links, 2)
        if one[0] == other[0] and (one[1] - other[1]) * (one[2] - other[2]) < 0
    )
    pairs = [(len(tiers.members[item]), len(tiers.above[item])) for item in place]
    return between + sum(n * (n - 1) // 2 * (above * (above - 1) // 2) for n, above in pairs)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(graphs(25))
def test_crossings_are_counted_right_and_an_order_never_makes_more(graph: CategoryGraph) -> None:
    drawn = tiers(graph)
    listed, fresh = order_as_listed(drawn), fresh_order(drawn)
    for rows in (listed, fresh):
        assert sorted(item for row in rows for item in row) == list(range(len(drawn.members)))
        assert count_crossings(drawn, rows) == by_pairs(drawn, rows)
    assert count_crossings(drawn, fresh) <= count_crossings(drawn, listed)


def test_four_classes_under_two_parents_each() -> None:
    """A block under two parents: of two edges each, six pairs change sides, whatever the order."""
    graph = graph_of({"A": [], "B": []} | {f"C{number}": ["A", "B"] for number in range(4)})
    assert count_crossings(tiers(graph), fresh_order(tiers(graph))) == 6


@pytest.mark.parametrize(("count", "further"), [(30, 2), (60, 6), (120, 12), (120, 25), (300, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_no_more_edges_cross_than_in_the_order_of_the_library(
    count: int, further: int, seed: int
) -> None:
    drawn = tiers(bushy_graph(count, further, seed=seed))
    ours, library = (
        count_crossings(drawn, order(drawn)) for order in (fresh_order, order_by_library)
    )
    assert ours <= library
