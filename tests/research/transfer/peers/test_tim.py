import numpy as np
import pytest

from research.transfer.peers.tim import latent_assignments, predict
from tests.support.transfer import clusters


def test_latent_assignments_by_hand() -> None:
    """Powers of 1.1 over the root of the column sums, then rows normalised."""
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4]], dtype=np.float32)
    powers = probabilities**1.1
    held = powers / np.sqrt(powers.sum(axis=0))
    np.testing.assert_allclose(
        latent_assignments(probabilities), held / held.sum(axis=1, keepdims=True), rtol=1e-5
    )


def test_large_classes_are_held_back() -> None:
    """Of two equally likely classes the smaller one gains."""
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.5, 0.5]], dtype=np.float32)
    found = latent_assignments(probabilities)
    assert found[2, 1] > 0.5
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-6)


def test_both_preparations() -> None:
    """Of length 1, and centred."""
    assert set(predict(clusters()[0])) == {"length 1", "centred"}
