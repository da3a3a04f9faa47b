"""Views: random crops of photos for teacher and student, each at its own side."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import UsageError
from engine.images.decode import read_rgb
from engine.images.kinds import IMAGE_SUFFIXES

LEAST_AREA = 0.4
"""Share of the middle square of a photo in a view. Chosen: the subject is still visible."""
ASPECT = 0.2
"""Largest absolute logarithm of a view's aspect ratio."""


@dataclass(frozen=True)
class PhotoSource:
    """A folder of photos.

    Attributes:
        folder: with class folders of photos; classes are ignored.
        photos: of each class folder, drawn; 0 for all.
        views: of each photo.
    """

    folder: Path
    photos: int = 0
    views: int = 1

    @staticmethod
    def of(text: str) -> "PhotoSource":
        """Read `FOLDER`, `FOLDER:PHOTOS` or `FOLDER:PHOTOS:VIEWS`.

        Raises:
            UsageError: there are no numbers after the colons.
        """
        folder, *numbers = text.split(":")
        if len(numbers) > 2 or not all(map(str.isdecimal, numbers)):  # noqa: PLR2004 (two counts)
            raise UsageError(
                "a source is not understood", expected="FOLDER, :PHOTOS, :VIEWS", found=text
            )
        return PhotoSource(Path(folder), *map(int, numbers))


def drawn_photos(sources: Sequence[PhotoSource], generator: np.random.Generator) -> list[Path]:
    """A path for each view, in random order."""
    paths: list[Path] = []
    for source in sources:
        found: dict[Path, list[Path]] = {}
        for path in sorted(source.folder.rglob("*")):
            if path.suffix.lower() in IMAGE_SUFFIXES:
                found.setdefault(path.parent, []).append(path)
        for photos in found.values():
            count = min(source.photos or len(photos), len(photos))
            chosen = generator.choice(len(photos), count, replace=False)
            paths += [photos[place] for place in chosen] * source.views
    return [paths[place] for place in generator.permutation(len(paths))]


def views(
    paths: Sequence[Path], sides: Sequence[int], generator: np.random.Generator
) -> Iterator[tuple[NDArray[np.uint8], ...]]:
    """A random crop of each photo, resized to each of the sides: (side, side, 3) uint8 RGB."""
    for path in paths:
        image = Image.fromarray(read_rgb(path))
        box = _box(image.size, generator)
        yield tuple(
            np.asarray(image.resize((side, side), Image.Resampling.BILINEAR, box=box))
            for side in sides
        )


def _box(
    size: tuple[int, int], generator: np.random.Generator
) -> tuple[float, float, float, float]:
    side = min(size) * math.sqrt(generator.uniform(LEAST_AREA, 1))
    stretch = math.exp(generator.uniform(-ASPECT, ASPECT) / 2)
    width, height = min(side * stretch, size[0]), min(side / stretch, size[1])
    left, top = generator.uniform(0, size[0] - width), generator.uniform(0, size[1] - height)
    return left, top, left + width, top + height
