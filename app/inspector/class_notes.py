"""What a person writes down about a class: note, synonyms, source id, colour. Taken over when the field is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.controls import fill_column, make_label
from app.inspector.colour_row import ColourRow
from app.texts import tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.inspector.logic import ClassPageFacts

BETWEEN_SYNONYMS: Final = ";"  # names of plants and animals hold commas, and next to none a semicolon
_NOTE_LINES: Final = 3  # a longer note scrolls
_NOTE_PADDING: Final = 14  # above and below the text, as in the style sheet


@final
class NoteField(QPlainTextEdit):
    """Some lines of text."""

    left = Signal()  # the keyboard went elsewhere

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setProperty("role", "field")
        self.setTabChangesFocus(True)
        self.setFixedHeight(_NOTE_LINES * QFontMetrics(self.font()).lineSpacing() + 2 * _NOTE_PADDING)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


@final
class ClassNotes(QWidget):
    """Fields of one class."""

    attributes_changed = Signal(dict)  # other values, by attribute
    colour_chosen = Signal(str)  # `#rrggbb`, or "" for none

    def __init__(self, facts: ClassPageFacts, *, is_writable: bool) -> None:
        super().__init__()
        self._note = NoteField(facts.attributes.note)
        synonyms = QLineEdit(f"{BETWEEN_SYNONYMS} ".join(facts.attributes.synonyms))
        source_id = QLineEdit(facts.attributes.source_id)
        rank = QLineEdit(facts.attributes.rank)
        self._lines = {"synonyms": synonyms, "source_id": source_id, "rank": rank}
        colours = ColourRow(facts.attributes.colour)
        rows: tuple[tuple[str, QWidget], ...] = (
            (tr("Note"), self._note),
            (tr("Synonyms"), synonyms),
            (tr("Source id"), source_id),
            (tr("Rank"), rank),
            (tr("Colour"), colours),
        )
        column = fill_column(self, spacing=tokens().spacing.tiny)
        for name, field in rows:
            if column.count():
                column.addSpacing(tokens().spacing.tiny)
            label = make_label(name, "caption")
            label.setBuddy(field)
            field.setAccessibleName(name)
            column.addWidget(label)
            column.addWidget(field)
        self._note.setPlaceholderText(tr("What belongs here and what does not"))
        synonyms.setPlaceholderText(tr("Other names, separated by ;"))
        source_id.setPlaceholderText(tr("Id in the list that it came from"))
        rank.setPlaceholderText(tr("Species, genus, family, …"))
        for line in self._lines.values():
            line.setCursorPosition(0)
            line.setMinimumWidth(1)
            line.setReadOnly(not is_writable)
            line.editingFinished.connect(self.settle)
        self._note.setReadOnly(not is_writable)
        self._note.left.connect(self.settle)
        colours.setEnabled(is_writable)
        colours.colour_chosen.connect(self.colour_chosen)

    @property
    def is_in_hand(self) -> bool:
        """Whether something was typed that was not said yet."""
        return self._note.document().isModified() or any(line.isModified() for line in self._lines.values())

    def settle(self) -> None:
        values: dict[str, object] = {}
        if self._note.document().isModified():
            self._note.document().setModified(False)
            values["note"] = self._note.toPlainText().strip()
        for attribute, line in self._lines.items():
            if line.isModified():
                line.setModified(False)
                names = [name.strip() for name in line.text().split(BETWEEN_SYNONYMS)]
                values[attribute] = tuple(filter(None, names)) if attribute == "synonyms" else line.text().strip()
        if values:
            self.attributes_changed.emit(values)
