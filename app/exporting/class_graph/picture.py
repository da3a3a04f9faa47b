"""Rasterization of a drawing."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter

from engine.collection.outputs import WRITTEN_BY

SHARPNESS = 2.0
"""Pixels per unit of a drawing, enough for sharp names in print."""
LONGEST_SIDE = 16_000
"""In pixels; many programs cannot open larger pictures."""
MOST_PIXELS = 64_000_000
"""Limits memory to 256 MB."""


def png_of(svg: bytes) -> tuple[bytes, float]:
    """Render a drawing.

    Args:
        svg: content of the SVG file.

    Returns:
        The picture as PNG, and its scale relative to the wanted resolution, at most 1.
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
