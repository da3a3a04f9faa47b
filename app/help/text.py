"""The page that is read: one of the guide, set in the current look; links are reported, never followed by itself."""

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QMouseEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from app.help.guide import GuidePage
from app.help.search import marks_in
from app.help.typesetting import blocks_of, headings_of, set_picture_width, shown_size, typeset
from app.theme.tokens import tokens

LONGEST_LINE = 760  # logical pixels: longer lines are hard to read

Sizes = Mapping[str, tuple[int, int]]


@final
class GuideText(QTextBrowser):
    """Shows one page.

    Signals:
        link_chosen: what a link names, such as `labelling.md#keys` or `#keys`.
        pictures_wanted: sizes in pixels by name, of the page that is shown; answered by `show_pictures`.
        back_wanted, forward_wanted: the mouse's own buttons for it.
    """

    link_chosen = Signal(str)
    pictures_wanted = Signal(Mapping)
    back_wanted = Signal()
    forward_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "guide")
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.anchorClicked.connect(lambda url: self.link_chosen.emit(url.toString()))
        self._page: GuidePage | None = None
        self._sizes: dict[str, tuple[int, int]] = {}
        self._wanted: dict[str, QSize] = {}
        self._words: Sequence[str] = ()

    def show_page(self, page: GuidePage, sizes: Sizes, *, words: Sequence[str] = ()) -> None:
        """Show a page from its top, with what begins with one of `words` marked."""
        self._page, self._sizes, self._words = page, dict(sizes), words
        self.setAccessibleName(page.title)
        self._set_anew()
        self.verticalScrollBar().setValue(0)

    def show_pictures(self, pictures: Mapping[str, QImage]) -> None:
        """Take pictures that were wanted; until then their places are empty, or show them in an earlier size."""
        for name, picture in pictures.items():
            picture.setDevicePixelRatio(self.devicePixelRatioF())
            self._put(name, picture)
        self.viewport().update()

    def dress(self) -> None:
        """Set the page anew in the look that is worn now, at the same place."""
        place = self.verticalScrollBar().value()
        self._set_anew()
        self.verticalScrollBar().setValue(place)

    def scroll_to_heading(self, anchor: str) -> None:
        """Bring a heading to the top; the top of the page where there is none of that name."""
        anchors = (
            [] if self._page is None else [section.anchor for section in self._page.sections[1:]]
        )
        block = dict(zip(anchors, headings_of(self.document()), strict=False)).get(anchor)
        layout = self.document().documentLayout()
        top = (
            0.0 if block is None else layout.blockBoundingRect(block).top() - tokens().spacing.small
        )
        self.verticalScrollBar().setValue(round(top))

    def _set_anew(self) -> None:
        if self._page is None:
            return
        self._wanted = {}
        for name in self._page.pictures:
            self._put(name, nothing())
        self.document().setMarkdown(
            self._page.markdown, QTextDocument.MarkdownFeature.MarkdownDialectGitHub
        )
        typeset(self.document(), tokens())
        self._fit_pictures()
        self._mark(self._words)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _fit_pictures(self) -> None:
        """Give pictures their size, and ask for those that are not there in it."""
        if self._page is None:
            return
        room, ratio = self._room(), self.devicePixelRatioF()
        set_picture_width(self.document(), self._sizes, room)
        shown = {
            name: QSize(*shown_size(self._sizes[name], room))
            for name in self._page.pictures
            if name in self._sizes
        }
        wanted = {name: size * ratio for name, size in shown.items()}
        if wanted != self._wanted:
            self._wanted = wanted
            self.pictures_wanted.emit(wanted)

    def _put(self, name: str, picture: QImage) -> None:
        self.document().addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(name), picture
        )

    def _room(self) -> int:
        """Logical pixels that a line has."""
        return int(self.viewport().width() - 2 * self.document().documentMargin())

    def _mark(self, words: Sequence[str]) -> None:
        """Put the words that were searched for on a ground of their own."""
        selections = []
        for block in blocks_of(self.document()):
            for start, end in marks_in(block.text(), words):
                selection = QTextEdit.ExtraSelection()
                cursor = QTextCursor(block)
                cursor.setPosition(block.position() + start)
                cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
                ground = QTextCharFormat()
                ground.setBackground(QColor(tokens().colours.warning_soft))
                ground.setForeground(QColor(tokens().colours.warning))
                selection.cursor, selection.format = cursor, ground
                selections.append(selection)
        self.setExtraSelections(selections)

    # -- Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        beside = max(0, self.width() - LONGEST_LINE)
        self.setViewportMargins(0, 0, beside, 0)
        super().resizeEvent(event)
        self._fit_pictures()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        wanted = {
            Qt.MouseButton.BackButton: self.back_wanted,
            Qt.MouseButton.ForwardButton: self.forward_wanted,
        }
        if event.button() in wanted:
            wanted[event.button()].emit()
            return
        super().mouseReleaseEvent(event)


def nothing() -> QImage:
    """What stands in the place of a picture that is not read yet."""
    picture = QImage(1, 1, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.transparent)
    return picture
