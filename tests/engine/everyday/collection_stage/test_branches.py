"""Siblings vouch for one another: a branch that is likely as a whole makes its candidates likelier."""

import numpy as np
import pytest

from engine.everyday.collection_stage.calibration import BRANCH_POWER, Branches

OAKS_AND_A_PINE = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1]], dtype=np.float32)
"""Two oaks and a pine: all are trees, each kind is a branch."""


def test_by_hand() -> None:
    """Sums of 0.8 and 0.2, to the power; what lies above all candidates tells nothing."""
    branches = Branches.telling(OAKS_AND_A_PINE)
    assert branches.roll_up.tolist() == [[1, 0], [1, 0], [0, 1]]
    oak, pine = 0.8 ** float(BRANCH_POWER), 0.2 ** float(BRANCH_POWER)
    expected = np.array([0.5 * oak, 0.3 * oak, 0.2 * pine])
    found = branches.lean(np.array([[0.5, 0.3, 0.2]], dtype=np.float32))
    assert found[0] == pytest.approx(expected / expected.sum(), abs=1e-6)
    assert found[0, :2].sum() > 0.85


def test_the_mean_over_what_is_above_a_candidate() -> None:
    """Of one with two classes above it the geometric mean counts, so that a deep candidate is no less likely."""
    deep = Branches.telling(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32))
    flat = Branches.telling(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32))
    claims = np.array([[0.2, 0.1, 0.7], [0, 0, 1]], dtype=np.float32)
    assert deep.lean(claims) == pytest.approx(flat.lean(claims), abs=1e-6)


def test_without_branches_claims_stay() -> None:
    """A flat list of classes, and classes below one root."""
    claims = np.array([[0.6, 0.4]], dtype=np.float32)
    for roll_up in (np.zeros((2, 0), dtype=np.float32), np.ones((2, 1), dtype=np.float32)):
        assert (Branches.telling(roll_up).lean(claims) == claims).all()


def test_order_within_a_branch_stays() -> None:
    """Probabilities sum to one, and siblings with the same classes above them keep their ratio."""
    claims = np.random.default_rng(0).dirichlet(np.ones(3), 50).astype(np.float32)
    found = Branches.telling(OAKS_AND_A_PINE).lean(claims)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert found[:, 0] / found[:, 1] == pytest.approx(claims[:, 0] / claims[:, 1], rel=1e-4)
