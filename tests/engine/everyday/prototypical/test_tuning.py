from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.classifier import Setting
from engine.everyday.prototypical.leave_one_out import HeldOutDistances
from engine.everyday.prototypical.prototypes import (
    PropagationSession,
    candidate_positions,
    prototype_table,
    support_of,
)
from engine.everyday.prototypical.tuning import (
    MOST_SHOTS,
    PRIOR_SHOTS,
    PRIOR_SPREAD,
    SHRINKAGES,
    TEMPERATURE_STEPS,
    HeldOutCheck,
    Tuning,
    held_out_check,
    holdable_shots,
    lambda_for,
    sampled,
    squared_at,
    tune,
)
from engine.everyday.scores import FEWEST_DISTANCES, calibration_error
from engine.everyday.shots import Shots
from engine.model_card import BackboneCard
from tests.support.everyday import PRIOR, Collection, Matrix, collection, no_shots, tree

START = PRIOR.shrinkage


def _check_of(
    session: PropagationSession,
    drawn: Collection,
    shots: Shots,
    *,
    setting: Setting = Setting.PPN_PLUS,
) -> HeldOutCheck:
    support = support_of(drawn.graph, shots, setting)
    table = prototype_table(session, support, shots, lambda_for(support.own_counts, START))
    candidates = candidate_positions(drawn.graph, table)
    held = holdable_shots(drawn.graph, shots, table, candidates)
    return held_out_check(drawn.graph, shots, table, candidates, held, setting=setting)


def _tune(
    check: HeldOutCheck, *, may_propagate: bool = True, prior: BackboneCard = PRIOR
) -> Tuning:
    return tune(
        check, shrinkage=prior.shrinkage, temperature=prior.temperature, may_propagate=may_propagate
    )


def _plain(own: Matrix, right: list[int], propagated: Matrix | None = None) -> HeldOutCheck:
    """A check by hand: two shots left everywhere, and a parent each when `propagated` is given."""
    has_parents = np.full(own.shape, propagated is not None)
    around = own if propagated is None else propagated
    cross = ((own + around) / 2).astype(np.float32)
    distances = HeldOutDistances(own, around, cross, np.full(own.shape, 2), has_parents)
    is_right = np.zeros(own.shape, dtype=bool)
    is_right[np.arange(len(right)), right] = True
    return HeldOutCheck(
        distances,
        is_right,
        np.ones(len(own), dtype=bool),
        np.array(right, dtype=np.int64),
        np.arange(len(own)),
    )


def _hits(check: HeldOutCheck, shrinkage: float) -> int:
    best = squared_at(check, shrinkage).argmin(axis=1)
    return int((check.is_right[np.arange(len(best)), best] & check.can_tell_leaf).sum())


def test_lambda_by_hand() -> None:
    """By n / (n + shrinkage); without a shot 0, with shrinkage 0 always 1."""
    counts = np.array([0, 1, 2, 6], dtype=np.int64)
    np.testing.assert_allclose(lambda_for(counts, 2.0), [0, 1 / 3, 0.5, 0.75])
    assert lambda_for(counts, 0.0).tolist() == [0, 1, 1, 1]


def test_without_shots_the_prior_stands(propagation: PropagationSession) -> None:
    """Nothing to hold out: shrinkage and temperature of the card, nothing is ever unknown."""
    drawn = collection(tree())
    tuning = _tune(_check_of(propagation, drawn, no_shots()))
    assert (tuning.shrinkage, tuning.temperature) == (START, PRIOR.temperature)
    assert tuning.unknown_distance == np.inf
    assert tuning.shots_checked == 0
    assert np.isnan([tuning.accuracy, tuning.accuracy_alone]).all()


def test_one_shot_of_each_class_leaves_the_prior(propagation: PropagationSession) -> None:
    """Without its only shot nobody could name a class: there is nothing to check."""
    drawn = collection(tree())
    tuning = _tune(
        _check_of(propagation, drawn, drawn.shots(dict.fromkeys(drawn.graph.leaves(), 1)))
    )
    assert (tuning.shrinkage, tuning.temperature, tuning.shots_checked) == (
        START,
        PRIOR.temperature,
        0,
    )


@pytest.mark.parametrize("rounding", [0.0, -4e-8])
def test_copies_of_one_picture_do_not_make_all_others_of_it_unknown(rounding: float) -> None:
    """Held-out shots at their prototype, up to rounding, still leave room for another copy."""
    own = np.full((10, 2), rounding, dtype=np.float32)
    assert (
        _tune(_plain(own, [0] * 10)).unknown_distance > 3e-5
    )  # of a copy, as 16-bit embeddings have it


def test_prototypes_alone_never_propagate(propagation: PropagationSession) -> None:
    """Whatever the prior; with no shots either."""
    drawn = collection(tree())
    shots = drawn.shots(dict.fromkeys(drawn.graph.leaves(), 3))
    assert _tune(_check_of(propagation, drawn, shots), may_propagate=False).shrinkage == 0.0
    assert _tune(_check_of(propagation, drawn, no_shots()), may_propagate=False).shrinkage == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_never_fewer_hits_than_without_propagation(
    propagation: PropagationSession, seed: int
) -> None:
    """On noisy collections where siblings are as far apart as images.

    Counted anew from the distances.
    """
    drawn = collection(tree(3, 4), seed=seed, spread=0.5, noise=1.0)
    shots = drawn.shots(
        {2: 2, 3: 1, **{leaf: 1 + (leaf + seed) % 4 for leaf in drawn.graph.leaves()}}
    )
    check = _check_of(propagation, drawn, shots)
    tuning = _tune(check)
    decided = int(check.can_tell_leaf.sum())
    assert _hits(check, tuning.shrinkage) >= _hits(check, 0.0)
    assert tuning.accuracy == pytest.approx(_hits(check, tuning.shrinkage) / decided)
    assert tuning.accuracy_alone == pytest.approx(_hits(check, 0.0) / decided)


def _misleading() -> HeldOutCheck:
    """Every shot is nearest to its class's mean, each propagated one is the other class's."""
    own = np.array([[0.20, 0.21], [0.21, 0.20]] * 10, dtype=np.float32)
    propagated = np.array([[4.0, 0.01], [0.01, 4.0]] * 10, dtype=np.float32)
    return _plain(own, [0, 1] * 10, propagated)


def test_propagation_that_misleads_is_switched_off() -> None:
    """Any shrinkage would lose hits, whatever the card says."""
    check = _misleading()
    assert all(_hits(check, value) < 20 for value in SHRINKAGES)
    assert _hits(check, 0.0) == 20
    assert _tune(check).shrinkage == 0.0


def test_propagation_that_helps_grows_beyond_the_card() -> None:
    """Own means are all wrong, propagated ones all right; the card says the weakest."""
    own = np.array([[0.30, 0.29], [0.29, 0.30]] * 50, dtype=np.float32)
    propagated = np.array([[0.05, 0.60], [0.60, 0.05]] * 50, dtype=np.float32)
    check = _plain(own, [0, 1] * 50, propagated)
    tuning = tune(check, shrinkage=SHRINKAGES[0], temperature=0.1, may_propagate=True)
    assert tuning.shrinkage > SHRINKAGES[0]
    assert (tuning.accuracy, tuning.accuracy_alone) == (1.0, 0.0)


def _joined(first: HeldOutCheck, second: HeldOutCheck) -> HeldOutCheck:
    pairs = zip(vars(first.distances).values(), vars(second.distances).values(), strict=True)
    return HeldOutCheck(
        HeldOutDistances(*(np.concatenate(pair) for pair in pairs)),
        np.concatenate([first.is_right, second.is_right]),
        np.concatenate([first.can_tell_leaf, second.can_tell_leaf]),
        np.concatenate([first.class_ids, second.class_ids]),
        np.concatenate([first.image_ids, second.image_ids]),
    )


def test_coarse_labels_have_no_say_in_the_shrinkage() -> None:
    """Siblings 0 and 1 against class 2.

    Thirty fine labels are content, 300 coarse ones want siblings to be alike.
    """
    fine = np.array([[0.10, 0.15, 1.0], [0.15, 0.10, 1.0]] * 15, dtype=np.float32)
    coarse = np.tile(np.array([[0.60, 0.60, 0.50]], dtype=np.float32), (300, 1))
    both = _joined(
        _plain(fine, [0, 1] * 15, np.tile(np.array([[0.3, 0.3, 1.0]], np.float32), (30, 1))),
        replace(
            _plain(coarse, [0] * 300, np.tile(np.array([[0.5, 0.5, 0.55]], np.float32), (300, 1))),
            is_right=np.tile(np.array([[True, True, False]]), (300, 1)),
            can_tell_leaf=np.zeros(300, dtype=bool),
        ),
    )
    tuning = _tune(both)
    assert (tuning.shrinkage, tuning.accuracy, tuning.shots_checked) == (2.0, 1.0, 330)
    assert _tune(replace(both, can_tell_leaf=np.ones(330, dtype=bool))).shrinkage == SHRINKAGES[-1]


def _log_evidence(
    check: HeldOutCheck, squared: NDArray[np.float32], temperature: float, start: float
) -> float:
    """Log probability of the labels plus the prior, written without the engine's shortcuts."""
    powers = np.exp(
        -(squared.astype(np.float64) - squared.min(axis=1, keepdims=True)) / temperature
    )
    right = np.where(check.is_right, powers, 0).sum(axis=1) / powers.sum(axis=1)
    off = np.log(temperature / start) / PRIOR_SPREAD
    return float(np.log(np.maximum(right, 1e-12)).sum() - 0.25 * PRIOR_SHOTS * off**2)


@pytest.mark.parametrize("start", [0.02, 0.12, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_temperature_search_finds_what_an_exhaustive_one_does(
    propagation: PropagationSession, seed: int, start: float
) -> None:
    """Over all steps, from cards whose temperature is far too low, about right and far too high."""
    drawn = collection(tree(4, 3), seed=seed)
    shots = drawn.shots({2: 3, 3: 2, **{leaf: 1 + leaf % 5 for leaf in drawn.graph.leaves()}})
    check = _check_of(propagation, drawn, shots)
    tuning = tune(check, shrinkage=START, temperature=start, may_propagate=True)
    squared = squared_at(check, tuning.shrinkage)
    evidence = {
        float(value): _log_evidence(check, squared, float(value), start)
        for value in start * TEMPERATURE_STEPS
    }
    assert evidence[tuning.temperature] == pytest.approx(max(evidence.values()), abs=1e-6)


def test_few_shots_hardly_move_the_temperature(propagation: PropagationSession) -> None:
    """Two held-out shots move it less than sixty do: the card counts as much as ten shots."""
    drawn = collection(tree(4, 3), seed=1)
    leaves = drawn.graph.leaves()
    start = 5.0
    few = _check_of(propagation, drawn, drawn.shots({**dict.fromkeys(leaves, 1), leaves[0]: 2}))
    many = _check_of(propagation, drawn, drawn.shots(dict.fromkeys(leaves, 5)))
    after_few, after_many = (
        tune(check, shrinkage=START, temperature=start, may_propagate=True).temperature
        for check in (few, many)
    )
    assert len(few.is_right) == 2
    assert after_many < after_few <= start


def test_many_shots_are_sampled() -> None:
    """More than `MOST_SHOTS` held-out shots take no longer.

    Few are all taken, and the sample is always the same.
    """
    few, many = np.arange(5), np.arange(100, 150 + MOST_SHOTS)
    assert sampled(few).tolist() == few.tolist()
    assert len(set(sampled(many).tolist()) & set(many.tolist())) == MOST_SHOTS
    assert sampled(many).tolist() == sampled(many).tolist()


def test_the_own_distance_is_the_median_to_the_nearest_right_class() -> None:
    """Nearest right distances 0.1, 0.2 and 0.6."""
    own = np.array([[0.1, 0.3], [0.5, 0.2], [0.6, 0.4]], dtype=np.float32)
    assert _tune(_plain(own, [0, 1, 0])).own_distance == pytest.approx(0.2)


def test_the_unknown_distance_by_hand() -> None:
    """Ten nearest distances, nine of 0.2 and one of 0.4.

    Mean 0.22 and deviation 0.06 give 0.22 + 0.18 = 0.4.
    """
    nearest = np.array([0.2] * 9 + [0.4], dtype=np.float32)
    check = _plain(np.stack([nearest, nearest + 1], axis=1), [0] * 10)
    assert _tune(check).unknown_distance == pytest.approx(0.4)


def test_too_few_distances_say_nothing_about_what_is_unknown() -> None:
    """One fewer than `FEWEST_DISTANCES`."""
    own = np.full((FEWEST_DISTANCES, 1), 0.2, dtype=np.float32)
    right = [0] * FEWEST_DISTANCES
    assert np.isfinite(_tune(_plain(own, right)).unknown_distance)
    assert _tune(_plain(own[1:], right[1:])).unknown_distance == np.inf


def test_calibration_error_by_hand() -> None:
    """Scores 0.9 and 0.9 with one right: |1.8 - 1| / 2 = 0.4; a sure and right one beside them.

    0.8 / 3.
    """
    scores = np.array([0.9, 0.9], dtype=np.float32)
    assert calibration_error(scores, np.array([True, False])) == pytest.approx(0.4)
    scores = np.array([0.9, 0.9, 1.0], dtype=np.float32)
    assert calibration_error(scores, np.array([True, False, True])) == pytest.approx(0.8 / 3)
    assert np.isnan(calibration_error(scores[:0], np.empty(0, dtype=bool)))


def test_fitted_temperature_beats_a_bad_one_in_calibration(propagation: PropagationSession) -> None:
    """Scores of new images, not of the shots.

    The fitted temperature's are closer to the truth than the card's.
    """
    drawn = collection(tree(4, 3), seed=2, spread=0.6, noise=1.0)
    leaves = drawn.graph.leaves()
    shots = drawn.shots(dict.fromkeys(leaves, 6))
    too_low = 0.02
    tuning = tune(
        _check_of(propagation, drawn, shots),
        shrinkage=START,
        temperature=too_low,
        may_propagate=False,
    )
    means = np.stack([shots.embeddings[shots.class_ids == leaf].mean(axis=0) for leaf in leaves])
    images, truth = drawn.images_of_each(leaves, 60)
    squared = ((images[:, None] - means[None]) ** 2).sum(axis=2)

    def error(temperature: float) -> float:
        powers = np.exp(-squared / temperature)
        scores = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1)
        return calibration_error(scores, np.array(leaves)[squared.argmin(axis=1)] == truth)

    assert error(tuning.temperature) < 0.1 < error(too_low)
