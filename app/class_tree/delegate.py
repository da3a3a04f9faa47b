"""Delegate and column widths of the class tree: dot, name, path and badges, and the count."""

from __future__ import annotations

from enum import Enum, auto
from typing import final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.class_tree import row_data
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, NAME, AnyIndex
from app.mirroring import placed
from app.painting import font_of, paint_box, paint_icon, paint_text, set_colours
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import clauses, percent

# Logical pixels.
ROW_HEIGHT = 30
HEIGHT_WITH_PATH = 44
CHEVRON_SIDE = 12
CHEVRON_GAP = 3
DOT_RADIUS = 3.5
DOT_ROOM = 18
MARK_SIDE = 13
GAP = 6
COUNT_MARGIN = 12
COUNT_GAP = 8
WIDEST_INDENT = 18  # also the width of a row's chevron, regardless of the indent
NARROWEST_INDENT = 8
# Logical pixels for a few letters of the project's own name behind the shown one.
LEAST_SECOND_NAME = 32
# Logical pixels of a name at any depth, about ten letters; the tool tip has the full name.
LEAST_NAME = 80
_MARKS = {
    row_data.HAS_MORE_PARENTS_ROLE: "multi_parent",
    row_data.IS_BROADEST_ROLE: "arrow_down",
    row_data.IS_DEEPEST_ROLE: "stop",
}


@final
class ClassDelegate(QStyledItemDelegate):
    """Paints a row of the class tree without its background, which spans the whole row."""

    def sizeHint(self, _option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(0, HEIGHT_WITH_PATH if index.data(row_data.PATH_ROLE) else ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.column() == COUNT:
            _paint_count(painter, option, index)
        else:
            _paint_name(painter, option, index)
        painter.restore()

    def createEditor(
        self, parent: QWidget, _option: QStyleOptionViewItem, _index: AnyIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName(tr("Name of the class"))
        return editor

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        if isinstance(editor, QLineEdit) and not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: AnyIndex
    ) -> None:
        editor.setGeometry(placed(option.rect.adjusted(DOT_ROOM - GAP, 2, -2, -2), option.rect))


def caption_font() -> QFont:
    """The caption font with tabular figures, so that counts align."""
    font = QFont(font_of("caption"))
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


class Ground(Enum):
    """Meaning of the background of a row."""

    HOVERED = auto()
    CHOSEN = auto()
    TARGET = auto()
    REFUSED = auto()


def paint_ground(painter: QPainter, row: QRect, ground: Ground) -> None:
    spacing = tokens().spacing
    edge = {Ground.TARGET: "accent", Ground.REFUSED: "danger"}.get(ground, "")
    fill = {Ground.HOVERED: "hover", Ground.REFUSED: "danger_soft"}.get(ground, "accent_soft")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    shape = row.adjusted(spacing.tiny, 1, -spacing.tiny, -1)
    paint_box(painter, shape, spacing.radius_small, fill, edge=edge, width=1.5)
    painter.restore()


def paint_chevron(painter: QPainter, cell: QRect, *, is_open: bool) -> None:
    left = cell.x() - CHEVRON_SIDE - CHEVRON_GAP
    top = cell.y() + (cell.height() - CHEVRON_SIDE) / 2
    spot = placed(QRectF(left, top, CHEVRON_SIDE, CHEVRON_SIDE), QRectF(cell))
    paint_icon(painter, spot, "chevron_down" if is_open else "chevron_right", "text_muted")


def _paint_name(painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
    rect, path = option.rect, str(index.data(row_data.PATH_ROLE) or "")
    if path:
        rect = _paint_path(painter, rect, path)
    _paint_dot(painter, rect, index)
    place = rect.adjusted(DOT_ROOM, 0, 0, 0)
    bar, icons = (
        index.data(row_data.BAR_ROLE),
        [icon for role, icon in _MARKS.items() if index.data(role)],
    )
    words = clauses(str(index.data(row_data.KEY_ROLE) or ""), "" if bar is None else percent(bar))
    caption = caption_font()
    words_width = QFontMetrics(caption).horizontalAdvance(words) if words else 0
    room = QRect(place)
    used = len(icons) * (GAP + MARK_SIDE) + (GAP + words_width if words else 0)
    room.setWidth(place.width() - used)
    name, second_name = str(index.data()), str(index.data(row_data.SECOND_NAME_ROLE) or "")
    left = room.x() + GAP
    left += paint_text(painter, placed(room, rect), name, painter.font(), "text")
    room.setLeft(left)
    if second_name and room.width() >= LEAST_SECOND_NAME:
        left += paint_text(painter, placed(room, rect), second_name, caption, "text_muted") + GAP
    for icon in icons:
        top = place.y() + (place.height() - MARK_SIDE) / 2
        spot = placed(QRectF(left, top, MARK_SIDE, MARK_SIDE), QRectF(rect))
        paint_icon(painter, spot, icon, "text_muted")
        left += MARK_SIDE + GAP
    if words:
        end = QRect(left, place.y(), words_width + 1, place.height())
        paint_text(painter, placed(end, rect), words, caption, "text_muted")


def _paint_path(painter: QPainter, rect: QRect, path: str) -> QRect:
    """Paint the end of a search result's path below its name.

    Returns:
        The rectangle left for the name.
    """
    upper = QRect(rect.x(), rect.y() + GAP // 2, rect.width(), rect.height() // 2)
    lower = rect.adjusted(DOT_ROOM, upper.bottom() + 1 - rect.y(), 0, -GAP)
    painter.save()
    caption = caption_font()
    text = _end_of_path(QFontMetrics(caption), path, lower.width())
    paint_text(painter, placed(lower, rect), text, caption, "text_muted")
    painter.restore()
    return upper


def _end_of_path(metrics: QFontMetrics, path: str, width: int) -> str:
    names, shown = path.split(" / "), path
    while len(names) > 1 and metrics.horizontalAdvance(shown) > width - GAP:
        names.pop(0)
        shown = "… / " + " / ".join(names)
    return shown


def _paint_dot(painter: QPainter, rect: QRect, index: AnyIndex) -> None:
    """Paint a dot in the class colour; hollow for a class without examples."""
    left, middle = rect.x() + 2, rect.y() + rect.height() / 2
    centre = placed(
        QRectF(left, middle - DOT_RADIUS, 2 * DOT_RADIUS, 2 * DOT_RADIUS), QRectF(rect)
    ).center()
    colour, radius = QColor(str(index.data(row_data.COLOUR_ROLE))), DOT_RADIUS
    if index.data(row_data.HAS_SHOTS_ROLE):
        set_colours(painter, colour)
    else:
        set_colours(painter, edge=colour, width=1.4)
        radius -= 0.6
    painter.drawEllipse(centre, radius, radius)


def _paint_count(painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
    is_selected = option.state & QStyle.StateFlag.State_Selected
    colour, side = "text_secondary" if is_selected else "text_muted", Qt.AlignmentFlag.AlignRight
    place = placed(option.rect.adjusted(0, 0, -COUNT_MARGIN, 0), option.rect)
    paint_text(painter, place, str(index.data() or ""), caption_font(), colour, side=side)


@final
class FittedColumns(QObject):
    """Fits the count column to the largest count, and the name column to the expanded levels."""

    def __init__(self, view: QTreeView, model: ClassTreeModel) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self._levels = 1
        self._is_pressed = False  # whether a chevron is pressed
        self._recount, self._reveal = QTimer(self, singleShot=True), QTimer(self, singleShot=True)
        self._recount.timeout.connect(self._count_levels)
        self._reveal.timeout.connect(lambda: view.scrollTo(view.currentIndex()))
        for changed in (
            view.expanded,
            view.collapsed,
            model.rowsRemoved,
            model.rowsMoved,
            model.modelReset,
        ):
            changed.connect(self._recount.start)
        view.viewport().installEventFilter(self)
        view.setIndentation(WIDEST_INDENT)
        view.setHeaderHidden(True)
        view.header().setMinimumSectionSize(1)
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    @property
    def name_room(self) -> int:
        """Width of the viewport available to names, left of the fixed count column."""
        return self._view.viewport().width() - self._view.header().sectionSize(COUNT)

    @property
    def first_indent(self) -> int:
        """Extra indent of all names, so that top-level rows have room for their chevron."""
        return WIDEST_INDENT - self._view.indentation()

    def painted_rect(self, index: AnyIndex) -> QRect:
        """Rectangle in which a cell is painted: counts at the right edge, names left of them."""
        rect = self._from_left(self._view.visualRect(index))
        rect.setRight(self.name_room) if index.column() == NAME else rect.moveLeft(self.name_room)
        return self._from_left(rect)

    def indented(self, cell: QRect) -> QRect:
        """Rectangle of a name cell without the extra indent."""
        return self._from_left(self._from_left(cell).adjusted(self.first_indent, 0, 0, 0))

    def _from_left(self, area: QRect) -> QRect:
        """Mirror a rectangle in right-to-left layouts; its own inverse."""
        return placed(area, self._view.viewport().rect())

    def fit_counts(self, widest: str) -> None:
        metrics = QFontMetrics(caption_font())
        width = metrics.horizontalAdvance(widest or "888") + COUNT_MARGIN + COUNT_GAP
        self._view.header().resizeSection(COUNT, width)
        self._fit()

    def _fit(self) -> None:
        below, ends = self._levels - 1, WIDEST_INDENT + DOT_ROOM + LEAST_NAME
        indent = (self.name_room - ends) // below if below else WIDEST_INDENT
        indent = min(max(indent, NARROWEST_INDENT), WIDEST_INDENT)
        self._view.setIndentation(indent)
        needed = below * indent + ends if below else 0  # a flat list never scrolls horizontally
        self._view.header().resizeSection(NAME, max(self.name_room, needed))

    def _count_levels(self) -> None:
        self._levels = max(1, self._model.open_levels(self._view.isExpanded))
        self._fit()

    def show_name(self, index: AnyIndex) -> None:
        """Scroll horizontally until a row's chevron and the start of its name are visible."""
        name, bar = (
            self._view.visualRect(index.sibling(index.row(), NAME)),
            self._view.horizontalScrollBar(),
        )
        start = self._from_left(name).x()
        left, right = start - WIDEST_INDENT, start + DOT_ROOM + LEAST_NAME
        beyond = max(right - self.name_room, 0)
        bar.setValue(bar.value() + (left if left < 0 else min(beyond, left)))

    def _follow_size(self, event: QResizeEvent) -> None:
        """Fit the columns to a new size, and keep the current row visible if it was."""
        self._fit()
        current = self._view.visualRect(self._view.currentIndex())
        if (
            event.size().height() < event.oldSize().height()
            and 0 <= current.top() < event.oldSize().height()
        ):
            self._reveal.start()

    def _branch_at(self, point: QPoint) -> QModelIndex:
        index = self._view.indexAt(point)
        index = index.siblingAtColumn(NAME) if index.isValid() else index
        start = self._from_left(self._view.visualRect(index)).x()
        x = self._from_left(QRect(point, QSize(1, 1))).x()
        is_chevron = (
            index.isValid()
            and self._model.hasChildren(index)
            and start - WIDEST_INDENT <= x < start
        )
        return index if is_chevron else QModelIndex()

    def _takes(self, event: QMouseEvent) -> bool:
        """Toggle a row when its chevron is pressed.

        With a narrow indent, Qt's own hit area would be too small.
        """
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            index = self._branch_at(event.position().toPoint())
            self._is_pressed = index.isValid() and event.button() == Qt.MouseButton.LeftButton
            if self._is_pressed:
                self._view.setExpanded(index, not self._view.isExpanded(index))
            return self._is_pressed
        was_pressed = self._is_pressed
        if event.type() == QEvent.Type.MouseButtonRelease:
            self._is_pressed = False
        return was_pressed

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QResizeEvent):
            self._follow_size(event)
        return isinstance(event, QMouseEvent) and self._takes(event)
