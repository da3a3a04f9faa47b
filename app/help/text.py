"""Text browser for a page of the guide; clicked links are emitted, not followed."""

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

LONGEST_LINE = 760  # in logical pixels: longer lines are hard to read

Sizes = Mapping[str, tuple[int, int]]


@final
class GuideText(QTextBrowser):
    """Browser for one page.

    Signals:
        link_chosen: target of a link, such as `labelling.md#keys` or `#keys`.
        pictures_wanted: sizes in pixels by name, for the current page; see `show_pictures`.
        back_wanted, forward_wanted: navigation buttons of the mouse.
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
        """Show the top of a page, with matches of `words` highlighted."""
        self._page, self._sizes, self._words = page, dict(sizes), words
        self.setAccessibleName(page.title)
        self._render_again()
        self.verticalScrollBar().setValue(0)

    def show_pictures(self, pictures: Mapping[str, QImage]) -> None:
        """Set requested pictures; until then they are blank, or have their previous size."""
        for name, picture in pictures.items():
            picture.setDevicePixelRatio(self.devicePixelRatioF())
            self._put(name, picture)
        self.viewport().update()

    def dress(self) -> None:
        """Typeset the page again after a change of theme, at the same scroll position."""
        place = self.verticalScrollBar().value()
        self._render_again()
        self.verticalScrollBar().setValue(place)

    def scroll_to_heading(self, anchor: str) -> None:
        """Scroll to a heading, or to the top if there is none of that name."""
        anchors = (
            [] if self._page is None else [section.anchor for section in self._page.sections[1:]]
        )
        block = dict(zip(anchors, headings_of(self.document()), strict=False)).get(anchor)
        layout = self.document().documentLayout()
        top = (
            0.0 if block is None else layout.blockBoundingRect(block).top() - tokens().spacing.small
        )
        self.verticalScrollBar().setValue(round(top))

    def _render_again(self) -> None:
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
        """Set sizes of pictures, and request those that are not available at that size."""
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
        """Width of a line in logical pixels."""
        return int(self.viewport().width() - 2 * self.document().documentMargin())

    def _mark(self, words: Sequence[str]) -> None:
        """Highlight search words."""
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
        margin = max(0, self.width() - LONGEST_LINE)
        self.setViewportMargins(0, 0, margin, 0)
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
    """Placeholder of a picture that has not been read."""
    picture = QImage(1, 1, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.transparent)
    return picture
