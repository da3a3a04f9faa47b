"""Bounding boxes in files of other programs as parts of images; and where their images are.

Boxes refer to the picture as displayed, upright. A missing size is read from the image's header.
"""

import math
import os
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import final

from engine.file_parts import WHOLE_FILE, BoundingBox, FilePart
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.photo_facts import photo_facts
from engine.texts import Message, marked

Point = tuple[float, float]
_WHOLE_SHARES = 1e-3
"""Margin, as a share of a side, within which a box is the whole picture. Chosen."""
_MOST_PIXELS = 1e9  # of a side
_NO_SIZE = marked(
    "its width and height are missing, and its image was not found: put the image next to it"
)
_SWAPPED_SIZE = marked(
    "it refers to the unrotated picture: give it for the picture as shown, upright"
)
_IMAGE_FOLDERS = ("images", "JPEGImages", "image", "imgs", "img", "data")
_UPWARDS = frozenset({".", ".."})
_LABEL_FOLDERS = ("labels", "annotations", "Annotations")


def part_of_pixels(values: Iterable[object], size: tuple[int, int]) -> FilePart:
    """The part of a box of left, top, width and height in pixels; the whole within a pixel.

    Raises:
        ValueError: a value is not a number.
        InputError: the box is outside of the picture.
    """
    left, top, width, height = numbers(values, 4)
    box = BoundingBox.of_pixels(left, top, width, height, size)
    return _part(box, 1 / size[0], 1 / size[1])


def part_of_shares(values: Iterable[object]) -> FilePart:
    """The part of a box of left, top, width and height as shares of the picture."""
    return _part(BoundingBox.of(*numbers(values, 4)), _WHOLE_SHARES, _WHOLE_SHARES)


def part_of_points(points: Sequence[Point], size: tuple[int, int]) -> FilePart:
    """The part of the bounding box of points in pixels."""
    return part_of_pixels(bounds(points), size)


def bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Bounding box of points: left, top, width, height; ValueError without points."""
    if not points:
        raise ValueError(Message("it has no points"))
    across, down = zip(*points, strict=True)
    return min(across), min(down), max(across) - min(across), max(down) - min(down)


def rotated(
    box: Sequence[float], degrees: float, pivot: Point
) -> tuple[float, float, float, float]:
    """Bounding box of a box that is rotated clockwise around a pivot."""
    left, top, width, height = box
    if not degrees:
        return left, top, width, height
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = ((left, top), (left + width, top), (left, top + height), (left + width, top + height))
    offsets = ((x - pivot[0], y - pivot[1]) for x, y in corners)
    return bounds(
        [(pivot[0] + x * cosine - y * sine, pivot[1] + x * sine + y * cosine) for x, y in offsets]
    )


def numbers(values: Iterable[object], count: int | None = None) -> list[float]:
    """Parse numbers, or texts of numbers.

    Raises:
        ValueError: one is invalid, or there are not `count` of them.
    """
    found = [_number(each) for each in values]
    if count is not None and len(found) != count:
        raise ValueError(
            Message("a box has {count} numbers, not {found}", {"count": count, "found": len(found)})
        )
    return found


def points_of(values: object) -> list[Point]:
    """Points of a list of pairs, or of a flat list of x and y."""
    listed = values if isinstance(values, list) else []
    flat = [number for each in listed for number in (each if isinstance(each, list) else [each])]
    found = numbers(flat)
    return list(zip(found[::2], found[1::2], strict=True))


def picture_size(width: object, height: object, file: Path | None) -> tuple[int, int]:
    """Width and height of a picture from its source, else from the header of its file.

    Raises:
        ValueError: both lack them, or the source has them swapped (EXIF orientation ignored).
    """
    written = _whole(width), _whole(height)
    shown = _shown_size(file)
    if not all(written):
        if not all(shown):
            raise ValueError(Message(_NO_SIZE))
        return shown
    if written != shown and written == shown[::-1]:
        raise ValueError(Message(_SWAPPED_SIZE))
    return written


def _shown_size(file: Path | None) -> tuple[int, int]:
    """Displayed size of an image's file; 0, 0 if there is none."""
    if file is None:
        return 0, 0
    try:
        changed = file.stat().st_mtime_ns
    except (OSError, ValueError):
        return 0, 0
    return _header_size(file, changed)


@lru_cache(maxsize=1024)
def _header_size(file: Path, _changed: int) -> tuple[int, int]:
    if not file.is_file():
        return 0, 0
    facts = photo_facts(file)
    return facts.width, facts.height


def scored(value: object) -> float | None:
    """Parse the score of a detector; None if there is none."""
    return None if value is None or value == "" else _number(value)


@final
class ImageFinder:
    """Finds the images of annotation files, by the name in the file or the file's own name.

    Args:
        source: the file or folder that is read, the base of image paths.
    """

    def __init__(self, source: Path) -> None:
        self._root = source if source.is_dir() else source.parent
        self._stems = cache(_images_by_stem)

    def find(self, annotation: Path, named: str = "") -> tuple[str, Path]:
        """Path of an annotation's image in the source, and its existing or expected file."""
        plain = named.replace("\\", "/")
        for folder in _folders_for(annotation):
            file = (
                Path(os.path.normpath(folder / plain))
                if plain
                else self._stems(folder).get(annotation.stem)
            )
            if file is not None and file.is_file():
                return self._path(file), file
        if plain:
            name = "/".join(part for part in PurePosixPath(plain).parts if part not in _UPWARDS)
            return name, annotation.parent / plain
        return annotation.stem, annotation.with_suffix("")

    def _path(self, file: Path) -> str:
        return (
            file.relative_to(self._root).as_posix()
            if file.is_relative_to(self._root)
            else str(file)
        )


def _folders_for(annotation: Path) -> list[Path]:
    """Folders that may have the image of an annotation file: its own, and image folders."""
    folder = annotation.parent
    found = [folder, *(folder.parent / name for name in _IMAGE_FOLDERS)]
    parts = folder.parts
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] in _LABEL_FOLDERS:
            found += [Path(*parts[:place], name, *parts[place + 1 :]) for name in _IMAGE_FOLDERS]
            break
    return found


def _images_by_stem(folder: Path) -> dict[str, Path]:
    try:
        files = sorted(folder.iterdir())
    except OSError:  # there is no such folder, or none that may be read
        return {}
    return {each.stem: each for each in files if each.suffix.casefold() in IMAGE_SUFFIXES}


def relative_image(folder: Path, image: str) -> Path:
    """Path of an image that an annotation file names, with the separators of Windows, too."""
    return folder / PurePosixPath(image.replace("\\", "/"))


def image_folders(source: Path) -> tuple[Path, ...]:
    """Folders in which images of an annotation file may be: its own, then image folders in it."""
    folder = source.parent
    return (folder, *(folder / name for name in _IMAGE_FOLDERS if (folder / name).is_dir()))


def image_in(folders: Sequence[Path], image: str) -> Path:
    """Path of an image in the first folder that has it, else in the first folder."""
    places = [relative_image(folder, image) for folder in folders]
    found = (place for place in places if place.is_file()) if len(places) > 1 else iter(())
    return next(found, places[0])


def _part(box: BoundingBox, across: float, down: float) -> FilePart:
    is_wide = box.left <= across and 1 - box.right <= across
    is_high = box.top <= down and 1 - box.bottom <= down
    return WHOLE_FILE if is_wide and is_high else FilePart(box=box)


def _number(value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise ValueError(Message('"{value}" is not a number', {"value": str(value)[:40]}))


def _whole(value: object) -> int:
    try:
        found = _number(value)
    except ValueError:
        return 0
    return int(found) if 0 < found < _MOST_PIXELS else 0
