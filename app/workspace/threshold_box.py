"""A small stepper for the probability above which many guesses are accepted."""

from typing import final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QToolButton, QWidget

from app.controls import dress_number_box, make_icon_button
from app.settings import ACCEPT_ABOVE_LEAST, ACCEPT_ABOVE_MOST
from app.texts import tr
from app.theme.tokens import tokens

_FIELD_WIDTH = 62  # two digits and the percent sign
_DONE_KEYS = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape})


@final
class ThresholdBox(QWidget):
    """`- 80% +`: clicked, typed, or stepped with arrow keys and wheel.

    Signals:
        changed: the new threshold in percent.
        left: Enter or Esc: back to the images.
    """

    changed = Signal(int)
    left = Signal()

    def __init__(self, percent: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field = dress_number_box(QSpinBox())
        self._field.setRange(ACCEPT_ABOVE_LEAST, ACCEPT_ABOVE_MOST)
        self._field.setSuffix(tr("%"))
        self._field.setValue(percent)
        self._field.setFixedWidth(_FIELD_WIDTH)
        self._field.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._field.setAccessibleName(tr("Accept predictions above"))
        self._field.valueChanged.connect(self.changed)
        self._field.installEventFilter(self)
        self._steps = (
            self._make_step("minus", tr("Lower: accept more images"), -1),
            self._make_step("plus", tr("Higher: fewer errors"), 1),
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(tokens().spacing.hair)
        for part in (self._steps[0], self._field, self._steps[1]):
            layout.addWidget(part)

    def _make_step(self, icon_name: str, tip: str, step: int) -> QToolButton:
        button = make_icon_button(icon_name, tip, lambda: self._field.stepBy(step))
        button.setAutoRepeat(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    @property
    def percent(self) -> int:
        """The threshold that is shown."""
        return self._field.value()

    def wanted_width(self, *, is_slim: bool) -> int:
        """Width that it asks for, with or without the two buttons."""
        steps = sum(button.sizeHint().width() + tokens().spacing.hair for button in self._steps)
        return _FIELD_WIDTH + (0 if is_slim else steps)

    def set_slim(self, is_slim: bool) -> None:
        """Leave only the field, where there is little room."""
        for button in self._steps:
            button.setVisible(not is_slim)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _DONE_KEYS:
            self._field.interpretText()
            self.left.emit()
            return True
        return super().eventFilter(watched, event)
