"""What a search found: heading, page and a few words of each section, with what was typed marked."""

from collections.abc import Sequence
from typing import Final, final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.help.search import Hit, Span
from app.theme.tokens import tokens

HIT_ROLE: Final = Qt.ItemDataRole.UserRole
_PAD: Final = 10  # logical pixels beside the words
_GAP: Final = 8  # above and below them
_SNIPPET_LINES: Final = 2
_LONGEST_WORD: Final = 3  # times the font's size: what a line may lose where it breaks


@final
class HitList(QListWidget):
    """The hits, the best first; one is always current.

    Signals:
        hit_chosen: by a click or Enter.
    """

    hit_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Search results"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(_HitDelegate(self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.itemClicked.connect(lambda item: self.hit_chosen.emit(item.data(HIT_ROLE)))

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """List hits; the first becomes current."""
        self.clear()
        for hit in hits:
            item = QListWidgetItem(self)
            item.setData(HIT_ROLE, hit)
            words = (hit.section.title, place_of(hit), hit.snippet)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join(filter(None, words)))
        self.setCurrentRow(0)

    @property
    def hits(self) -> list[Hit]:
        """What is listed."""
        return [self.item(row).data(HIT_ROLE) for row in range(self.count())]

    def choose_current(self) -> None:
        """Choose the current hit, if any."""
        item = self.currentItem()
        if item is not None:
            self.hit_chosen.emit(item.data(HIT_ROLE))


def place_of(hit: Hit) -> str:
    """The page of a section; empty for the page's own heading."""
    return hit.page.title if hit.section.anchor else ""


@final
class _HitDelegate(QStyledItemDelegate):
    """Rows of equal height: heading and page in one line, below them two lines of the text."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        sizes = tokens().sizes
        lines = _line_height(sizes.body) + _line_height(sizes.caption) * (1 + _SNIPPET_LINES)
        return QSize(0, lines + 2 * _GAP + 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        hit = index.data(HIT_ROLE)
        if not isinstance(hit, Hit):
            return
        look = tokens()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(4, 1, -4, -1)
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(look.colours.accent_soft if is_current else look.colours.hover))
            painter.drawRoundedRect(area, look.spacing.radius_small, look.spacing.radius_small)
        room = area.adjusted(_PAD, _GAP, -_PAD, -_GAP)
        room.setTop(_paint_words(painter, room, hit.section.title, hit.title_marks, size=look.sizes.body, strong=True))
        lines = _SNIPPET_LINES + 1
        if place_of(hit):
            room.setTop(_paint_words(painter, room, place_of(hit), (), size=look.sizes.caption))
            lines -= 1
        _paint_words(painter, room, hit.snippet, hit.marks, size=look.sizes.caption, lines=lines)
        painter.restore()


def _line_height(pixels: int) -> int:
    return QFontMetrics(_font(pixels, strong=False)).lineSpacing()


def _font(pixels: int, *, strong: bool) -> QFont:
    font = QFont()
    font.setPixelSize(pixels)
    if strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font


def _paint_words(
    painter: QPainter, room: QRect, text: str, marks: Sequence[Span], *, size: int, strong: bool = False, lines: int = 1
) -> int:
    """Paint words in at most so many lines, marked ones in the accent's hue; where the next line begins."""
    font = _font(size, strong=strong)
    width = lines * room.width() - (lines - 1) * _LONGEST_WORD * size
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
    layout = QTextLayout(shown, font)
    layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    layout.setFormats([_marked(start, end) for start, end in marks if end <= len(shown)])
    layout.beginLayout()
    top = 0.0
    for _line in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(room.width())
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    painter.setPen(QColor(tokens().colours.text if strong else tokens().colours.text_secondary))
    layout.draw(painter, room.topLeft().toPointF())
    return room.top() + round(top)


def _marked(start: int, end: int) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    letters = QTextCharFormat()
    letters.setForeground(QColor(tokens().colours.accent_text))
    letters.setFontWeight(QFont.Weight.Bold)
    span.start, span.length, span.format = start, end - start, letters
    return span
