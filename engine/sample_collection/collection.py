"""The sample collection: drawn pictures of plants and insects, their classes, a few labels and the truth."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.full_disk import storage_error
from engine.new_file import output_file, text_into
from engine.sample_collection.catalogue import COARSELY_LABELLED, GROUPS, KINDS, STRAYS, Kind
from engine.sample_collection.photo import Painter, Scene, photograph

JPEG_QUALITY: Final = 88
IMAGES_OF_A_GROUP: Final = 6
IMAGES_OF_NO_CLASS: Final = 6
PHOTOS: Final = "photos"


@dataclass(frozen=True)
class SampleClass:
    """A class of the collection.

    Attributes:
        name: unique in the collection.
        parents: names of the classes right above; empty for a root.
    """

    name: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class SampleImage:
    """A picture of the collection.

    Attributes:
        path: relative to the collection's folder, with "/".
        class_name: what it shows, or for a coarse label the group; empty when it shows nothing of the classes.
        is_shot: whether it comes labelled.
    """

    path: str
    class_name: str
    is_shot: bool


@dataclass(frozen=True)
class SampleCollection:
    """A drawn collection.

    Attributes:
        folder: holds the pictures and the tables.
        classes: parents before their children.
        images: by file name.
        edges_csv: table of child and parent; roots have an empty parent.
        truth_csv: table of image and class for the images that are no shots; the class of strays is empty.
        shots_csv: table of image and class for the shots.
    """

    folder: Path
    classes: tuple[SampleClass, ...]
    images: tuple[SampleImage, ...]
    edges_csv: Path
    truth_csv: Path
    shots_csv: Path


@dataclass(frozen=True)
class _Order:
    """A picture to take."""

    class_name: str
    is_shot: bool
    draw: Painter
    scene: Scene
    path: str = ""


def draw_collection(
    folder: Path,
    *,
    seed: int = 0,
    images_per_class: int = 11,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> SampleCollection:
    """Draw the sample collection; the same arguments draw the same files.

    Args:
        folder: made when it is not there; files of an earlier drawing are replaced.
        seed: decides about every specimen, pose, light and background, and about the file names.
        images_per_class: pictures of each leaf class; at most about half of them are shots.
        on_progress: told after each picture.
        cancel: stops between two pictures.

    Returns:
        The collection, with its tables written.

    Raises:
        UsageError: there is less than one image for each class, or the seed is negative.
        StorageError: the folder cannot be written.
        Cancelled: `cancel` was set; the pictures drawn so far stay.
    """
    if images_per_class < 1 or seed < 0:
        raise UsageError(
            "the sample collection cannot be drawn",
            expected="at least 1 image for each class and a seed of 0 or more",
            found=f"{images_per_class} images, seed {seed}",
        )
    orders = _named(list(_orders(images_per_class)), np.random.default_rng(seed))
    try:
        (folder / PHOTOS).mkdir(parents=True, exist_ok=True)
        _take_all(folder, orders, seed, ProgressMeter(len(orders), on_progress), cancel)
        return _with_tables(folder, orders)
    except OSError as error:
        remedy = "choose another folder or free some space"
        raise storage_error(folder, error, "the sample collection cannot be written", remedy) from error


def _orders(images_per_class: int) -> Iterator[_Order]:
    """List the pictures to take, class by class."""
    most_shots = (images_per_class + 1) // 2
    for kind in KINDS:
        for index in range(images_per_class):
            yield _Order(kind.name, index < min(kind.shots, most_shots), kind.draw, kind.scene)
    for group in COARSELY_LABELLED:
        shown = _kinds_for(group)
        for index in range(min(IMAGES_OF_A_GROUP, images_per_class)):
            kind = shown[index % len(shown)]
            yield _Order(group, is_shot=True, draw=kind.draw, scene=kind.scene)
    for index in range(min(IMAGES_OF_NO_CLASS, images_per_class)):
        draw, scene = STRAYS[index % len(STRAYS)]
        yield _Order("", is_shot=False, draw=draw, scene=scene)


def _kinds_for(group: str) -> list[Kind]:
    """What the coarsely labelled pictures of a group show: by turns a kind without shots and one of the others.

    Who cannot tell a species labels it by its group, so these pictures are often of species that have no shots.
    """
    members = [kind for kind in KINDS if group in kind.parents]
    unknown = [kind for kind in members if not kind.shots]
    known = [kind for kind in members if kind.shots]
    return [kind for pair in zip(unknown * len(known), known, strict=True) for kind in pair]


def _named(orders: Sequence[_Order], generator: np.random.Generator) -> list[_Order]:
    """Give the pictures file names in shuffled order, so that a name does not give the class away."""
    shuffled: NDArray[np.int64] = generator.permutation(len(orders))
    return [
        replace(orders[position], path=f"{PHOTOS}/IMG_{number:04d}.jpg") for number, position in enumerate(shuffled, 1)
    ]


def _take_all(
    folder: Path, orders: Sequence[_Order], seed: int, meter: ProgressMeter, cancel: CancelToken | None
) -> None:
    """Take and write all pictures; each has its own random numbers, so none depends on those before it."""
    for number, order in enumerate(orders):
        if cancel is not None:
            cancel.raise_if_cancelled()
        picture = photograph(order.draw, order.scene, np.random.default_rng((seed, number)))
        with output_file(folder / order.path, durable=False) as file:
            picture.save(file, "JPEG", quality=JPEG_QUALITY)
        meter.advance()


def _with_tables(folder: Path, orders: Sequence[_Order]) -> SampleCollection:
    """Write the three tables."""
    classes = tuple(SampleClass(name, parents) for name, parents in GROUPS)
    classes += tuple(SampleClass(kind.name, kind.parents) for kind in KINDS)
    images = tuple(SampleImage(order.path, order.class_name, order.is_shot) for order in orders)
    edges = [(entry.name, parent) for entry in classes for parent in entry.parents or ("",)]
    return SampleCollection(
        folder,
        classes,
        images,
        edges_csv=_table(folder / "edges.csv", ("child", "parent"), edges),
        truth_csv=_table(
            folder / "truth.csv",
            ("image", "class"),
            [(image.path, image.class_name) for image in images if not image.is_shot],
        ),
        shots_csv=_table(
            folder / "shots.csv",
            ("image", "class"),
            [(image.path, image.class_name) for image in images if image.is_shot],
        ),
    )


def _table(path: Path, header: tuple[str, str], rows: Sequence[tuple[str, str]]) -> Path:
    """Write a table with a header."""
    with output_file(path) as file, text_into(file) as text:
        writer = csv.writer(text)
        writer.writerow(header)
        writer.writerows(rows)
    return path
