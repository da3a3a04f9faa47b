"""A card of a list; a question takes its place before something is done that a click cannot take back."""

from collections.abc import Hashable, Sequence
from typing import Protocol, final, runtime_checkable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QWidget

from app.controls import fill_column, make_button, make_notice_column
from app.theme.tokens import tokens


@runtime_checkable
class Questioner(Protocol):
    """A part of a panel that may be asking something; Esc answers no before it puts the panel away."""

    @property
    def is_asking(self) -> bool:
        """Whether the person is being asked."""

    def refuse(self) -> None:
        """Take the answer that changes nothing."""


class AskingCard(QWidget):
    """A card and its question, one of them shown.

    Signals:
        agreed: the person wants it; the card is shown again.

    Args:
        agree: what the button of the answer "yes" says.
        keep: what the button of the answer "no" says.
        topic: what the card is about.
        variant: of the first button, such as "danger".
        tone: of the question.
    """

    agreed = Signal()

    def __init__(self, agree: str, keep: str, *, topic: Hashable, variant: str, tone: str) -> None:
        super().__init__()
        self.agree_button = make_button(agree, self._on_agree, variant=variant)
        self.keep_button = make_button(keep, self.refuse)
        self.topic = topic
        self._tone = tone

    def lay_out(self, card: QFrame, ask_button: QAbstractButton, texts: Sequence[QLabel]) -> None:
        """Put the card and its question together.

        Args:
            card: what is shown at first.
            ask_button: of the card, that leads to the question.
            texts: what is asked.
        """
        self._card, self._ask_button, self._texts, self._question = card, ask_button, tuple(texts), QFrame()
        inner = make_notice_column(self._question, self._tone)
        inner.setSpacing(tokens().spacing.small)
        for widget in (*self._texts, self.agree_button, self.keep_button):
            inner.addWidget(widget)
        fill_column(self, self._card, self._question)
        self.show_question(is_asking=False)

    @property
    def can_ask(self) -> bool:
        """Whether what it asks about can be done now."""
        return self._ask_button.isEnabled()

    @property
    def is_asking(self) -> bool:
        """Whether the person is being asked."""
        return not self._question.isHidden()

    @property
    def question_text(self) -> str:
        """What is asked; empty while nothing is."""
        return words_of(*self._texts) if self.is_asking else ""

    def ask(self) -> None:
        """Ask before anything is done; the answer that changes nothing has the keyboard."""
        self.show_question(is_asking=True)
        self.keep_button.setFocus()

    def show_question(self, *, is_asking: bool) -> None:
        """Show the question in the card's place, or the card again."""
        self._card.setVisible(not is_asking)
        self._question.setVisible(is_asking)

    def _on_agree(self) -> None:
        self.show_question(is_asking=False)
        self.agreed.emit()

    def refuse(self) -> None:
        self.show_question(is_asking=False)
        self._ask_button.setFocus()


@final
class CardList(QWidget):
    """Cards below each other, which are made anew now and then; it takes no room without one."""

    def __init__(self) -> None:
        super().__init__()
        self._cards: Sequence[QWidget] = ()
        self._column = fill_column(self)

    def show_cards(self, cards: Sequence[QWidget]) -> None:
        """Show other cards; a question about something that is still there stays open."""
        asked = {card.topic for card in self._cards if isinstance(card, AskingCard) and card.is_asking}
        for card in self._cards:
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards = tuple(cards)
        self.setVisible(bool(cards))
        for card in cards:
            self._column.addWidget(card)
            card.show()
            if isinstance(card, AskingCard) and card.topic in asked and card.can_ask:
                card.ask()


def words_of(*labels: QLabel) -> str:
    """The lines of some labels, as a person reads them."""
    return "\n".join(label.text() for label in labels if label.text()).replace("\u200b", "")
