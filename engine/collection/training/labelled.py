"""What a person labelled in a project, as training takes it: positions instead of ids, and the graph as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.embeddings.embedding_store import EmbeddingStore
from engine.collection.embeddings.image_list import ImageList
from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.shots import reached_classes
from engine.graph.arrays import edge_index
from engine.graph.category_graph import CategoryGraph
from engine.project import Project


@dataclass(frozen=True)
class TrainingLabels:
    """The images a person gave a class, without those that cannot be read."""

    image_ids: NDArray[np.int64]  # (n,) int64; ascending as they come from the project
    class_ids: NDArray[np.int64]  # (n,) int64
    paths: Sequence[str]  # n, as stored in the project
    content_hashes: Sequence[bytes | None]  # n; None where the image was not read yet

    def __len__(self) -> int:
        return len(self.image_ids)

    def in_order(self, rows: NDArray[np.int64]) -> "TrainingLabels":
        """Some of the images, in the order of these rows."""
        return TrainingLabels(
            self.image_ids[rows],
            self.class_ids[rows],
            [self.paths[row] for row in rows.tolist()],
            [self.content_hashes[row] for row in rows.tolist()],
        )


@dataclass(frozen=True)
class GraphArrays:
    """The part of the category graph that labels reach, as C positions."""

    class_ids: NDArray[np.int64]  # (C,) int64, ascending
    names: tuple[str, ...]  # C names
    edge_index: NDArray[np.int64]  # (2, E) int64, row 0 the parent, row 1 the child
    levels: NDArray[np.int64]  # (C,) int64, longest path from a root
    is_leaf: NDArray[np.bool_]  # (C,) bool, without children in the whole graph

    def positions_of(self, class_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions of classes that are among them."""
        return np.searchsorted(self.class_ids, class_ids)


def labelled_images(project: Project) -> TrainingLabels:
    """Read what a person labelled.

    Raises:
        InputError: nothing is labelled.
    """
    images = ImageList(project)
    images.read()
    # Beside a writer, a label may be of a class that came after the graph was read.
    is_known = np.isin(images.labels, list(project.classes.graph.classes()))
    chosen = np.flatnonzero(is_known & ~images.has_failed)
    if not len(chosen):
        raise InputError(
            "there is nothing to learn from",
            expected="images with a person's label",
            found="{images} images without one",
            remedy="label some images of each class first",
            images=len(images.ids),
        )
    paths = [images.paths[place] for place in chosen.tolist()]
    hashes = [images.content_hashes[place] for place in chosen.tolist()]
    return TrainingLabels(images.ids[chosen], images.labels[chosen], paths, hashes)


def labelled_embeddings(images: TrainingLabels, model: ModelFiles, caches: CacheFolders) -> NDArray[np.float32]:
    """Embeddings (n, d) float32 of length 1, from the cache.

    Raises:
        InputError: some have none yet.
    """
    store = EmbeddingStore(model.card.embedding_width)
    rows = np.arange(len(images))
    store.append(rows)  # by place: the ids need not ascend
    with open_cache(model, caches) as cache:
        store.fill(rows, images.content_hashes, cache.get_many)
    if waiting := int((~store.is_filled).sum()):
        raise InputError(
            "labelled images have no embedding of the model in use yet",
            found="{waiting} of {images}",
            remedy="embed the project first, then train",
            waiting=waiting,
            images=len(images),
        )
    return store.floats(rows)


def graph_arrays(graph: CategoryGraph, labelled: NDArray[np.int64]) -> GraphArrays:
    """The labelled classes, everything above them, and the children of both."""
    class_ids = reached_classes(graph, np.unique(labelled).tolist())
    return GraphArrays(
        np.array(class_ids, dtype=np.int64),
        tuple(graph.name(class_id) for class_id in class_ids),
        edge_index(graph, class_ids),
        np.array([graph.level(class_id) for class_id in class_ids], dtype=np.int64),
        np.array([not graph.children(class_id) for class_id in class_ids], dtype=np.bool_),
    )
