"""The colours that a class can have, as dots in a row: one click or arrow key chooses."""

from typing import Final, final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QWidget

from app.texts import plain_tip, tr
from app.theme.class_colours import SWATCHES, own_colour
from app.theme.tokens import tokens

# Logical pixels.
SIDE: Final = 24
_DOT_RADIUS: Final = 6.5
_RING_RADIUS: Final = 8.75
# In the narrowest pane ten dots stand closer together.
_NARROWEST: Final = 19
_STEPS: Final = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


@final
class ColourDot(QAbstractButton):
    """One colour; an empty circle for none."""

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
        """Paint the dot, and a ring around the chosen one and the one that has the keyboard."""
        colours, middle = tokens().colours, QRectF(self.rect()).center()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.hasFocus():
            painter.setPen(QPen(QColor(colours.text if self.isChecked() else colours.focus), 1.5))
            painter.drawEllipse(middle, _RING_RADIUS, _RING_RADIUS)
        painter.setOpacity(1.0 if self.isEnabled() else 0.5)
        painter.setPen(Qt.PenStyle.NoPen if self.colour else QPen(QColor(colours.text_muted), 1.2))
        painter.setBrush(own_colour(self.colour) if self.colour else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(middle, _DOT_RADIUS, _DOT_RADIUS)
        painter.end()


@final
class ColourRow(QWidget):
    """No colour, the eight that are offered, and the one that the class has if it came from elsewhere."""

    colour_chosen = Signal(str)  # `#rrggbb`, or "" for none

    def __init__(self, colour: str) -> None:
        super().__init__()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._group = QButtonGroup(self)
        names = dict(zip(("", *SWATCHES), colour_names(), strict=True))
        names.setdefault(colour, tr("Another colour"))
        for each, name in names.items():
            dot = ColourDot(each, name)
            dot.setChecked(each == colour)
            layout.addWidget(dot)
            self._group.addButton(dot)
        layout.addStretch(1)
        self._group.buttonClicked.connect(self._on_clicked)

    def _on_clicked(self, dot: QAbstractButton) -> None:
        assert isinstance(dot, ColourDot)
        self.colour_chosen.emit(dot.colour)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        dots, step = self._group.buttons(), _STEPS.get(Qt.Key(event.key()), 0)
        focused = next((place for place, dot in enumerate(dots) if dot.hasFocus()), None)
        if step and focused is not None:
            dots[(focused + step) % len(dots)].setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(SIDE * len(self._group.buttons()), SIDE)


def colour_names() -> tuple[str, ...]:
    """What the colours are called: none first, then in the order in which they are offered."""
    return (
        tr("No colour of its own"),
        tr("Red"),
        tr("Orange"),
        tr("Olive"),
        tr("Green"),
        tr("Teal"),
        tr("Blue"),
        tr("Violet"),
        tr("Pink"),
    )
