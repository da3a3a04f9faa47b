import numpy as np
import pytest

from research.transfer.peers import nearest_prototype
from research.transfer.peers.whitened import (
    differences_of_look_alikes,
    predict_whitened,
    whitening_by,
)
from research.transfer.task import FewShotTask


def test_a_direction_that_all_share_counts_less() -> None:
    """Classes differ a little in one direction, every image a lot in another."""
    generator = np.random.default_rng(0)
    classes = np.repeat([0, 1], 100)
    vectors = np.stack(
        [classes + 0.05 * generator.normal(size=200), 3 * generator.normal(size=200)], axis=1
    )
    shots = np.concatenate([np.arange(10), 100 + np.arange(10)])
    rest = np.setdiff1d(np.arange(200), shots)
    images = vectors.astype(np.float32)
    task = FewShotTask(images[shots], classes[shots], images[rest], 2)
    plain = (nearest_prototype.predict(task)["plain"] == classes[rest]).mean()
    whitened = (
        predict_whitened(nearest_prototype.predict, task)["all images, plain"] == classes[rest]
    ).mean()
    assert plain < 0.9
    assert whitened > plain + 0.1


def test_look_alikes_leave_what_tells_classes_apart() -> None:
    """Where class differences dominate, whitening by all images removes them."""
    generator = np.random.default_rng(0)
    classes = np.arange(200) % 5
    directions = 4 * np.eye(40)[:5]
    images = (directions[classes] + generator.normal(size=(200, 40))).astype(np.float32)
    task = FewShotTask(images[:10], classes[:10], images[10:], 5)
    found = predict_whitened(nearest_prototype.predict, task)
    right = {option: float((given == classes[10:]).mean()) for option, given in found.items()}
    assert right["look-alikes, plain"] > right["all images, plain"] + 0.05


def test_look_alikes_are_mutual() -> None:
    """Of five images on a circle, the last has no mutual neighbours."""
    angles = np.radians([0, 1, 2, 3, 60])
    images = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    pairs = {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    expected = [images[first] - images[second] for first, second in sorted(pairs)]
    np.testing.assert_array_equal(differences_of_look_alikes(images), expected)


def test_by_all_images_it_is_whitening_by_the_covariance() -> None:
    """Whitened features are uncorrelated with equal variance, but for the shrinkage."""
    generator = np.random.default_rng(0)
    images = (generator.normal(size=(4000, 3)) * [1, 3, 0.5]).astype(np.float32)
    scales = whitening_by(images)
    assert scales is not None
    spread = np.linalg.eigvalsh(np.cov((images @ scales).T))
    variances = np.sort([1.0, 9.0, 0.25])
    shrunk = 0.9 * variances + 0.1 * variances.mean()
    assert spread == pytest.approx(np.sort(variances / shrunk), rel=0.1)


def test_images_that_are_all_the_same() -> None:
    """Without differences the embeddings are passed unchanged."""
    same = np.ones((3, 2), dtype=np.float32)
    task = FewShotTask(same[:2], np.array([0, 1]), same, 2)
    found = predict_whitened(nearest_prototype.predict, task)
    assert {option: classes.shape for option, classes in found.items()} == {
        "all images, plain": (3,),
        "look-alikes, plain": (3,),
    }
