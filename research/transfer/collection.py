"""A collection with `train` and `val` of class folders: images, classes, and category graph."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from engine.graph.names import clean_name, join_path
from engine.images.find_images import ImageFolder, find_images
from engine.interchange.detect import read_graph, restricted
from engine.interchange.imported import ImportedGraph
from engine.interchange.versions.plan import merge_into

TRAIN = "train"
VAL = "val"
PARTS = (TRAIN, VAL)
FEWEST_CLASSES = 2
DRAWN_BY = 0
"""Seed of the classes and images sampled from a big data set: the same on every call."""


@dataclass(frozen=True)
class Selection:
    """Subset of a data set, and the place of its hierarchy.

    Attributes:
        hierarchy: file or folder of a category graph with the ids or names of the folders; by
            default the nested folders.
        classes: number of leaves to sample; all when None.
        images: most images of each class in each part, sampled; all when None.
    """

    hierarchy: Path | None = None
    classes: int | None = None
    images: int | None = None

    @property
    def makes_a_graph(self) -> bool:
        """Whether the graph differs from the folders of `train`."""
        return self.hierarchy is not None or self.classes is not None


EVERYTHING = Selection()


@dataclass(frozen=True)
class TransferCollection:
    """All images of both parts, those of `train` first, with their classes.

    Attributes:
        source: the folder of `train` and `val`.
        graph: the category graph of the folders of `train`.
        files: the n images.
        is_train: (n,) bool.
        class_ids: (n,) int64, the leaf that the image's folder names, or `NO_CLASS` where the graph
            has no such leaf: such an image is part of the collection, and is not scored.
        imported: source of the graph; None for the folders of `train`.
    """

    source: Path
    graph: CategoryGraph
    files: tuple[FoundFile, ...]
    is_train: NDArray[np.bool_]
    class_ids: NDArray[np.int64]
    imported: ImportedGraph | None = None

    @cached_property
    def leaf_ids(self) -> NDArray[np.int64]:
        """(c,) int64 ids, ascending, of the leaves with an image in `train`."""
        ids = np.unique(self.class_ids[self.is_train])
        return ids[ids != NO_CLASS]

    @cached_property
    def coarse_ids(self) -> tuple[int, ...]:
        """Classes with several children below the roots, deepest first: the coarse labels.

        Where only roots have leaves as children, and there are several roots, these are the coarse
        classes.
        """
        graph = self.graph
        several = [each for each in graph.classes() if len(graph.children(each)) > 1]
        below = [each for each in several if graph.parents(each)]
        coarse = below or (several if len(several) > 1 else [])
        return tuple(sorted(coarse, key=lambda each: (-graph.level(each), each)))

    @cached_property
    def identity(self) -> str:
        """Hash of names and sizes of images, and of the graph; separates results."""
        lines = [
            f"{file.path.relative_to(self.source).as_posix()} {file.size_bytes}"
            for file in self.files
        ]
        lines += (
            []
            if self.imported is None
            else [f"{parent} > {child}" for parent, child in self.imported.edges]
        )
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def read_collection(source: Path, selection: Selection = EVERYTHING) -> TransferCollection:
    """Read the file names of both parts; no image is opened.

    Args:
        source: folder of `train` and `val`.
        selection: subset.

    Raises:
        InputError: `train` has fewer than two leaves with images.
        StorageError: a folder is missing.
        GraphError: the name of a folder is no valid class name.
        UnknownClassError: a folder of `train` is not in the hierarchy.
    """
    source = source.absolute()
    folders = {part: find_images([source / part]).class_folders() for part in PARTS}
    key_of = _path_of if selection.hierarchy is None else _id_of
    known = {key_of(folder) for folder in folders[TRAIN] if folder.files}
    imported = _imported(source / TRAIN, selection, known)
    graph = CategoryGraph()
    ids = merge_into(graph, imported)
    leaves = frozenset(graph.leaves())
    files: list[FoundFile] = []
    class_ids: list[int] = []
    counts = []
    for part in PARTS:
        before = len(files)
        room: Counter[int] = Counter()
        for folder in folders[part]:
            place = ids.get(key_of(folder), NO_CLASS)
            class_id = place if place in leaves else NO_CLASS
            if class_id == NO_CLASS and selection.classes is not None:
                continue
            found = _chosen(folder.files, selection.images, room[class_id])
            room[class_id] += len(found)
            files += found
            class_ids += [class_id] * len(found)
        counts.append(len(files) - before)
    is_train = np.repeat([True, False], counts)
    ids_array = np.array(class_ids, dtype=np.int64)
    taken = imported if selection.makes_a_graph else None
    collection = TransferCollection(source, graph, tuple(files), is_train, ids_array, taken)
    if len(collection.leaf_ids) < FEWEST_CLASSES:
        raise InputError(
            "there is nothing to tell apart",
            expected=f"two class folders or more with images in {source / TRAIN}",
            found=str(len(collection.leaf_ids)),
        )
    return collection


def _imported(train: Path, selection: Selection, known: AbstractSet[str]) -> ImportedGraph:
    """The graph of the selection.

    Args:
        train: folder of class folders.
        selection: place of the graph, and number of leaves.
        known: keys of the folders with images.
    """
    only = () if selection.hierarchy is None else sorted(known)
    imported = read_graph(selection.hierarchy or train, only=only)
    if selection.classes is None:
        return imported
    parents = {parent for parent, _ in imported.edges}
    leaves = sorted(known - parents)
    drawn = np.random.default_rng(DRAWN_BY).permutation(len(leaves))[: selection.classes]
    return restricted(imported, only=[leaves[place] for place in drawn.tolist()])


def _chosen(files: Sequence[FoundFile], most: int | None, there: int) -> list[FoundFile]:
    """The sampled files of a folder, given the number of files of the class so far."""
    if most is None or len(files) <= most - there:
        return list(files)
    drawn = np.random.default_rng(DRAWN_BY).permutation(len(files))[: max(0, most - there)]
    return [files[place] for place in np.sort(drawn).tolist()]


def _path_of(folder: ImageFolder) -> str:
    """The class named by nested folders."""
    return join_path(tuple(map(clean_name, folder.names)))


def _id_of(folder: ImageFolder) -> str:
    """The class whose id is the name of the outermost folder, as in ImageNet's layouts."""
    return folder.names[0] if folder.names else ""
