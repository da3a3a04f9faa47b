"""Photos of 16 : 9 with coloured objects, and finding objects by colour on the screen."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from engine.file_parts import BoundingBox
from tests.robot.eyes import Area, Picture

SIZE = (640, 360)
BLOOD_SIZE = (1280, 720)
Colour = tuple[int, int, int]

COLOURS: dict[str, Colour] = {
    "Fox": (226, 92, 18),
    "Jay": (26, 92, 226),
    "Boar": (84, 24, 60),
}
BLOOD: dict[str, Colour] = {"Red cell": (196, 40, 52), "White cell": (74, 40, 150)}
PLASMA = (250, 200, 190)
_REACH = 45
"""Largest difference per channel from an object's colour, after scaling and JPEG."""
_GROUND_REACH = 15
_LEAST_SIDE = 14


@dataclass(frozen=True)
class Thing:
    """An object in a photo."""

    name: str  # a key of `COLOURS`, or "" for a false detection
    box: BoundingBox
    score: float = 1.0
    category: str = "animal"


def paint_photo(
    path: Path, things: Sequence[Thing], seed: int = 0, size: tuple[int, int] = SIZE
) -> Path:
    """Paint objects on a grey and green background; each name has its colour and shape."""
    chance = np.random.default_rng(seed)
    coarse = chance.integers(0, 40, (9, 16, 1), dtype=np.uint8) + np.array(
        (110, 125, 100), np.uint8
    )
    picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(picture)
    for thing in things:
        if thing.name:
            _paint(draw, thing, size)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=92)
    return path


def _paint(draw: ImageDraw.ImageDraw, thing: Thing, size: tuple[int, int]) -> None:
    left, top, width, height = thing.box.in_pixels(size)
    right, bottom, colour = left + width - 1, top + height - 1, COLOURS[thing.name]
    middle = left + width / 2
    if thing.name == "Fox":
        draw.ellipse((left, top, right, bottom), colour)
    elif thing.name == "Jay":
        draw.polygon([(middle, top), (right, bottom), (left, bottom)], colour)
    else:
        draw.rectangle((left, top, right, bottom), colour)


def paint_blood(path: Path, cells: int, seed: int = 0) -> Path:
    """Paint a blood smear: separate cells, each fourth one a larger white cell."""
    chance = random.Random(seed)
    picture = Image.new("RGB", BLOOD_SIZE, PLASMA)
    draw = ImageDraw.Draw(picture)
    places: list[BoundingBox] = []
    for number in range(cells):
        room = box_beside(places, chance, 0.26)
        places.append(room)
        left, top, width, height = room.in_pixels(BLOOD_SIZE)
        name, margin = ("White cell", 0.15) if number % 4 == 0 else ("Red cell", 0.25)
        across, down = width * margin, height * margin
        draw.ellipse(
            (left + across, top + down, left + width - across, top + height - down), BLOOD[name]
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, quality=95)
    return path


def box_beside(
    others: Sequence[BoundingBox], chance: random.Random, side: float = 0.3
) -> BoundingBox:
    """A random box that overlaps no other.

    Args:
        side: its height, as a share of the picture's; it is square in pixels.
    """
    width = side * SIZE[1] / SIZE[0]
    while True:
        box = BoundingBox.of(chance.uniform(0, 1 - width), chance.uniform(0, 1 - side), width, side)
        if not any(box.overlap(other) for other in others):
            return box


def things_seen(picture: Picture, origin: Area, colour: Colour, reach: int = _REACH) -> list[Area]:
    """Areas of a colour in a part of the screen, from the top left."""
    is_colour: NDArray[np.bool_] = (np.abs(picture.astype(np.int16) - colour) <= reach).all(axis=2)
    labels, _count = ndimage.label(is_colour)
    found = []
    for rows, columns in ndimage.find_objects(labels):
        area = Area(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        if min(area.width, area.height) >= _LEAST_SIDE:
            found.append(area.moved(origin.left, origin.top))
    return sorted(found, key=lambda area: (area.top, area.left))


def picture_seen(screen: Picture, origin: Area, ground: Colour) -> Area:
    """The area of a picture with this background colour in a part of the screen."""
    return max(
        things_seen(screen, origin, ground, _GROUND_REACH),
        key=lambda area: area.width * area.height,
    )


def share_of(area: Area, picture: Area) -> BoundingBox:
    """A part of the screen as a box in the picture shown there."""
    return BoundingBox.of_pixels(
        area.left - picture.left,
        area.top - picture.top,
        area.width,
        area.height,
        (picture.width, picture.height),
    )
