"""Synthetic open sets with well separated strangers, and the scores of all detectors."""

import numpy as np
import pytest

from research.transfer.embedded import EmbeddedCollection
from research.unknown.detectors import DETECTORS, OURS, Seen
from research.unknown.measurement import SESSION_STEPS, area_under_curve, measure_unknown, measured
from research.unknown.open_set import FAR, KNOWN, NEAR, STRANGER, drawn, drawn_with_far, session
from research.unknown.report import UnknownReport
from tests.support.graphs import graph_of
from tests.support.transfer import collection_of, embedded

LEAVES = range(2, 10)


@pytest.fixture(scope="module")
def images() -> EmbeddedCollection:
    """Eight leaves of one root with 18 images of `train` and 4 of `val` each; read-only."""
    graph = graph_of({"Things": [], **{f"leaf {number}": ["Things"] for number in LEAVES}})
    return embedded(collection_of(dict.fromkeys(LEAVES, 18), dict.fromkeys(LEAVES, 4), graph))


@pytest.fixture(scope="module")
def others() -> EmbeddedCollection:
    """Another collection, around other directions."""
    graph = graph_of({"Other": [], "a": ["Other"], "b": ["Other"]})
    return embedded(collection_of({2: 20, 3: 20}, {2: 1, 3: 1}, graph), seed=7)


def test_half_of_the_classes_are_known(images: EmbeddedCollection) -> None:
    """Labels are of `train`, correct, and of known classes alone; deterministic."""
    labelled = drawn(images, 3, 0)
    assert len(labelled.rows) == 4 * 3
    assert images.collection.is_train[labelled.rows].all()
    assert np.array_equal(labelled.class_ids, images.collection.class_ids[labelled.rows])
    assert set(labelled.open_set.kinds.tolist()) == {KNOWN, NEAR}
    assert ((labelled.open_set.class_ids == STRANGER) == (labelled.open_set.kinds == NEAR)).all()
    assert np.array_equal(labelled.rows, drawn(images, 3, 0).rows)
    assert not np.array_equal(labelled.rows, drawn(images, 3, 1).rows)


def test_images_of_another_collection_are_far(
    images: EmbeddedCollection, others: EmbeddedCollection
) -> None:
    labelled = drawn_with_far(images, others, 2, 0)
    assert (labelled.open_set.kinds == FAR).sum() == 42
    assert len(labelled.rows) == 8 * 2
    assert (labelled.open_set.kinds[labelled.rows] == KNOWN).all()


def test_a_session_goes_on_from_step_to_step(images: EmbeddedCollection) -> None:
    """Two labels of each class, a bulk accept in one class, some more of each; labels stay."""
    first, bulk, more = session(images, 0, is_coarse=False)
    for before, after in ((first, bulk), (bulk, more)):
        assert set(before.rows.tolist()) < set(after.rows.tolist())
    assert np.unique(first.class_ids, return_counts=True)[1].tolist() == [2] * 5
    added = np.setdiff1d(bulk.rows, first.rows)
    assert len(set(bulk.open_set.class_ids[added].tolist())) == 1
    for step in (first, bulk, more):
        assert np.array_equal(step.class_ids, step.open_set.class_ids[step.rows])


def test_every_score_tells_strangers_that_stand_apart(images: EmbeddedCollection) -> None:
    """Scores are high for strangers where classes are well separated."""
    labelled = drawn(images, 5, 0)
    seen = Seen.of(labelled)
    is_stranger = labelled.open_set.kinds == NEAR
    for name, detector in DETECTORS.items():
        novelty = detector.score(seen)
        assert novelty.shape == is_stranger.shape, name
        assert area_under_curve(novelty[~is_stranger], novelty[is_stranger]) > 0.7, name
    outcome = measured(labelled)
    assert outcome.auroc[OURS] > 0.95
    assert outcome.false_unknown <= 0.04
    assert outcome.found[OURS][0] <= outcome.found[OURS][1]


def test_the_area_under_the_curve() -> None:
    """By hand: of four pairs three are in order and one is tied."""
    assert area_under_curve(
        np.array([1, 2], np.float32), np.array([2, 3], np.float32)
    ) == pytest.approx(3.5 / 4)


@pytest.mark.slow
def test_tables_have_all_situations(images: EmbeddedCollection, others: EmbeddedCollection) -> None:
    """Near and far ones of each number of shots, and the steps of both sessions, also as data."""
    outcomes = measure_unknown(images, others, (1, 5), 1)
    assert len(outcomes) == 4 + SESSION_STEPS
    report = UnknownReport("things", "leafnet", 1, outcomes)
    text = report.as_text()
    for words in (
        "near, 1",
        "far, 5",
        "session coarse, +10 each",
        "NNGuide",
        "things, leafnet, 1 draw",
    ):
        assert words in text
    assert report.as_text(is_markdown=True).count("| near, 1 |") >= 3
    assert report.as_fields()["outcomes"][0]["auroc"][OURS] == outcomes[0].auroc[OURS]
