"""A drawing as a picture of pixels."""

from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter

from engine.collection.outputs import WRITTEN_BY

SHARPNESS: Final = 2.0
"""Pixels for each unit of a drawing, so that names are sharp in print."""
LONGEST_SIDE: Final = 16_000
"""Pixels; many programs open no longer ones."""
MOST_PIXELS: Final = 64_000_000
"""Of a picture: 256 MB while it is made."""


def png_of(svg: bytes) -> tuple[bytes, float]:
    """Paint a drawing.

    Args:
        svg: its text.

    Returns:
        The picture as PNG, and the share of the wanted sharpness that there was room for, 1 for all of it.
    """
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(QByteArray(svg))
    box = renderer.viewBoxF()
    wanted = SHARPNESS * max(box.width(), box.height())
    room = min(
        1.0,
        LONGEST_SIDE / wanted,
        (MOST_PIXELS / (SHARPNESS**2 * box.width() * box.height())) ** 0.5,
    )
    scale = SHARPNESS * room
    width, height = (max(1, int(side * scale)) for side in (box.width(), box.height()))
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, width, height))
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"PNG"))
    writer.setText("Software", WRITTEN_BY)
    writer.write(image)
    return bytes(content.data()), room
