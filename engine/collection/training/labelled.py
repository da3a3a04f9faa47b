"""Labelled images of a project as training input: indices, decoded once, with a held-out part."""

import math
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from engine.arrays import Flags, Floats, Integers, Pixels
from engine.collection.embed import open_cache
from engine.collection.image_list import EmbeddingStore, ImageList
from engine.collection.models import ModelFiles
from engine.collection.training.settings import BackboneSettings
from engine.config import CacheFolders
from engine.errors import ImageError, InputError
from engine.events import CancelToken, OnProgress, ProgressMeter
from engine.everyday.shots import reached_classes
from engine.full_disk import disk_full, writing
from engine.graph.arrays import edge_index
from engine.graph.category_graph import CategoryGraph
from engine.images.decode import read_rgb
from engine.images.pixels import square
from engine.project import Project

if TYPE_CHECKING:
    from engine.training.level_wise import EpisodeShape
    from engine.training.training_set import TrainingSet


@dataclass(frozen=True)
class TrainingLabels:
    """The labelled images, without unreadable ones."""

    image_ids: Integers  # (n,) int64; ascending if read from a project
    class_ids: Integers  # (n,) int64
    paths: Sequence[str]  # n, as stored in the project
    content_hashes: Sequence[bytes | None]  # n; None where the image was not read yet

    def __len__(self) -> int:
        return len(self.image_ids)

    def in_order(self, rows: Integers) -> "TrainingLabels":
        return TrainingLabels(
            self.image_ids[rows],
            self.class_ids[rows],
            [self.paths[row] for row in rows.tolist()],
            [self.content_hashes[row] for row in rows.tolist()],
        )


@dataclass(frozen=True)
class GraphArrays:
    """The part of the category graph that labels reach, as C indices."""

    class_ids: Integers  # (C,) int64, ascending
    names: tuple[str, ...]  # C names
    edge_index: Integers  # (2, E) int64, rows: parent, child
    levels: Integers  # (C,) int64, longest path from a root
    is_leaf: Flags  # (C,) bool, leaf of the whole graph

    def positions_of(self, class_ids: Integers) -> Integers:
        return np.searchsorted(self.class_ids, class_ids)


def labelled_images(project: Project) -> TrainingLabels:
    """The labels of a project; `InputError` without any."""
    images = ImageList(project)
    images.read()
    # While another process writes, a label may be of a class newer than the graph.
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
    return TrainingLabels(images.ids[chosen], images.labels[chosen].astype(np.int64), paths, hashes)


def labelled_embeddings(
    project: Project, images: TrainingLabels, model: ModelFiles, caches: CacheFolders
) -> Floats:
    """Cached embeddings (n, d) float32 of length 1.

    Raises:
        InputError: some are missing.
    """
    store = EmbeddingStore(model.card.embedding_width)
    rows = np.arange(len(images))
    store.append(rows)  # by place: the ids need not ascend
    with open_cache(model, caches, project) as cache:
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


def graph_arrays(graph: CategoryGraph, labelled: Integers) -> GraphArrays:
    """Arrays of labelled classes, their ancestors, and the children of both."""
    class_ids = reached_classes(graph, np.unique(labelled).tolist())
    return GraphArrays(
        np.array(class_ids, dtype=np.int64),
        tuple(graph.name(class_id) for class_id in class_ids),
        edge_index(graph, class_ids),
        np.array([graph.level(class_id) for class_id in class_ids], dtype=np.int64),
        np.array([not graph.children(class_id) for class_id in class_ids], dtype=np.bool_),
    )


LEAST_CLASSES = 2
LEAST_IMAGES = 2  # of a class: one for its prototype and one to classify
MOST_IMAGES = 5
MOST_WAYS = 5
USUAL_SHARE = 0.6
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class TrainingImages:
    """Decoded images of a project."""

    images: TrainingLabels  # the n labelled images that could be decoded, training images first
    training_set: "TrainingSet"  # of the first m, with the pixels of all n
    arrays: GraphArrays  # the classes
    shape: "EpisodeShape"  # of an iteration
    broken: int  # number of images that could not be decoded

    @property
    def training(self) -> Integers:
        return np.arange(len(self.training_set.class_positions))

    @property
    def held_out(self) -> Integers:
        return np.arange(len(self.training_set.class_positions), len(self.images))


def project_images(
    project: Project,
    settings: BackboneSettings,
    folder: Path,
    *,
    side: int,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> TrainingImages:
    """Decode labelled images into a file in a folder, and split them.

    A label of a coarse class makes an image of that class; levels are longest paths; labelled leaf
    classes with enough images are the few-shot classes. The stored side is larger than that of
    training, for random shifts.

    Raises:
        InputError: too few images or classes.
        StorageError: the folder is not writable.
        Cancelled: `cancel` was set.
    """
    labelled = labelled_images(project)
    arrays = graph_arrays(project.classes.graph, labelled.class_ids)
    kept, held_out = held_out_split(labelled, arrays, settings)
    check_labels(arrays, arrays.positions_of(labelled.class_ids[kept]))
    pixels, decoded = _decoded(
        project,
        labelled,
        np.concatenate([kept, held_out]),
        folder,
        side=side,
        meter=ProgressMeter(len(labelled), on_progress),
        cancel=cancel,
    )
    rows = np.concatenate([kept, held_out])[decoded]
    positions = arrays.positions_of(labelled.class_ids[rows])
    training = positions[: int((decoded < len(kept)).sum())]
    training_set, shape = training_set_of(arrays, training, pixels, settings)
    return TrainingImages(
        labelled.in_order(rows), training_set, arrays, shape, len(labelled) - len(rows)
    )


def training_set_of(
    arrays: GraphArrays,
    positions: Integers,
    pixels: Pixels,
    settings: BackboneSettings,
) -> "tuple[TrainingSet, EpisodeShape]":
    """Training set of class indices (m,) and pixels (n, S, S, 3), n >= m, and its shape."""
    from engine.training.training_set import (
        TrainingSet,
    )  # networkx: the window opens projects without it

    shape = shape_for(
        np.bincount(positions, minlength=len(arrays.class_ids))[arrays.is_leaf], settings
    )
    few_shot = _with_images(positions, arrays, shape.shots + shape.query_count)
    return TrainingSet(
        pixels, positions, arrays.edge_index, arrays.levels, few_shot, arrays.names
    ), shape


def held_out_split(
    labelled: TrainingLabels, arrays: GraphArrays, settings: BackboneSettings
) -> tuple[Integers, Integers]:
    """Rows to train on and to hold out: a share of each leaf class."""
    generator, share = np.random.default_rng(settings.seed), settings.held_out_share
    kept, held_out = [], []
    positions = arrays.positions_of(labelled.class_ids)
    for position in np.unique(positions).tolist():
        rows = generator.permutation(np.flatnonzero(positions == position))
        wanted = max(1, round(len(rows) * share)) if share and arrays.is_leaf[position] else 0
        count = max(0, min(wanted, len(rows) - LEAST_IMAGES))
        held_out.append(rows[:count])
        kept.append(rows[count:])
    return np.sort(np.concatenate(kept)), np.sort(np.concatenate(held_out))


def check_labels(arrays: GraphArrays, positions: Integers) -> None:
    """Check that Algorithm 1 can learn from labels, given as class indices (n,).

    Raises:
        InputError: too few leaf classes have enough images.
    """
    few_shot = _with_images(positions, arrays, LEAST_IMAGES)
    if len(few_shot) < LEAST_CLASSES:
        counts = np.bincount(positions, minlength=len(arrays.class_ids))
        scarce = np.flatnonzero(arrays.is_leaf & (counts < LEAST_IMAGES)).tolist()
        example = f"; “{arrays.names[scarce[0]]}” has {counts[scarce[0]]}" if scarce else ""
        raise InputError(
            "there are too few labelled images to train a backbone",
            expected="at least {least_classes} leaf classes with {least} labelled images each",
            found=f"{len(few_shot)}{example}",
            remedy="label more images of leaf classes first",
            least_classes=LEAST_CLASSES,
            least=LEAST_IMAGES,
        )


def shape_for(leaf_counts: Integers, settings: BackboneSettings) -> "EpisodeShape":
    """Largest iteration that fits most labelled leaves, by their image counts (L,)."""
    from engine.training.level_wise import EpisodeShape

    counts = np.sort(leaf_counts[leaf_counts >= LEAST_IMAGES])[::-1]
    usual = max(LEAST_CLASSES, int(USUAL_SHARE * len(counts)))
    images = int(counts[min(usual, len(counts)) - 1]) if len(counts) else LEAST_IMAGES
    shots = settings.shots or min(MOST_IMAGES, images // 2)
    queries = settings.queries or max(1, min(MOST_IMAGES, images - shots))
    able = int((counts >= shots + queries).sum())
    ways = settings.ways or max(LEAST_CLASSES, min(MOST_WAYS, able))
    return EpisodeShape(
        ways=ways, shots=shots, queries=queries, coarse_images=settings.coarse_images
    )


def _with_images(positions: Integers, arrays: GraphArrays, count: int) -> Integers:
    """Indices of leaf classes that have at least `count` images."""
    return np.flatnonzero(
        arrays.is_leaf & (np.bincount(positions, minlength=len(arrays.class_ids)) >= count)
    )


def _decoded(
    project: Project,
    labelled: TrainingLabels,
    rows: Integers,
    folder: Path,
    *,
    side: int,
    meter: ProgressMeter,
    cancel: CancelToken,
) -> tuple[Pixels, Integers]:
    """Decode images to pixels (n, side, side, 3) uint8, and their places (n,) in `rows`."""
    pixels = _new_pixels(folder, len(rows), side)
    sound: list[int] = []
    meter.note = "reading images"
    for place, row in enumerate(rows.tolist()):
        cancel.raise_if_cancelled()
        try:
            image = read_rgb(project.path.parent / labelled.paths[row], smallest_side=side)
        except ImageError:
            image = None
        if image is not None:
            pixels[len(sound)] = square(image, side)
            sound.append(place)
        meter.advance()
    return pixels[: len(sound)], np.array(sound, dtype=np.int64)


def _new_pixels(folder: Path, count: int, side: int) -> Pixels:
    """Map an unnamed temporary file."""
    shape = (count, side, side, 3)
    with writing(
        folder, "the decoded images cannot be kept for the training", "choose another folder"
    ):
        free = shutil.disk_usage(folder).free
        if free < math.prod(shape):
            raise disk_full(folder, needed_bytes=math.prod(shape), free_bytes=free)
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file, math.prod(shape))
            return np.memmap(file, dtype=np.uint8, mode="r+", shape=shape)


def _reserve(file: IO[bytes], size_bytes: int) -> None:
    """Allocate disk space now: a full disk would kill the process when a mapped file grows."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size_bytes)
        return
    empty = bytes(_PIECE_BYTES)
    for start in range(0, size_bytes, _PIECE_BYTES):
        file.write(empty[: size_bytes - start])
    file.flush()
