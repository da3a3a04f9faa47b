"""The moves from class to class, one row each: from where to where, how many, and the faces of the first images."""

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
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.images.thumbnails import Thumbnails
from app.theme.tokens import tokens
from app.what_if.wording import move_facts, move_text
from app.wording import number

if TYPE_CHECKING:
    from engine.collection.state import CollectionState
    from engine.collection.what_if.changed_images import ChangedImages, ClassMove

AnyIndex = QModelIndex | QPersistentModelIndex
NameOf = Callable[[int], str]

MOVE_ROLE: Final = Qt.ItemDataRole.UserRole
FACE: Final = 52
"""Side of a face. Chosen: five lie beside one another in the narrowest panel."""
FACE_GAP: Final = 6
"""Between faces."""
RADIUS: Final = 6.0
"""Of the corners of faces and rows."""


@final
class MoveListModel(QAbstractListModel):
    """The moves as rows.

    Attributes:
        moves: most images first.
        name_of: name of a class, also of one that is gone.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.moves: tuple[ClassMove, ...] = ()
        self.name_of: NameOf = str

    def set_changes(self, changes: "ChangedImages", name_of: NameOf) -> None:
        """Show other moves."""
        self.beginResetModel()
        self.moves, self.name_of = changes.moves, name_of
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        """Count the rows."""
        return 0 if parent.isValid() else len(self.moves)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Read one value of a row."""
        move = self.moves[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return move_text(move, self.name_of)
        if role in {Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole}:
            return move_facts(move, self.name_of)
        return move if role == MOVE_ROLE else None


def face_rects(row: QRect, line_height: int, count: int) -> list[QRect]:
    """Where the faces of a row lie: as many of `count` as there is room for beside one another."""
    top = row.top() + tokens().spacing.small + line_height + tokens().spacing.tiny
    columns = max(1, (row.width() - 2 * tokens().spacing.medium + FACE_GAP) // (FACE + FACE_GAP))
    left = row.left() + tokens().spacing.medium
    return [QRect(left + place * (FACE + FACE_GAP), top, FACE, FACE) for place in range(min(columns, count))]


@final
class _MoveDelegate(QStyledItemDelegate):
    """Paints a row: text and count in a line, faces below."""

    def __init__(self, view: "MoveList", thumbnails: Thumbnails) -> None:
        super().__init__(view)
        self._view = view
        self._thumbnails = thumbnails

    def sizeHint(self, option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        """Ask for room."""
        line: int = option.fontMetrics.height()
        return QSize(0, tokens().spacing.small + line + tokens().spacing.tiny + FACE + tokens().spacing.small)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Paint one row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        move: ClassMove = index.data(MOVE_ROLE)
        _paint_row_ground(painter, option)
        _paint_line(painter, option.rect, str(index.data()), number(len(move.image_ids)))
        places = face_rects(option.rect, option.fontMetrics.height(), len(move.image_ids))
        for place, image_id in zip(places, move.image_ids.tolist(), strict=False):
            self._paint_face(painter, place, image_id)
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
        if image_id == self._view.hovered_image:
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


def _paint_line(painter: QPainter, row: QRect, text: str, count: str) -> None:
    colours, metrics = tokens().colours, painter.fontMetrics()
    line = QRect(
        row.left() + tokens().spacing.medium,
        row.top() + tokens().spacing.small,
        row.width() - 2 * tokens().spacing.medium,
        metrics.height(),
    )
    small = QFont(painter.font())
    small.setPixelSize(tokens().sizes.caption)
    room = line.width() - QFontMetrics(small).horizontalAdvance(count) - tokens().spacing.small
    painter.setPen(QColor(colours.text))
    centre = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(line, centre, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))
    painter.setFont(small)
    painter.setPen(QColor(colours.text_muted))
    painter.drawText(line, centre | Qt.AlignmentFlag.AlignRight, count)


@final
class MoveList(QListView):
    """Rows to look at and to choose.

    Signals:
        image_requested: the image whose face was clicked, or the first one of a row that was chosen.
    """

    image_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._moves = MoveListModel(self)
        self._state: CollectionState | None = None
        self.hovered_image = -1
        self.setModel(self._moves)
        self.setItemDelegate(_MoveDelegate(self, thumbnails))
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(self.tr("Images by where they went"))
        self.activated.connect(self._on_row_chosen)
        thumbnails.ready.connect(self._on_ready)

    def show_changes(self, changes: "ChangedImages", state: "CollectionState | None", name_of: NameOf) -> None:
        """Show other moves.

        Args:
            changes: the moves.
            state: where their images are.
            name_of: name of a class, also of one that is gone.
        """
        self._state, self.hovered_image = state, -1
        self._moves.set_changes(changes, name_of)

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
        image_ids = self._moves.moves[index.row()].image_ids.tolist()
        faces = face_rects(self.visualRect(index), self.fontMetrics().height(), len(image_ids))
        return next((i for i, face in zip(image_ids, faces, strict=False) if face.contains(place)), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Frame the face under the pointer."""
        super().mouseMoveEvent(event)
        hovered = self.image_at(event.position().toPoint())
        if hovered != self.hovered_image:
            self.hovered_image = hovered
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell of the face that was clicked."""
        super().mouseReleaseEvent(event)
        image_id = self.image_at(event.position().toPoint())
        if image_id >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.image_requested.emit(image_id)

    def _on_row_chosen(self, index: QModelIndex) -> None:
        self.image_requested.emit(int(self._moves.moves[index.row()].image_ids[0]))

    def _on_ready(self, _path: Path) -> None:
        """Paint a face that has come; Qt paints once for all that come within a frame."""
        if self.isVisible() and self._moves.moves:
            self.viewport().update()
