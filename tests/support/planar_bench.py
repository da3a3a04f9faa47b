"""Embeddings in the plane for tests of propagation by hand.

root (10, 0)
├── seen (4, 0)        one test image at (8, 0)
│   ├── near (4, 3)    of the training
│   ├── far (-5, 0)    of the training
│   ├── lone           of the test, image at (1, 1)
│   └── both           of the test, image at (0, 1); also below unseen
└── unseen             test images at (0, 6) and (0, 2), nothing buffered
"""

from enum import IntEnum

import numpy as np
import torch
from torch import nn

from engine.model.propagation import Attention, Prototypes
from engine.training.training_set import Positions
from research.data_sets.stored import FewShotData
from research.testing.bench import Bench, EmbeddedTasks
from research.testing.propagation import LearnedPropagation
from research.testing.tasks import Tasks


class Place(IntEnum):
    """Positions of classes."""

    ROOT = 0
    SEEN = 1
    UNSEEN = 2
    NEAR = 3
    FAR = 4
    LONE = 5
    BOTH = 6


_EMBEDDINGS = torch.tensor(
    [[4.0, 3], [-5, 0], [8, 0], [0, 6], [0, 2], [1, 1], [3, 0], [0, 1], [1, 2]],
)
_CLASSES = (
    Place.NEAR,
    Place.FAR,
    Place.SEEN,
    *[Place.UNSEEN] * 2,
    *[Place.LONE] * 2,
    *[Place.BOTH] * 2,
)
_EDGES = (
    (Place.ROOT, Place.SEEN),
    (Place.ROOT, Place.UNSEEN),
    *((Place.SEEN, child) for child in (Place.NEAR, Place.FAR, Place.LONE, Place.BOTH)),
    (Place.UNSEEN, Place.BOTH),
)
_BUFFERED = {
    Place.ROOT: (10.0, 0.0),
    Place.SEEN: (4.0, 0.0),
    Place.NEAR: (4.0, 3.0),
    Place.FAR: (-5.0, 0.0),
}
FIRST_TEST_IMAGE = 2


def planar_bench(seen: list[int] | None = None) -> Bench:
    """A bench in the plane with given images of `seen`."""

    def embed(positions: Positions) -> torch.Tensor:
        if seen is not None:
            seen.extend(positions.tolist())
        return _EMBEDDINGS[torch.from_numpy(positions)]

    return Bench(planar_data(), embed)


def planar_data() -> FewShotData:
    """The data set without pixels."""
    count = len(_CLASSES)
    return FewShotData(
        name="plane",
        variant="pure",
        side=1,
        pixels=np.zeros((count, 1, 1, 3), dtype=np.uint8),
        class_positions=np.array(_CLASSES),
        is_test=np.arange(count) >= FIRST_TEST_IMAGE,
        edge_index=np.array(_EDGES).T,
        levels=np.array([3, 4, 4, 5, 5, 5, 5]),
        class_names=tuple(place.name.lower() for place in Place),
        class_keys=tuple(place.name for place in Place),
        training_few_shot=np.array([Place.NEAR, Place.FAR]),
        test_few_shot=np.array([Place.LONE, Place.BOTH]),
    )


def planar_training(*, identity: bool = False) -> LearnedPropagation:
    """A buffer with an attention of equal weights, or of cosine scores."""
    attention = Attention(2, 2)
    for linear in (attention.g, attention.h):
        nn.init.eye_(linear.weight) if identity else nn.init.zeros_(linear.weight)
    vectors = torch.zeros(len(Place), 2)
    exists = torch.zeros(len(Place), dtype=torch.bool)
    for place, vector in _BUFFERED.items():
        vectors[place], exists[place] = torch.tensor(vector), True
    return LearnedPropagation(attention, Prototypes(vectors, exists))


def test_task(bench: Bench) -> EmbeddedTasks:
    """A 1-shot task of both test classes, with queries (3, 0) of lone and (1, 2) of both."""
    return bench.embed_tasks(
        Tasks(np.array([[Place.LONE, Place.BOTH]]), np.array([[[5], [7]]]), np.array([[[6], [8]]]))
    )


test_task.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test


def validation_task(bench: Bench) -> EmbeddedTasks:
    """A 1-shot task of both training classes; the query is the support image."""
    images = np.array([[[0], [1]]])
    return bench.embed_tasks(Tasks(np.array([[Place.NEAR, Place.FAR]]), images, images))
