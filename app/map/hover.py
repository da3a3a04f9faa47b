"""Card of the hovered image on a map: thumbnail, name and class."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.canvas.painting import paint_floating_card
from app.controls import ElidedLabel
from app.images.pixels import paint_square
from app.theme.tokens import tokens
from app.wording import image_name
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

SIDE = 128  # of the thumbnail
_PAD = 8  # padding of the card
_AWAY = 16  # distance from the point


@final
class HoverCard(QWidget):
    """Floating card next to a point; ignores the mouse."""

    def __init__(self, parent: QWidget, thumbnails: Thumbnails) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._source: ImageSource | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._name, self._class = ElidedLabel("strong"), ElidedLabel("secondary")
        for label in (self._name, self._class):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        column = QVBoxLayout(self)
        column.setContentsMargins(_PAD, _PAD + SIDE + _PAD // 2, _PAD, _PAD)
        column.setSpacing(0)
        column.addWidget(self._name)
        column.addWidget(self._class)
        thumbnails.ready.connect(lambda source: self.update() if source == self._source else None)
        self.hide()

    def show_image(self, source: ImageSource, class_text: str, at: QPointF) -> None:
        self._source = source
        self._name.show_text(image_name(source))
        self._class.show_text(class_text)
        self.resize(SIDE + 2 * _PAD, self.sizeHint().height())
        over = self.parentWidget()
        assert over is not None, "it floats over the map"
        room = over.rect()
        left = (
            at.x() + _AWAY
            if at.x() + _AWAY + self.width() <= room.width()
            else at.x() - _AWAY - self.width()
        )
        top = min(
            max(at.y() - self.height() / 2, 4.0), max(4.0, room.height() - self.height() - 4.0)
        )
        self.move(round(left), round(top))
        self.show()
        self.raise_()
        self.update()

    @property
    def texts(self) -> tuple[str, str]:
        return self._name.text(), self._class.text()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = tokens().colours, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        paint_floating_card(painter, self.rect(), QColor(colours.raised), colours.border)
        if self._source is not None:
            picture = self._thumbnails.pixmap(self._source, SIDE, self.devicePixelRatioF())
            well = QRect(_PAD, _PAD, SIDE, SIDE)
            paint_square(painter, well, picture or self._thumbnails.placeholder(self._source))
        painter.end()
