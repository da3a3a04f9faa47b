"""List of suspect labels: thumbnail, label, proposed class and probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
)
from PySide6.QtWidgets import QStyleOptionViewItem as Option

from app.images.pixels import paint_square
from app.images.thumbnails import Thumbnails
from app.mirroring import isolated, placed
from app.texts import plain_tip
from app.theme.tokens import tokens
from app.wording import clauses, image_name
from engine.file_parts import ImageSource

ROLE = Qt.ItemDataRole.UserRole
SIDE = 40  # of a thumbnail, in pixels
HEIGHT = 56  # of a row, in pixels
WIDTH = 232  # of the list, in pixels


@dataclass(frozen=True)
class QueueRow:
    """A suspect label."""

    image_id: int
    source: ImageSource
    label: str
    proposed: str
    likely: str  # probability of an error in percent


@final
class _RowDelegate(QStyledItemDelegate):
    def __init__(self, thumbnails: Thumbnails, parent: QListWidget) -> None:
        super().__init__(parent)
        self._list, self._thumbnails = parent, thumbnails

    def sizeHint(self, _option: Option, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, HEIGHT)

    def paint(
        self, painter: QPainter, option: Option, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row: QueueRow = index.data(ROLE)
        gap, colours = tokens().spacing.small, tokens().colours
        painter.save()
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        area = option.rect.adjusted(gap // 2, 1, -gap // 2, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_soft))
            painter.drawRoundedRect(
                area, tokens().spacing.radius_small, tokens().spacing.radius_small
            )
        square = QRect(area.left() + gap, area.top() + (area.height() - SIDE) // 2, SIDE, SIDE)
        ratio = self._list.devicePixelRatioF()
        paint_square(
            painter, placed(square, area), self._thumbnails.pixmap(row.source, SIDE, ratio)
        )
        text = placed(area.adjusted(SIDE + 2 * gap, 0, -gap, 0), area)
        _paint_lines(painter, text, option.font, row)
        painter.restore()


def _paint_lines(painter: QPainter, area: QRect, font: QFont, row: QueueRow) -> None:
    """Paint the label with its percentage right-aligned, and the proposed class below."""
    colours, small = tokens().colours, QFont(font)
    small.setPixelSize(tokens().sizes.caption)
    upper, lower = QRect(area), QRect(area)
    upper.setBottom(area.center().y() - 1)
    lower.setTop(area.center().y() + 1)
    painter.setFont(small)
    painter.setPen(QColor(colours.text_muted))
    painter.drawText(
        upper, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, isolated(row.likely)
    )
    upper.setRight(
        upper.right() - painter.fontMetrics().horizontalAdvance(row.likely) - tokens().spacing.small
    )
    upper = placed(upper, area)
    for text, place, colour, where in (
        (row.label, upper, colours.text_secondary, Qt.AlignmentFlag.AlignBottom),
        (row.proposed, lower, colours.text, Qt.AlignmentFlag.AlignTop),
    ):
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | where, isolated(shown))


@final
class QueueList(QListWidget):
    """Rows selectable by mouse, several with Ctrl or Shift; the page handles the keys."""

    chosen = Signal(int)  # image of the clicked row
    selection_changed = Signal()

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.setObjectName("labelQueue")
        self.setFixedWidth(WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QListWidget.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegate(_RowDelegate(thumbnails, self))
        self._rows: tuple[QueueRow, ...] = ()
        self._is_filling = False
        thumbnails.ready.connect(self._on_ready)
        self.itemSelectionChanged.connect(self._on_selection)
        self.currentItemChanged.connect(self._on_current)

    @property
    def selected(self) -> tuple[int, ...]:
        """Images of the selected rows, in the order of the list."""
        rows = sorted(self.row(item) for item in self.selectedItems())
        return tuple(self._rows[row].image_id for row in rows)

    def show_rows(self, rows: Sequence[QueueRow], current: int | None) -> None:
        """Show rows and select the current one; a selection of several that contains it is kept."""
        kept = set(self.selected) if current in self.selected and len(self.selected) > 1 else set()
        self._is_filling = True
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self.clear()
            for row in rows:
                self._add(row)
        places = {row.image_id: place for place, row in enumerate(self._rows)}
        if current in places:  # first, as it clears the selection
            self.setCurrentRow(places[current], QItemSelectionModel.SelectionFlag.ClearAndSelect)
        for image_id in kept & places.keys():
            self.item(places[image_id]).setSelected(True)
        if current is not None and self.currentItem() is not None:
            self.scrollToItem(self.currentItem())
        self._is_filling = False

    def _add(self, row: QueueRow) -> None:
        item = QListWidgetItem(self)
        item.setData(ROLE, row)
        item.setData(
            Qt.ItemDataRole.AccessibleTextRole, clauses(f"{row.label} {row.proposed}", row.likely)
        )
        item.setToolTip(plain_tip(f"{image_name(row.source)}\n{row.label} {row.proposed}"))

    def _on_ready(self, source: ImageSource) -> None:
        if any(row.source == source for row in self._rows):
            self.viewport().update()

    def _on_selection(self) -> None:
        if not self._is_filling:
            self.selection_changed.emit()

    def _on_current(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if not self._is_filling and item is not None:
            self.chosen.emit(self._rows[self.row(item)].image_id)
