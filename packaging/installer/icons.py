"""Pictures of the icons in the sizes that desktops ask for, drawn from the SVG files."""

import os
from pathlib import Path
from typing import Final

SIZES: Final = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Of the hicolor theme, in pixels."""


def draw_icon(source: Path, target: Path, side: int) -> None:
    """Draw an SVG file into a square PNG file."""
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
