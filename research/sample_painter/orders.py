"""The pictures of the sample collection, in the order of their file names."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.new_file import output_file
from research.sample_painter.catalogue import COARSELY_LABELLED, KINDS, STRAYS, Kind
from research.sample_painter.photo import Painter, Scene, photograph

JPEG_QUALITY = 88
IMAGES_OF_A_GROUP = 6
IMAGES_OF_NO_CLASS = 6
PHOTOS = "photos"


@dataclass(frozen=True)
class PictureOrder:
    """A picture to take.

    Attributes:
        class_name: class, or group for a coarse label; empty for none of the classes.
        is_shot: whether it is labelled.
        draw: painter of the subject.
        scene: where the subject is shown.
        number: of the picture, from 0; seeds its random numbers.
        path: of its file, relative to the collection's folder, with "/".
    """

    class_name: str
    is_shot: bool
    draw: Painter
    scene: Scene
    number: int = 0
    path: str = ""

    def take(self, folder: Path, seed: int) -> Path:
        """Draw the picture and write it; its random numbers do not depend on other pictures.

        Args:
            folder: of the collection.
            seed: of the collection.

        Returns:
            Its file.

        Raises:
            OSError: it cannot be written.
        """
        picture = photograph(self.draw, self.scene, np.random.default_rng((seed, self.number)))
        path = folder / self.path
        with output_file(path, durable=False) as file:
            picture.save(file, "JPEG", quality=JPEG_QUALITY)
        return path


def orders_of(images_per_class: int, seed: int) -> list[PictureOrder]:
    """Pictures to draw, with shuffled file names, so that a name does not reveal the class."""
    orders = list(_by_class(images_per_class))
    shuffled: NDArray[np.int64] = np.random.default_rng(seed).permutation(len(orders))
    return [
        replace(orders[position], number=number, path=f"{PHOTOS}/IMG_{number + 1:04d}.jpg")
        for number, position in enumerate(shuffled)
    ]


def _by_class(images_per_class: int) -> Iterator[PictureOrder]:
    most_shots = (images_per_class + 1) // 2
    for kind in KINDS:
        for index in range(images_per_class):
            yield PictureOrder(
                kind.name, index < min(kind.shots, most_shots), kind.draw, kind.scene
            )
    for group in COARSELY_LABELLED:
        shown = _kinds_for(group)
        for index in range(min(IMAGES_OF_A_GROUP, images_per_class)):
            kind = shown[index % len(shown)]
            yield PictureOrder(group, is_shot=True, draw=kind.draw, scene=kind.scene)
    for index in range(min(IMAGES_OF_NO_CLASS, images_per_class)):
        draw, scene = STRAYS[index % len(STRAYS)]
        yield PictureOrder("", is_shot=False, draw=draw, scene=scene)


def _kinds_for(group: str) -> list[Kind]:
    """Subjects of the coarsely labelled pictures of a group: alternately without and with shots.

    A user who cannot tell a species labels it by its group, so these are often species without
    shots.
    """
    members = [kind for kind in KINDS if group in kind.parents]
    unknown = [kind for kind in members if not kind.shots]
    known = [kind for kind in members if kind.shots]
    return [kind for pair in zip(unknown * len(known), known, strict=True) for kind in pair]
