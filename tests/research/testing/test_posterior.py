"""Propagation by posterior probabilities, in the plane; see `tests/support/planar_bench.py`."""

import math

import pytest
import torch

from engine.training.class_heads import ClassHeads
from research.testing.posterior import (
    ByHeads,
    KnownClasses,
    Posterior,
    Shrunk,
    cluster_centres,
    level_choices,
    own_weight,
    plain_means,
)
from tests.support.planar_bench import Place, planar_bench, test_task


def test_known_classes_are_those_that_training_has_images_of() -> None:
    """Near at (4, 3) and far at (-5, 0), one image each, so that the scatter is unknown."""
    known = KnownClasses(planar_bench())
    assert known.positions.tolist() == [Place.NEAR, Place.FAR]
    assert known.vectors.tolist() == [[4, 3], [-5, 0]]
    assert known.centre.tolist() == pytest.approx([-0.5, 1.5])
    assert known.scatter == 0


def test_lambda_grows_with_the_shots() -> None:
    """The weight of the shots grows with their number."""
    assert own_weight(0.5, 1) == pytest.approx(1 / 3)
    assert own_weight(0.5, 5) == pytest.approx(5 / 7)


def test_shrinking_goes_to_the_mean_of_all() -> None:
    """A third of (1, 1), two thirds of the centre."""
    bench = planar_bench()
    found = Shrunk(KnownClasses(bench), 0.5)(test_task(bench))[0, 0]
    assert found.tolist() == pytest.approx([1 / 3 - 1 / 3, 1 / 3 + 1], abs=1e-6)


def test_a_posterior_leans_to_the_nearer_class() -> None:
    """By hand: (1, 1) is at 13 from near and at 37 from far; the variance is 2 T s² (beta + 1)."""
    bench = planar_bench()
    known = KnownClasses(bench)
    found = Posterior(known.vectors, 8.0, 0.5, 1.0)(test_task(bench))[0, 0]
    near, far = torch.tensor([-13 / 24, -37 / 24]).softmax(dim=0).tolist()
    expected = [1 / 3 + 2 / 3 * (4 * near - 5 * far), 1 / 3 + 2 / 3 * 3 * near]
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_clusters_of_images_stand_in_for_classes() -> None:
    """Near and far have one image each: at most two clusters."""
    known = KnownClasses(planar_bench())
    for count in (2, 9):
        assert sorted(cluster_centres(known, count).tolist()) == [[-5, 0], [4, 3]]
    assert cluster_centres(known, 1).tolist() == [[-0.5, 1.5]]


def test_plain_means_are_the_support() -> None:
    """One shot each."""
    assert plain_means(test_task(planar_bench()))[0].tolist() == [[1, 1], [0, 1]]


def test_parents_as_the_heads_name_them() -> None:
    """Near has three times the probability of far; levels weigh the same, unseen classes 0."""
    bench = planar_bench()
    heads = ClassHeads(2, bench.data.training_set())
    torch.nn.init.zeros_(heads.weight)
    with torch.no_grad():
        heads.bias[Place.NEAR] = math.log(3.0)
    found = ByHeads(KnownClasses(bench), heads, (5,), 0.5)(test_task(bench))[0, 0]
    parents = [0.75 * 4 + 0.25 * -5, 0.75 * 3]
    assert found.tolist() == pytest.approx(
        [(1 + 2 * parents[0]) / 3, (1 + 2 * parents[1]) / 3], abs=1e-5
    )
    assert level_choices(heads) == ((5,),)
