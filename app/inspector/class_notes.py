"""What a person writes down about a class: note, synonyms, source id, colour. Taken over when the field is left."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.controls import fill_column, make_label
from app.inspector.colour_row import ColourRow
from app.texts import tr
from app.theme.tokens import tokens
from engine.graph.aliases import Aliases

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

    note_changed = Signal(str)
    aliases_changed = Signal(Aliases)  # the `Aliases`
    colour_chosen = Signal(str)  # `#rrggbb`, or "" for none

    def __init__(self, facts: "ClassPageFacts", *, is_writable: bool) -> None:
        super().__init__()
        self._note = NoteField(facts.note)
        self._synonyms = QLineEdit(f"{BETWEEN_SYNONYMS} ".join(facts.aliases.synonyms))
        self._source_id = QLineEdit(facts.aliases.source_id)
        colours = ColourRow(facts.colour)
        rows: tuple[tuple[str, QWidget], ...] = (
            (tr("Note"), self._note),
            (tr("Synonyms"), self._synonyms),
            (tr("Source id"), self._source_id),
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
        self._synonyms.setPlaceholderText(tr("Other names, separated by ;"))
        self._source_id.setPlaceholderText(tr("Id in the list that it came from"))
        for line in (self._synonyms, self._source_id):
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
        return self._note.document().isModified() or self._are_aliases_changed

    def settle(self) -> None:
        if self._note.document().isModified():
            self._note.document().setModified(False)
            self.note_changed.emit(self._note.toPlainText().strip())
        if self._are_aliases_changed:
            self._synonyms.setModified(False)
            self._source_id.setModified(False)
            names = (name.strip() for name in self._synonyms.text().split(BETWEEN_SYNONYMS))
            self.aliases_changed.emit(Aliases(self._source_id.text().strip(), tuple(name for name in names if name)))

    @property
    def _are_aliases_changed(self) -> bool:
        return self._synonyms.isModified() or self._source_id.isModified()
