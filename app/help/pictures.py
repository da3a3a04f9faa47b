"""The pictures of the guide as Qt images, read by the engine's decoder on whatever thread this is called."""

from PySide6.QtGui import QImage

from app.help.guide import Guide
from app.images.pixels import image_of


def read_pictures(guide: Guide) -> dict[str, QImage]:
    """All pictures that are there, by name; one that cannot be read is left out."""
    from engine.errors import ImageError
    from engine.images.decode import read_rgb

    pictures = {}
    for name in guide.picture_sizes:
        try:
            pictures[name] = image_of(read_rgb(guide.folder / name))
        except ImageError:
            continue
    return pictures
