"""Underlabelled classes: few shots, many unlabelled images."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.collection.graph_suggestions.suggestion import (
    SHARE_HELPED,
    find_underlabelled,
    helped_by_more,
)
from engine.collection.state import NO_CLASS, CollectionState
from tests.support.graphs import graph_of

COUNT = 100


def _state(shots: dict[int, int]) -> CollectionState:
    """Images 1 to 100: 60 uncertain ones of class 1, 40 certain ones of class 2."""
    best = np.repeat([1, 2], [60, 40]).astype(np.int32)
    return CollectionState(
        Path("/photos"),
        np.arange(1, COUNT + 1),
        [f"{i}.jpg" for i in range(COUNT)],
        np.full(COUNT, NO_CLASS),
        best,
        np.linspace(0.9, 0.1, COUNT).astype(np.float32),
        np.where(best == 2, 2, NO_CLASS),
        np.ones(COUNT, np.float32),
        np.zeros(COUNT, bool),
        np.ones(COUNT, np.uint8),
        shots,
        {},
    )


def test_help_by_hand() -> None:
    """A class without shots gets the full share, one with three shots half of it."""
    assert helped_by_more(200, 0) == 200 * SHARE_HELPED
    assert helped_by_more(200, 3) == 100 * SHARE_HELPED


def test_the_class_with_undecided_images_is_named() -> None:
    """Least certain images first; certain classes and those with many shots are omitted."""
    graph = graph_of({"Gull": [], "Puffin": []})
    (found,) = find_underlabelled(graph, _state({1: 1, 2: 1}), fewest=2)
    assert (found.class_id, found.shots, len(found.undecided)) == (1, 1, 60)
    assert found.undecided[0] == 60
    assert found.helped == round(60 * SHARE_HELPED * 3 / 4)
    assert find_underlabelled(graph, _state({1: 500}), fewest=2) == ()


def test_labelled_images_and_unknown_ones() -> None:
    """Labelled images do not count; unknown ones do, whatever their safe class."""
    graph, state = graph_of({"Gull": [], "Puffin": []}), _state({})
    assert (
        find_underlabelled(graph, replace(state, label_class=np.ones(COUNT, np.int64)), fewest=1)
        == ()
    )
    found = find_underlabelled(graph, replace(state, is_unknown=np.ones(COUNT, bool)), fewest=1)
    assert [(one.class_id, len(one.undecided)) for one in found] == [(1, 60), (2, 40)]
    graph.remove(1)
    assert find_underlabelled(graph, state, fewest=1) == ()
