"""Graphs as the model sees them: roll-up matrix, edge index, parts."""

import numpy as np
import pytest

from engine.errors import GraphError, UnknownClassError
from engine.graph.edge_index import edge_index
from engine.graph.roll_up import candidate_leaves, is_antichain, leaf_sets, roll_up_matrix
from engine.graph.subgraph import sample_subgraph, subgraph_under, subgraph_with_ancestors
from tests.support.graphs import big_graph, content_of, seaside_graph

ANIMAL, BIRD, DIVER, GULL, PUFFIN, SEAL, HERRING_GULL, PLANT, KELP = range(1, 10)


def test_roll_up_matrix() -> None:
    """Puffin counts once for Animal though two paths lead there; a leaf counts for itself."""
    matrix = roll_up_matrix(seaside_graph(), [ANIMAL, BIRD, PUFFIN, PLANT], [PUFFIN, SEAL, KELP])
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def test_roll_up_of_nothing() -> None:
    """No leaves or no classes give an empty matrix of the right shape."""
    assert roll_up_matrix(seaside_graph(), [], [PUFFIN]).shape == (1, 0)
    assert roll_up_matrix(seaside_graph(), [ANIMAL], []).shape == (0, 1)


def test_leaf_sets_and_candidates() -> None:
    """The leaves below classes, and below a branch in the order of their ids."""
    graph = seaside_graph()
    assert leaf_sets(graph, [DIVER, KELP]) == {DIVER: {PUFFIN, SEAL}, KELP: {KELP}}
    assert candidate_leaves(graph) == (PUFFIN, SEAL, HERRING_GULL, KELP)
    assert candidate_leaves(graph, under=BIRD) == (PUFFIN, HERRING_GULL)


def test_antichains() -> None:
    """Siblings may compete; a class and its ancestor may not, however far apart."""
    graph = seaside_graph()
    assert is_antichain(graph, graph.leaves())
    assert is_antichain(graph, [BIRD, DIVER, KELP])
    assert not is_antichain(graph, [HERRING_GULL, KELP, ANIMAL])


def test_edge_index() -> None:
    """Positions, not ids, and only edges with both ends among the classes."""
    index = edge_index(seaside_graph(), [PUFFIN, DIVER, BIRD, KELP])
    assert index.dtype == np.int64
    assert index.tolist() == [[2, 1], [0, 0]]
    assert index.flags.c_contiguous
    assert edge_index(seaside_graph(), [KELP]).shape == (2, 0)


def test_edge_index_of_a_big_graph() -> None:
    """Over all classes there is one column for each edge, and it names that edge."""
    graph = big_graph(2000)
    classes = graph.classes()
    index = edge_index(graph, classes)
    assert {(classes[parent], classes[child]) for parent, child in index.T} == set(graph.edges())
    assert index.shape == (2, graph.edge_count)


def test_subgraph_with_ancestors() -> None:
    """Everything above comes along, under the same ids; siblings do not."""
    graph = seaside_graph()
    part = subgraph_with_ancestors(graph, [PUFFIN, ANIMAL])
    assert content_of(part) == (
        {ANIMAL: "Animal", BIRD: "Bird", DIVER: "Diver", PUFFIN: "Puffin"},
        {(ANIMAL, BIRD), (ANIMAL, DIVER), (BIRD, PUFFIN), (DIVER, PUFFIN)},
    )
    assert len(graph) == 9


def test_subgraph_under() -> None:
    """A branch is cut off from the other parents of its classes."""
    part = subgraph_under(seaside_graph(), BIRD)
    assert content_of(part)[1] == {(BIRD, GULL), (BIRD, PUFFIN), (GULL, HERRING_GULL)}
    assert part.roots() == (BIRD,)


def test_sampled_subgraphs() -> None:
    """The drawn classes are leaves of their subgraph; the seed decides which."""
    graph = big_graph(500)
    one, two, other = (sample_subgraph(graph, graph.leaves(), 10, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert len(one.leaves()) == 10
    assert set(one.leaves()) <= set(graph.leaves())
    assert content_of(one) == content_of(two) != content_of(other)
    assert content_of(one)[1] == {edge for edge in graph.edges() if edge[1] in one}


def test_more_leaves_than_there_are() -> None:
    """Drawing too many is refused with both numbers."""
    with pytest.raises(GraphError, match="at least 5 leaves, found 4"):
        sample_subgraph(seaside_graph(), seaside_graph().leaves(), 5, np.random.default_rng(0))


def test_unknown_classes() -> None:
    """An id that no class has is refused, not passed over."""
    for question in (leaf_sets, is_antichain, edge_index, subgraph_with_ancestors):
        with pytest.raises(UnknownClassError):
            question(seaside_graph(), [99])
