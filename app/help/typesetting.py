"""Typesetting of guide pages: sizes, margins and colours of the theme on Qt's Markdown document."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

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

PIXELS_FOR_ONE = 1.5
"""Picture pixels per logical pixel, so that pictures are sharp on high-density screens."""
PICTURE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Placeholder of a picture in the text of its paragraph."""
_LINE_PERCENT = 140  # percentage of the font height
_INDENT = 26  # of lists, in logical pixels
_CELL = 6  # padding of cells, in logical pixels
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value


def typeset(document: QTextDocument, look: Tokens) -> None:
    """Apply the theme to a Markdown document."""
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
    """Lay out the document once, after all changes."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()


def blocks_of(document: QTextDocument) -> Iterator[QTextBlock]:
    """Yield paragraphs, headings and lines of code."""
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def headings_of(document: QTextDocument) -> list[QTextBlock]:
    """Headings below that of the page, in order."""
    return [block for block in blocks_of(document) if block.blockFormat().headingLevel()][1:]


def set_picture_width(
    document: QTextDocument, sizes: dict[str, tuple[int, int]], room: int
) -> None:
    """Show pictures at their own size, or as wide as there is room.

    Args:
        document: of the page.
        sizes: width and height in pixels, by name.
        room: available width in logical pixels.
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
    """Displayed width and height of a picture in logical pixels."""
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
    """Size and weight of a heading by level; 0 is body text."""
    letters = QTextCharFormat()
    size = {1: look.sizes.title, 2: look.sizes.heading}.get(level, look.sizes.body)
    letters.setProperty(QTextFormat.Property.FontPixelSize, size)
    if level:
        letters.setFontWeight(QFont.Weight.DemiBold)
    return letters


def _block_format(block: QTextBlock, look: Tokens) -> QTextBlockFormat:
    """Margins and background of a block by its type."""
    spacing, own, wanted = look.spacing, block.blockFormat(), QTextBlockFormat()
    level = own.headingLevel()
    if level:
        wanted.setTopMargin(0 if level == 1 else spacing.large)
        wanted.setBottomMargin(spacing.small)
        return wanted
    is_code = _is_code(block)
    if (
        not is_code and PICTURE not in block.text()
    ):  # a picture's line height would leave empty space below it
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
    """Style keys, code and links."""
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
    """Style a table: hairlines and a header row with a background."""
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
