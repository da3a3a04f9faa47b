"""Labels, buttons and lines in the roles that the style sheet knows: one line each where a screen is put together."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.theme.icons import icon
from app.theme.tokens import tokens
from engine.events import Progress

ICON_SIZE = 18
_BAR_STEPS: Final = 1000


def make_label(text: str, role: str = "", *, wraps: bool = False) -> QLabel:
    """Plain text in a role: "title", "heading", "section", "strong", "secondary", "caption", "muted", "key", "chip"."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wraps)
    if role:
        label.setProperty("role", role)
    if wraps:
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    return label


def make_button(text: str, on_click: Callable[[], None], *, variant: str = "", icon_name: str = "") -> QPushButton:
    """A button: variant "" (plain), "primary", "flat" or "danger"."""
    button = QPushButton(text)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setAutoDefault(False)
    if variant:
        button.setProperty("variant", variant)
    if icon_name:
        button.setIcon(icon(icon_name, "on_accent" if variant == "primary" else "text_secondary"))
        button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    button.clicked.connect(lambda _is_checked=False: on_click())
    return button


def make_icon_button(icon_name: str, tip: str, on_click: Callable[[], None] | None = None) -> QToolButton:
    """A small button that is only an icon; its tip is also its accessible name."""
    button = QToolButton()
    button.setIcon(icon(icon_name))
    button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setAutoRaise(True)
    if on_click is not None:
        button.clicked.connect(lambda _is_checked=False: on_click())
    return button


def make_row_card(name: str, captions: Sequence[str], end: QWidget) -> QFrame:
    """A card of a list: a name over captions, and at its end a mark or a button."""
    spacing = tokens().spacing
    card = QFrame()
    card.setProperty("role", "card")
    layout = QHBoxLayout(card)
    layout.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
    words = QVBoxLayout()
    words.setSpacing(0)
    words.addWidget(make_label(name, "strong", wraps=True))
    for caption in captions:
        words.addWidget(make_label(caption, "caption", wraps=True))
    layout.addLayout(words, 1)
    layout.addWidget(end, 0, Qt.AlignmentFlag.AlignVCenter)
    return card


def make_bar() -> QProgressBar:
    """A bar that runs to and fro: nobody knows yet how much there is to do."""
    bar = QProgressBar()
    bar.setTextVisible(False)
    bar.setRange(0, 0)
    return bar


def fill_bar(bar: QProgressBar, progress: Progress) -> None:
    """Show how far the work is, as soon as it is known how much there is to do."""
    if progress.total:
        bar.setRange(0, _BAR_STEPS)
        bar.setValue(_BAR_STEPS * progress.done // progress.total)


def make_notice_column(frame: QFrame, tone: str = "") -> QVBoxLayout:
    """Make a frame one that stands out, for something to know or to decide, and lay it out.

    Args:
        frame: gets the look.
        tone: "" (plain), "accent", "warning" or "danger".

    Returns:
        What its content goes into.
    """
    frame.setProperty("role", "notice")
    if tone:
        frame.setProperty("tone", tone)
    column = QVBoxLayout(frame)
    column.setContentsMargins(*4 * (tokens().spacing.medium,))
    return column


def make_column(main: QWidget, *, above: QWidget | None = None, below: QWidget | None = None) -> QWidget:
    """A widget that takes all the room, and what is above or below it without a gap; the Tab key visits it first."""
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(main, 1)
    if above is not None:
        column.insertWidget(0, above)
    if below is not None:
        column.addWidget(below)
    return whole


def make_scroll_area() -> QScrollArea:
    """A frameless area that scrolls up and down; no stop for the Tab key, it follows what has the focus in it."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area


def make_separator(*, vertical: bool = False) -> QFrame:
    """A hairline."""
    line = QFrame()
    line.setProperty("role", "separator-vertical" if vertical else "separator")
    return line


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet looks at, and dress the widget anew."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
