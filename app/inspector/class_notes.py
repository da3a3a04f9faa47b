"""Editable attributes of a class: note, synonyms, source id, rank, colour.

Saved when a field loses the focus.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QLineEdit, QPlainTextEdit, QWidget

from app.controls import fill_column, fill_row, make_label
from app.inspector.page import PageRequests
from app.language import name_of_language
from app.mirroring import key_in_reading_order
from app.painting import set_colours, smooth_painter
from app.texts import plain_tip, tr
from app.theme.class_colours import SWATCHES, own_colour
from app.theme.tokens import tokens
from engine.graph.language_tags import with_name_in
from engine.graph.shown_language import shown_language

if TYPE_CHECKING:
    from app.inspector.logic import ClassPageFacts


# Logical pixels.
SIDE = 24
_DOT_RADIUS = 6.5
_RING_RADIUS = 8.75
# In the narrowest pane ten dots are closer together.
_NARROWEST = 19
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@final
class ColourDot(QAbstractButton):
    """A swatch of one colour; an empty circle for none."""

    def __init__(self, colour: str, name: str) -> None:
        super().__init__()
        self.colour = colour
        self.setCheckable(True)
        self.setFixedHeight(SIDE)
        self.setMinimumWidth(_NARROWEST)
        self.setMaximumWidth(SIDE)
        self.setToolTip(plain_tip(name))
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, middle = smooth_painter(self), QRectF(self.rect()).center()
        if self.isChecked() or self.hasFocus():
            set_colours(painter, edge="text" if self.isChecked() else "focus", width=1.5)
            painter.drawEllipse(middle, _RING_RADIUS, _RING_RADIUS)
        painter.setOpacity(1.0 if self.isEnabled() else 0.5)
        if self.colour:
            set_colours(painter, own_colour(self.colour))
        else:
            set_colours(painter, edge="text_muted", width=1.2)
        painter.drawEllipse(middle, _DOT_RADIUS, _DOT_RADIUS)
        painter.end()


@final
class ColourRow(QWidget):
    """No colour, the eight swatches, and the class's own colour if it is another one."""

    colour_chosen = Signal(str)  # `#rrggbb`, or "" for none

    def __init__(self, colour: str) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        names = dict(zip(("", *SWATCHES), colour_names(), strict=True))
        names.setdefault(colour, tr("Another colour"))
        for each, name in names.items():
            dot = ColourDot(each, name)
            dot.setChecked(each == colour)
            self._group.addButton(dot)
        fill_row(self, *self._group.buttons(), None, spacing=0)
        self._group.buttonClicked.connect(self._on_clicked)

    def _on_clicked(self, dot: QAbstractButton) -> None:
        assert isinstance(dot, ColourDot)
        self.colour_chosen.emit(dot.colour)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        dots, step = self._group.buttons(), _STEPS.get(key_in_reading_order(event.key()), 0)
        focused = next((place for place, dot in enumerate(dots) if dot.hasFocus()), None)
        if step and focused is not None:
            dots[(focused + step) % len(dots)].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(SIDE * len(self._group.buttons()), SIDE)


def colour_names() -> tuple[str, ...]:
    swatches = (
        tr("Red"),
        tr("Orange"),
        tr("Olive"),
        tr("Green"),
        tr("Teal"),
        tr("Blue"),
        tr("Violet"),
        tr("Pink"),
    )
    return tr("No colour of its own"), *swatches


# Names of plants and animals may contain commas, but hardly ever a semicolon.
BETWEEN_SYNONYMS = ";"
_NOTE_LINES = 3  # lines of the field; a longer note scrolls
_NOTE_PADDING = 14  # above and below the text, as in the style sheet


@final
class NoteField(QPlainTextEdit):
    """A text field of a few lines."""

    left = Signal()  # it lost the focus

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setProperty("role", "field")
        self.setTabChangesFocus(True)
        self.setFixedHeight(
            _NOTE_LINES * QFontMetrics(self.font()).lineSpacing() + 2 * _NOTE_PADDING
        )

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


@final
class ClassNotes(QWidget):
    """Editable attributes of one class."""

    def __init__(self, facts: ClassPageFacts, requests: PageRequests, *, is_writable: bool) -> None:
        super().__init__()
        self._class_id = facts.class_id
        self._requests = requests
        self._synonyms = facts.attributes.synonyms
        self._language = shown_language()
        attributes = facts.attributes
        self._note, colours = NoteField(attributes.note), ColourRow(attributes.colour)
        synonyms = QLineEdit(f"{BETWEEN_SYNONYMS} ".join(attributes.synonyms))
        source_id, rank = QLineEdit(attributes.source_id), QLineEdit(attributes.rank)
        self._lines = {"synonyms": synonyms, "source_id": source_id, "rank": rank}
        self._name = QLineEdit(attributes.name_in(self._language))  # in the interface language
        named = (
            ((tr("Name ({1})", name_of_language(self._language)), self._name),)
            if self._language
            else ()
        )
        rows: tuple[tuple[str, QWidget], ...] = (
            (tr("Note"), self._note),
            *named,
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
        self._note.setPlaceholderText(tr("What belongs here, and what does not"))
        synonyms.setPlaceholderText(tr("Other names, separated by ;"))
        synonyms.setToolTip(
            plain_tip(tr("Add a language code to a name in that language: Tench@en"))
        )
        source_id.setPlaceholderText(tr("Id in the list it was imported from"))
        rank.setPlaceholderText(tr("Species, genus, family, …"))
        for line in (self._name, *self._lines.values()):
            line.setCursorPosition(0)
            line.setMinimumWidth(1)
            line.setReadOnly(not is_writable)
            line.editingFinished.connect(self.settle)
        self._note.setReadOnly(not is_writable)
        self._note.left.connect(self.settle)
        colours.setEnabled(is_writable)
        colours.colour_chosen.connect(partial(requests.colour_chosen.emit, self._class_id))

    @property
    def is_in_hand(self) -> bool:
        """Whether there is unsaved input."""
        return self._note.document().isModified() or any(
            line.isModified() for line in (self._name, *self._lines.values())
        )

    def settle(self) -> None:
        values: dict[str, Any] = {}
        if self._note.document().isModified():
            self._note.document().setModified(False)
            values["note"] = self._note.toPlainText().strip()
        for attribute, line in self._lines.items():
            if line.isModified():
                line.setModified(False)
                names = [name.strip() for name in line.text().split(BETWEEN_SYNONYMS)]
                values[attribute] = (
                    tuple(filter(None, names)) if attribute == "synonyms" else line.text().strip()
                )
        if self._name.isModified():
            self._name.setModified(False)
            synonyms = values.get("synonyms", self._synonyms)
            values["synonyms"] = with_name_in(self._language, self._name.text().strip(), synonyms)
        if values:
            self._requests.attributes_changed.emit(self._class_id, values)
