"""View of the "User guide" window: contents or search results on the left, page on the right."""

from dataclasses import dataclass, field, replace
from typing import final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QSplitter, QStackedWidget, QWidget

from app.controls import fill_column, fill_row, make_flowing_label, make_icon_button
from app.help.guide import CONTENTS, Guide
from app.help.hit_list import HitList
from app.help.search import Hit, search, words_of
from app.help.text import GuideText
from app.key_names import ENTER_KEYS
from app.texts import tr
from app.theme.icons import icon
from app.theme.tokens import tokens


@dataclass(frozen=True)
class GuideSpot:
    """Position in the guide."""

    page: str  # name of the page
    anchor: str = ""  # of a heading; empty for the top
    # Scroll position when the page was left, in pixels; None if it was not.
    scrolled: int | None = None


@dataclass
class History:
    """Navigation history."""

    spots: list[GuideSpot] = field(default_factory=list)
    at: int = -1

    @property
    def spot(self) -> GuideSpot | None:
        """Current position; None before the first page."""
        return self.spots[self.at] if self.spots else None

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier position."""
        return self.at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a later position."""
        return self.at < len(self.spots) - 1

    def visit(self, spot: GuideSpot) -> None:
        """Go to a new position and discard later ones."""
        self.spots = [*self.spots[: self.at + 1], spot]
        self.at = len(self.spots) - 1

    def leave(self, scrolled: int) -> None:
        """Store the scroll position of the page that is left."""
        if self.spots:
            self.spots[self.at] = replace(self.spots[self.at], scrolled=scrolled)

    def go(self, steps: int) -> GuideSpot | None:
        """Go back (-1) or forward (1); None if impossible."""
        if not 0 <= self.at + steps < len(self.spots):
            return None
        self.at += steps
        return self.spots[self.at]


FIRST_SIZE = QSize(1040, 720)
LEAST_SIZE = QSize(600, 360)
LEFT_WIDTH = 264  # initial width of the left side, in logical pixels
_LEAST_LEFT = 180  # in logical pixels
_LIST_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down}
_PAGE_KEYS = {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


@final
class GuideWindow(QWidget):
    """Window next to the main window. Esc clears the search, then closes.

    Signals:
        closed: the window was closed.

    Attributes:
        field: search field.
        contents: titles of all pages.
        results: sections that match.
        text: the page.
        back_button, forward_button: navigation as in a browser.
    """

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()  # without a parent, as it would otherwise cover the main window
        self.setWindowTitle(tr("User guide"))
        self.setWindowIcon(icon("protoleaf", "accent"))
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(LEAST_SIZE)
        self.resize(FIRST_SIZE)
        self._guide: Guide | None = None
        self._history = History()
        self.back_button = make_icon_button(
            "arrow_left", tr("Back (Alt+Left)"), lambda: self.go(-1)
        )
        self.forward_button = make_icon_button(
            "arrow_right", tr("Forward (Alt+Right)"), lambda: self.go(1)
        )
        self.field = QLineEdit()
        self.contents = QListWidget()
        self.results = HitList()
        self.nothing = make_flowing_label(tr("No page contains all of these words."), "secondary")
        self.text = GuideText()
        self._left = QStackedWidget()
        self._dress()
        self._lay_out()
        self._connect()

    # -- layout

    def _dress(self) -> None:
        prompt = tr("Search the guide")
        self.field.setPlaceholderText(prompt)
        self.field.setAccessibleName(prompt)
        self.field.setProperty("variant", "search")
        self.field.setClearButtonEnabled(True)
        self.contents.setAccessibleName(tr("Contents"))
        self.contents.setFrameShape(QFrame.Shape.NoFrame)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setMargin(tokens().spacing.medium)
        for button in (self.back_button, self.forward_button):
            button.setEnabled(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        parts = (self.back_button, self.forward_button, self.field)
        margins = (spacing.small, spacing.small, spacing.small, spacing.tiny)
        head = fill_row(None, *parts, spacing=spacing.tiny, margins=margins, grows=2)
        for page in (self.contents, self.results, self.nothing):
            self._left.addWidget(page)
        left = QWidget()
        left.setMinimumWidth(_LEAST_LEFT)
        left.setProperty("surface", "pane")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        margins = (0, 0, 0, spacing.small)
        fill_column(left, head, self._left, spacing=spacing.tiny, margins=margins, grows=1)
        panes = QSplitter(Qt.Orientation.Horizontal)
        panes.setHandleWidth(1)
        panes.setChildrenCollapsible(False)
        panes.addWidget(left)
        panes.addWidget(self.text)
        panes.setStretchFactor(1, 1)
        panes.setSizes([LEFT_WIDTH, FIRST_SIZE.width() - LEFT_WIDTH])
        fill_column(self, panes)
        for first, second in (
            (self.field, self._left),
            (self._left, self.text),
            (self.text, self.back_button),
        ):
            QWidget.setTabOrder(first, second)

    def _connect(self) -> None:
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(self._choose_current)
        self.field.installEventFilter(self)
        self.contents.itemClicked.connect(self._choose_current)
        self.results.hit_chosen.connect(self._show_hit)
        for entries in (self.contents, self.results):
            entries.installEventFilter(self)
        self.text.link_chosen.connect(self._follow)
        self.text.back_wanted.connect(lambda: self.go(-1))
        self.text.forward_wanted.connect(lambda: self.go(1))
        keys = {
            QKeySequence.StandardKey.Back: lambda: self.go(-1),
            QKeySequence.StandardKey.Forward: lambda: self.go(1),
            QKeySequence.StandardKey.Find: self.ask,
            QKeySequence.StandardKey.Close: self.close,
        }
        for key, do in keys.items():
            QShortcut(key, self).activated.connect(do)

    # -- display

    def show_guide(self, guide: Guide) -> None:
        self._guide = guide
        self.contents.clear()
        self.contents.addItems([page.title for page in guide.pages.values()])

    def show_failure(self, text: str) -> None:
        """Show why the guide could not be read."""
        self.text.setPlainText(text)

    def ask(self) -> None:
        """Focus the search field."""
        self.field.setFocus()
        self.field.selectAll()

    def visit(self, page: str, anchor: str = "") -> None:
        """Show a page at a heading, and add it to the history.

        A missing page is replaced by the contents if no page is shown yet.
        """
        if self._guide is not None and page not in self._guide.pages and not self.page:
            page = CONTENTS
        if self._guide is None or page not in self._guide.pages:
            return
        self._history.leave(self.text.verticalScrollBar().value())
        self._history.visit(GuideSpot(page, anchor))
        self._show_spot()

    def go(self, steps: int) -> None:
        """Go back (-1) or forward (1)."""
        self._history.leave(self.text.verticalScrollBar().value())
        if self._history.go(steps) is not None:
            self._show_spot()

    @property
    def page(self) -> str:
        """Name of the current page; empty before the first."""
        return "" if self._history.spot is None else self._history.spot.page

    def dress(self) -> None:
        """Typeset the page again after a change of theme."""
        self.text.dress()

    def _show_spot(self) -> None:
        spot = self._history.spot
        if spot is None or self._guide is None:
            return
        page = self._guide.pages[spot.page]
        self.text.show_page(page, self._guide.picture_sizes, words=words_of(self.field.text()))
        if spot.scrolled is not None:
            self.text.verticalScrollBar().setValue(spot.scrolled)
        elif spot.anchor:
            self.text.scroll_to_heading(spot.anchor)
        self.contents.setCurrentRow(list(self._guide.pages).index(spot.page))
        self.back_button.setEnabled(self._history.can_go_back)
        self.forward_button.setEnabled(self._history.can_go_forward)

    # -- search and links

    def _search(self, text: str) -> None:
        hits = [] if self._guide is None else search(self._guide, text)
        self.results.show_hits(hits)
        if not words_of(text):
            self._left.setCurrentWidget(self.contents)
        else:
            self._left.setCurrentWidget(self.results if hits else self.nothing)

    def _choose_current(self) -> None:
        if self._left.currentWidget() is self.results:
            self.results.choose_current()
        elif self._left.currentWidget() is self.contents and self._guide is not None:
            self.visit(list(self._guide.pages)[max(0, self.contents.currentRow())])

    def _show_hit(self, hit: Hit) -> None:
        self.visit(hit.page.name, hit.section.anchor)

    def _follow(self, link: str) -> None:
        name, _, anchor = link.partition("#")
        self.visit(name.removesuffix(".md") or self.page or CONTENTS, anchor)

    # -- Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move through list and page by keys in the search field; open pages by Enter in a list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            entries = self._left.currentWidget()
            if (
                watched is self.field
                and event.key() in _LIST_KEYS
                and isinstance(entries, QListWidget)
            ):
                entries.keyPressEvent(event)
                return True
            if watched is self.field and event.key() in _PAGE_KEYS:
                self.text.keyPressEvent(event)
                return True
            if watched is not self.field and event.key() in ENTER_KEYS:
                self._choose_current()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.field.text():
            self.field.clear()
            self.field.setFocus()
        else:
            self.close()
