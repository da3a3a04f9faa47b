"""The probability of classes without examples: worked out by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.shots import Shots
from engine.everyday.unseen import (
    CHECKS,
    DOUBT,
    EVIDENCE,
    LEAST_LEFT,
    RandomSample,
    UnseenClasses,
    classes_seen,
    seen_classes,
    unseen_classes,
)
from engine.graph.category_graph import CategoryGraph


def _forest() -> tuple[CategoryGraph, dict[str, int]]:
    """Trees (oak, elm; pines: Scots pine, stone pine), and mosses of four kinds."""
    graph, ids = CategoryGraph(), dict[str, int]()
    parents = {
        "tree": None,
        "moss": None,
        "oak": "tree",
        "elm": "tree",
        "pine": "tree",
        "scots": "pine",
    }
    parents |= {"stone": "pine", **dict.fromkeys(("a", "b", "c", "d"), "moss")}
    for name, parent in parents.items():
        ids[name] = graph.add_class(name, () if parent is None else (ids[parent],))
    return graph, ids


def _unseen(
    seen: tuple[str, ...],
    candidates: tuple[str, ...],
    similarity: list[float] | None,
    *,
    labels: int = 10**6,
) -> UnseenClasses:
    graph, ids = _forest()
    known = seen_classes(graph, [ids[name] for name in seen])
    counts = classes_seen(graph, known, {ids[name]: 1 for name in seen}, 8000)
    places = np.array([ids[name] for name in candidates], dtype=np.int64)
    alike = None if similarity is None else _floats(similarity)
    found = unseen_classes(graph, places, known, counts, alike, labels=labels)
    assert found is not None
    return found


def _floats(values: list[float] | list[list[float]]) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def test_classes_without_a_label_have_as_many_images_as_the_others() -> None:
    """Of eight leaves two have labels, and of 80 images these have 20, of which 5 are labelled."""
    graph, ids = _forest()
    labels = {ids["oak"]: 4, ids["a"]: 1}
    counts = classes_seen(graph, seen_classes(graph, labels), labels, 80)
    assert (counts.seen, counts.unseen) == (2, 6)
    assert counts.share == pytest.approx(60 / 75)
    many = {ids["oak"]: 40, ids["a"]: 1}
    counts = classes_seen(graph, seen_classes(graph, many), many, 80)
    assert counts.share == pytest.approx(60 / (60 + LEAST_LEFT * 10 + 9))


def test_a_coarse_label_stands_for_all_leaves_below_it() -> None:
    """Both pines are expected to have as many images as any other leaf."""
    graph, ids = _forest()
    labels = {ids["pine"]: 1}
    counts = classes_seen(graph, seen_classes(graph, labels), labels, 80)
    assert (counts.seen, counts.unseen) == (2, 6)
    assert counts.share == pytest.approx(60 / 79)


def test_an_empty_collection_has_an_expectation_still() -> None:
    graph, ids = _forest()
    labels = {ids["oak"]: 1}
    assert 0 < classes_seen(graph, seen_classes(graph, labels), labels, 0).share < 1


def test_a_coarse_label_is_an_example_of_what_is_below_it() -> None:
    """But not where a class below has examples of its own."""
    graph, ids = _forest()
    pines = {ids["pine"], ids["scots"], ids["stone"]}
    assert seen_classes(graph, [ids["pine"]]) == pines
    assert seen_classes(graph, [ids["pine"], ids["scots"]]) == {ids["scots"]}
    assert seen_classes(graph, [ids["tree"], ids["oak"]]) == {ids["oak"]}
    assert seen_classes(graph, []) == frozenset()


def test_a_random_sample_corrects_what_is_expected() -> None:
    """Of ten images all are of classes with examples, or three are of new ones or of none."""
    graph, ids = _forest()
    labels = {ids["oak"]: 10, ids["a"]: 10}
    counts = classes_seen(graph, seen_classes(graph, labels), labels, 8000)
    share = counts.share
    known = counts.checked(RandomSample(10, 0), unlabelled=1)
    assert known.share == pytest.approx(CHECKS * share / (CHECKS + 10))
    assert counts.checked(RandomSample(10, 3), unlabelled=1).share == pytest.approx(
        (CHECKS * share + 3) / (CHECKS + 10)
    )
    assert known.share < counts.checked(RandomSample(10, 0), unlabelled=0.1).share < share
    assert counts.checked(RandomSample(0, 0), unlabelled=1) == counts


def test_a_sample_is_new_where_nothing_else_is_of_its_class() -> None:
    embeddings = np.zeros((5, 2), dtype=np.float32)
    shots = Shots(np.arange(5), np.array([7, 7, 8, 9, 9]), embeddings)
    ignored = np.array([20, 21])
    assert RandomSample.of(shots, ignored, [0, 2, 21]) == RandomSample(3, 2)
    assert RandomSample.of(shots, ignored, []) == RandomSample(0, 0)
    assert RandomSample.of(shots, ignored[:0], [99]) == RandomSample(0, 0)


def test_a_collection_is_never_of_one_class_alone() -> None:
    graph = CategoryGraph()
    flute = graph.add_class("flute")
    counts = classes_seen(graph, seen_classes(graph, [flute]), {flute: 1}, 100)
    assert (counts.seen, counts.unseen) == (1, 1)
    assert counts.share == pytest.approx(50 / 99)


def test_where_all_classes_have_examples_nothing_is_divided() -> None:
    graph, ids = _forest()
    leaves = np.array(graph.leaves(), dtype=np.int64)
    seen = seen_classes(graph, [ids["tree"], ids["moss"]])
    counts = classes_seen(graph, seen, {ids["tree"]: 1}, 9)
    assert unseen_classes(graph, leaves, seen, counts, None, labels=2) is None


def test_the_most_similar_images_are_of_classes_with_examples() -> None:
    """All together as many as expected: two of eight leaves have examples."""
    similarity = [0.1, 0.2, 0.3, 0.5, 0.8]
    unseen = _unseen(("oak", "elm"), ("oak", "elm"), similarity)
    known = unseen.known(_floats(similarity))
    assert known.mean() == pytest.approx(
        2 / 8, abs=0.03
    )  # of an uncertain share, whose mean is not quite that
    assert (np.diff(known) > 0).all()
    odds = known / (1 - known)
    assert odds[4] / odds[0] == pytest.approx(8**EVIDENCE, rel=0.5)


def test_few_labels_make_nothing_sure() -> None:
    """However similar an image is: one of a thousand, four labels."""
    similarity = [0.01] * 999 + [1.0]
    many, few = (
        _unseen(("oak", "elm"), ("oak", "elm"), similarity, labels=labels) for labels in (400, 4)
    )
    assert few.known(_floats([1.0])) == pytest.approx(4 / (4 + DOUBT * few.counts.share))
    assert many.known(_floats([1.0])) > 0.9


def test_without_similarity_all_images_are_alike() -> None:
    """As with classifiers that do not look at the collection, or with very few images."""
    unseen = _unseen(("oak", "elm"), ("oak", "elm"), None)
    known = unseen.known(np.full(3, np.nan, dtype=np.float32))
    assert known == pytest.approx([2 / 8] * 3, abs=0.05)
    divided = unseen.divide(
        _floats([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]]), np.full(3, np.nan, dtype=np.float32)
    )
    assert divided == pytest.approx(known[:, None] * _floats([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]]))


def test_the_rest_goes_to_candidates_without_examples_and_to_what_is_no_candidate() -> None:
    """Pines stand for two leaves beside one elm; mosses are no candidates."""
    similarity = [0.2, 0.4, 0.6]
    unseen = _unseen(("oak",), ("oak", "elm", "pine"), similarity)
    assert unseen.outside == 4
    given = _floats([[0.6, 0.3, 0.1]] * 3)
    divided, known = unseen.divide(given, _floats(similarity)), unseen.known(_floats(similarity))
    assert divided[:, 0] == pytest.approx(known)
    assert divided[:, 2] == pytest.approx(2 * divided[:, 1])
    assert divided[:, 1:].sum(axis=1) == pytest.approx((1 - known) * 3 / 7)


def test_branches_that_look_likely_get_more_of_the_rest() -> None:
    """An image of a moss without examples is a moss if it looks like the known one."""
    candidates = ("oak", "elm", "a", "b", "c", "d")
    unseen = _unseen(("oak", "a"), candidates, [0.3, 0.3])
    like_moss, like_neither = unseen.divide(
        _floats([[0.05, 0.0, 0.95, 0.0, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0, 0.0, 0.0]]),
        _floats([0.3, 0.3]),
    )
    assert like_moss[3] == pytest.approx(like_moss[5])
    assert like_moss[3] > 1.5 * like_moss[1]
    assert like_neither[3] == pytest.approx(like_neither[1], rel=1e-3)


def test_probabilities_sum_to_one_at_most() -> None:
    generator = np.random.default_rng(0)
    candidates = ("oak", "elm", "pine", "a", "b", "c", "d")
    similarity = generator.random(50).astype(np.float32)
    unseen = _unseen(("oak", "a", "b"), candidates, similarity.tolist())
    divided = unseen.divide(generator.dirichlet(np.ones(7), 50).astype(np.float32), similarity)
    assert divided.min() >= 0
    assert divided.sum(axis=1) == pytest.approx(
        np.ones(50), abs=1e-5
    )  # all leaves are at or below a candidate
