"""Graphs as the model sees them: roll-up matrix, edge index, parts."""

import numpy as np
import pytest

from engine.errors import UnknownClassError
from engine.graph.arrays import edge_index, roll_up_matrix
from tests.support.graphs import big_graph, seaside_graph

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


def test_unknown_classes() -> None:
    """An id that no class has is refused, not passed over."""
    with pytest.raises(UnknownClassError):
        edge_index(seaside_graph(), [99])
