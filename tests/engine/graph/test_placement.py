"""What may go where, and the way that a circle would take."""

import pytest

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import link_classes, move_classes
from engine.graph.placement import Obstacle, Refusal, placement_refusal
from engine.graph.traversal import shortest_way
from tests.support.graphs import big_graph, graph_of, names_of, seaside_graph


@pytest.mark.parametrize(
    ("name", "from_parent", "to_parent", "is_link", "expected"),
    [
        ("Gull", "Bird", "Plant", False, None),
        ("Gull", "Bird", "Diver", True, None),
        ("Gull", "Bird", None, False, None),
        ("Plant", None, "Seal", False, None),
        ("Gull", "Bird", "Bird", False, Obstacle.NOTHING_TO_DO),
        ("Gull", "Bird", "Gull", False, Obstacle.NOTHING_TO_DO),
        ("Gull", "Bird", "Gull", True, Obstacle.NOTHING_TO_DO),
        ("Plant", None, None, False, Obstacle.NOTHING_TO_DO),
        ("Animal", None, "Herring Gull", False, Obstacle.CYCLE),
        ("Animal", None, "Seal", True, Obstacle.CYCLE),
        ("Puffin", "Bird", "Diver", False, None),
        ("Puffin", "Bird", "Bird", True, Obstacle.ALREADY_THERE),
        ("Puffin", "Bird", None, False, Obstacle.OTHER_PARENTS),
    ],
)
def test_each_obstacle(
    name: str,
    from_parent: str | None,
    to_parent: str | None,
    is_link: bool,
    expected: Obstacle | None,
) -> None:
    """Of one class, moved or linked."""
    graph = seaside_graph()
    place = (graph.find(name), None if from_parent is None else graph.find(from_parent))
    target = None if to_parent is None else graph.find(to_parent)
    refusal = placement_refusal(graph, [place], target, is_link=is_link)
    assert (None if refusal is None else refusal.obstacle) is expected


def test_a_cycle_names_the_shortest_way() -> None:
    """From the class down to where it was to go."""
    graph = seaside_graph()
    animal, gull = graph.find("Animal"), graph.find("Herring Gull")
    refusal = placement_refusal(graph, [(animal, None)], gull, is_link=False)
    assert refusal is not None
    assert names_of(graph, refusal.path) == ["Animal", "Bird", "Gull", "Herring Gull"]
    assert shortest_way(graph.parents, animal, gull) == ()


def test_namesakes_are_refused_there_and_among_themselves() -> None:
    """Two classes of one name cannot stand side by side, wherever they come from."""
    graph = graph_of({"A": [], "B": [], "C": []})
    ids = {name: graph.find(name) for name in "ABC"}
    twins = [graph.add_class("Twin", [ids[name]]) for name in "AB"]
    both = [(twins[0], ids["A"]), (twins[1], ids["B"])]
    assert placement_refusal(graph, both[:1], ids["B"], is_link=False) == Refusal(
        Obstacle.NAME_TAKEN, twins[0]
    )
    assert placement_refusal(graph, both, ids["C"], is_link=True) == Refusal(
        Obstacle.NAME_TAKEN, twins[1]
    )
    assert placement_refusal(graph, both[:1], ids["C"], is_link=False) is None
    graph.add_class("Twin")
    assert placement_refusal(graph, both[:1], None, is_link=False) == Refusal(
        Obstacle.NAME_TAKEN, twins[0]
    )


def test_a_class_leaves_for_the_top_with_all_its_parents() -> None:
    """Taken from both its parents at once it may go."""
    graph = seaside_graph()
    puffin, bird, diver = (graph.find(name) for name in ("Puffin", "Bird", "Diver"))
    assert placement_refusal(graph, [(puffin, bird), (puffin, diver)], None, is_link=False) is None


@pytest.mark.slow
def test_it_refuses_what_the_graph_refuses() -> None:
    """Over a drawn graph, move and link agree with the edits themselves, class by class."""
    agreed = 0
    for class_id in range(1, 60, 3):
        for target in range(2, 60, 5):
            for is_link in (False, True):
                agreed += is_refused_alike(big_graph(60, seed=3), class_id, target, is_link=is_link)
    assert agreed == 20 * 12 * 2


def is_refused_alike(graph: CategoryGraph, class_id: int, target: int, *, is_link: bool) -> bool:
    """Whether asking and doing come to the same; where nothing is to be done, doing is either."""
    origin = next(iter(graph.parents(class_id)), None)
    refusal = placement_refusal(graph, [(class_id, origin)], target, is_link=is_link)
    if refusal is not None and refusal.obstacle is Obstacle.NOTHING_TO_DO:
        return True
    try:
        link_classes(graph, target, [class_id]) if is_link else move_classes(
            graph, [(class_id, origin)], target
        )
    except GraphError:
        return refusal is not None
    return refusal is None
