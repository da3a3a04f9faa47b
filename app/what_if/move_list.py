"""The moves from class to class, one row each: from where to where, how many, and the faces of the first images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.images.thumbnails import Thumbnails
from app.texts import plain_tip, tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.what_if.face_layout import FACE, FaceLayout
from app.what_if.wording import move_facts, move_text
from app.wording import number

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.collection.what_if.changed_images import ChangedImages, ClassMove

AnyIndex = QModelIndex | QPersistentModelIndex
NameOf = Callable[[int], str]

MOVE_ROLE: Final = Qt.ItemDataRole.UserRole
CHEVRON: Final = 14  # side of the mark of rows that can be opened
RADIUS: Final = 6.0  # of the corners of faces and rows
_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_KEYS: Final = _ENTER | {Qt.Key.Key_Right, Qt.Key.Key_Left}


@final
class MoveListModel(QAbstractListModel):
    """The moves as rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.moves: tuple[ClassMove, ...] = ()  # most images first
        self.name_of: NameOf = str  # name of a class, also of one that is gone

    def set_changes(self, changes: ChangedImages, name_of: NameOf) -> None:
        self.beginResetModel()
        self.moves, self.name_of = changes.moves, name_of
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.moves)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        move = self.moves[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return move_text(move, self.name_of)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return move_facts(move, self.name_of)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(move_facts(move, self.name_of))
        return move if role == MOVE_ROLE else None


@final
class _MoveDelegate(QStyledItemDelegate):
    """Paints a row: text and count in a line, faces below."""

    def __init__(self, view: MoveList, thumbnails: Thumbnails) -> None:
        super().__init__(view)
        self._view = view
        self._thumbnails = thumbnails

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(0, self._view.faces_of(index, QRect(0, 0, 0, 0), option.fontMetrics.height()).height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Paint one row, of its faces those that are in sight."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        move: ClassMove = index.data(MOVE_ROLE)
        _paint_row_ground(painter, option)
        faces = self._view.faces_of(index, option.rect, option.fontMetrics.height())
        chevron = ("chevron_down" if faces.is_open else "chevron_right") if faces.has_more else ""
        _paint_line(painter, option.rect, str(index.data()), number(len(move.image_ids)), chevron)
        for place in faces.places_in(self._view.viewport().rect()):
            self._paint_face(painter, faces.rect(place), int(move.image_ids[place]))
        painter.restore()

    def _paint_face(self, painter: QPainter, place: QRect, image_id: int) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(place), RADIUS, RADIUS)
        path = self._view.path_of(image_id)
        ratio = painter.device().devicePixelRatio()
        picture = None if path is None else self._thumbnails.pixmap(path, FACE, ratio)
        if picture is None:
            painter.fillPath(shape, QColor(tokens().colours.sunken))
        else:
            side = min(picture.width(), picture.height())
            source = QRectF((picture.width() - side) / 2, (picture.height() - side) / 2, side, side)
            painter.save()
            painter.setClipPath(shape)
            painter.drawPixmap(QRectF(place), picture, source)
            painter.restore()
        if image_id == self._view.framed_image:
            painter.setPen(QPen(QColor(tokens().colours.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), RADIUS - 1, RADIUS - 1)


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
        row.left() + spacing.medium, row.top() + spacing.small, row.width() - 2 * spacing.medium, metrics.height()
    )
    if chevron:
        picture = icon_pixmap(chevron, CHEVRON, colour="text_muted", ratio=painter.device().devicePixelRatio())
        painter.drawPixmap(line.right() - CHEVRON + 1, line.center().y() - CHEVRON // 2, picture)
    line.setRight(line.right() - CHEVRON - spacing.tiny)
    small = QFont(painter.font())
    small.setPixelSize(tokens().sizes.caption)
    room = line.width() - QFontMetrics(small).horizontalAdvance(count) - spacing.small
    painter.setPen(QColor(colours.text))
    centre = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(line, centre, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))
    painter.setFont(small)
    painter.setPen(QColor(colours.text_muted))
    painter.drawText(line, centre | Qt.AlignmentFlag.AlignRight, count)


@final
class MoveList(QListView):
    """Rows to look at: a click on a row opens it to show all its images, a click on a face leads to its image.

    By keys: up and down go from row to row, right and left along the faces of a row, opening and closing it; Enter
    leads to the image with the frame.
    """

    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._moves = MoveListModel(self)
        self._state: CollectionState | None = None
        self._open: set[int] = set()
        self._face = 0  # of the current row, by keys
        self._hovered = -1
        self.setModel(self._moves)
        self.setItemDelegate(_MoveDelegate(self, thumbnails))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setStyleSheet("QListView { padding: 0; }")  # rows have their own margins
        self.setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(tr("Images by where they went"))
        thumbnails.ready.connect(self._on_ready)

    def show_changes(self, changes: ChangedImages, state: CollectionState | None, name_of: NameOf) -> None:
        self._state, self._hovered, self._face = state, -1, 0
        self._open.clear()
        self._moves.set_changes(changes, name_of)

    def faces_of(self, index: AnyIndex, row: QRect, text_height: int) -> FaceLayout:
        """How the faces of a row lie in it: with or without a scroll bar the same."""
        count = len(self._moves.moves[index.row()].image_ids)
        width = self.width() - self.verticalScrollBar().sizeHint().width()
        return FaceLayout(QRect(row.topLeft(), QSize(width, 0)), text_height, count, index.row() in self._open)

    @property
    def framed_image(self) -> int:
        """The image under the pointer, else the one that the keys have reached; -1 for none."""
        index = self.currentIndex()
        if self._hovered >= 0 or not (self.hasFocus() and index.isValid()):
            return self._hovered
        return int(self._moves.moves[index.row()].image_ids[self._face])

    def path_of(self, image_id: int) -> Path | None:
        """Where an image is; None for one that left the project meanwhile."""
        if self._state is None:
            return None
        try:
            return self._state.path_of(image_id)
        except KeyError:
            return None

    def image_at(self, place: QPoint) -> int:
        """The image whose face is there, -1 for none."""
        index = self.indexAt(place)
        if not index.isValid():
            return -1
        face = self.faces_of(index, self.visualRect(index), self.fontMetrics().height()).place_at(place)
        return -1 if face < 0 else int(self._moves.moves[index.row()].image_ids[face])

    # -- what a person does

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        hovered = self.image_at(event.position().toPoint())
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Lead to the face that was clicked, or open or close its row."""
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
        """Walk along the faces, and lead to the one with the frame."""
        index, key = self.currentIndex(), event.key()
        if not index.isValid() or key not in _KEYS:
            super().keyPressEvent(event)
        elif key in _ENTER:
            self.image_requested.emit(self.framed_image)
        else:
            self._step(index, 1 if key == Qt.Key.Key_Right else -1)

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        self._face, self._hovered = 0, -1

    def _step(self, index: QModelIndex, step: int) -> None:
        faces = self.faces_of(index, self.visualRect(index), self.fontMetrics().height())
        face = self._face + step
        if face < 0:
            self._set_open(index.row(), is_open=False)
        elif face >= faces.count and faces.has_more:
            self._set_open(index.row(), is_open=True)
        self._face, self._hovered = max(0, min(face, faces.images - 1)), -1
        self._bring_face_into_sight(index)
        self.viewport().update()

    def _bring_face_into_sight(self, index: QModelIndex) -> None:
        faces = self.faces_of(index, self.visualRect(index), self.fontMetrics().height())
        rect, seen, bar = faces.rect(self._face), self.viewport().rect(), self.verticalScrollBar()
        above, below = rect.top() - seen.top(), rect.bottom() - seen.bottom()
        bar.setValue(bar.value() + (above if above < 0 else max(0, below)))

    def _set_open(self, row: int, *, is_open: bool) -> None:
        if is_open != (row in self._open):
            self._open ^= {row}
            self.doItemsLayout()
            self.updateGeometries()

    def _on_ready(self, _path: Path) -> None:
        """Paint a face that has come; Qt paints once for all that come within a frame."""
        if self.isVisible() and self._moves.moves:
            self.viewport().update()
