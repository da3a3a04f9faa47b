"""Icons as bitmaps in the sizes of desktops, rendered from SVG files."""

import os
from pathlib import Path
from typing import Any

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Sizes of the hicolor theme, in pixels."""
WINDOWS_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
MACOS_SIZES = (16, 32, 64, 128, 256, 512, 1024)


def draw_icon(source: Path, target: Path, side: int) -> None:
    """Render an SVG file to a square PNG file."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    assert application is not None
    image = QImage(side, side, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(source)).render(painter)
    painter.end()
    target.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(target)):
        raise OSError(f"{target} cannot be written")


def bundle_icon(source: Path, target: Path, sides: tuple[int, ...]) -> Path:
    """Render an SVG file to one .ico (Windows) or .icns (macOS) file of several sizes.

    Returns:
        the file.
    """
    from PIL import Image

    pictures = []
    for side in sorted(sides, reverse=True):
        picture = target.with_name(f"{target.stem}-{side}.png")
        draw_icon(source, picture, side)
        pictures.append(Image.open(picture))
    target.unlink(missing_ok=True)
    options: dict[str, Any] = (
        {"sizes": [(side, side) for side in sides]} if target.suffix == ".ico" else {}
    )
    pictures[0].save(target, append_images=pictures[1:], **options)
    return target
