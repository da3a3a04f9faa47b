"""Classes with examples, and ways of labelling."""

import numpy as np
import pytest

from engine.errors import UsageError
from research.honesty.labelled_part import LabelledPart
from research.honesty.labels import (
    BULK,
    LABELS,
    RANDOM,
    TEACH_FIRST,
    at_random,
    check_labels,
    in_bulk,
)
from research.honesty.stages import HonestyStage, classes_with_examples, stages_of, steps_from
from research.transfer.embedded import EmbeddedCollection
from tests.support.graphs import graph_of
from tests.support.transfer import collection_of, embedded, small_graph

HERBS, TREES, LEAVES = {3, 4, 5}, {7, 8}, (3, 4, 5, 7, 8, 10)


@pytest.fixture(scope="module")
def plants() -> EmbeddedCollection:
    """Six leaves with 12 images of `train` and 4 of `val` each; read-only."""
    return embedded(
        collection_of(dict.fromkeys(LEAVES, 12), dict.fromkeys(LEAVES, 4), small_graph())
    )


@pytest.fixture(scope="module")
def part(plants: EmbeddedCollection) -> LabelledPart:
    """All images."""
    return LabelledPart(plants, np.arange(len(plants.embeddings)))


def test_stages_of_a_collection() -> None:
    """One class and all classes are not drawn; small collections have fewer stages."""
    found = stages_of(40, (1, 3))
    assert [(stage.classes, stage.is_branch) for stage in found if stage.shots == 3] == [
        (1, False),
        (5, False),
        (5, True),
        (10, False),
        (10, True),
        (20, False),
        (20, True),
        (40, False),
    ]
    assert {stage.classes for stage in stages_of(3, (1,))} == {1, 3}
    assert (
        len({stage.folder for stage in found}) == len({stage.name for stage in found}) == len(found)
    )


def test_a_branch_has_the_nearest_classes(plants: EmbeddedCollection) -> None:
    """Siblings of the first class come first; draws begin with different classes."""
    found = [
        classes_with_examples(plants.collection, HonestyStage(2, True, 1), seed)
        for seed in range(12)
    ]
    pairs = [set(classes.tolist()) for classes in found if classes[0] != LEAVES[-1]]
    assert all(pair < HERBS or pair <= TREES for pair in pairs)
    assert len({int(classes[0]) for classes in found}) > 2


def test_classes_at_random_are_among_those_of_later_stages(plants: EmbeddedCollection) -> None:
    """So stages of a draw are stages of one project."""
    few, more = (
        classes_with_examples(plants.collection, HonestyStage(count, False, 1), 3)
        for count in (2, 4)
    )
    assert set(few.tolist()) < set(more.tolist())


def test_steps_go_up_and_down() -> None:
    """Another tree is not reached."""
    graph = graph_of(
        {"Animal": [], "Bird": ["Animal"], "Gull": ["Bird"], "Seal": ["Animal"], "Kelp": []}
    )
    assert steps_from(graph, 3) == {3: 0, 2: 1, 1: 2, 4: 3}


def test_labels_at_random(part: LabelledPart) -> None:
    """Fewer shots are a subset of more; one image of a class stays unlabelled."""
    classes = np.array([3, 7])
    few, more = at_random(part, classes, 1, 0), at_random(part, classes, 3, 0)
    assert set(few.rows.tolist()) < set(more.rows.tolist())
    assert np.bincount(more.class_ids)[[3, 7]].tolist() == [3, 3]
    assert np.array_equal(part.truth[more.rows], more.class_ids)
    assert len(at_random(part, classes, 99, 0).rows) == 2 * 15


def test_teach_first_gives_as_many_labels(part: LabelledPart) -> None:
    """All correct, all of these classes, and different from random ones."""
    classes = np.array([3, 4, 8])
    given = LABELS[TEACH_FIRST](part, classes, 2, 0)
    assert len(given.rows) == 6
    assert set(given.class_ids.tolist()) <= set(classes.tolist())
    assert np.array_equal(part.truth[given.rows], given.class_ids)
    assert not np.array_equal(given.rows, LABELS[RANDOM](part, classes, 2, 0).rows)


def test_bulk_accepts_take_what_is_claimed() -> None:
    """Wrong confident predictions are accepted, too; the first labels stay."""
    alike = embedded(collection_of(dict.fromkeys(LEAVES, 12), {3: 1}, small_graph()), noise=0.3)
    alike.embeddings[20:24] = alike.embeddings[:4]
    part, classes = LabelledPart(alike, np.arange(len(alike.embeddings))), np.array(LEAVES)
    first, given = at_random(part, classes, 1, 0), in_bulk(part, classes, 99, 0)
    assert set(first.rows.tolist()) < set(given.rows.tolist())
    assert len(given.rows) <= len(at_random(part, classes, 99, 0).rows)
    is_wrong = part.truth[given.rows] != given.class_ids
    assert set(given.class_ids[is_wrong].tolist()) == {3}
    assert set(given.rows[is_wrong].tolist()) <= {20, 21, 22, 23}


def test_an_unknown_way_to_label() -> None:
    """The message has the known ways."""
    check_labels(BULK)
    with pytest.raises(UsageError, match="random, teach-first, bulk"):
        check_labels("best")
