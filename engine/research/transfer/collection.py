"""A collection with `train` and `val`, both of nested class folders: images, classes, and the graph of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.graph.names import clean_name
from engine.images.find_images import find_images
from engine.interchange.detect import read_graph
from engine.interchange.merge import merge_into

TRAIN: Final = "train"
VAL: Final = "val"
FEWEST_CLASSES: Final = 2


@dataclass(frozen=True)
class TransferCollection:
    """All images of both parts, those of `train` first, and what is known of each.

    Attributes:
        source: the folder of `train` and `val`.
        graph: the category graph of the folders of `train`.
        files: the n images.
        is_train: (n,) bool.
        class_ids: (n,) int64, the leaf that the image's folder names, or `NO_CLASS` where the graph has no such leaf:
            such an image is part of the collection, and is not scored.
    """

    source: Path
    graph: CategoryGraph
    files: tuple[FoundFile, ...]
    is_train: NDArray[np.bool_]
    class_ids: NDArray[np.int64]

    @cached_property
    def leaf_ids(self) -> NDArray[np.int64]:
        """(c,) int64 ids, ascending, of the leaves that have an image in `train`: the classes to choose among."""
        ids = np.unique(self.class_ids[self.is_train])
        return ids[ids != NO_CLASS]

    @cached_property
    def coarse_ids(self) -> tuple[int, ...]:
        """Classes below the roots with several children, deepest first: those that coarse labels name.

        A class with one child says as much as the child.
        """
        graph = self.graph
        coarse = [each for each in graph.classes() if graph.parents(each) and len(graph.children(each)) > 1]
        return tuple(sorted(coarse, key=lambda each: (-graph.level(each), each)))

    @cached_property
    def identity(self) -> str:
        """Hash of the images' names and sizes: results of another collection are not those of this one."""
        lines = [f"{file.path.relative_to(self.source).as_posix()} {file.size_bytes}" for file in self.files]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def read_collection(source: Path) -> TransferCollection:
    """Read the names of both parts' images; no image is opened.

    Raises:
        InputError: `train` has fewer than two leaves with images.
        StorageError: a folder is not there.
        GraphError: a folder's name cannot be a class's.
    """
    source = source.absolute()
    graph = CategoryGraph()
    merge_into(graph, read_graph(source / TRAIN))
    leaves = frozenset(graph.leaves())
    files: list[FoundFile] = []
    class_ids: list[int] = []
    counts = []
    for part in (TRAIN, VAL):
        before = len(files)
        for folder in find_images([source / part]).class_folders():
            class_id = _class_at(graph, folder.names)
            files += folder.files
            class_ids += [class_id if class_id in leaves else NO_CLASS] * len(folder.files)
        counts.append(len(files) - before)
    is_train = np.repeat([True, False], counts)
    collection = TransferCollection(source, graph, tuple(files), is_train, np.array(class_ids, dtype=np.int64))
    if len(collection.leaf_ids) < FEWEST_CLASSES:
        raise InputError(
            "there is nothing to tell apart",
            expected=f"two class folders or more with images in {source / TRAIN}",
            found=str(len(collection.leaf_ids)),
        )
    return collection


def _class_at(graph: CategoryGraph, names: Sequence[str]) -> int:
    """The class that nested folders name, or `NO_CLASS`."""
    place: int | None = None
    for name in names:
        place = graph.child_named(place, clean_name(name))
        if place is None:
            return NO_CLASS
    return NO_CLASS if place is None else place
