import numpy as np
import pytest

from research.transfer.peers.distribution_calibration import (
    DRAWS,
    BaseClasses,
    base_classes,
    with_draws,
)
from research.transfer.task import FewShotTask
from tests.support.transfer import clusters

BASE = BaseClasses(
    np.array([[0, 0], [2, 0], [50, 50]], dtype=np.float32),
    (
        np.array([[0, 1], [0, -1]], dtype=np.float32),
        np.array([[3, 0], [-3, 0]], dtype=np.float32),
        np.array([[9, 9]], dtype=np.float32),
    ),
)


def test_draws_have_the_mean_and_spread_that_are_lent() -> None:
    """A shot at (1, 3) uses (0, 0) and (2, 0): mean (1, 1), variances of (0, 2) and (18, 0)."""
    task = FewShotTask(
        np.array([[1, 3]], dtype=np.float32), np.array([0]), np.zeros((1, 2), dtype=np.float32), 1
    )
    found = with_draws(task, BASE, 0.0)
    drawn = found.support[1:]
    assert (len(drawn), found.classes.tolist()) == (DRAWS, [0] * (DRAWS + 1))
    assert drawn.mean(axis=0) == pytest.approx([1, 1], abs=0.2)
    assert drawn.var(axis=0) == pytest.approx([9, 1], rel=0.1)


def test_alpha_is_common_to_all_numbers() -> None:
    """Alpha is added to covariances, too: draws spread along the diagonal."""
    task = FewShotTask(
        np.array([[1, 3]], dtype=np.float32), np.array([0]), np.zeros((1, 2), dtype=np.float32), 1
    )
    added = np.cov(with_draws(task, BASE, 1.0).support[1:].T) - np.cov(
        with_draws(task, BASE, 0.0).support[1:].T
    )
    assert added[0, 1] == pytest.approx(np.mean([0.5, 4.5, 81.0]), rel=0.2)


def test_clusters_stand_in_for_base_classes() -> None:
    """At most as many as images; their members are centred."""
    task, _ = clusters(noise=0.2)
    base = base_classes(task.queries, 5)
    assert [len(member) for member in base.members] == [15] * 5
    assert max(abs(member.mean()) for member in base.members) < 1e-5
    assert len(base_classes(task.queries[:3], 5).means) == 3
