"""Paints the two cells of a class: dot, name, path and mark of several parents; the quiet count at the right."""

from enum import Enum, auto
from typing import Final, final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.class_tree.row_data import (
    BAR_ROLE,
    BRANCH_ROLE,
    COLOUR_ROLE,
    COUNT,
    HAS_MORE_PARENTS_ROLE,
    HAS_SHOTS_ROLE,
    IS_DEEPEST_ROLE,
    PATH_ROLE,
)
from app.texts import tr
from app.theme.class_colours import branch_colour, own_colour
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import percent

AnyIndex = QModelIndex | QPersistentModelIndex

# Logical pixels.
ROW_HEIGHT: Final = 30
HEIGHT_WITH_PATH: Final = 44
CHEVRON_SIDE: Final = 12
CHEVRON_GAP: Final = 3
DOT_RADIUS: Final = 3.5
DOT_ROOM: Final = 18
MARK_SIDE: Final = 13
GAP: Final = 6
COUNT_MARGIN: Final = 12
_MARKS: Final = {HAS_MORE_PARENTS_ROLE: "multi_parent", IS_DEEPEST_ROLE: "stop"}


@final
class ClassDelegate(QStyledItemDelegate):
    """Row of a class, without its background: that belongs to the whole row."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(0, HEIGHT_WITH_PATH if index.data(PATH_ROLE) else ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.column() == COUNT:
            _paint_count(painter, option, index)
        else:
            _paint_name(painter, option, index)
        painter.restore()

    def createEditor(self, parent: QWidget, _option: QStyleOptionViewItem, _index: AnyIndex) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName(tr("Name of the class"))
        return editor

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: AnyIndex) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text(), Qt.ItemDataRole.EditRole)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, _index: AnyIndex) -> None:
        editor.setGeometry(option.rect.adjusted(DOT_ROOM - GAP, 2, -2, -2))


def caption_font(base: QFont) -> QFont:
    """The small size, for counts; digits of one width, so that columns of numbers stand straight."""
    font = QFont(base)
    font.setPixelSize(tokens().sizes.caption)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


class Ground(Enum):
    """What the rounded shape behind a row says."""

    HOVERED = auto()
    CHOSEN = auto()
    TARGET = auto()
    REFUSED = auto()


def paint_ground(painter: QPainter, row: QRect, ground: Ground) -> None:
    """Paint the shape behind a row: the pointer is over it, it is chosen, a drop would go there, or must not."""
    colours, spacing = tokens().colours, tokens().spacing
    edge = {Ground.TARGET: colours.accent, Ground.REFUSED: colours.danger}.get(ground)
    fill = {Ground.HOVERED: colours.hover, Ground.REFUSED: colours.danger_soft}.get(ground, colours.accent_soft)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(edge), 1.5) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(fill))
    shape = row.adjusted(spacing.tiny, 1, -spacing.tiny, -1)
    painter.drawRoundedRect(shape, spacing.radius_small, spacing.radius_small)
    painter.restore()


def paint_chevron(painter: QPainter, cell: QRect, *, is_open: bool) -> None:
    """Paint the arrow before a class that has others below it; with a narrow indent it comes close to the dot."""
    picture = icon_pixmap(
        "chevron_down" if is_open else "chevron_right",
        CHEVRON_SIDE,
        colour="text_muted",
        ratio=painter.device().devicePixelRatio(),
    )
    left = cell.x() - CHEVRON_SIDE - CHEVRON_GAP
    painter.drawPixmap(QPointF(left, cell.y() + (cell.height() - CHEVRON_SIDE) / 2), picture)


def _paint_name(painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
    rect, colours, path = option.rect, tokens().colours, str(index.data(PATH_ROLE) or "")
    if path:
        rect = _paint_path(painter, rect, path)
    _paint_dot(painter, rect, index)
    place = rect.adjusted(DOT_ROOM, 0, 0, 0)
    metrics, small = painter.fontMetrics(), QFontMetrics(caption_font(painter.font()))
    bar, icons = index.data(BAR_ROLE), [icon for role, icon in _MARKS.items() if index.data(role)]
    words = "" if bar is None else percent(bar)
    room = place.width() - len(icons) * (GAP + MARK_SIDE) - (GAP + small.horizontalAdvance(words) if words else 0)
    name = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
    middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
    painter.setPen(QColor(colours.text))
    painter.drawText(place, middle, name)
    left = place.x() + metrics.horizontalAdvance(name) + GAP
    for icon in icons:
        mark = icon_pixmap(icon, MARK_SIDE, colour="text_muted", ratio=painter.device().devicePixelRatio())
        painter.drawPixmap(QPointF(left, place.y() + (place.height() - MARK_SIDE) / 2), mark)
        left += MARK_SIDE + GAP
    if words:
        painter.setFont(caption_font(painter.font()))
        painter.setPen(QColor(colours.text_muted))
        painter.drawText(QRect(left, place.y(), small.horizontalAdvance(words) + 1, place.height()), middle, words)


def _paint_path(painter: QPainter, rect: QRect, path: str) -> QRect:
    """Paint the path of a found class below its name, of a long one the end; the room that is left for the name."""
    upper = QRect(rect.x(), rect.y() + GAP // 2, rect.width(), rect.height() // 2)
    lower = QRect(
        rect.x() + DOT_ROOM, upper.bottom() + 1, rect.width() - DOT_ROOM, rect.bottom() - upper.bottom() - GAP
    )
    painter.save()
    painter.setFont(caption_font(painter.font()))
    painter.setPen(QColor(tokens().colours.text_muted))
    text = _end_of_path(painter.fontMetrics(), path, lower.width())
    painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
    painter.restore()
    return upper


def _end_of_path(metrics: QFontMetrics, path: str, width: int) -> str:
    """As many whole names from the end of a path as there is room for."""
    names, shown = path.split(" / "), path
    while len(names) > 1 and metrics.horizontalAdvance(shown) > width - GAP:
        names.pop(0)
        shown = "… / " + " / ".join(names)
    return metrics.elidedText(shown, Qt.TextElideMode.ElideRight, width)


def _paint_dot(painter: QPainter, rect: QRect, index: AnyIndex) -> None:
    """A dot in the branch's colour, or the one that a person chose; hollow where a class waits for its first shots."""
    centre = QPointF(rect.x() + DOT_RADIUS + 2, rect.y() + rect.height() / 2)
    own = str(index.data(COLOUR_ROLE))
    colour = own_colour(own) if own else branch_colour(int(index.data(BRANCH_ROLE)))
    if index.data(HAS_SHOTS_ROLE):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(centre, DOT_RADIUS, DOT_RADIUS)
    else:
        painter.setPen(QPen(colour if own else QColor(tokens().colours.text_muted), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, DOT_RADIUS - 0.6, DOT_RADIUS - 0.6)


def _paint_count(painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
    colours = tokens().colours
    painter.setFont(caption_font(painter.font()))
    painter.setPen(
        QColor(colours.text_secondary if option.state & QStyle.StateFlag.State_Selected else colours.text_muted)
    )
    place = option.rect.adjusted(0, 0, -COUNT_MARGIN, 0)
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(index.data() or ""))
