"""Questions to the category graph: neighbours, levels, paths."""

import pytest

from engine.graph.category_graph import CategoryGraph
from tests.support.graphs import big_graph, brute_force_level, graph_of, names_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def test_an_empty_graph_answers() -> None:
    """Nothing is no special case."""
    graph = CategoryGraph()
    assert (
        len(graph),
        graph.edge_count,
        graph.classes(),
        graph.roots(),
        graph.leaves(),
        graph.levels(),
    ) == (
        0,
        0,
        (),
        (),
        (),
        (),
    )


def test_neighbours() -> None:
    """Ancestors and descendants leave the class out; a leaf below two paths counts once."""
    graph = seaside_graph()
    assert graph.ancestors(PUFFIN) == {ANIMAL, BIRD, DIVER}
    assert graph.descendants(ANIMAL) == {BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL}
    assert graph.leaves_below(ANIMAL) == {PUFFIN, SEAL, HERRING_GULL}
    assert graph.leaves_below(SEAL) == {SEAL}
    assert graph.leaves() == (PUFFIN, SEAL, HERRING_GULL, KELP)
    assert list(graph.edges())[:3] == [(ANIMAL, BIRD), (ANIMAL, DIVER), (BIRD, GULL)]


def test_children_are_in_natural_order() -> None:
    """Numbers count as numbers, case does not matter; the order holds at the top level too."""
    graph = graph_of({"b 10": [], "B 9": [], "a": [], "z": ["a"], "Y": ["a"]})
    assert names_of(graph, graph.roots()) == ["a", "B 9", "b 10"]
    assert names_of(graph, graph.children(3)) == ["Y", "z"]


def test_levels_are_longest_paths() -> None:
    """A shortcut from a root does not lift a class above its other parents."""
    graph = seaside_graph()
    graph.link(ANIMAL, HERRING_GULL)
    assert graph.level(HERRING_GULL) == 3
    assert graph.levels() == (
        (ANIMAL, PLANT),
        (BIRD, DIVER, KELP),
        (GULL, PUFFIN, SEAL),
        (HERRING_GULL,),
    )


def test_levels_follow_edits() -> None:
    """After a question the table is corrected, not kept.

    Below a new edge, a cut edge and a removed class.
    """
    graph = seaside_graph()
    assert graph.level(HERRING_GULL) == 3
    graph.link(KELP, BIRD)
    assert (graph.level(BIRD), graph.level(HERRING_GULL), graph.level(SEAL)) == (2, 4, 2)
    graph.unlink(KELP, BIRD)
    graph.remove(GULL)
    assert graph.level(HERRING_GULL) == 2
    assert graph.levels()[2] == (PUFFIN, SEAL, HERRING_GULL)


def test_levels_of_a_deep_chain() -> None:
    """Depth is no limit: 5,000 classes under one another."""
    graph = CategoryGraph()
    parents: list[int] = []
    for number in range(5000):
        parents = [graph.add_class(str(number), parents)]
    assert graph.level(5000) == 4999
    assert len(graph.paths(5000)[0]) == 5000
    graph.unlink(1, 2)
    assert graph.level(5000) == 4998


def test_paths() -> None:
    """All ways from a root, the oldest parent's first."""
    graph = seaside_graph()
    assert graph.paths(PUFFIN) == ((ANIMAL, BIRD, PUFFIN), (ANIMAL, DIVER, PUFFIN))
    assert graph.path_text(PUFFIN) == "Animal/Bird/Puffin"
    assert graph.path_text(graph.add_class("and/or\\", [PLANT])) == "Plant/and\\/or\\\\"


def test_paths_are_capped() -> None:
    """Ten diamonds in a row have a thousand paths, of which 64 are listed; of longer ones fewer."""
    graph = CategoryGraph()
    bottoms = [graph.add_class("top")]
    for number in range(250):
        sides = [graph.add_class(f"{side}{number}", bottoms[-1:]) for side in ("left", "right")]
        bottoms.append(graph.add_class(f"bottom{number}", sides))
    assert (len(set(graph.paths(bottoms[10]))), graph.path_count(bottoms[10])) == (64, 1024)
    assert (len(set(graph.paths(bottoms[250]))), graph.path_count(bottoms[250])) == (3, 2**250)
    assert graph.path_text(bottoms[3]) == "/".join(map(graph.name, graph.paths(bottoms[3])[0]))
    assert [path[:-2] for path in graph.paths(bottoms[3])[:4]] == list(graph.paths(bottoms[2]))


def test_one_path_is_always_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one with more classes than all listed paths together may have."""
    monkeypatch.setattr("engine.graph.traversal.MOST_STEPS", 3)
    assert len(seaside_graph().paths(HERRING_GULL)) == 1
    assert [len(path) for path in seaside_graph().paths(PUFFIN)] == [3]


def test_first_path_outlives_undo() -> None:
    """Cutting and making an edge again leaves the order of the parents as it was."""
    graph = seaside_graph()
    graph.unlink(BIRD, PUFFIN)
    graph.link(BIRD, PUFFIN)
    assert graph.path_text(PUFFIN) == "Animal/Bird/Puffin"


@pytest.mark.slow
def test_twenty_thousand_classes() -> None:
    """A big graph answers like a small one."""
    graph = big_graph(20_000)
    levels = graph.levels()
    assert sum(map(len, levels)) == 20_000
    checked = graph.classes()[::2000]
    assert [graph.level(each) for each in checked] == [_longest(graph, each) for each in checked]
    assert graph.descendants(graph.roots()[0]) == set(graph.classes()) - set(graph.roots())
    assert graph.find("class 19999") == graph.classes()[-1]


def test_brute_force_agrees_on_the_small_graph() -> None:
    """The definition of a level that other tests lean on is itself right."""
    graph = seaside_graph()
    assert [brute_force_level(graph, each) for each in graph.classes()] == [
        0,
        1,
        1,
        2,
        2,
        2,
        3,
        0,
        1,
    ]


def _longest(graph: CategoryGraph, class_id: int) -> int:
    """Longest path by levels of parents, for graphs too big for brute force."""
    rows = {class_id}
    steps = -1
    while rows:
        steps += 1
        rows = {parent for each in rows for parent in graph.parents(each)}
    return steps
