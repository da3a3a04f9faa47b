"""Icons by name, drawn from `assets/icons/*.svg` in the colours of the current theme.

An icon is rendered for each size, scale and theme, so it need not be set again when the theme
changes. Reading a few hundred bytes at first use costs far less at start-up than loading an icon
font.
"""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QImage, QPainter, QPixmap

from app.mirroring import is_mirrored
from app.theme.tokens import tokens
from engine.config import assets_folder

_PIXMAPS_KEPT = 512
_POINTING = frozenset(
    (
        "chevron_left",
        "chevron_right",
        "arrow_left",
        "arrow_right",
        "undo",
        "redo",
        "panel_left",
        "panel_right",
        "right_panel",
        "quit",
    )
)
"""Icons with a reading direction, mirrored in right-to-left layouts. Rotating an image has none."""


def icon(name: str, colour: str = "text_secondary") -> QIcon:
    """An icon that follows the theme.

    Args:
        name: a file in `assets/icons`, without its suffix.
        colour: a field of `Colours`; the accent colour replaces it while the icon is checked.

    Raises:
        FileNotFoundError: no such icon.
    """
    _drawing(name)
    return QIcon(_DrawnIcon(name, colour))


def icon_pixmap(
    name: str, side: int, *, colour: str = "text_secondary", ratio: float = 1.0
) -> QPixmap:
    """An icon as a pixmap, `side` logical pixels wide, for painters."""
    return _drawn(name, getattr(tokens().colours, colour), round(side * ratio), ratio)


@lru_cache(maxsize=256)
def _drawing(name: str) -> bytes:
    return (assets_folder() / "icons" / f"{name}.svg").read_bytes()


def _drawn(name: str, colour: str, side: int, ratio: float) -> QPixmap:
    if side < 1:  # a button without a size yet
        return QPixmap()
    return _pixmap(name, colour, side, ratio, name in _POINTING and is_mirrored())


@lru_cache(maxsize=_PIXMAPS_KEPT)
def _pixmap(name: str, colour: str, side: int, ratio: float, is_turned: bool) -> QPixmap:
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    drawing = _drawing(name).replace(b"currentColor", QColor(colour).name().encode())
    painter = QPainter(image)
    QSvgRenderer(QByteArray(drawing)).render(painter, QRectF(0, 0, side, side))
    painter.end()
    if is_turned:
        image = image.flipped(Qt.Orientation.Horizontal)
    image.setDevicePixelRatio(ratio)
    return QPixmap.fromImage(image)


class _DrawnIcon(QIconEngine):
    """Renders one drawing in the colour for the current theme, mode and state."""

    def __init__(self, name: str, colour: str) -> None:
        super().__init__()
        self._name = name
        self._colour = colour

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        ratio = painter.device().devicePixelRatio()
        side = min(rect.width(), rect.height())
        place = QPoint(
            rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2
        )
        painter.drawPixmap(
            place, _drawn(self._name, self._tint(mode, state), round(side * ratio), ratio)
        )

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return _drawn(self._name, self._tint(mode, state), min(size.width(), size.height()), 1.0)

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float
    ) -> QPixmap:
        side = min(size.width(), size.height())  # logical pixels
        return _drawn(self._name, self._tint(mode, state), round(side * scale), scale)

    def clone(self) -> QIconEngine:
        return _DrawnIcon(self._name, self._colour)

    def _tint(self, mode: QIcon.Mode, state: QIcon.State) -> str:
        colours = tokens().colours
        if mode == QIcon.Mode.Disabled:
            return colours.text_disabled
        if state == QIcon.State.On:
            return colours.accent_text
        return str(getattr(colours, self._colour))
