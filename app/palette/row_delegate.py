"""Paints one row of a palette: icon, title, where it belongs, a key or figure at the right end."""

from typing import Final, final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.palette.logic import PaletteRow
from app.theme.icons import icon
from app.theme.tokens import tokens

ROW_ROLE: Final = Qt.ItemDataRole.UserRole
ROW_HEIGHT: Final = 44
_ICON: Final = 18
_PAD: Final = 12


@final
class RowDelegate(QStyledItemDelegate):
    """Rows of equal height; the chosen one on the accent's soft ground."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, PaletteRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(8, 1, -8, -1)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected) and row.choice is not None
        if is_chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens().colours.accent_soft))
            painter.drawRoundedRect(area, tokens().spacing.radius_small, tokens().spacing.radius_small)
        inner = area.adjusted(_PAD, 0, -_PAD, 0)
        text_area = self._paint_icon(painter, inner, row, is_chosen=is_chosen)
        text_area = _paint_hint(painter, text_area, row.hint)
        _paint_text(painter, text_area, row)
        painter.restore()

    @staticmethod
    def _paint_icon(painter: QPainter, area: QRect, row: PaletteRow, *, is_chosen: bool) -> QRect:
        if row.icon:
            corner = QPoint(area.left(), area.center().y() - _ICON // 2 + 1)
            tint = "accent_text" if is_chosen else "text_muted"
            icon(row.icon, tint).paint(painter, QRect(corner, QSize(_ICON, _ICON)))
        return area.adjusted(_ICON + _PAD, 0, 0, 0)


def _paint_hint(painter: QPainter, area: QRect, hint: str) -> QRect:
    if not hint:
        return area
    colours = tokens().colours
    font = QFont(painter.font())
    font.setPixelSize(tokens().sizes.caption)
    painter.setFont(font)
    width = QFontMetrics(font).horizontalAdvance(hint) + 12
    box = QRect(area.right() - width + 1, area.center().y() - 10, width, 21)
    painter.setPen(QPen(QColor(colours.hairline)))
    painter.setBrush(QColor(colours.sunken))
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(QColor(colours.text_secondary))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, hint)
    return area.adjusted(0, 0, -width - _PAD, 0)


def _paint_text(painter: QPainter, area: QRect, row: PaletteRow) -> None:
    colours, sizes = tokens().colours, tokens().sizes
    font = QFont(painter.font())
    font.setPixelSize(sizes.body)
    metrics = QFontMetrics(font)
    painter.setFont(font)
    painter.setPen(QColor(colours.text if row.choice is not None else colours.text_muted))
    middle = Qt.AlignmentFlag.AlignVCenter
    title = metrics.elidedText(row.title, Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, middle, title)
    left = metrics.horizontalAdvance(title) + _PAD
    rest = area.adjusted(left, 0, 0, 0)
    if row.subtitle and rest.width() > metrics.averageCharWidth() * 6:
        font.setPixelSize(sizes.caption)
        painter.setFont(font)
        painter.setPen(QColor(colours.text_muted))
        subtitle = QFontMetrics(font).elidedText(row.subtitle, Qt.TextElideMode.ElideLeft, rest.width())
        painter.drawText(rest, middle | Qt.AlignmentFlag.AlignLeft, subtitle)
