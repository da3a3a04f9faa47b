"""List of search results: heading, page and snippet of each section, with highlights."""

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.help.search import Hit, Span
from app.mirroring import leading_edge
from app.painting import colour_of, font_of, paint_box
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import in_sentences

HIT_ROLE = Qt.ItemDataRole.UserRole
_PAD = 10  # horizontal padding in logical pixels
_GAP = 8  # vertical padding in logical pixels
_LINES = 4  # of a result
_HEADING_LINES = 2  # maximum number of these
_LONGEST_WORD = 3  # times the font size: possible loss at a line break


@final
class HitList(QListWidget):
    """Results, best first; one is always current."""

    hit_chosen = Signal(Hit)  # by a click or Enter

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Search results"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(_HitDelegate(self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.itemClicked.connect(lambda item: self.hit_chosen.emit(item.data(HIT_ROLE)))

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """Show results; the first becomes current."""
        self.clear()
        for hit in hits:
            item = QListWidgetItem(self)
            item.setData(HIT_ROLE, hit)
            words = (hit.section.title, place_of(hit), hit.snippet)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, in_sentences(*words))
        self.setCurrentRow(0)

    @property
    def hits(self) -> list[Hit]:
        return [self.item(row).data(HIT_ROLE) for row in range(self.count())]

    def choose_current(self) -> None:
        """Choose the current hit, if any."""
        item = self.currentItem()
        if item is not None:
            self.hit_chosen.emit(item.data(HIT_ROLE))


def place_of(hit: Hit) -> str:
    """Title of the section's page; empty for the page's own heading."""
    return hit.page.title if hit.section.anchor else ""


@final
class _HitDelegate(QStyledItemDelegate):
    """Delegate with rows of equal height: heading, page, and as much text as fits."""

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        heading = QFontMetrics(font_of("body", is_strong=True)).lineSpacing()
        other = QFontMetrics(font_of("caption")).lineSpacing()
        return QSize(0, _HEADING_LINES * heading + (_LINES - _HEADING_LINES) * other + 2 * _GAP + 2)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        hit = index.data(HIT_ROLE)
        if not isinstance(hit, Hit):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(4, 1, -4, -1)
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            fill = "accent_soft" if is_current else "hover"
            paint_box(painter, area, tokens().spacing.radius_small, fill)
        column = _Column(painter, area.adjusted(_PAD, _GAP, -_PAD, -_GAP))
        left = _LINES - column.write(
            hit.section.title, hit.title_marks, most=_HEADING_LINES, is_strong=True
        )
        if place_of(hit):
            left -= column.write(place_of(hit), (), most=1)
        column.write(hit.snippet, hit.marks, most=left)
        painter.restore()


@final
class _Column:
    """Text lines painted below each other.

    Args:
        painter: target painter.
        room: available rectangle.
    """

    def __init__(self, painter: QPainter, room: QRect) -> None:
        self._painter = painter
        self._room = room
        self._top = float(room.top())

    def write(self, text: str, marks: Sequence[Span], *, most: int, is_strong: bool = False) -> int:
        """Paint text in at most `most` lines with highlighted spans; return the number of lines."""
        font = font_of("body" if is_strong else "caption", is_strong=is_strong)
        width = self._room.width()
        enough = most * width - (most - 1) * _LONGEST_WORD * font.pixelSize()
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, enough)
        layout = QTextLayout(shown, font)
        layout.setTextOption(_reading())
        layout.setFormats([_marked(start, end) for start, end in marks if end <= len(shown)])
        lines, top = 0, self._top
        layout.beginLayout()
        while lines < most and (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, self._top - top))
            self._top += line.height()
            lines += 1
        layout.endLayout()
        self._painter.setPen(colour_of("text" if is_strong else "text_secondary"))
        layout.draw(self._painter, QPointF(self._room.left(), top))
        return lines


def _reading() -> QTextOption:
    """Text option with the window's direction, which a bare layout does not inherit."""
    option = QTextOption()
    option.setAlignment(leading_edge())
    return option


def _marked(start: int, end: int) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    letters = QTextCharFormat()
    letters.setForeground(colour_of("accent_text"))
    letters.setFontWeight(QFont.Weight.Bold)
    span.start, span.length, span.format = start, end - start, letters
    return span
