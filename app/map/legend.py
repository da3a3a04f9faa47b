"""The legend of a map: colours, their meanings, and numbers of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.canvas.painting import paint_floating_card
from app.mirroring import isolated, placed
from app.theme.tokens import tokens
from app.wording import clauses, number, titled

DOT = 9  # diameter in pixels
LONGEST = 150  # of a name, in logical pixels
_PAD = 10  # padding of the card
_GAP = 8  # between columns


@final
class Legend(QWidget):
    """Floating legend card; ignores the mouse."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: Sequence[tuple[str, str, int]] = ()  # colour, text, count
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_rows(self, rows: Sequence[tuple[str, str, int]]) -> None:
        self.rows = rows
        self.setAccessibleName(
            clauses(*(titled(text, number(count)) for _colour, text, count in rows))
        )
        self.setVisible(bool(rows))
        self.resize(self.sizeHint())
        self.update()

    @property
    def _metrics(self) -> QFontMetrics:
        font = self.font()
        font.setPixelSize(tokens().sizes.caption)
        return QFontMetrics(font)

    def sizeHint(self) -> QSize:
        metrics = self._metrics
        names = [
            min(metrics.horizontalAdvance(text), LONGEST) for _colour, text, _count in self.rows
        ]
        counts = [metrics.horizontalAdvance(number(count)) for _colour, _text, count in self.rows]
        width = 2 * _PAD + DOT + 3 * _GAP + max(names, default=0) + max(counts, default=0)
        return QSize(width, 2 * _PAD + len(self.rows) * self._line - 4)

    @property
    def _line(self) -> int:
        return self._metrics.height() + 4

    def paintEvent(self, _event: QPaintEvent) -> None:
        look, painter, metrics, whole = tokens(), QPainter(self), self._metrics, QRectF(self.rect())
        ground = QColor(look.colours.surface)
        ground.setAlphaF(0.93)
        paint_floating_card(painter, self.rect(), ground, look.colours.hairline)
        font = self.font()
        font.setPixelSize(look.sizes.caption)
        painter.setFont(font)
        for place, (colour, text, count) in enumerate(self.rows):
            top = _PAD + place * self._line
            middle = top + metrics.height() / 2
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour) if colour else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(placed(QRectF(_PAD, middle - DOT / 2, DOT, DOT), whole))
            room = QRectF(
                _PAD + DOT + _GAP, top, self.width() - 2 * _PAD - DOT - _GAP, metrics.height()
            )
            room = placed(room, whole)
            painter.setPen(QColor(look.colours.text))
            name = metrics.elidedText(text, Qt.TextElideMode.ElideRight, LONGEST)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, isolated(name))
            painter.setPen(QColor(look.colours.text_muted))
            painter.drawText(
                room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, number(count)
            )
        painter.end()
