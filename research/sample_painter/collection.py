"""The sample collection: generated pictures of plants and insects, with classes and labels."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.full_disk import storage_error
from engine.new_file import output_file, text_into
from research.sample_painter.catalogue import GROUPS, KINDS
from research.sample_painter.orders import PHOTOS, PictureOrder, orders_of


@dataclass(frozen=True)
class SampleClass:
    """A class of the collection.

    Attributes:
        name: unique in the collection.
        parents: names of its parents; empty for a root.
    """

    name: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class SampleImage:
    """A picture of the collection.

    Attributes:
        path: relative to the collection's folder, with "/".
        class_name: class, or group for a coarse label; empty for none of the classes.
        is_shot: whether it is labelled.
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
        truth_csv: table of image and class for the unlabelled images; the class of strays is empty.
        shots_csv: table of image and class for the shots.
    """

    folder: Path
    classes: tuple[SampleClass, ...]
    images: tuple[SampleImage, ...]
    edges_csv: Path
    truth_csv: Path
    shots_csv: Path


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
        folder: created if missing; files of an earlier call are replaced.
        seed: of specimens, poses, light, backgrounds and file names.
        images_per_class: pictures of each leaf class; at most about half of them are shots.
        on_progress: called with the number of pictures drawn.
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
    orders = orders_of(images_per_class, seed)
    try:
        (folder / PHOTOS).mkdir(parents=True, exist_ok=True)
        meter = ProgressMeter(len(orders), on_progress)
        for order in orders:
            (cancel or CancelToken()).raise_if_cancelled()
            order.take(folder, seed)
            meter.advance()
        return _with_tables(folder, orders)
    except OSError as error:
        remedy = "choose another folder or free some space"
        raise storage_error(
            folder, error, "the sample collection cannot be written", remedy
        ) from error


def _with_tables(folder: Path, orders: Sequence[PictureOrder]) -> SampleCollection:
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
