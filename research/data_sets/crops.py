"""Crops of the objects in photos with boxes, as class folders of `train` and `val`."""

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.errors import FormatError, InputError
from engine.events import OnProgress, ProgressMeter, ignore_progress
from engine.files import open_regular
from engine.images.decode import read_rgb
from engine.interchange.labelled_images.class_folders import safe_name
from engine.interchange.xml_files import elements
from engine.new_file import ORDINARY_FILE, write_file
from engine.new_folder import check_is_free, new_folder

MARGIN = 4
"""Pixels around a box."""
SMALLEST_SIDE = 12
"""Minimum side in pixels; smaller objects at the edge of a photo are left out."""
TRAIN_STEP = 3
"""Every third photo by name is in `train`: all crops of a photo are in the same part."""
QUALITY = 92
"""JPEG quality."""

Crop = tuple[int, str, NDArray[np.uint8]]
"""Number of its box in the photo, name of its class, and pixels (h, w, 3)."""


def write_crops(
    source: Path, out: Path, on_progress: OnProgress = ignore_progress
) -> dict[str, Counter[str]]:
    """Crop every object.

    Args:
        source: folder of `Annotations` and `JPEGImages`, as of Pascal VOC.
        out: new folder.
        on_progress: receives the number of photos.

    Returns:
        Crops of each class, by part.

    Raises:
        InputError: there are no annotations, `out` exists, or a photo is no image.
        FormatError: an annotation has another format.
        StorageError: a file is missing, or the disk is full.
    """
    check_is_free(out)
    annotations = sorted((source / "Annotations").glob("*.xml"))
    if not annotations:
        raise InputError(
            f"{source} has no annotations",
            expected="folders Annotations and JPEGImages, as of Pascal VOC",
        )
    counts: dict[str, Counter[str]] = {"train": Counter(), "val": Counter()}
    meter = ProgressMeter(len(annotations), on_progress, unit="photos")
    with new_folder(out) as draft:
        for place, annotation in enumerate(annotations):
            part = "val" if place % TRAIN_STEP else "train"
            for number, name, pixels in _crops(
                annotation, source / "JPEGImages" / f"{annotation.stem}.jpg"
            ):
                folder = draft / part / safe_name(name)
                folder.mkdir(parents=True, exist_ok=True)
                write_file(
                    folder / f"{annotation.stem}-{number}.jpg", _jpeg(pixels), mode=ORDINARY_FILE
                )
                counts[part][name] += 1
            meter.advance()
    return counts


def _crops(annotation: Path, photo: Path) -> Iterator[Crop]:
    """The objects of a photo that are large enough."""
    pixels = read_rgb(photo)
    height, width = pixels.shape[:2]
    with open_regular(annotation) as file:
        for number, element in enumerate(elements(file, annotation.name, "object")):
            name, (left, top, right, bottom) = named_box(element, annotation.name)
            columns = slice(max(0, left - MARGIN), min(width, right + MARGIN))
            rows = slice(max(0, top - MARGIN), min(height, bottom + MARGIN))
            if min(columns.stop - columns.start, rows.stop - rows.start) >= SMALLEST_SIDE:
                yield number, name, pixels[rows, columns]


def named_box(element: Element, file_name: str) -> tuple[str, tuple[int, int, int, int]]:
    """Class and box, by its edges in pixels, of an `object` of Pascal VOC.

    Raises `FormatError` where it has none.
    """
    name = (element.findtext("name") or "").strip()
    texts = [element.findtext(f"bndbox/{side}") or "" for side in ("xmin", "ymin", "xmax", "ymax")]
    try:
        left, top, right, bottom = (int(float(text)) for text in texts)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{file_name} has a thing without a box", found=str(texts)) from error
    if not name:
        raise FormatError(f"{file_name} has a thing without a name", expected="a class in <name>")
    return name, (left, top, right, bottom)


def _jpeg(pixels: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
