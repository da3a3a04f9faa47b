"""The panel of suggestions about the graph: one card each, and how reliable they are."""

from collections.abc import Callable, Iterable
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.controls import fill_column, make_button, make_label
from app.graph_suggestions.wording import (
    SuggestionWords,
    check_line,
    dismissed_line,
    more_line,
    words_of,
)
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.side_panel.frame import SidePanel
from app.texts import plural, tr, with_breaks
from app.theme.tokens import tokens
from app.wording import titled
from engine.collection.graph_suggestions.suggestion import GraphSuggestion, GraphSuggestions
from engine.collection.state import CollectionState

FACE = 44  # side of a thumbnail in pixels; one row fits the narrowest panel
MOST_FACES = 5  # thumbnails of a strip
MOST_CARDS = 12  # the rest follow when these are answered


@final
class SuggestionCard(QFrame):
    """One suggestion with its evidence and buttons."""

    accepted = Signal(GraphSuggestion, int)  # suggestion, index of the choice
    dismissed = Signal(GraphSuggestion)
    image_requested = Signal(int)

    def __init__(
        self,
        suggestion: GraphSuggestion,
        words: SuggestionWords,
        state: CollectionState,
        thumbnails: Thumbnails,
        *,
        is_writable: bool,
    ) -> None:
        super().__init__()
        self.suggestion, self.words, self.is_writable = suggestion, words, is_writable
        self.setProperty("role", "card")
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.reason)
        spacing = tokens().spacing
        title = make_label(with_breaks(words.title), "strong", wraps=True)
        self._column = fill_column(
            self, title, make_label(with_breaks(words.reason), "secondary", wraps=True)
        )
        self._column.setContentsMargins(
            spacing.medium, spacing.small, spacing.medium, spacing.medium
        )
        self._add_faces(state, thumbnails)
        self.choices = tuple(
            self._add_button(text, place) for place, text in enumerate(words.choices)
        )
        dismiss = lambda: self.dismissed.emit(suggestion)  # noqa: E731
        self.dismiss_button = make_button(
            tr("Dismiss"), dismiss, variant="muted", icon_name="close"
        )
        self.dismiss_button.setAccessibleName(titled(tr("Dismiss"), words.title))
        self._column.addWidget(self.dismiss_button)
        self.dismiss_button.setEnabled(is_writable)
        for button in self.choices:
            button.setEnabled(is_writable or not words.changes_project)

    def _add_faces(self, state: CollectionState, thumbnails: Thumbnails) -> None:
        for caption, images in zip(self.words.captions, self.suggestion.evidence, strict=True):
            strip = ThumbnailStrip(thumbnails, side=FACE, tip=tr("Click to show it"))
            strip.setAccessibleName(caption)
            strip.image_clicked.connect(self.image_requested)
            self._column.addWidget(make_label(with_breaks(caption), "caption", wraps=True))
            self._column.addWidget(strip)
            # After `addWidget`: a strip without a parent would open as a window.
            strip.show_images(images.image_ids[:MOST_FACES], state)

    def _add_button(self, text: str, place: int) -> QPushButton:
        accept = lambda: self.accepted.emit(self.suggestion, place)  # noqa: E731
        button = make_button(text, accept, variant="" if place else "primary")
        button.setAccessibleName(titled(text, self.words.title))
        self._column.addWidget(button)
        return button


@final
class SuggestionPanel(SidePanel):
    """List of suggestions; emits what the user decides."""

    accepted = Signal(GraphSuggestion, int)  # suggestion, index of the choice
    dismissed = Signal(GraphSuggestion)
    bring_back_requested = Signal()
    image_requested = Signal(int)
    shown = Signal(bool)  # whether the panel is visible

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.cards: tuple[SuggestionCard, ...] = ()
        self._thumbnails = thumbnails
        self.status = make_label("", "secondary", wraps=True)
        holder = QWidget()
        self._column = fill_column(holder, spacing=tokens().spacing.medium)
        self._more = make_label("", "secondary", wraps=True)
        self.check = make_label("", "caption", wraps=True)
        self.bring_back_button = make_button(
            "", self.bring_back_requested.emit, variant="muted", icon_name="undo"
        )
        parts = (self.status, holder, self._more, self.bring_back_button, self.check)
        self.lay_out(tr("Suggestions"), tr("Close"), parts)
        self.show_searching()

    def show_searching(self) -> None:
        """Show that a search is running; cards stay until its result."""
        if not self.cards:
            self.status.setText(tr("Looking…"))
            self._show_texts()

    def show_nothing_known(self) -> None:
        self.show_failure(
            tr("Label some images first. Suggestions come from images that look alike.")
        )

    def show_failure(self, message: str) -> None:
        self._put_cards(())
        self.status.setText(message)
        self._show_texts()

    def show_found(
        self,
        found: GraphSuggestions,
        state: CollectionState,
        name_of: Callable[[int], str],
        *,
        is_writable: bool,
    ) -> None:
        shown = found.found[:MOST_CARDS]
        now = [(card.suggestion, card.words, card.is_writable) for card in self.cards]
        wanted = [(each, words_of(each, name_of), is_writable) for each in shown]
        if now != wanted:
            self._put_cards(
                SuggestionCard(each, words, state, self._thumbnails, is_writable=is_writable)
                for each, words, _ in wanted
            )
        rest = len(found.found) - len(shown)
        count, none = len(found.found), tr("No suggestions: your classes fit your images.")
        self.status.setText(plural(count, "1 suggestion", "{n} suggestions") if count else none)
        self.bring_back_button.setEnabled(is_writable)
        self._show_texts(
            more=more_line(rest) if rest else "",
            check=check_line(found.check),
            dismissed=dismissed_line(found.dismissed) if found.dismissed else "",
        )

    def _put_cards(self, cards: Iterable[SuggestionCard]) -> None:
        place = self._focused_place()
        for card in self.cards:
            card.hide()
            self._column.removeWidget(card)
            card.deleteLater()
        self.cards = tuple(cards)
        for card in self.cards:
            card.accepted.connect(self.accepted)
            card.dismissed.connect(self.dismissed)
            card.image_requested.connect(self.image_requested)
            self._column.addWidget(card)
            card.show()  # shown at once, so that it can take the keyboard focus
        buttons = [button for card in self.cards for button in (*card.choices, card.dismiss_button)]
        self.order_keys(*buttons, self.bring_back_button)
        if place is not None:
            self._focus_card(place)

    def _focused_place(self) -> int | None:
        """Index of the card with keyboard focus, which passes to the next card after a removal."""
        focused = self.focusWidget()
        if focused is None or not focused.hasFocus():
            return None
        return next(
            (place for place, card in enumerate(self.cards) if card.isAncestorOf(focused)), None
        )

    def _focus_card(self, place: int) -> None:
        if self.cards:
            card = self.cards[min(place, len(self.cards) - 1)]
            card.choices[0].setFocus()
            self.bring_into_sight(card)
        else:
            self.setFocus()

    def _show_texts(self, *, more: str = "", check: str = "", dismissed: str = "") -> None:
        for part, text in (
            (self._more, more),
            (self.check, check),
            (self.bring_back_button, dismissed),
        ):
            part.setText(text)
            part.setVisible(bool(text))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.shown.emit(False)
