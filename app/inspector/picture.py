"""The image itself, at the head of its page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.images.pixels import fitted
from app.images.thumbnails import Thumbnails
from app.theme.tokens import tokens

PICTURE_HEIGHT: Final = 208


@final
class Picture(QWidget):
    """An image, fitted, on a sunken ground with round corners."""

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._path: Path | None = None
        self._thumbnails = thumbnails
        self.setFixedHeight(PICTURE_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        thumbnails.ready.connect(self._on_ready)

    def show_file(self, path: Path) -> None:
        self._path = path
        self.setAccessibleName(path.name)
        self.update()

    def prepare(self, paths: Sequence[Path]) -> None:
        """Have the pictures of images that come up next."""
        for path in reversed(paths):  # the newest wish is served first
            self._wish(path)

    def _wish(self, path: Path) -> QPixmap | None:
        return self._thumbnails.pixmap(path, max(self.width(), self.height()), self.devicePixelRatioF())

    def _on_ready(self, path: Path) -> None:
        if path == self._path:
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, PICTURE_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), 8, 8)
        painter.fillPath(shape, QColor(tokens().colours.sunken))
        if self._path is None:
            return
        picture = self._wish(self._path) or self._thumbnails.stand_in(self._path)
        if picture is not None:
            painter.setClipPath(shape)
            painter.drawPixmap(fitted(picture.size(), self.rect()), picture, QRectF(picture.rect()))
