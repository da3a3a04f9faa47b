"""The first door: what is on this computer already; each can be used in the project."""

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from app.backbones.logic import BackboneRow
from app.backbones.wording import row_facts, row_origin
from app.controls import make_button, make_label, make_row_card
from app.texts import fill
from app.theme.tokens import tokens


@final
class ComputerPage(QWidget):
    """One card for each backbone.

    Signals:
        use_requested: the `BackboneRow` to change the project to.
    """

    use_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[BackboneRow, ...] = ()
        self.buttons: list[QPushButton] = []
        self._cards = QVBoxLayout()
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(tokens().spacing.small)
        self._hint = make_label(
            self.tr("More come in by the other two doors: published networks, and ONNX files of your own."),
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
        self.rows = tuple(rows)
        self.buttons = []
        self._used.setText(fill(self.tr("In use: %1"), used_name))
        self._used.setVisible(not any(row.is_used for row in rows))
        while (item := self._cards.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row in rows:
            self._cards.addWidget(self._card(row, can_change=can_change))
        self._hint.setVisible(len(rows) == 1)

    def _card(self, row: BackboneRow, *, can_change: bool) -> QFrame:
        return make_row_card(row.name, (row_facts(row), row_origin(row)), self._end(row, can_change=can_change))

    def _end(self, row: BackboneRow, *, can_change: bool) -> QWidget:
        """The mark of the backbone in use, or the button that changes to another one."""
        if row.is_used:
            mark = make_label(self.tr("In use"), "chip")
            mark.setProperty("tone", "accent")
            return mark
        button = make_button(self.tr("Use…"), self._user(row))
        button.setAccessibleName(fill(self.tr("Use %1 in this project"), row.name))
        button.setToolTip(
            self.tr("Looks at all images with it and compares it first; nothing changes before you decide")
        )
        button.setEnabled(can_change)
        self.buttons.append(button)
        return button

    def _user(self, row: BackboneRow) -> Callable[[], None]:
        return lambda: self.use_requested.emit(row)
