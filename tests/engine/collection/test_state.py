"""Incremental class counts equal counting again."""

import random

import numpy as np

from engine.collection.state import ShownCounts, counts_of, moved_counts, shown_classes
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS, UNKNOWN

IMAGES = 60


def test_counts_of_codes() -> None:
    """Images without a class do not count."""
    assert counts_of(np.array([3, NO_CLASS, 3, UNKNOWN, 7])) == {3: 2, 7: 1}
    assert counts_of(np.array([NO_CLASS])) == {}
    assert counts_of(np.zeros(0, dtype=np.int64)) == {}


def test_an_image_is_shown_at_its_label_or_else_at_its_prediction() -> None:
    """Unknown images, labelled so or predicted, count for no class."""
    labels = np.array([4, UNKNOWN, NO_CLASS, NO_CLASS])
    best, is_unknown = np.array([5, 5, 5, 5]), np.array([False, False, False, True])
    assert shown_classes(labels, best, is_unknown).tolist() == [4, UNKNOWN, 5, NO_CLASS]


def test_moved_counts_are_those_of_counting_anew() -> None:
    """Shared ancestors count once; a removed class does not count."""
    graph = CategoryGraph()
    top = graph.add_class("top")
    left, right = (graph.add_class(name, (top,)) for name in ("left", "right"))
    both = graph.add_class("both", (left, right))
    gone = both + 1
    codes = [NO_CLASS, UNKNOWN, top, left, right, both, gone]
    choose, shown = random.Random(0), np.full(IMAGES, NO_CLASS)
    counts = ShownCounts.none().moved(graph, shown[:0], shown)
    for _ in range(40):
        places = np.array(choose.sample(range(IMAGES), choose.randrange(IMAGES)), dtype=np.int64)
        before = shown[places]
        shown[places] = [choose.choice(codes) for _ in places]
        counts = counts.moved(graph, before, shown[places])
        below = {
            top: [top, left, right, both],
            left: [left, both],
            right: [right, both],
            both: [both],
        }
        expected = {above: int(np.isin(shown, classes).sum()) for above, classes in below.items()}
        assert counts.or_below == {class_id: count for class_id, count in expected.items() if count}
        assert counts.or_below == ShownCounts.none().moved(graph, shown[:0], shown).or_below
    assert counts.moved(graph, shown, shown[:0]).or_below == {}


def test_moved_counts_of_codes() -> None:
    """A class with count 0 is omitted."""
    before, after = np.array([3, NO_CLASS, UNKNOWN, 7]), np.array([7, 3, 3, NO_CLASS])
    assert moved_counts({3: 1, 7: 1, 9: 2}, before, after) == {3: 2, 7: 1, 9: 2}
    assert moved_counts({3: 1}, np.array([3]), np.array([UNKNOWN])) == {}
