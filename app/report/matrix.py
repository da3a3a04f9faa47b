"""The confusion matrix as a widget: rows fold, and a cell opens its images."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from app.key_names import ENTER_KEYS
from app.mirroring import keep_as_drawn
from app.report.matrix_look import GAP, TOTALS, MatrixScene, MatrixSizes
from app.report.wording import cell_text, set_title
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from engine.report.words import class_of, printable

if TYPE_CHECKING:
    from engine.report.confusion import Confusion, Folded

MOST_LINES = 2_000
"""Rows shown at once, at most. Chosen: more cannot be surveyed."""
# Direction of each arrow key: down, right.
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


@final
class MatrixView(QAbstractScrollArea):
    """Confusion matrix: rows are true classes, columns predicted ones.

    Arrow keys move, Enter opens the images of the cell, Plus and Minus expand and collapse the
    row's class. Left of the first column is the class name: Enter there toggles it.
    """

    images_requested = Signal(np.ndarray, str)  # ids (k,) and title of the images of a cell
    cell_reached = Signal(QRect)  # rectangle of the cell that got the keyboard focus

    def __init__(self, confusion: Confusion) -> None:
        super().__init__()
        self._confusion = confusion
        self._opened = set(confusion.first_cut())
        self.folded: Folded = confusion.folded(self._opened)
        self.row, self.column = 0, -1  # focused cell; column -1 is the name
        self._hovered: tuple[int, int] | None = None
        keep_as_drawn(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName(tr("Confusion matrix"))
        self._show_lines()

    def _show_lines(self) -> None:
        lines = len(self.folded.lines)
        self.row, self.column = min(self.row, max(lines - 1, 0)), min(self.column, lines - 1)
        self._lay_out()
        self._describe_cell()
        self.viewport().update()

    def _lay_out(self) -> None:
        """Set the height to show all rows, as the page scrolls vertically; columns scroll here."""
        lines, across, width = (
            len(self.folded.lines),
            self.horizontalScrollBar(),
            self.viewport().width(),
        )
        self._sizes = sizes = MatrixSizes.fitting(self.folded, self._name, self._metrics, width)
        hidden = max(0, sizes.names + sizes.side * lines + TOTALS - width)
        across.setRange(0, hidden)
        across.setPageStep(width)
        across.setSingleStep(sizes.side)
        bar = across.sizeHint().height() if hidden else 0
        self.setFixedHeight(sizes.head + sizes.side * max(lines, 1) + 2 * GAP + bar)

    @property
    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self.small_font)

    @property
    def small_font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(tokens().sizes.caption)
        return font

    def sizeHint(self) -> QSize:
        return QSize(
            self._sizes.names + self._sizes.side * len(self.folded.lines) + TOTALS, self.height()
        )

    # -- folding

    def toggle(self, row: int) -> None:
        """Expand or collapse the class of a row; the row keeps the focus."""
        line = self.folded.lines[row]
        if line.is_open:
            self._close(line.class_id)
        elif line.can_open:
            more = self._confusion.lines({*self._opened, line.class_id})
            if len(more) > MOST_LINES:
                return
            self._opened.add(line.class_id)
        else:
            return
        self.folded = self._confusion.folded(self._opened)
        self.row = next(
            place for place, each in enumerate(self.folded.lines) if each.class_id == line.class_id
        )
        self._show_lines()
        self._reveal()

    def _close(self, class_id: int) -> None:
        """Collapse a class and its descendants: expanded again, it shows only its children."""
        tree = self._confusion.tree
        self._opened = {each for each in self._opened if class_id not in tree.branch(each)}

    # -- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        place = self.scene.place_at(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or place is None:
            return
        self.row, self.column = place
        self._describe_cell()
        self.viewport().update()
        if self.column < 0:
            self.toggle(self.row)
        else:
            self._open_cell()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self.scene.place_at(event.position().toPoint())
        if place != self._hovered:
            self._hovered = place
            is_live = place is not None and (place in self.folded.cells or self._folds(place))
            shape = Qt.CursorShape.PointingHandCursor if is_live else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
            self.viewport().update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.viewport().update()
        super().leaveEvent(event)

    def _folds(self, place: tuple[int, int]) -> bool:
        return place[1] < 0 and self.folded.lines[place[0]].can_open

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, count = Qt.Key(event.key()), len(self.folded.lines)
        if not count:
            super().keyPressEvent(event)
        elif key in _MOVES:
            down, across = _MOVES[key]
            self.row = min(max(self.row + down, 0), count - 1)
            self.column = min(max(self.column + across, -1), count - 1)
            self._move()
        elif key in ENTER_KEYS | {Qt.Key.Key_Space}:
            if self.column < 0:
                self.toggle(self.row)
            else:
                self._open_cell()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            if self.folded.lines[self.row].is_open == (key == Qt.Key.Key_Minus):
                self.toggle(self.row)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.row = 0 if key == Qt.Key.Key_Home else count - 1
            self._move()
        else:
            super().keyPressEvent(event)

    def _move(self) -> None:
        self._reveal()
        self._describe_cell()
        self.viewport().update()

    def _open_cell(self) -> None:
        row, column = self.row, self.column
        if (row, column) in self.folded.cells:
            ids = self._confusion.images_of(self.folded.lines, row, column)
            self.images_requested.emit(ids, set_title(self._name(row), self._name(column)))

    def _reveal(self) -> None:
        """Scroll matrix and page to the focused cell."""
        across, sizes = self.horizontalScrollBar(), self._sizes
        if self.column >= 0:
            left = sizes.side * self.column
            end = left + sizes.side + sizes.names - self.viewport().width()
            across.setValue(min(max(across.value(), end), left))
        self.cell_reached.emit(self.scene.cell_rect(self.row, self.column))

    def _describe_cell(self) -> None:
        """Describe the focused cell to screen readers."""
        if self.folded.lines:
            self.setAccessibleDescription(self.text_of(self.row, self.column))

    def text_of(self, row: int, column: int) -> str:
        """Text of a cell, or of a row with its number of images."""
        name = self._name(row)
        if column < 0:
            return cell_text(name, "", int(self.folded.branch_totals[row]))
        return cell_text(name, self._name(column), self.folded.cells.get((row, column), 0))

    def _name(self, place: int) -> str:
        return printable(class_of(self._confusion.tree, self.folded.lines[place].class_id).name)

    @property
    def scene(self) -> MatrixScene:
        """The visible part, for painting and hit testing."""
        scrolled, visible = (
            self.horizontalScrollBar().value(),
            self.viewport().visibleRegion().boundingRect(),
        )
        focused = (self.row, self.column) if self.hasFocus() and self.folded.lines else None
        size = self.viewport().size()
        return MatrixScene(
            self.folded, self._name, self._sizes, scrolled, size, visible, self._hovered, focused
        )

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.scene.place_at(event.pos())
            text = "" if place is None else self.text_of(*place)
            QToolTip.showText(event.globalPos(), plain_tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    # -- painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setLayoutDirection(self.layoutDirection())
        painter.setFont(self.small_font)
        self.scene.paint(painter)
        painter.end()
