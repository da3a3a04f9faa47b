"""A data set of random pixels with a category graph of the paper's sizes, for benchmarks."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from research.data_sets.stored import FewShotData

FIRST_LEVEL = 3
MARGIN = 8
"""Extra pixels of images beyond the training side, as in a data set of `build`."""
TEST_STRIDE = 5
"""Each fifth few-shot class is a test class."""

SKEW = 1.33
"""Skew of branch sizes, as in WordNet.

The higher, the fewer coarse classes are above five few-shot classes: about 16 at 1.33, so that an
iteration takes about 171 images.
"""


@dataclass(frozen=True)
class GeneratedSize:
    """Classes and images of a generated data set.

    Attributes:
        classes: of each level, coarsest first; the last are the few-shot classes of both parts.
        coarse_images: of each coarse class, all of the training.
        few_shot_images: of each few-shot class.
    """

    classes: tuple[int, ...]
    coarse_images: int
    few_shot_images: int


LIKE_PAPER = GeneratedSize((7, 13, 25, 44, 89), coarse_images=12, few_shot_images=20)
"""The coarse classes above the training of WS-ImageNet-Pure and the few-shot classes of both parts.

A 5-way 1-shot iteration takes about 171 images. A class has enough images for an iteration or a
test task.
"""

SMALL = GeneratedSize((2, 4, 6, 30), coarse_images=4, few_shot_images=17)
"""For smoke tests."""


def generated_data(size: GeneratedSize, side: int, *, seed: int = 0) -> FewShotData:
    """Make a data set of noise; each class has one parent on the level above.

    Args:
        size: classes and images.
        side: training side in pixels; images are `MARGIN` larger.
        seed: of the pixels.
    """
    levels = np.repeat(np.arange(len(size.classes)), size.classes)
    few_shot = np.flatnonzero(levels == levels.max())
    test = few_shot[TEST_STRIDE // 2 :: TEST_STRIDE]
    training = np.setdiff1d(few_shot, test)
    counts = np.where(levels == levels.max(), size.few_shot_images, size.coarse_images)
    order = np.concatenate([np.flatnonzero(levels < levels.max()), training, test])
    class_positions = np.repeat(order, counts[order])
    stored = side + MARGIN
    generator = np.random.default_rng(seed)
    return FewShotData(
        name="generated",
        variant="pure",
        side=stored,
        pixels=generator.integers(
            0, 256, (len(class_positions), stored, stored, 3), dtype=np.uint8
        ),
        class_positions=class_positions,
        is_test=np.isin(class_positions, test),
        edge_index=_edges(size.classes),
        levels=levels + FIRST_LEVEL,
        class_names=tuple(f"class {position}" for position in range(len(levels))),
        class_keys=tuple(f"n{position:08d}" for position in range(len(levels))),
        training_few_shot=training,
        test_few_shot=test,
    )


def _edges(classes: tuple[int, ...]) -> NDArray[np.int64]:
    """Children distributed among parents, more to the first: (2, E), row 0 parent, row 1 child."""
    firsts = np.cumsum((0, *classes))
    blocks = []
    for level, (above, below) in enumerate(pairwise(classes)):
        shares = ((np.arange(below) + 0.5) / below) ** SKEW
        blocks.append(
            np.stack(
                [
                    firsts[level] + (shares * above).astype(np.int64),
                    firsts[level + 1] + np.arange(below),
                ]
            )
        )
    return np.concatenate(blocks, axis=1)
