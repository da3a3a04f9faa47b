"""Claimed and true accuracy, by hand."""

import numpy as np
import pytest

from engine.graph.codes import NO_CLASS
from research.honesty.claims import ClaimTally, claims_by, total
from research.honesty.peers import PeerTask, by_distance, by_energy, by_softmax
from research.honesty.shares import share_of
from tests.support.transfer import small_graph

HERBS, BASIL, MINT, TREES, OAK = 2, 3, 4, 6, 7


def tally_of(best: list[int], score: list[float], safe: list[int], truth: list[int]) -> ClaimTally:
    """With 0.9 claimed of every safe class; only the first image was rightly sure before."""
    before = np.arange(len(best)) == 0
    claimed = np.where(np.array(safe) == NO_CLASS, 0, 0.9).astype(np.float32)
    scores, ids = np.array(score, dtype=np.float32), (np.array(best), np.array(safe))
    claims = claims_by(ids[0], scores, ids[1], claimed, truth=np.array(truth), graph=small_graph())
    return ClaimTally.of(claims, before)


def test_a_class_above_the_true_leaf_is_right() -> None:
    """A sibling is wrong; a leaf is claimed only where the safe class is one."""
    found = tally_of(
        [BASIL, MINT, HERBS, OAK],
        [0.9, 0.5, 0.3, 0.8],
        [BASIL, NO_CLASS, HERBS, TREES],
        [BASIL, BASIL, BASIL, MINT],
    )
    assert (found.images, found.right, found.safe, found.safe_right) == (4, 2, 3, 2)
    assert (found.leaf, found.leaf_right) == (1, 1)
    assert found.claimed == pytest.approx(2.5)
    assert found.safe_claimed == pytest.approx(2.7)
    assert (found.sure_before, found.sure_still) == (1, 1)
    # Bins of width 1/15, one image each: |0.9 - 1| + 0.5 + |0.3 - 1| + 0.8 over four images.
    assert found.calibration_error == pytest.approx(2.1 / 4)


def test_gaps_of_several_tallies_cancel() -> None:
    """Overestimates of one draw cancel underestimates of the other."""
    high, low = tally_of([MINT], [0.5], [MINT], [BASIL]), tally_of([BASIL], [0.5], [BASIL], [BASIL])
    both = total([high, low])
    assert (high.calibration_error, low.calibration_error, both.calibration_error) == (0.5, 0.5, 0)
    assert (both.images, both.safe, both.safe_right, both.sure_still) == (2, 2, 1, 1)


def test_nothing_is_scored() -> None:
    """An empty tally adds nothing, and has no calibration error."""
    nothing, some = tally_of([], [], [], []), tally_of([BASIL], [0.5], [BASIL], [BASIL])
    assert np.isnan(nothing.calibration_error)
    assert total([nothing, some]) == some


def test_images_that_err_together_have_a_wider_interval() -> None:
    """Half of the draws are completely wrong."""
    apart, together = share_of([5, 5, 5, 5], [10] * 4), share_of([10, 10, 0, 0], [10] * 4)
    assert apart.value == together.value == 0.5
    assert together.interval[0] < apart.interval[0] < 0.5 < apart.interval[1] < together.interval[1]
    assert share_of([0], [0]).as_text() == "-"
    assert share_of([1, 0], [1, 0]).as_text().startswith("100.0 (")


def peer_task(share: float) -> PeerTask:
    """Three classes with two shots each and 200 queries, half of these far from all classes."""
    generator = np.random.default_rng(0)
    means = np.eye(8, dtype=np.float32)
    noise = generator.normal(scale=0.05, size=(6, 8)).astype(np.float32)
    support = np.repeat(means[:3], 2, axis=0) + noise
    near, far = means[generator.integers(0, 3, 100)], means[generator.integers(3, 8, 100)]
    queries = np.concatenate([near, far]) + generator.normal(scale=0.05, size=(200, 8)).astype(
        np.float32
    )
    return PeerTask(support, np.repeat(np.arange(3), 2), queries.astype(np.float32), share)


def test_peers_leave_room_for_other_classes() -> None:
    """Softmax does not; the others use the share, and near images more than far ones."""
    task = peer_task(0.5)
    assert np.allclose(by_softmax(task).sum(axis=1), 1, atol=1e-5)
    for predict in (by_energy, by_distance):
        known = predict(task).sum(axis=1)
        assert known[:100].min() > known[100:].max()
        assert known.mean() == pytest.approx(0.5, abs=0.02)
        assert np.allclose(predict(peer_task(1.0)).sum(axis=1), 1, atol=1e-5)
    for share in (0.1, 0.8):
        assert by_energy(peer_task(share)).sum(axis=1).mean() == pytest.approx(share, abs=0.01)


def test_the_temperature_is_fitted_to_shots() -> None:
    """Well separated classes get a low one, single shots the default."""
    task = peer_task(1.0)
    assert task.temperature < 0.1
    one_each = PeerTask(task.support[::2], task.places[::2], task.queries, 1.0)
    assert one_each.temperature == 0.1
