"""The mark "Preview only" on a picture whose photo is not available."""

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter

from app.texts import tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR, number

_KEY = "protoleaf-preview"  # key of a text stored in the `QImage`
_GROUND = QColor(0, 0, 0, 170)
"""Ground of white text: readable on any photo, in both themes."""


def mark_as_preview(image: QImage) -> None:
    """Mark a picture as a preview."""
    image.setText(_KEY, _KEY)


def preview_text(image: QImage) -> str:
    """`Preview only  ·  1,024 px`; "" for a full photo."""
    if not image.text(_KEY):
        return ""
    return SEPARATOR.join(
        (tr("Preview only"), tr("{1} px", number(max(image.width(), image.height()))))
    )


def paint_preview_mark(painter: QPainter, image: QImage, seen: QRectF) -> None:
    """Paint the mark at the lower left of the visible part of a picture."""
    text = preview_text(image)
    if not text:
        return
    spacing, letters = tokens().spacing, painter.fontMetrics()
    size = QSizeF(
        letters.horizontalAdvance(text) + 2 * spacing.small, letters.height() + spacing.small
    )
    chip = QRectF(seen.bottomLeft() + QPointF(spacing.small, -spacing.small - size.height()), size)
    painter.setPen(_GROUND)
    painter.setBrush(_GROUND)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawRoundedRect(chip, spacing.radius_small, spacing.radius_small)
    painter.setPen(QColor("white"))
    painter.drawText(
        chip.topLeft() + QPointF(spacing.small, spacing.small / 2 + letters.ascent()), text
    )
