"""Pictures that appear one by one, as they are made."""

from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.images.thumbnails import Thumbnails
from app.theme.tokens import tokens

# Enough to see that it goes on, few enough to be looked at; gaps in pixels.
COLUMNS: Final = 8
ROWS: Final = 3
GAP: Final = 8


@final
class PictureWall(QWidget):
    """A few rows of places; once all are taken, a new picture takes the place of the oldest.

    Args:
        thumbnails: where pictures come from.
        width: of the wall.
    """

    def __init__(self, thumbnails: Thumbnails, width: int) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._side = (width - (COLUMNS - 1) * GAP) // COLUMNS
        self._paths: list[Path] = []
        self._next = 0
        self.setFixedSize(width, ROWS * (self._side + GAP) - GAP)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        thumbnails.ready.connect(self._on_ready)

    @property
    def paths(self) -> tuple[Path, ...]:
        """What hangs on the wall."""
        return tuple(self._paths)

    def clear(self) -> None:
        """Take all down."""
        self._paths, self._next = [], 0
        self.update()

    def add(self, path: Path) -> None:
        """Hang up a picture; one that comes before the others could be read is passed over."""
        if len(self._paths) == COLUMNS * ROWS and self._thumbnails.is_busy:
            return
        place = self._next % (COLUMNS * ROWS)
        self._next += 1
        self._paths[place : place + 1] = [path]
        self._thumbnails.keep_only(self._paths)
        self.update(self._rect(place))

    def _rect(self, place: int) -> QRect:
        row, column = divmod(place, COLUMNS)
        step = self._side + GAP
        return QRect(column * step, row * step, self._side, self._side)

    def _on_ready(self, path: Path) -> None:
        if path in self._paths:
            self.update(self._rect(self._paths.index(path)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the pictures cut to squares, and the places that are still empty."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for place in range(COLUMNS * ROWS):
            rect = self._rect(place)
            if rect.intersects(event.rect()):
                self._paint_place(painter, rect, self._paths[place] if place < len(self._paths) else None)
        painter.end()

    def _paint_place(self, painter: QPainter, rect: QRect, path: Path | None) -> None:
        look = tokens()
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(rect), look.spacing.radius_small, look.spacing.radius_small)
        picture = None
        if path is not None:
            picture = self._thumbnails.pixmap(path, self._side, self.devicePixelRatioF(), is_fleeting=True)
        if picture is None:
            painter.fillPath(outline, QColor(look.colours.hairline))
            return
        side = min(picture.width(), picture.height())
        middle = QRect((picture.width() - side) // 2, (picture.height() - side) // 2, side, side)
        painter.save()
        painter.setClipPath(outline)
        painter.drawPixmap(rect, picture, middle)
        painter.restore()
