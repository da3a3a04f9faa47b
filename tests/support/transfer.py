"""Collections with `train` and `val` for `experiment transfer`: of numbers or pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import BUNDLED_NAME, ModelFiles, find_model
from engine.everyday.blocks import to_fixed
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from research.transfer.class_sizes import AS_IS, EQUAL
from research.transfer.collection import TRAIN, VAL, TransferCollection
from research.transfer.draws import Situation
from research.transfer.embedded import EmbeddedCollection
from research.transfer.results import TOP1, Outcome, TransferCell, TransferResult
from research.transfer.task import FewShotTask
from tests.support.collections import FAMILY_OF, LEAVES, write_shape
from tests.support.graphs import graph_of

ROOT = "Shapes"
TRAIN_IMAGES = 6
VAL_IMAGES = 2


def write_shapes(folder: Path) -> Path:
    """Draw 6 pictures of each of 8 leaves into train/Shapes/<family>/<leaf>, and 2 into val."""
    for leaf in LEAVES:
        for seed in range(TRAIN_IMAGES + VAL_IMAGES):
            part = TRAIN if seed < TRAIN_IMAGES else VAL
            write_shape(
                folder / part / ROOT / FAMILY_OF[leaf] / leaf / f"{seed}.png", leaf, seed=seed
            )
    return folder


def small_graph() -> CategoryGraph:
    """A root with branches of three, two and one leaf; ids 1 to 10 in this order."""
    return graph_of(
        {
            "Plants": [],
            "Herbs": ["Plants"],
            "Basil": ["Herbs"],
            "Mint": ["Herbs"],
            "Sage": ["Herbs"],
            "Trees": ["Plants"],
            "Oak": ["Trees"],
            "Pine": ["Trees"],
            "Mosses": ["Plants"],
            "Peat moss": ["Mosses"],
        }
    )


def collection_of(
    train: Mapping[int, int], val: Mapping[int, int], graph: CategoryGraph
) -> TransferCollection:
    """A collection without files: a number of images of each class in both parts."""
    classes = [
        class_id for part in (train, val) for class_id, count in part.items() for _ in range(count)
    ]
    source = Path("/collection")
    files = tuple(FoundFile(source / f"{row}.jpg", row, 0) for row in range(len(classes)))
    is_train = np.arange(len(classes)) < sum(train.values())
    leaves = graph.leaves()
    ids = [class_id if class_id in leaves else NO_CLASS for class_id in classes]
    return TransferCollection(source, graph, files, is_train, np.array(ids, dtype=np.int64))


def embedded(
    collection: TransferCollection, *, noise: float = 0.6, seed: int = 0
) -> EmbeddedCollection:
    """Random embeddings of the bundled backbone's width, around a direction of each class."""
    model = find_model(BUNDLED_NAME)
    generator = np.random.default_rng(seed)
    width = model.card.embedding_width
    directions = generator.normal(size=(int(collection.class_ids.max()) + 2, width))
    vectors = directions[collection.class_ids] + noise * generator.normal(
        size=(len(collection.files), width)
    )
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return EmbeddedCollection(collection, model, to_fixed(unit.astype(np.float32)))


def clusters(
    *, ways: int = 5, shots: int = 1, queries: int = 15, noise: float = 1.0, seed: int = 0
) -> tuple[FewShotTask, NDArray[np.int64]]:
    """A task of noisy clusters of positive values, as after ReLU, and classes (q,) of queries."""
    generator = np.random.default_rng(seed)
    means = generator.normal(size=(ways, 32))

    def images(count: int) -> NDArray[np.float32]:
        noisy = np.repeat(means, count, axis=0) + noise * generator.normal(size=(ways * count, 32))
        return np.exp(0.5 * noisy).astype(np.float32)

    classes = np.repeat(np.arange(ways), shots)
    return FewShotTask(images(shots), classes, images(queries), ways), np.repeat(
        np.arange(ways), queries
    )


def result_of(
    method: str,
    values: Sequence[float],
    *,
    shots: int = 1,
    has_coarse_labels: bool = False,
    is_elsewhere: bool = False,
    sizes: str = AS_IS,
    shot_sizes: str = EQUAL,
    model: ModelFiles | None = None,
    **figures: float,
) -> TransferResult:
    """A result whose draws have these accuracies and equal further figures."""
    situation = Situation(has_coarse_labels, shots, is_elsewhere, sizes, shot_sizes)
    draws: list[Outcome] = [{"": {TOP1: value, **figures}} for value in values]
    return TransferResult(
        TransferCell.of("plants", model or find_model(BUNDLED_NAME), situation, method),
        tuple(draws),
    )
