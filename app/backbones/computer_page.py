"""The first source: what is on this computer already; each can be used in the project, or removed."""

from collections.abc import Sequence
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QVBoxLayout, QWidget

from app.backbones.logic import BackboneRow
from app.backbones.row_card import RowCard
from app.controls import make_label
from app.texts import fill
from app.theme.tokens import tokens


@final
class ComputerPage(QWidget):
    """One card for each backbone.

    Signals:
        use_requested: the `BackboneRow` to change the project to.
        remove_requested: the `BackboneRow` to delete, after the question was answered.

    Attributes:
        cards: of all rows, in their order.
        buttons: of all cards, in the order of the Tab key.
    """

    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[BackboneRow, ...] = ()
        self.cards: list[RowCard] = []
        self.buttons: list[QAbstractButton] = []
        self._cards = QVBoxLayout()
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(tokens().spacing.small)
        self._hint = make_label(
            self.tr("There are two other sources: published networks, and your own ONNX files."),
            "secondary",
            wraps=True,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.medium)
        self._used = make_label("", "secondary", wraps=True)
        column.addWidget(self._used)
        column.addLayout(self._cards)
        column.addWidget(self._hint)
        column.addStretch(1)

    def show_rows(self, rows: Sequence[BackboneRow], used_name: str, *, can_change: bool) -> None:
        """List backbones anew, beside the model version in use."""
        asked = {card.row.source for card in self.cards if card.is_asking}
        self.rows = tuple(rows)
        self.cards, self.buttons = [], []
        self._used.setText(fill(self.tr("In use: %1"), used_name))
        self._used.setVisible(not any(row.is_used for row in rows))
        while (item := self._cards.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row in rows:
            self._add_card(row, can_change=can_change, is_asking=row.is_removable and row.source in asked)
        self._hint.setVisible(len(rows) == 1)

    def _add_card(self, row: BackboneRow, *, can_change: bool, is_asking: bool) -> None:
        card = RowCard(row, can_change=can_change)
        card.use_requested.connect(self.use_requested)
        card.remove_requested.connect(self.remove_requested)
        self._cards.addWidget(card)
        self.cards.append(card)
        self.buttons += card.buttons
        if is_asking:
            card.ask()

    def card_of(self, name: str) -> RowCard:
        """The card of the backbone that is called so."""
        return next(card for card in self.cards if card.row.name == name)
