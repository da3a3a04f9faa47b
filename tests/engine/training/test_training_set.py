import numpy as np

from tests.support.category_graphs import two_branches
from tests.support.few_shot_problems import colour_training_set


def test_images_by_class() -> None:
    """Each class has its own images, in ascending order; a class without any has none."""
    training_set = two_branches((2, 0, 1, 0, 3, 0))
    assert [images.tolist() for images in training_set.images_by_class] == [
        [0, 1],
        [],
        [2],
        [],
        [3, 4, 5],
        [],
    ]


def test_ancestors_and_descendants() -> None:
    """All classes above and below, not only the next ones."""
    training_set = (
        colour_training_set()
    )  # 2 classes, 2 of the next 4 below each, 3 of the last 12 below each of those
    assert training_set.ancestors[6] == {0, 2}
    assert training_set.ancestors[17] == {1, 5}
    assert training_set.descendants[0] == {2, 3, *range(6, 12)}
    assert training_set.descendants[17] == frozenset()


def test_two_parents() -> None:
    """A class under two parents has both branches above it."""
    training_set = two_branches(pairs=((0, 2), (1, 2), (2, 3)))
    assert training_set.ancestors[3] == {0, 1, 2}


def test_sizes() -> None:
    """Number of classes and side of the stored images."""
    training_set = two_branches(side=5)
    assert (training_set.class_count, training_set.side) == (6, 5)
    assert training_set.pixels.dtype == np.uint8
