"""Field that records the next key press, including shortcuts."""

from __future__ import annotations

from typing import final

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QLineEdit

from app.actions.keys import MODIFIERS
from app.actions.page_keys import plain_sign
from app.controls import set_property
from app.texts import tr

Key = Qt.Key
_ENTER = (Key.Key_Return, Key.Key_Enter)


@final
class KeyField(QLineEdit):
    """Key recorder: Enter or a click starts, Esc cancels, Backspace removes the key."""

    recorded = Signal(str)  # portable key sequence; "" for none
    recording_changed = Signal(bool)

    is_recording = False  # class attribute: Qt sends events before `__init__` has finished

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(tr("Key"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._shown = ""

    def show_keys(self, text: str) -> None:
        self._shown = text
        self._end()

    def begin(self) -> None:
        self.is_recording = True
        self.setText("")
        self.setPlaceholderText(tr("Press a key"))
        set_property(self, "variant", "recording")
        self.setFocus()
        self.recording_changed.emit(True)

    def _end(self) -> None:
        was_recording, self.is_recording = self.is_recording, False
        self.setText(self._shown)
        self.setPlaceholderText(tr("No key"))
        set_property(self, "variant", "")
        if was_recording:
            self.recording_changed.emit(False)

    def event(self, event: QEvent) -> bool:
        """Receive every key, including shortcuts of the window and Tab."""
        if self.is_recording and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                self._take(event)
            event.accept()
            return True
        return super().event(event)

    def _take(self, event: QKeyEvent) -> None:
        key, modifiers = Key(event.key()), event.modifiers()
        if key in MODIFIERS or key == Key.Key_unknown:
            return  # wait for the main key
        is_plain = modifiers & ~Qt.KeyboardModifier.KeypadModifier == Qt.KeyboardModifier.NoModifier
        if is_plain and key == Key.Key_Escape:
            self._end()
        elif is_plain and key == Key.Key_Backspace:
            self._finish("")
        else:
            self._finish(_portable(event))

    def _finish(self, key: str) -> None:
        self._end()
        self.recorded.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (*_ENTER, Key.Key_Space):
            self.begin()
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.begin()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.is_recording:
            self._end()


def _portable(event: QKeyEvent) -> str:
    """Portable text of a key: keypad Enter as Enter, symbols without Shift."""
    key = Key.Key_Return if event.key() == Key.Key_Enter else Key(event.key())
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if plain_sign(event):
        modifiers &= ~Qt.KeyboardModifier.ShiftModifier
    sequence = QKeySequence(QKeyCombination(modifiers, key))
    return sequence.toString(QKeySequence.SequenceFormat.PortableText)
