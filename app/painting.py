"""Painting in the style of the theme: rounded boxes, lines of text and icons."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPaintDevice, QPainter, QPen

from app.mirroring import isolated
from app.theme.fonts import font_of_pixels
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens

Box = QRect | QRectF
Colour = str | QColor
"""A name of `Colours`, "" for none, or any colour."""


def colour_of(colour: Colour) -> QColor:
    return QColor(getattr(tokens().colours, colour)) if isinstance(colour, str) else colour


def font_of(size: str, *, is_strong: bool = False) -> QFont:
    """The font of a text size of the theme, such as "caption" or "body"."""
    return font_of_pixels(getattr(tokens().sizes, size), is_strong=is_strong)


def smooth_painter(device: QPaintDevice) -> QPainter:
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def set_colours(
    painter: QPainter, fill: Colour = "", *, edge: Colour = "", width: float = 1
) -> None:
    """Set brush and pen for a shape."""
    painter.setBrush(colour_of(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour_of(edge), width) if edge else Qt.PenStyle.NoPen)


def paint_box(
    painter: QPainter,
    box: Box,
    radius: float,
    fill: Colour = "",
    *,
    edge: Colour = "",
    width: float = 1,
) -> None:
    """Paint a rectangle with rounded corners; `width` is that of its edge."""
    set_colours(painter, fill, edge=edge, width=width)
    painter.drawRoundedRect(box, radius, radius)


def paint_chip(
    painter: QPainter,
    box: Box,
    radius: float,
    text: str,
    *,
    colour: str,
    fill: str,
    edge: str = "",
    is_strong: bool = False,
) -> None:
    """Paint a short text in a rounded box."""
    paint_box(painter, box, radius, fill, edge=edge)
    painter.setFont(font_of("caption", is_strong=is_strong))
    painter.setPen(colour_of(colour))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def paint_text(
    painter: QPainter,
    room: Box,
    text: str,
    font: QFont,
    colour: Colour,
    *,
    side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> int:
    """Paint a line, elided and vertically centred; return its width."""
    metrics = QFontMetrics(font)
    width, longest = metrics.horizontalAdvance(text), max(0, int(room.width()))
    if width > longest:
        text = metrics.elidedText(text, mode, longest)
        width = metrics.horizontalAdvance(text)
    painter.setFont(font)
    painter.setPen(colour_of(colour))
    painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, isolated(text))
    return width


def paint_icon(painter: QPainter, box: Box, name: str, colour: str) -> None:
    """Paint an icon, as wide as a box, in a colour of the theme."""
    ratio = painter.device().devicePixelRatio()
    picture = icon_pixmap(name, round(box.width()), colour=colour, ratio=ratio)
    painter.drawPixmap(box.topLeft(), picture)
