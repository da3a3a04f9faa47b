"""One backbone on this computer: its facts, what can be done with it, and the question before it is removed."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from app.backbones.logic import BackboneRow
from app.backbones.wording import removal_fate, removal_question, row_facts, row_origin
from app.controls import make_button, make_icon_button, make_label, make_row_card
from app.side_panel.asking_card import AskingCard
from app.texts import breakable, fill, translate
from app.theme.tokens import tokens


@final
class RowCard(AskingCard):
    """A card of the list.

    Signals:
        use_requested: the `BackboneRow` to change the project to.
        remove_requested: the `BackboneRow` to delete; the person has agreed.
    """

    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, row: BackboneRow, *, can_change: bool) -> None:
        agree, keep = translate("backbones", "Remove"), translate("backbones", "Keep it")
        super().__init__(agree, keep, variant="danger", tone="warning")
        self.row = row
        self.use_button = make_button(self.tr("Use…"), lambda: self.use_requested.emit(row))
        self.use_button.setAccessibleName(fill(self.tr("Use %1 in this project"), row.name))
        self.use_button.setToolTip(
            self.tr("Embeds all images with it first and compares the results; nothing changes until you decide")
        )
        self.use_button.setEnabled(can_change)
        self.remove_button = make_icon_button("delete", fill(self.tr("Remove %1…"), row.name), self.ask)
        self.agree_button.setAccessibleName(fill(self.tr("Remove %1"), row.name))
        self.keep_button.setAccessibleName(fill(self.tr("Keep %1"), row.name))
        card = make_row_card(row.name, (row_facts(row), row_origin(row)), self._make_end())
        question = make_label(breakable(removal_question(row)), wraps=True)
        self.lay_out(card, self.remove_button, (question, make_label(removal_fate(row), "secondary", wraps=True)))
        self.agreed.connect(self._on_agreed)

    def _make_end(self) -> QWidget:
        """The mark of the backbone in use, or what can be done with another one."""
        end = QWidget()
        line = QHBoxLayout(end)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(tokens().spacing.tiny)
        if self.row.is_used:
            mark = make_label(self.tr("In use"), "chip")
            mark.setProperty("tone", "accent")
            line.addWidget(mark)
        for button in (self.use_button, self.remove_button):
            line.addWidget(button)
        self.use_button.setVisible(not self.row.is_used)
        self.remove_button.setVisible(self.row.is_removable)
        return end

    @property
    def buttons(self) -> tuple[QAbstractButton, ...]:
        """What the Tab key stops at, from top to bottom; those that are not shown are passed over."""
        use = () if self.row.is_used else (self.use_button,)
        remove = (self.remove_button, self.agree_button, self.keep_button) if self.row.is_removable else ()
        return use + remove

    def _on_agreed(self) -> None:
        for button in self.buttons:
            button.setEnabled(False)
        self.remove_requested.emit(self.row)
