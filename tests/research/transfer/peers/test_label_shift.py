import numpy as np
import pytest

from research.transfer.peers import nearest_prototype
from research.transfer.peers.label_shift import DEFAULT, PLAIN, calibration, corrected, predict
from research.transfer.task import FewShotTask
from tests.support.transfer import clusters


def test_posteriors_by_hand() -> None:
    """The EM fixed point of a share.

    Of likelihoods 4:1, three times, and 1:4 a share p is where 3/4 4p/(3p+1) + 1/4 p/(4-3p) = p, so
    p = 11/12.
    """
    probabilities = np.array([[0.8, 0.2]] * 3 + [[0.2, 0.8]], dtype=np.float32)
    found = corrected(probabilities, np.array([0.5, 0.5], dtype=np.float32))
    share = 11 / 12
    assert found.mean(axis=0)[0] == pytest.approx(share, abs=1e-4)
    assert found[0, 0] == pytest.approx(4 * share / (3 * share + 1), abs=1e-4)


def test_a_prior_that_holds_stays() -> None:
    """Probabilities whose mean is the prior do not change."""
    probabilities = np.array([[0.9, 0.1], [0.3, 0.7]], dtype=np.float32)
    found = corrected(probabilities, np.array([0.6, 0.4], dtype=np.float32))
    assert found == pytest.approx(probabilities, abs=1e-5)


@pytest.mark.parametrize("has_biases", [False, True])
def test_calibration_finds_what_was_done(has_biases: bool) -> None:
    """Doubled logits, shifted where biases are fitted, are recovered."""
    generator = np.random.default_rng(0)
    true = generator.normal(size=(20_000, 3))
    powers = np.exp(true)
    classes = (
        generator.random((len(true), 1))
        > np.cumsum(powers / powers.sum(axis=1, keepdims=True), axis=1)
    ).sum(axis=1)
    shift = np.array([0.5, 0.0, -0.5]) * has_biases
    scale, biases = calibration((2 * (true - shift)).astype(np.float32), classes, has_biases)
    assert scale == pytest.approx(0.5, abs=0.02)
    assert biases - biases.mean() == pytest.approx(shift, abs=0.06)


def test_unequal_classes_are_recognised() -> None:
    """With 60 queries of one class and 6 of each other, correction is more accurate."""
    gains = []
    for seed in range(5):
        task, answers = clusters(shots=5, queries=60, noise=1.6, seed=seed)
        kept = np.flatnonzero((answers == 0) | (np.arange(len(answers)) % 10 == 0))
        few = task.with_features(task.support, task.queries[kept])
        alone = (nearest_prototype.predict(few)["plain"] == answers[kept]).mean()
        gains.append((predict(few)[DEFAULT] == answers[kept]).mean() - alone)
    assert np.mean(gains) > 0.05


def test_one_shot_cannot_be_calibrated() -> None:
    """All calibrations agree; one class with two shots is enough for a difference."""
    task, _ = clusters(noise=1.6, seed=1)
    found = predict(task)
    for name in ("logistic regression", "nearest prototype"):
        assert (found[f"{name}, {PLAIN}"] == found[f"{name}, temperature and biases"]).all()
    more = FewShotTask(
        np.concatenate([task.support, task.queries[:1]]),
        np.append(task.classes, 0),
        task.queries,
        5,
    )
    assert {option: len(classes) for option, classes in predict(more).items()} == dict.fromkeys(
        found, 75
    )
