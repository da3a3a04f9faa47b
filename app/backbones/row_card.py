"""One backbone on this computer: its facts, what can be done with it, and the question before it is removed."""

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.backbones.logic import BackboneRow
from app.backbones.wording import removal_fate, removal_question, row_facts, row_origin
from app.controls import make_button, make_icon_button, make_label, make_notice_column, make_row_card
from app.texts import breakable, fill
from app.theme.tokens import tokens


@final
class RowCard(QWidget):
    """A card of the list; a question takes its place while a removal is asked about.

    Signals:
        use_requested: the `BackboneRow` to change the project to.
        remove_requested: the `BackboneRow` to delete; the person has agreed.
    """

    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, row: BackboneRow, *, can_change: bool) -> None:
        super().__init__()
        self.row = row
        self.use_button = make_button(self.tr("Use…"), self._on_use)
        self.remove_button = make_icon_button("delete", fill(self.tr("Remove %1…"), row.name), self.ask)
        self.agree_button = make_button(self.tr("Remove"), self._on_agree, variant="danger")
        self.keep_button = make_button(self.tr("Keep it"), self._on_keep)
        self._describe(can_change=can_change)
        self._card = make_row_card(row.name, (row_facts(row), row_origin(row)), self._make_end())
        self._question = self._make_question()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._card)
        column.addWidget(self._question)
        self._show(is_asking=False)

    def _describe(self, *, can_change: bool) -> None:
        self.use_button.setAccessibleName(fill(self.tr("Use %1 in this project"), self.row.name))
        self.use_button.setToolTip(
            self.tr("Embeds all images with it first and compares the results; nothing changes until you decide")
        )
        self.use_button.setEnabled(can_change)
        self.agree_button.setAccessibleName(fill(self.tr("Remove %1"), self.row.name))
        self.keep_button.setAccessibleName(fill(self.tr("Keep %1"), self.row.name))

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

    def _make_question(self) -> QFrame:
        frame = QFrame()
        column = make_notice_column(frame, "warning")
        column.setSpacing(tokens().spacing.small)
        self._question_text = make_label(breakable(removal_question(self.row)), wraps=True)
        self._fate = make_label(removal_fate(self.row), "secondary", wraps=True)
        for widget in (self._question_text, self._fate, self.agree_button, self.keep_button):
            column.addWidget(widget)
        return frame

    # -- what is shown

    @property
    def buttons(self) -> tuple[QAbstractButton, ...]:
        """What the Tab key stops at, from top to bottom; those that are not shown are passed over."""
        use = () if self.row.is_used else (self.use_button,)
        remove = (self.remove_button, self.agree_button, self.keep_button) if self.row.is_removable else ()
        return use + remove

    @property
    def is_asking(self) -> bool:
        """Whether the person is being asked."""
        return not self._question.isHidden()

    @property
    def question_text(self) -> str:
        """What is asked before a removal; empty while nothing is asked."""
        texts = (self._question_text.text(), self._fate.text())
        return "\n".join(texts).replace("\u200b", "") if self.is_asking else ""

    def ask(self) -> None:
        """Ask before anything is deleted; the answer that changes nothing has the keyboard."""
        self._show(is_asking=True)
        self.keep_button.setFocus()

    def _show(self, *, is_asking: bool) -> None:
        self._card.setVisible(not is_asking)
        self._question.setVisible(is_asking)

    # -- what a person does

    def _on_use(self) -> None:
        self.use_requested.emit(self.row)

    def _on_agree(self) -> None:
        self._show(is_asking=False)
        for button in self.buttons:
            button.setEnabled(False)
        self.remove_requested.emit(self.row)

    def _on_keep(self) -> None:
        self._show(is_asking=False)
        self.remove_button.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc answers the question, and only then puts the panel away."""
        if self.is_asking and event.key() == Qt.Key.Key_Escape:
            self._on_keep()
            return
        super().keyPressEvent(event)
