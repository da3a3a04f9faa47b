import numpy as np

from engine.research.transfer.peers import nearest_prototype
from engine.research.transfer.peers.whitened import predict_whitened
from engine.research.transfer.task import FewShotTask


def test_a_direction_that_all_share_counts_less() -> None:
    """Classes differ a little in one direction, every image a lot in another: whitening finds the little one."""
    generator = np.random.default_rng(0)
    classes = np.repeat([0, 1], 100)
    vectors = np.stack([classes + 0.05 * generator.normal(size=200), 3 * generator.normal(size=200)], axis=1)
    shots = np.concatenate([np.arange(10), 100 + np.arange(10)])
    rest = np.setdiff1d(np.arange(200), shots)
    images = vectors.astype(np.float32)
    task = FewShotTask(images[shots], classes[shots], images[rest], 2)
    plain = (nearest_prototype.predict(task)["plain"] == classes[rest]).mean()
    whitened = (predict_whitened(nearest_prototype.predict, task)["plain"] == classes[rest]).mean()
    assert plain < 0.9
    assert whitened > plain + 0.1


def test_images_that_are_all_the_same() -> None:
    """Nothing to learn a direction from: the peer gets them as they are."""
    same = np.ones((3, 2), dtype=np.float32)
    task = FewShotTask(same[:2], np.array([0, 1]), same, 2)
    assert predict_whitened(nearest_prototype.predict, task)["plain"].shape == (3,)
