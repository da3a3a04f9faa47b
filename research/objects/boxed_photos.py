"""Photos with labelled boxes (Pascal VOC), and square crops around boxes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.files import open_regular
from engine.interchange.xml_files import elements
from research.data_sets.crops import named_box

Edges = tuple[int, int, int, int]
"""Left, top, right and lower edge of a box in pixels of its photo."""


@dataclass(frozen=True)
class BoxedObject:
    """An object in a photo."""

    photo: int  # position among the photos
    name: str  # of its class
    edges: Edges


@dataclass(frozen=True)
class BoxedPhotos:
    """Photos and their objects, ordered by photo."""

    source: Path
    photos: tuple[Path, ...]
    objects: tuple[BoxedObject, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Class names, sorted."""
        return tuple(sorted({each.name for each in self.objects}))


def read_boxed_photos(source: Path, *, photos: int = 0, objects: int = 0) -> BoxedPhotos:
    """Read annotations, without opening photos.

    Args:
        source: folder of photos with their annotations next to them, or of `JPEGImages` and
            `Annotations`.
        photos: number of photos, by name; 0 for all.
        objects: most objects of a class in a photo; 0 for all.

    Raises:
        InputError: there are no annotations, or all objects are of one class.
        FormatError: an annotation has another format.
    """
    source = source.absolute()
    folders = [source / "Annotations", source / "JPEGImages"]
    annotations, images = folders if folders[0].is_dir() else [source, source]
    found: list[Path] = []
    things: list[BoxedObject] = []
    for annotation in sorted(annotations.glob("*.xml"))[: photos or None]:
        photo = images / f"{annotation.stem}.jpg"
        if photo.is_file():
            things += _objects(annotation, len(found), objects)
            found.append(photo)
    boxed = BoxedPhotos(source, tuple(found), tuple(things))
    if len(boxed.names) < 2:  # noqa: PLR2004 (a class and another)
        expected = "photos with annotations as of Pascal VOC, of two classes or more"
        raise InputError(
            "there is nothing to tell apart", expected=expected, found=", ".join(boxed.names)
        )
    return boxed


def _objects(annotation: Path, photo: int, most: int) -> Iterator[BoxedObject]:
    counts: Counter[str] = Counter()
    with open_regular(annotation) as file:
        for element in elements(file, annotation.name, "object"):
            name, edges = named_box(element, annotation.name)
            left, top, right, bottom = edges
            counts[name] += 1
            if right > left and bottom > top and (not most or counts[name] <= most):
                yield BoxedObject(photo, name, edges)


def crop_square(pixels: NDArray[np.uint8], edges: Edges, margin: float) -> NDArray[np.uint8]:
    """Square crop around a box, moved inside the photo, (side, side, 3).

    Args:
        pixels: of the photo, (H, W, 3).
        margin: side of the square relative to the longer side of the box; at most the size of the
            photo.
    """
    height, width = pixels.shape[:2]
    left, top, right, bottom = edges
    side = max(1, min(round(max(right - left, bottom - top) * margin), width, height))
    first_column = min(max(0, round((left + right - side) / 2)), width - side)
    first_row = min(max(0, round((top + bottom - side) / 2)), height - side)
    return pixels[first_row : first_row + side, first_column : first_column + side]
