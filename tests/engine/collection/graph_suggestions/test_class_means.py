"""Class means with and without the images of another class."""

import numpy as np
import pytest

from engine.collection.graph_suggestions.class_means import ClassMeans, labelled_vectors
from engine.everyday.collection_stage.neighbours import Whitening
from engine.everyday.shots import Shots
from tests.support.drawn_classes import known
from tests.support.graphs import graph_of

EAST, NORTH = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)


def test_an_image_counts_once_however_many_ways_lead_to_it() -> None:
    """An image of Puffin, which is below both parents, counts once for Animal."""
    graph = graph_of(
        {
            "Animal": [],
            "Bird": ["Animal"],
            "Diver": ["Animal"],
            "Puffin": ["Bird", "Diver"],
            "Gull": ["Bird"],
        }
    )
    means = ClassMeans(graph, known({4: EAST[None], 5: NORTH[None]}))
    assert means.mean(1) == pytest.approx(np.sqrt([0.5, 0.5]))
    assert means.image_count(1) == means.image_count(2) == 2
    assert means.mean(3) == pytest.approx(EAST)
    assert means.rows_below(1).tolist() == [0, 1]


def test_closeness_is_to_the_others() -> None:
    """Without Gull's images Bird's mean is Puffin's; without any images there is no mean."""
    graph = graph_of({"Bird": [], "Gull": ["Bird"], "Puffin": ["Bird"], "Seaside": ["Gull"][:0]})
    graph.link(4, 2)
    means = ClassMeans(graph, known({2: EAST[None], 3: NORTH[None]}))
    assert means.closeness([1], 3).tolist() == [0]
    assert means.closeness([1, 4], 2).tolist() == [0, -np.inf]


def test_labelled_vectors_are_the_first_of_each_class_in_the_graph() -> None:
    """At most a number per class, none of removed classes, centred on the mean of the classes."""
    graph = graph_of({"Gull": [], "Puffin": []})
    vectors = np.array([EAST, EAST, NORTH, NORTH, EAST])
    shots = Shots(np.arange(5), np.array([1, 1, 2, 1, 9]), vectors)
    images = labelled_vectors(shots, graph, None, most=2)
    assert (images.image_ids.tolist(), images.class_ids.tolist()) == ([0, 1, 2], [1, 1, 2])
    assert images.vectors[0] @ images.vectors[2] == pytest.approx(-1)
    assert images.plain[0] @ images.plain[2] == 0
    whitened = labelled_vectors(
        shots, graph, Whitening(np.zeros(2, np.float32), np.diag([1, 2]).astype(np.float32))
    )
    assert whitened.vectors[:3] == pytest.approx(np.array([EAST, EAST, NORTH]))
