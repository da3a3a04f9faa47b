"""All model versions of the project; each can be taken into use."""

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.controls import fill_column, make_button, make_row_card, make_used_mark
from app.side_panel.asking_card import CardList
from app.texts import tr
from app.training.logic import VersionRow
from app.training.wording import version_facts


@final
class VersionList(QWidget):
    """One card for each version, the newest first."""

    use_requested = Signal(VersionRow)  # the `VersionRow` to take into use

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[VersionRow, ...] = ()
        self._list = CardList()
        fill_column(self, self._list)

    def show_rows(self, rows: Sequence[VersionRow], *, is_writable: bool) -> None:
        self.rows = tuple(rows)
        self._list.show_cards([self._card(row, is_writable=is_writable) for row in rows])

    def _card(self, row: VersionRow, *, is_writable: bool) -> QFrame:
        return make_row_card(row.name, (version_facts(row),), self._end(row, is_writable=is_writable))

    def _end(self, row: VersionRow, *, is_writable: bool) -> QWidget:
        """The mark of the version in use, or the button that takes another one into use."""
        if row.is_used:
            return make_used_mark(tr("In use"))
        button = make_button(tr("Use"), self._user(row))
        button.setAccessibleName(tr("Use %1", row.name))
        button.setEnabled(is_writable)
        return button

    def _user(self, row: VersionRow) -> Callable[[], None]:
        return lambda: self.use_requested.emit(row)
