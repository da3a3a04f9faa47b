"""A small collection of images with boxes, several boxes, and empty images, for formats."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image

from engine.file_parts import WHOLE_FILE, BoundingBox, FilePart
from engine.graph.category_graph import CategoryGraph
from engine.images.photo_facts import photo_facts
from engine.interchange.labelled_images.records import (
    GivenLabel,
    LabelledImage,
    LabelledImages,
    ModelAnswer,
)

WHEN = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
SIZES = ((641, 427), (333, 777), (2047, 1531), (97, 61))
"""Displayed widths and heights."""
TURNED = 1
"""Index of the image stored rotated (EXIF orientation 6)."""
BOXES = 7
"""Of each image; one of each kind of label, the others of people."""
_ORIENTATION = 0x0112
_TURNED_RIGHT = 6


def boxed_images(folder: Path, seed: int = 0) -> LabelledImages:
    """Four images with random boxes, one labelled twice as a whole, one empty."""
    chance = random.Random(seed)
    graph = CategoryGraph()
    ids = {"Mammal": graph.add_class("Mammal")}
    for name in ("Red fox", "Badger", "Lynx"):
        ids[name] = graph.add_class(name, (ids["Mammal"],))
    images: list[LabelledImage] = []
    for place, size in enumerate(SIZES):
        file = draw_photo(
            folder / f"camera {place % 2}" / f"photo {place}.jpg", size, is_turned=place == TURNED
        )
        for number in range(BOXES):
            part = FilePart(box=_box(chance))
            images.append(
                _item(len(images) + 1, file, part, _KINDS[min(number, len(_KINDS) - 1)], ids)
            )
    for name, kind in (("whole.jpg", "whole"), ("empty.jpg", "empty")):
        file = draw_photo(folder / name, (120, 80))
        images.append(_item(len(images) + 1, file, WHOLE_FILE, kind, ids))
    second = FilePart(thing=2)
    images.insert(-1, _item(len(images) + 1, folder / "whole.jpg", second, "counted", ids))
    return LabelledImages(
        title="traps",
        graph=graph,
        images=images,
        made_at=WHEN,
        model="leafnet",
        setting="ppn+",
        program="Protoleaf",
        folder=folder,
        facts_of=lambda image: photo_facts(image.file),
    )


_KINDS = ("person", "model", "detector", "drawn", "counted", "person")


def _item(
    image_id: int, file: Path, part: FilePart, kind: str, ids: Mapping[str, int]
) -> LabelledImage:
    path = (
        file.name if file.name in {"whole.jpg", "empty.jpg"} else f"{file.parent.name}/{file.name}"
    )
    class_id = list(ids.values())[1 + image_id % 3]
    is_labelled = kind in {"person", "counted", "whole", "empty"}
    label = GivenLabel(None if kind == "empty" else class_id, "ada", WHEN, "review")
    return LabelledImage(
        image_id,
        path,
        file,
        f"{image_id:032x}",
        label if is_labelled else None,
        ModelAnswer(class_id, 0.8, class_id, 0.8, is_unknown=False) if kind == "model" else None,
        part=part,
        category="animal" if kind in {"model", "detector"} else "",
        detection_score=0.75 if kind in {"model", "detector"} else None,
        is_empty=kind == "empty",
        count=5 if kind == "counted" else None,
        fields={"sex": "female"} if kind == "counted" else {},
        facts={"sex": "female"} if kind == "counted" else {},
    )


def draw_photo(file: Path, size: tuple[int, int], *, is_turned: bool = False) -> Path:
    """Write a JPEG of a displayed size, stored rotated or not."""
    file.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    if is_turned:
        exif[_ORIENTATION] = _TURNED_RIGHT
    stored = size[::-1] if is_turned else size
    Image.new("RGB", stored, (90, 140, 60)).save(file, "JPEG", exif=exif)
    return file


def _box(chance: random.Random) -> BoundingBox:
    left, top = chance.uniform(0, 0.8), chance.uniform(0, 0.8)
    return BoundingBox.of(left, top, chance.uniform(0.02, 1 - left), chance.uniform(0.02, 1 - top))
