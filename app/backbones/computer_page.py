"""The first source: what is on this computer already; each can be used in the project, or removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.backbones.logic import BackboneRow
from app.backbones.wording import CHOICES, removal_consequence, removal_question, row_details, row_facts, row_origin
from app.controls import fill_column, make_button, make_icon_button, make_label, make_row_card, make_used_mark
from app.side_panel.cards import AskingCard, CardList
from app.texts import breakable, plain_tip, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.backbones.jobs import BackboneJobs


@final
class RowCard(AskingCard):
    """One backbone: its facts, what can be done with it, and the question before it is removed."""

    def __init__(
        self, row: BackboneRow, use: Callable[[], None], remove: Callable[[], None], *, can_change: bool
    ) -> None:
        agree, keep = tr("Remove"), tr("Keep it")
        super().__init__(agree, keep, topic=row.source, variant="danger", tone="warning")
        self.row = row
        self._remove = remove
        self.use_button = make_button(tr("Use…"), use)
        self.use_button.setAccessibleName(tr("Use %1 in this project", row.name))
        self.use_button.setToolTip(
            tr("Analyses all images with it first and compares the results. Nothing changes until you decide.")
        )
        self.use_button.setEnabled(can_change)
        self.remove_button = make_icon_button("delete", tr("Remove %1…", row.name), self.ask)
        self.remove_button.setEnabled(row.is_removable)
        self.agree_button.setAccessibleName(tr("Remove %1", row.name))
        self.keep_button.setAccessibleName(tr("Keep %1", row.name))
        captions = (row_facts(row), row_origin(row))
        first = make_used_mark(tr("In use")) if row.is_used else self.use_button
        badge = None if row.choice is None else make_label(tr(CHOICES[row.choice]), "chip")
        card = make_row_card(row.name, captions, first, self.remove_button, badge=badge)
        card.setToolTip(plain_tip(row_details(row)))
        self.remove_button.setVisible(row.is_removable)
        question = make_label(breakable(removal_question(row)), wraps=True)
        self.lay_out(
            card, self.remove_button, (question, make_label(removal_consequence(row), "secondary", wraps=True))
        )
        self.agreed.connect(self._on_agreed)

    @property
    def buttons(self) -> tuple[QAbstractButton, ...]:
        """What the Tab key stops at, from top to bottom; those that are not shown are passed over."""
        use = () if self.row.is_used else (self.use_button,)
        return *use, self.remove_button, self.agree_button, self.keep_button

    def _on_agreed(self) -> None:
        for button in self.buttons:
            button.setEnabled(False)
        self._remove()


@final
class ComputerPage(QWidget):
    """One card for each backbone."""

    remove_requested = Signal(BackboneRow)  # the `BackboneRow` to delete, after the question was answered

    def __init__(self, jobs: BackboneJobs) -> None:
        super().__init__()
        self._jobs = jobs
        self.rows: tuple[BackboneRow, ...] = ()
        self.cards: list[RowCard] = []
        self._used = make_label("", "secondary", wraps=True)
        self._list = CardList()
        self._hint = make_label(tr("Add more under Published networks or ONNX file."), "secondary", wraps=True)
        fill_column(self, self._used, self._list, self._hint, spacing=tokens().spacing.medium).addStretch(1)

    @property
    def buttons(self) -> list[QAbstractButton]:
        return [button for card in self.cards for button in card.buttons]

    def show_rows(self, rows: Sequence[BackboneRow], used_name: str, *, can_change: bool) -> None:
        """List backbones anew, beside the model version in use."""
        self.rows = tuple(rows)
        self.cards = [self._card(row, can_change=can_change) for row in rows]
        self._list.show_cards(self.cards)
        self._used.setText(tr("In use: %1", used_name))
        self._used.setVisible(not any(row.is_used for row in rows))
        self._hint.setVisible(len(rows) == 1)

    def _card(self, row: BackboneRow, *, can_change: bool) -> RowCard:
        return RowCard(
            row,
            lambda: self._jobs.prepare_change(row.source, row.name, row.preparation),
            lambda: self.remove_requested.emit(row),
            can_change=can_change,
        )

    def card_of(self, name: str) -> RowCard:
        return next(card for card in self.cards if card.row.name == name)
