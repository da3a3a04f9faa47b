"""Fields of the selected images, such as their count, for editing.

Hidden in a project without fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox, QWidget

from app.controls import dress_number_box, fill_column, make_choice_box, make_form, set_property
from app.key_names import ENTER_KEYS
from app.texts import tr
from app.wording import titled_field
from engine.image_fields import COUNT, LARGEST_COUNT, LONGEST_VALUE, NO, YES, FieldKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.inspector.page import PageRequests
    from engine.image_fields import ImageField

_NOTHING = "–"  # noqa: RUF001 (en dash)
_MIXED = -1  # for counts that differ


@final
class ValueLine(QLineEdit):
    """A text editor: Enter or losing the focus sets the value; Esc restores it."""

    written = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._value: str | None = ""
        self.setMaxLength(LONGEST_VALUE)
        self.setPlaceholderText(_NOTHING)
        self.editingFinished.connect(self._take)

    def show_value(self, value: str | None) -> None:
        """Show a value, None where values differ; does nothing while another one is being typed."""
        if value != self._value or not self.hasFocus():
            self._value = value
            self.setText(value or "")
            self.setPlaceholderText(_NOTHING if value is not None else tr("Mixed"))
            self.setCursorPosition(0)

    def _take(self) -> None:
        if self.text().strip() != (self._value or ""):
            self.written.emit(self.text().strip())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._value or "")
            self.left.emit()
            return
        super().keyPressEvent(event)
        if event.key() in ENTER_KEYS:
            self.left.emit()


@final
class CountBox(QSpinBox):
    """A count editor: Enter, an arrow or losing the focus sets the count.

    0 means no count, and the minimum below it that counts differ.
    """

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setRange(0, LARGEST_COUNT)
        self.setSpecialValueText(_NOTHING)
        self.setKeyboardTracking(False)
        dress_number_box(self)

    def show_value(self, value: str | None) -> None:
        """Show a count, None where counts differ; does nothing while another one is being typed."""
        is_typed = self.text() not in {self.textFromValue(self.value()), self.specialValueText()}
        if self.hasFocus() and is_typed:
            return
        self.setMinimum(_MIXED if value is None else 0)
        self.setSpecialValueText(tr("Mixed") if value is None else _NOTHING)
        set_property(self, "tone", "muted" if value is None else "")
        self.setValue(_MIXED if value is None else int(value) if value.isdigit() else 0)

    def stepBy(self, steps: int) -> None:
        is_mixed = self.value() == _MIXED
        super().stepBy(steps + 1 if is_mixed else steps)  # the first step is to 1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text().isdigit() and self.text() == self.specialValueText():
            self.clear()  # a digit replaces the sign, wherever the cursor is
        super().keyPressEvent(event)
        if event.key() in ENTER_KEYS | {Qt.Key.Key_Escape}:
            self.left.emit()


@final
class FieldSection(QWidget):
    """A form with one row per field."""

    def __init__(self, requests: PageRequests) -> None:
        super().__init__()
        self._requests = requests
        self._image_id = -1
        self._fields: tuple[ImageField, ...] = ()
        self._editors: dict[str, QWidget] = {}
        self._column = fill_column(self)
        self._form = QWidget()
        self._column.addWidget(self._form)

    def show_values(
        self,
        image_id: int,
        fields: Sequence[ImageField],
        values: Mapping[str, str | None],
        *,
        is_writable: bool,
    ) -> None:
        """Show the values of an image and the images selected with it.

        Args:
            fields: the fields of the project; () hides the section.
            values: by name; None where they differ between images.
        """
        if image_id != self._image_id:
            self.finish()  # saves input for the previous image
        self._image_id = image_id
        if tuple(fields) != self._fields:
            self._make_form(tuple(fields))
        self.setVisible(bool(fields))
        self._form.setEnabled(is_writable)
        for name, editor in self._editors.items():
            _show_value(editor, values.get(name, ""))

    def editor(self, name: str) -> QWidget:
        return self._editors[name]

    def finish(self) -> None:
        """Save the text being typed."""
        for editor in self._editors.values():
            if editor.hasFocus() and isinstance(editor, ValueLine | CountBox):
                editor.clearFocus()

    def _make_form(self, fields: tuple[ImageField, ...]) -> None:
        before, self._form, self._fields = self._form, QWidget(), fields
        self._editors = {field.name: self._make_editor(field) for field in fields}
        form = make_form({titled_field(name): editor for name, editor in self._editors.items()})
        form.setContentsMargins(0, 0, 0, 0)
        self._form.setLayout(form)
        self._column.replaceWidget(before, self._form)
        before.hide()
        before.deleteLater()

    def _make_editor(self, field: ImageField) -> QWidget:
        def choose(value: str) -> None:
            self._requests.field_set.emit(self._image_id, field.name, value)

        if field == COUNT:
            count = CountBox()
            count.valueChanged.connect(lambda number: choose(str(number) if number else ""))
            count.left.connect(self._requests.left)
            return count
        if field.kind in {FieldKind.CHOICE, FieldKind.YES_NO}:
            box = make_choice_box({"": _NOTHING, **_choices(field)})
            box.setPlaceholderText(tr("Mixed"))
            box.activated.connect(lambda _place: choose(str(box.currentData())))
            return box
        line = ValueLine()
        line.written.connect(choose)
        line.left.connect(self._requests.left)
        return line


def _choices(field: ImageField) -> Mapping[str, str]:
    if field.kind is FieldKind.YES_NO:
        return {YES: tr("Yes"), NO: tr("No")}
    return {choice: choice for choice in field.choices}


def _show_value(editor: QWidget, value: str | None) -> None:
    with QSignalBlocker(editor):
        editor.setAccessibleDescription(tr("Mixed") if value is None else "")
        if isinstance(editor, QComboBox):
            editor.setCurrentIndex(-1 if value is None else max(0, editor.findData(value)))
        elif isinstance(editor, ValueLine | CountBox):
            editor.show_value(value)
