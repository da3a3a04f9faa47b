"""Parts of side panels: cards with a question, an outcome, a failure, the progress of a job."""

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, final, runtime_checkable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QWidget

from app.controls import (
    fill_column,
    make_button,
    make_label,
    make_notice_column,
    set_property,
    set_variant,
)
from app.progress_bar import fill_bar, make_bar
from app.texts import breakable, plain_tip, tr
from app.theme.tokens import tokens
from app.wording import progress_facts
from engine.events import Progress


@runtime_checkable
class Questioner(Protocol):
    """A part of a panel with a question; Esc declines it before it closes the panel."""

    @property
    def is_asking(self) -> bool:
        """Whether the question is open."""

    def refuse(self) -> None:
        """Decline the question; nothing changes."""


class AskingCard(QWidget):
    """A card that turns into a question.

    Signals:
        agreed: the answer was yes; the card is shown again.

    Args:
        agree: text of the answer yes.
        keep: text of the answer no.
        topic: identifies the subject of the card.
        variant: of the button for yes, such as "danger".
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
        """Lay out the card and its question; `ask_button` of the card opens the question."""
        self._card, self._ask_button, self._texts, self._question = (
            card,
            ask_button,
            tuple(texts),
            QFrame(),
        )
        inner = make_notice_column(self._question, self._tone)
        inner.setSpacing(tokens().spacing.small)
        for widget in (*self._texts, self.agree_button, self.keep_button):
            inner.addWidget(widget)
        fill_column(self, self._card, self._question)
        self.show_question(is_asking=False)

    @property
    def can_ask(self) -> bool:
        return self._ask_button.isEnabled()

    @property
    def is_asking(self) -> bool:
        return not self._question.isHidden()

    @property
    def question_text(self) -> str:
        return words_of(*self._texts) if self.is_asking else ""

    def ask(self) -> None:
        """Show the question, with the focus on the answer that changes nothing."""
        self.show_question(is_asking=True)
        self.keep_button.setFocus()

    def show_question(self, *, is_asking: bool) -> None:
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
    """A column of cards; hidden while empty."""

    def __init__(self) -> None:
        super().__init__()
        self._cards: Sequence[QWidget] = ()
        self._column = fill_column(self)

    def show_cards(self, cards: Sequence[QWidget]) -> None:
        """Replace the cards; an open question stays open if its topic still exists."""
        asked = {
            card.topic for card in self._cards if isinstance(card, AskingCard) and card.is_asking
        }
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
    """The visible texts of labels."""
    return "\n".join(label.text() for label in labels if label.text()).replace("\u200b", "")


@final
class OutcomeCard(QFrame):
    """A comparison of old and new, and a choice between them.

    `consequence` describes the effects of both choices.
    """

    use_requested = Signal()
    keep_requested = Signal()

    def __init__(self, *, use: str, keep: str, consequence: str) -> None:
        super().__init__()
        spacing = tokens().spacing
        self._verdict = make_label("", "strong", wraps=True)
        self._comparison = make_label("", wraps=True)
        self._basis = make_label("", "secondary", wraps=True)
        self._warning = make_label("", "warning", wraps=True)
        self._texts = (self._verdict, self._comparison, self._basis, self._warning)
        self.use_button = make_button(use, self.use_requested.emit)
        self.keep_button = make_button(keep, self.keep_requested.emit)
        column = make_notice_column(self)
        column.setSpacing(spacing.tiny)
        for widget in (*self._texts, make_label(consequence, "secondary", wraps=True)):
            column.addWidget(widget)
        column.addSpacing(spacing.small)
        for button in (self.use_button, self.keep_button):
            column.addWidget(button)
            column.addSpacing(spacing.tiny)

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in self._texts if label.text())

    def show_outcome(
        self,
        verdict: str,
        comparison: str,
        basis: str,
        warning: str = "",
        *,
        is_new_better: bool,
        tone: str,
    ) -> None:
        """Show a comparison, with the better choice highlighted.

        Args:
            verdict: summary of the figures in a few words.
            comparison: the figures, or why there are none.
            basis: the data that they were measured on; "" for none.
            warning: "" for none.
            is_new_better: which choice is highlighted.
            tone: of the card.
        """
        for label, text in zip(self._texts, (verdict, comparison, basis, warning), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        set_property(self, "tone", tone)
        set_variant(self.use_button, "primary" if is_new_better else "")
        set_variant(self.keep_button, "" if is_new_better else "primary")


@final
class FailureNotice(QFrame):
    """An error or warning in one line; hidden while empty."""

    def __init__(self, tone: str = "danger") -> None:
        super().__init__()
        self._text = make_label("", "danger" if tone == "danger" else "", wraps=True)
        make_notice_column(self, tone).addWidget(self._text)

    @property
    def text(self) -> str:
        return self._text.text()

    def show_text(self, text: str) -> None:
        self._text.setText(breakable(text))
        self.setVisible(bool(text))


@final
class ProgressView(QWidget):
    """A progress bar with facts and a cancel button; no button without a `cancel_tip`."""

    cancel_requested = Signal()

    def __init__(
        self, cancel_tip: str, facts_of: Callable[[Progress], str] = progress_facts
    ) -> None:
        super().__init__()
        self._facts_of = facts_of
        self._bar = make_bar()
        self._facts = make_label("", "secondary", wraps=True)
        self.cancel_button = make_button(tr("Cancel"), self._on_cancel, icon_name="stop")
        self.cancel_button.setToolTip(plain_tip(cancel_tip))
        fill_column(self, self._bar, self._facts, self.cancel_button)

    @property
    def facts(self) -> str:
        return self._facts.text()

    def show_waiting(self) -> None:
        self.show_step(tr("Waiting for other work to finish."))

    def show_step(self, text: str, *, can_cancel: bool = True) -> None:
        """Show a step of unknown length."""
        self.cancel_button.setEnabled(True)
        self.cancel_button.setVisible(can_cancel and bool(self.cancel_button.toolTip()))
        self._show_unknown(text)
        self.show()

    def show_progress(self, progress: Progress) -> None:
        """Show progress, unless it is being cancelled."""
        if not self.cancel_button.isEnabled():
            return
        fill_bar(self._bar, progress)
        self._facts.setText(self._facts_of(progress))
        self._bar.setAccessibleName(self._facts.text())

    def show_ended(self) -> None:
        self.cancel_button.setEnabled(True)
        self.hide()

    def _show_unknown(self, text: str) -> None:
        self._bar.setRange(0, 0)
        self._facts.setText(text)

    def _on_cancel(self) -> None:
        """Give feedback at once: a running step may take seconds to end."""
        self.cancel_button.setEnabled(False)
        self._show_unknown(tr("Stopping…"))
        self.cancel_requested.emit()
