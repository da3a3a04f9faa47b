"""How a page of the guide is set: sizes, distances and colours of the current look on what Qt reads from Markdown."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Final

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextImageFormat,
    QTextLength,
    QTextTable,
)

from app.theme.tokens import Tokens

PIXELS_FOR_ONE: Final = (
    1.5  # pixels that pictures have for a logical one, so that they are sharp on dense screens, too
)
PICTURE: Final = (
    "\N{OBJECT REPLACEMENT CHARACTER}"  # what stands for a picture in the text of its paragraph
)
_LINE_PERCENT: Final = 140  # of the font's own height
_INDENT: Final = 26  # logical pixels of a list
_CELL: Final = 6  # logical pixels around the words of a cell
_PROPORTIONAL: Final = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


def typeset(document: QTextDocument, look: Tokens) -> None:
    """Dress a document that was just read from Markdown."""
    document.setIndentWidth(_INDENT)
    document.setDocumentMargin(look.spacing.large)
    with _one_step(document):
        for block in blocks_of(document):
            _set_block(block, look)
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                _set_table(frame, look)


@contextmanager
def _one_step(document: QTextDocument) -> Iterator[None]:
    """Lay the document out once, behind all changes."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def blocks_of(document: QTextDocument) -> Iterator[QTextBlock]:
    """All paragraphs, headings and lines of code."""
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def headings_of(document: QTextDocument) -> list[QTextBlock]:
    """The headings below that of the page, in order."""
    return [block for block in blocks_of(document) if block.blockFormat().headingLevel()][1:]


def set_picture_width(
    document: QTextDocument, sizes: dict[str, tuple[int, int]], room: int
) -> None:
    """Show pictures at their own size, or as wide as there is room.

    Args:
        document: of the page.
        sizes: width and height in pixels, by name.
        room: logical pixels beside the margins.
    """
    pictures = [picture for block in blocks_of(document) for picture in _pictures_in(block)]
    with _one_step(document):
        for start, length, name in pictures:
            width, height = shown_size(sizes[name], room) if name in sizes else (0, 0)
            picture = QTextImageFormat()
            picture.setName(name)
            picture.setWidth(width)
            picture.setHeight(height)
            cursor = QTextCursor(document)
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(picture)


def shown_size(pixels: tuple[int, int], room: int) -> tuple[int, int]:
    """Logical width and height of a picture."""
    width = min(pixels[0] / PIXELS_FOR_ONE, room)
    return round(width), round(width * pixels[1] / pixels[0])


def _pictures_in(block: QTextBlock) -> Iterator[tuple[int, int, str]]:
    at = block.begin()
    while not at.atEnd():
        fragment = at.fragment()
        if fragment.charFormat().isImageFormat():
            yield (
                fragment.position(),
                fragment.length(),
                fragment.charFormat().toImageFormat().name(),
            )
        at += 1


def _set_block(block: QTextBlock, look: Tokens) -> None:
    cursor = QTextCursor(block)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeCharFormat(_letters(block.blockFormat().headingLevel(), look))
    cursor.mergeBlockFormat(_block_format(block, look))
    _set_words(block, look)


def _letters(level: int, look: Tokens) -> QTextCharFormat:
    """Size and weight of the words of a heading of some level; 0 is no heading."""
    letters = QTextCharFormat()
    size = {1: look.sizes.title, 2: look.sizes.heading}.get(level, look.sizes.body)
    letters.setProperty(QTextFormat.Property.FontPixelSize, size)
    if level:
        letters.setFontWeight(QFont.Weight.DemiBold)
    return letters


def _block_format(block: QTextBlock, look: Tokens) -> QTextBlockFormat:
    """Distances of a block by what it is."""
    spacing, own, wanted = look.spacing, block.blockFormat(), QTextBlockFormat()
    level = own.headingLevel()
    if level:
        wanted.setTopMargin(0 if level == 1 else spacing.large)
        wanted.setBottomMargin(spacing.small)
        return wanted
    is_code = _is_code(block)
    if (
        not is_code and PICTURE not in block.text()
    ):  # a share of its height would stay empty below it
        wanted.setLineHeight(_LINE_PERCENT, _PROPORTIONAL)
    if is_code:
        wanted.setBackground(QColor(look.colours.sunken))
        wanted.setLeftMargin(0)
        wanted.setNonBreakableLines(False)
    elif own.hasProperty(QTextFormat.Property.BlockQuoteLevel):
        wanted.setLeftMargin(spacing.medium)
        wanted.setBackground(QColor(look.colours.accent_soft))
    margin = spacing.tiny if block.textList() is not None else spacing.small
    wanted.setTopMargin(0 if is_code and _is_code(block.previous()) else margin)
    wanted.setBottomMargin(0 if is_code and _is_code(block.next()) else margin)
    return wanted


def _is_code(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _set_words(block: QTextBlock, look: Tokens) -> None:
    """Keys and code on a quiet ground, links in the accent's hue."""
    spans = []
    at = block.begin()
    while not at.atEnd():
        fragment = at.fragment()
        spans.append((fragment.position(), fragment.length(), fragment.charFormat()))
        at += 1
    for start, length, letters in spans:
        wanted = QTextCharFormat()
        if letters.fontFixedPitch():
            wanted.setBackground(QColor(look.colours.sunken))
        if letters.isAnchor():
            wanted.setForeground(QColor(look.colours.accent_text))
        if not wanted.isEmpty():
            cursor = QTextCursor(block)
            cursor.setPosition(start)
            cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(wanted)


def _set_table(table: QTextTable, look: Tokens) -> None:
    """Hairlines between cells, a quiet ground behind the first row."""
    form = table.format().toTableFormat()
    form.setBorder(1)
    form.setBorderCollapse(True)
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderBrush(QBrush(QColor(look.colours.hairline)))
    form.setCellPadding(_CELL)
    form.setCellSpacing(0)
    form.setTopMargin(look.spacing.small)
    form.setBottomMargin(look.spacing.medium)
    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    table.setFormat(form)
    margins = QTextBlockFormat()
    margins.setTopMargin(0)
    margins.setBottomMargin(0)
    for row, column in product(range(table.rows()), range(table.columns())):
        cell = table.cellAt(row, column)
        if row == 0:
            ground = cell.format()
            ground.setBackground(QColor(look.colours.sunken))
            cell.setFormat(ground)
        for block in _blocks_between(cell.firstCursorPosition(), cell.lastCursorPosition()):
            QTextCursor(block).mergeBlockFormat(margins)


def _blocks_between(first: QTextCursor, last: QTextCursor) -> Iterator[QTextBlock]:
    block = first.block()
    while block.isValid() and block.position() <= last.position():
        yield block
        block = block.next()
