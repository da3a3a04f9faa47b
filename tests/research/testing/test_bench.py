"""Embeddings for tests."""

import numpy as np
import pytest
import torch

from research.data_sets.stored import FewShotData
from research.testing.bench import Bench, test_images, validation_images
from tests.support.planar_bench import Place, planar_bench

test_images.__test__ = False  # type: ignore[attr-defined]


def test_each_image_is_embedded_once() -> None:
    """For any shape and number of requests."""
    seen: list[int] = []
    bench = planar_bench(seen)
    first = bench.embeddings_of(np.array([[7, 5], [5, 6]]))
    assert first.tolist() == [[[0, 1], [1, 1]], [[1, 1], [3, 0]]]
    second = bench.embeddings_of(np.array([6, 0, 7]))
    assert second.tolist() == [[3, 0], [4, 3], [0, 1]]
    assert sorted(seen) == [0, 5, 6, 7]


def test_parents() -> None:
    """Direct ones only."""
    bench = planar_bench()
    assert bench.parents[Place.BOTH] == (Place.SEEN, Place.UNSEEN)
    assert bench.parents[Place.ROOT] == ()


def test_parts_stay_apart(colours: FewShotData) -> None:
    """Test images are of test classes, validation images of training classes."""
    test, validation = test_images(colours), validation_images(colours)
    assert set(test) == set(colours.test_few_shot.tolist())
    assert set(validation) == set(colours.training_few_shot.tolist())
    assert all(colours.is_test[images].all() for images in test.values())
    assert not any(colours.is_test[images].any() for images in validation.values())


def test_whitening_evens_out_directions(colours: FewShotData) -> None:
    """Classes that vary three times as much along one axis vary about equally along both."""
    generator = np.random.default_rng(0)
    spread = torch.tensor([3.0, 1.0])
    table = (
        torch.from_numpy(generator.normal(size=(len(colours.class_positions), 2))).float() * spread
    )
    # The position of a class must not matter.
    table += torch.from_numpy(colours.class_positions)[:, None] * 50.0
    whitening = Bench(colours, lambda positions: table[torch.from_numpy(positions)]).whitening
    assert torch.equal(whitening, whitening.T)
    assert (whitening.diag() * spread).tolist() == pytest.approx([1.0, 1.0], rel=0.2)
