"""View of the panel of images that changed class: cause, and moves between classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.controls import make_label
from app.images.pixels import RADIUS, paint_frame, paint_square
from app.images.thumbnails import Thumbnails
from app.key_names import ENTER_KEYS
from app.mirroring import isolated, key_in_reading_order, placed
from app.side_panel.frame import SidePanel
from app.texts import plain_tip, tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.what_if import wording
from app.wording import number
from app.workspace.changed_badge import changed_line, more_line
from engine.collection.state import ChangedImages, ClassMove, CollectionState
from engine.file_parts import ImageSource
from engine.review.what_if import WhatIfOutcome

AnyIndex = QModelIndex | QPersistentModelIndex
NameOf = Callable[[int], str]

MOVE_ROLE = Qt.ItemDataRole.UserRole
CHEVRON = 14  # size of the expand icon
FACE = 50  # side of a thumbnail. Chosen: five fit into the narrowest panel.
GAP = 6  # between thumbnails
_KEYS = ENTER_KEYS | {Qt.Key.Key_Right, Qt.Key.Key_Left}


@dataclass(frozen=True)
class FaceLayout:
    """Layout of thumbnails below a line of text."""

    row: QRect  # whole row
    text_height: int  # height of the line above
    images: int
    is_open: bool  # whether all are shown, else one line

    @property
    def columns(self) -> int:
        return max(1, (self.row.width() - 2 * tokens().spacing.medium + GAP) // (FACE + GAP))

    @property
    def count(self) -> int:
        return self.images if self.is_open else min(self.columns, self.images)

    @property
    def has_more(self) -> bool:
        return self.images > self.columns

    @property
    def height(self) -> int:
        lines = -(-self.count // self.columns)
        return (
            self._faces_top - self.row.top() + lines * (FACE + GAP) - GAP + tokens().spacing.small
        )

    @property
    def _faces_top(self) -> int:
        return self.row.top() + tokens().spacing.small + self.text_height + tokens().spacing.tiny

    def rect(self, place: int) -> QRect:
        line, column = divmod(place, self.columns)
        left = self.row.left() + tokens().spacing.medium + column * (FACE + GAP)
        return placed(QRect(left, self._faces_top + line * (FACE + GAP), FACE, FACE), self.row)

    def places_in(self, seen: QRect) -> range:
        first = max(0, (seen.top() - self._faces_top) // (FACE + GAP))
        last = (seen.bottom() - self._faces_top) // (FACE + GAP)
        return range(
            min(first * self.columns, self.count),
            max(0, min((last + 1) * self.columns, self.count)),
        )

    def place_at(self, point: QPoint) -> int:
        """Index of the thumbnail at a point; -1 for none."""
        touched = self.places_in(QRect(point.x(), point.y(), 1, 1))
        return next((place for place in touched if self.rect(place).contains(point)), -1)


@final
class _MoveDelegate(QStyledItemDelegate):
    """Delegate for a row: text and count in a line, thumbnails below."""

    def __init__(self, view: MoveList, thumbnails: Thumbnails) -> None:
        super().__init__(view)
        self._view = view
        self._thumbnails = thumbnails

    def sizeHint(self, _option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(0, self._view.faces_of(index, QRect()).height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        move: ClassMove = index.data(MOVE_ROLE)
        _paint_row_ground(painter, option)
        faces = self._view.faces_of(index, option.rect)
        chevron = ("chevron_down" if faces.is_open else "chevron_right") if faces.has_more else ""
        _paint_line(painter, option.rect, str(index.data()), number(len(move.image_ids)), chevron)
        ratio = painter.device().devicePixelRatio()
        for place in faces.places_in(self._view.viewport().rect()):
            image_id, rect = int(move.image_ids[place]), faces.rect(place)
            source = self._view.source_of(image_id)
            paint_square(
                painter,
                rect,
                None if source is None else self._thumbnails.pixmap(source, FACE, ratio),
            )
            if image_id == self._view.framed_image:
                paint_frame(painter, rect)
        painter.restore()


def _paint_row_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    colours, state = tokens().colours, option.state
    is_selected = bool(state & QStyle.StateFlag.State_Selected)
    if not (is_selected or state & QStyle.StateFlag.State_MouseOver):
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.accent_soft if is_selected else colours.hover))
    inset = tokens().spacing.small
    painter.drawRoundedRect(QRectF(option.rect).adjusted(inset, 1, -inset, -1), RADIUS, RADIUS)


def _paint_line(painter: QPainter, row: QRect, text: str, count: str, chevron: str) -> None:
    colours, spacing, metrics = tokens().colours, tokens().spacing, painter.fontMetrics()
    line = QRect(
        row.left() + spacing.medium,
        row.top() + spacing.small,
        row.width() - 2 * spacing.medium,
        metrics.height(),
    )
    if chevron:
        picture = icon_pixmap(
            chevron, CHEVRON, colour="text_muted", ratio=painter.device().devicePixelRatio()
        )
        place = QRect(
            line.right() - CHEVRON + 1, line.center().y() - CHEVRON // 2, CHEVRON, CHEVRON
        )
        painter.drawPixmap(placed(place, row).topLeft(), picture)
    line.setRight(line.right() - CHEVRON - spacing.tiny)
    line = placed(line, row)
    small = QFont(painter.font())
    small.setPixelSize(tokens().sizes.caption)
    room = line.width() - QFontMetrics(small).horizontalAdvance(count) - spacing.small
    painter.setPen(QColor(colours.text))
    centre = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(
        line, centre, isolated(metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))
    )
    painter.setFont(small)
    painter.setPen(QColor(colours.text_muted))
    painter.drawText(line, centre | Qt.AlignmentFlag.AlignRight, count)


@final
class MoveList(QListView):
    """List of moves: a click on a row expands it, a click on a thumbnail shows its image.

    Up and Down change the row, Right and Left the thumbnail; Enter shows the framed image.
    """

    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._rows = QStandardItemModel(self)
        self._state: CollectionState | None = None
        self._open: set[int] = set()
        self._face = 0  # index in the current row, by keys
        self._hovered = -1
        self.setModel(self._rows)
        self.setItemDelegate(_MoveDelegate(self, thumbnails))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setStyleSheet("QListView { padding: 0; }")  # rows have their own margins
        self.setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(tr("Changed images by class"))
        thumbnails.ready.connect(self._on_ready)

    def show_changes(
        self, changes: ChangedImages, state: CollectionState | None, name_of: NameOf
    ) -> None:
        self._state, self._hovered, self._face = state, -1, 0
        self._open.clear()
        self._rows.clear()
        for move in changes.moves:
            row, facts = (
                QStandardItem(wording.move_text(move, name_of)),
                wording.move_facts(move, name_of),
            )
            row.setAccessibleText(facts)
            row.setToolTip(plain_tip(facts))
            row.setData(move, MOVE_ROLE)
            row.setEditable(False)
            self._rows.appendRow(row)

    def faces_of(self, index: AnyIndex, row: QRect | None = None) -> FaceLayout:
        """Layout of a row's thumbnails, by default at its current position."""
        place = (self.visualRect(index) if row is None else row).topLeft()
        width = self.width() - self.verticalScrollBar().sizeHint().width()
        count, is_open = len(index.data(MOVE_ROLE).image_ids), index.row() in self._open
        return FaceLayout(
            QRect(place, QSize(width, 0)), self.fontMetrics().height(), count, is_open
        )

    @property
    def framed_image(self) -> int:
        """Hovered image, else the one selected by keys; -1 for none."""
        index = self.currentIndex()
        if self._hovered >= 0 or not (self.hasFocus() and index.isValid()):
            return self._hovered
        return int(index.data(MOVE_ROLE).image_ids[self._face])

    def source_of(self, image_id: int) -> ImageSource | None:
        """Source of an image; None if it is hidden or was removed."""
        return None if self._state is None else self._state.visible_source_of(image_id)

    def image_at(self, place: QPoint) -> int:
        """Image whose thumbnail is at a point; -1 for none."""
        index = self.indexAt(place)
        if not index.isValid():
            return -1
        face = self.faces_of(index).place_at(place)
        return -1 if face < 0 else int(index.data(MOVE_ROLE).image_ids[face])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        hovered = self.image_at(event.position().toPoint())
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        if event.button() != Qt.MouseButton.LeftButton or not self.indexAt(place).isValid():
            return
        image_id = self.image_at(place)
        if image_id >= 0:
            self.image_requested.emit(image_id)
        else:
            row = self.indexAt(place).row()
            self._set_open(row, is_open=row not in self._open)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), key_in_reading_order(event.key())
        if not index.isValid() or key not in _KEYS:
            super().keyPressEvent(event)
        elif key in ENTER_KEYS:
            self.image_requested.emit(self.framed_image)
        else:
            self._step(index, 1 if key == Qt.Key.Key_Right else -1)

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        self._face, self._hovered = 0, -1

    def _step(self, index: QModelIndex, step: int) -> None:
        faces, face = self.faces_of(index), self._face + step
        if face < 0:
            self._set_open(index.row(), is_open=False)
        elif face >= faces.count and faces.has_more:
            self._set_open(index.row(), is_open=True)
        self._face, self._hovered = max(0, min(face, faces.images - 1)), -1
        self._bring_face_into_sight(index)
        self.viewport().update()

    def _bring_face_into_sight(self, index: QModelIndex) -> None:
        rect, seen, bar = (
            self.faces_of(index).rect(self._face),
            self.viewport().rect(),
            self.verticalScrollBar(),
        )
        above, below = rect.top() - seen.top(), rect.bottom() - seen.bottom()
        bar.setValue(bar.value() + (above if above < 0 else max(0, below)))

    def _set_open(self, row: int, *, is_open: bool) -> None:
        if is_open != (row in self._open):
            self._open ^= {row}
            self.doItemsLayout()
            self.updateGeometries()

    def _on_ready(self, _source: ImageSource) -> None:
        """Repaint for a new thumbnail; Qt combines repaints of a frame."""
        if self.isVisible() and self._rows.rowCount():
            self.viewport().update()


@final
class ChangedPanel(SidePanel):
    """Panel of the changes."""

    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._words = [
            make_label("", role, wraps=True)
            for role in ("strong", "secondary", "secondary", "", "caption")
        ]
        self.moves = MoveList(thumbnails)
        self.moves.image_requested.connect(self.image_requested)
        self.lay_out(tr("What changed"), tr("Close"), self._words, filling=self.moves)

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in self._words if label.text())

    def show_changes(
        self,
        changes: ChangedImages,
        causes: Sequence[str],
        state: CollectionState | None,
        name_of: NameOf,
    ) -> None:
        self._title.setText(tr("What changed"))
        reasons = (wording.cause_line(causes), wording.unknown_line(changes, name_of))
        words = (changed_line(changes), more_line(changes), *reasons, "")
        self._show(words, changes, state, name_of)

    def show_outcome(
        self, outcome: WhatIfOutcome, state: CollectionState | None, name_of: NameOf
    ) -> None:
        self._title.setText(tr("What would change"))
        changes, held_out = outcome.changes, outcome.held_out
        first = (
            wording.would_change_line(changes),
            more_line(changes),
            wording.tried_line(outcome.edits),
        )
        self._show(
            (*first, wording.accuracy_line(held_out), wording.basis_line(held_out)),
            changes,
            state,
            name_of,
        )

    def _show(
        self,
        lines: Sequence[str],
        changes: ChangedImages,
        state: CollectionState | None,
        name_of: NameOf,
    ) -> None:
        for label, text in zip(self._words, lines, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        self.moves.show_changes(changes, state, name_of)
        self.moves.setVisible(bool(changes.moves))
