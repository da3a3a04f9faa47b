"""The panel of suggestions about the graph: a card for each, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.graph_suggestions.card import SuggestionCard
from app.graph_suggestions.wording import check_line, count_line, dismissed_line, more_line, words_of
from app.images.thumbnails import Thumbnails
from app.side_panel.frame import SidePanel
from app.signal_types import either
from app.texts import tr
from app.theme.tokens import tokens
from engine.collection.graph_suggestions.suggestion import GraphSuggestion
from engine.project.actions import Action

if TYPE_CHECKING:
    from engine.collection.graph_suggestions.suggestion import GraphSuggestions
    from engine.collection.state import CollectionState

MOST_CARDS: Final = 12  # nobody reads more at once; the next ones follow when these are dealt with


@final
class SuggestionPanel(SidePanel):
    """Shows suggestions; what is done about them is done elsewhere."""

    accepted = Signal(either(GraphSuggestion), int)  # a suggestion, and which of its choices
    dismissed = Signal(either(GraphSuggestion), Action)  # a suggestion, and the action
    bring_back_requested = Signal()
    image_requested = Signal(int)
    shown = Signal(bool)  # whether it is in sight

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.cards: tuple[SuggestionCard, ...] = ()
        self._thumbnails = thumbnails
        self._status = make_label("", "secondary", wraps=True)
        holder = QWidget()
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(tokens().spacing.medium)
        self._more = make_label("", "secondary", wraps=True)
        self._check = make_label("", "caption", wraps=True)
        self.bring_back_button = make_button("", self.bring_back_requested.emit, variant="muted", icon_name="undo")
        parts = (self._status, holder, self._more, self.bring_back_button, self._check)
        self.lay_out(tr("Suggestions"), tr("Close"), parts)
        self.show_searching()

    @property
    def status(self) -> str:
        return self._status.text()

    @property
    def check_text(self) -> str:
        """How far they can be trusted."""
        return self._check.text()

    def show_searching(self) -> None:
        """Say so; cards that are there stay until it is known what comes."""
        if not self.cards:
            self._status.setText(tr("Looking…"))
            self._show_texts()

    def show_nothing_known(self) -> None:
        """There are no predictions yet."""
        self._put_cards(())
        self._status.setText(
            tr("Label some images first. Suggestions come from what the images of a class have in common.")
        )
        self._show_texts()

    def show_failure(self, message: str) -> None:
        self._put_cards(())
        self._status.setText(message)
        self._show_texts()

    def show_found(
        self, found: GraphSuggestions, state: CollectionState, name_of: Callable[[int], str], *, is_writable: bool
    ) -> None:
        shown = found.found[:MOST_CARDS]
        words = tuple(words_of(each, name_of) for each in shown)
        if [(card.suggestion, card.words, card.is_writable) for card in self.cards] != [
            (each, text, is_writable) for each, text in zip(shown, words, strict=True)
        ]:
            self._put_cards(
                SuggestionCard(each, text, state, self._thumbnails, is_writable=is_writable)
                for each, text in zip(shown, words, strict=True)
            )
        rest = len(found.found) - len(shown)
        self._status.setText(
            count_line(len(found.found)) if shown else tr("No suggestions: your classes fit your images.")
        )
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
            card.show()  # at once: what is shown later than a key is pressed has no part in it
        buttons = [button for card in self.cards for button in (*card.choices, card.dismiss_button)]
        self.order_keys(*buttons, self.bring_back_button)
        if place is not None:
            self._focus_card(place)

    def _focused_place(self) -> int | None:
        """The card that has the keyboard: the next one should have it when this one goes."""
        focused = self.focusWidget()
        if focused is None or not focused.hasFocus():
            return None
        return next((place for place, card in enumerate(self.cards) if card.isAncestorOf(focused)), None)

    def _focus_card(self, place: int) -> None:
        if self.cards:
            card = self.cards[min(place, len(self.cards) - 1)]
            card.choices[0].setFocus()
            self.bring_into_sight(card)
        else:
            self.setFocus()

    def _show_texts(self, *, more: str = "", check: str = "", dismissed: str = "") -> None:
        self._more.setText(more)
        self._more.setVisible(bool(more))
        self._check.setText(check)
        self._check.setVisible(bool(check))
        self.bring_back_button.setText(dismissed)
        self.bring_back_button.setVisible(bool(dismissed))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.shown.emit(False)
