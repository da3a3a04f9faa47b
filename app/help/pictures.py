"""Pictures of the guide as Qt images, scaled to their displayed size; callable from any thread."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage

from app.images.pixels import image_of

Sizes = Mapping[str, QSize]  # in device pixels, by name


def read_pictures(folder: Path, wanted: Sizes) -> dict[str, QImage]:
    """Read and scale pictures; unreadable ones are omitted."""
    from engine.errors import ImageError
    from engine.images.decode import read_rgb

    pictures = {}
    for name, size in wanted.items():
        try:
            whole = image_of(read_rgb(folder / name))
        except ImageError:
            continue
        pictures[name] = whole.scaled(size, mode=Qt.TransformationMode.SmoothTransformation)
    return pictures
