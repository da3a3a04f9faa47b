"""Factories of labels, buttons and layouts in the roles of the style sheet."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, final

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.key_names import ENTER_KEYS
from app.mirroring import isolated, leading_edge
from app.texts import plain_button, plain_tip
from app.theme.icons import icon
from app.theme.tokens import tokens

ICON_SIZE = 18
NumberBox = TypeVar("NumberBox", QSpinBox, QDoubleSpinBox)
_FIELD_MARGIN = 9  # text margin of a field, as in the style sheet
# Width of a radio button or check box and the gap behind it, as in the style sheet.
_MARK_WIDTH = 26
_ICON_NAME = "iconName"
ICON_COLOURS = {
    "": "text_secondary",
    "primary": "on_accent",
    "flat": "accent_text",
    "muted": "text_muted",
    "danger": "danger",
    "warning": "warning",
}
"""Colour of a button's icon by variant."""


@final
class Button(QPushButton):
    """A button that Enter presses as well as Space."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            if not event.isAutoRepeat():
                self.click()
            return
        super().keyPressEvent(event)


def make_label(text: str, role: str = "", *, wraps: bool = False) -> QLabel:
    """Make a plain-text label in a role of the style sheet.

    Roles: "title", "heading", "section", "strong", "secondary", "caption", "muted", "key", "chip".
    """
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(leading_edge())
    label.setWordWrap(wraps)
    if role:
        label.setProperty("role", role)
    if wraps:
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        label.setSizePolicy(policy)
    return label


def show_text(label: QLabel, text: str) -> None:
    """Set the text of a label, which is hidden while empty."""
    label.setText(text)
    label.setVisible(bool(text))


def make_flowing_label(text: str, role: str = "") -> QLabel:
    """A wrapping label that needs no more height than its text at the given width."""
    label = make_label(text, role, wraps=True)
    policy = label.sizePolicy()
    policy.setVerticalPolicy(QSizePolicy.Policy.Preferred)
    label.setSizePolicy(policy)
    return label


def make_button(
    text: str, on_click: Callable[[], None], *, variant: str = "", icon_name: str = ""
) -> QPushButton:
    """Make a button in a variant.

    Variants: "" (plain), "primary", "flat", "muted" (flat and less prominent), "warning" (flat),
    "danger".
    """
    button = Button(plain_button(text))
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setAutoDefault(False)
    if icon_name:
        button.setProperty(_ICON_NAME, icon_name)
        button.setIcon(icon(icon_name, ICON_COLOURS[variant]))
        button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    if variant:
        button.setProperty("variant", variant)
    button.clicked.connect(lambda _is_checked=False: on_click())
    return button


def set_variant(button: QPushButton, variant: str) -> None:
    icon_name = button.property(_ICON_NAME)
    if icon_name:
        button.setIcon(icon(icon_name, ICON_COLOURS[variant]))
    set_property(button, "variant", variant)


def make_hint(text: str) -> QLabel:
    """A secondary line below a radio button or check box, aligned with its text."""
    label = make_label(text, "secondary", wraps=True)
    label.setIndent(_MARK_WIDTH)
    return label


def make_icon_button(
    icon_name: str, tip: str, on_click: Callable[[], None] | None = None
) -> QToolButton:
    """A small button with an icon only; its tooltip is also its accessible name."""
    button = QToolButton()
    button.setIcon(icon(icon_name))
    button.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
    button.setToolTip(plain_tip(tip))
    button.setAccessibleName(tip)
    button.setAutoRaise(True)
    if on_click is not None:
        button.clicked.connect(lambda _is_checked=False: on_click())
    return button


def make_row_card(
    name: str, captions: Sequence[str | QLabel], *ends: QWidget, badge: QWidget | None = None
) -> QFrame:
    """A card of a list: name above captions, badge next to the name, widgets at the end."""
    spacing = tokens().spacing
    card = QFrame()
    card.setProperty("role", "card")
    marks = () if badge is None else (badge, None)
    head = fill_row(None, make_label(name, "strong", wraps=badge is None), *marks)
    words = fill_column(None, head, spacing=0)
    for caption in captions:
        words.addWidget(
            make_label(caption, "caption", wraps=True) if isinstance(caption, str) else caption
        )
    margins = (spacing.medium, spacing.small, spacing.small, spacing.small)
    layout = fill_row(card, words, margins=margins, grows=0)
    layout.addWidget(make_row(*ends, spacing=spacing.tiny), 0, Qt.AlignmentFlag.AlignVCenter)
    return card


def make_used_mark(text: str) -> QLabel:
    """A chip that marks the item of a list that is in use."""
    mark = make_label(text, "chip")
    mark.setProperty("tone", "accent")
    return mark


def make_notice_column(frame: QFrame, tone: str = "") -> QVBoxLayout:
    """Style a frame as a notice with a tone; return the column for its content.

    Tones: "", "accent", "warning", "danger".
    """
    frame.setProperty("role", "notice")
    if tone:
        frame.setProperty("tone", tone)
    column = QVBoxLayout(frame)
    column.setContentsMargins(*4 * (tokens().spacing.medium,))
    return column


def make_column(
    main: QWidget, *, above: QWidget | None = None, below: QWidget | None = None
) -> QWidget:
    """Stack a stretching widget with others above or below it; the Tab key visits it first."""
    whole = QWidget()
    column = fill_column(whole, main, spacing=0, grows=0)
    if above is not None:
        column.insertWidget(0, above)
    if below is not None:
        column.addWidget(below)
    return whole


Part = QWidget | QLayout | None
"""A part of a row or column; None stands for free room."""
Box = TypeVar("Box", QVBoxLayout, QHBoxLayout)
Margins = int | tuple[int, int, int, int]
"""Around all sides, or left, top, right and bottom."""


def fill_column(
    parent: QWidget | None,
    *parts: Part,
    spacing: int | None = None,
    margins: Margins = 0,
    grows: int = -1,
) -> QVBoxLayout:
    """Stack parts vertically; small gaps by default. The one at index `grows` takes free room."""
    box = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    return _filled(box, parts, spacing, margins, grows)


def fill_row(
    parent: QWidget | None,
    *parts: Part,
    spacing: int | None = None,
    margins: Margins = 0,
    grows: int = -1,
) -> QHBoxLayout:
    """Arrange parts in a row; otherwise as `fill_column`."""
    box = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    return _filled(box, parts, spacing, margins, grows)


def _filled(
    box: Box, parts: Sequence[Part], spacing: int | None, margins: Margins, grows: int
) -> Box:
    box.setContentsMargins(*(4 * (margins,) if isinstance(margins, int) else margins))
    box.setSpacing(tokens().spacing.small if spacing is None else spacing)
    for place, part in enumerate(parts):
        stretch = int(place == grows)
        if part is None:
            box.addStretch(1)
        elif isinstance(part, QLayout):
            box.addLayout(part, stretch)
        else:
            box.addWidget(part, stretch)
    return box


def make_row(
    *parts: Part, spacing: int | None = None, margins: Margins = 0, grows: int = -1
) -> QWidget:
    """A widget with a row (`fill_row`)."""
    row = QWidget()
    fill_row(row, *parts, spacing=spacing, margins=margins, grows=grows)
    return row


def dress_number_box(box: NumberBox) -> NumberBox:
    """Give a number box the height and text margin of other fields.

    A style sheet does not reach its text.
    """
    box.lineEdit().setTextMargins(_FIELD_MARGIN, 0, _FIELD_MARGIN, 0)
    box.setFixedHeight(tokens().spacing.control_height)
    return box


def show_round(popup: QWidget) -> None:
    """Make the corners of a popup with rounded corners transparent.

    Call before it is shown.
    """
    bare = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    popup.setWindowFlags(popup.windowFlags() | bare)
    popup.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


def dress_list(box: QComboBox) -> None:
    """Make the corners of a combo box's rounded list transparent."""
    popup = box.view().window()
    popup.setObjectName("popup")
    # The application's style sheet does not apply to the popup.
    popup.setStyleSheet("#popup { background: transparent; border: none; }")
    show_round(popup)


@final
class ChoiceBox(QComboBox):
    """A combo box that elides its text, and shows its placeholder while nothing is chosen.

    Attributes:
        follows_choice: as wide as the current text where there is room, else as the longest entry.
    """

    follows_choice = False

    def __init__(self) -> None:
        super().__init__()
        dress_list(self)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        if self.follows_choice:
            option = QStyleOptionComboBox()
            self.initStyleOption(option)
            text = self.fontMetrics().size(0, self.currentText())
            hint.setWidth(
                self.style()
                .sizeFromContents(QStyle.ContentsType.CT_ComboBox, option, text, self)
                .width()
            )
        return hint

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        place = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        text = self.placeholderText() if self.currentIndex() < 0 else option.currentText
        option.currentText = self.fontMetrics().elidedText(
            text, Qt.TextElideMode.ElideRight, place.width()
        )
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        # The style sheet cannot give the placeholder a colour of its own.
        if self.currentIndex() < 0:
            tone = QPalette.ColorRole.PlaceholderText
            line = option.textAlignment | Qt.AlignmentFlag.AlignVCenter
            painter.drawItemText(
                place, line, option.palette, self.isEnabled(), option.currentText, tone
            )
        else:
            painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


def make_choice_box(texts: Mapping[Any, str], *, follows_choice: bool = False) -> QComboBox:
    """A `ChoiceBox` of values with their texts; may be narrower than its longest entry."""
    box = ChoiceBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    if follows_choice:
        box.follows_choice = True
        box.currentTextChanged.connect(lambda _text: box.updateGeometry())
    for value, text in texts.items():
        box.addItem(text, value)
    return box


def make_form(rows: Mapping[str, QWidget]) -> QGridLayout:
    """A grid of labelled fields, which ignore the mouse wheel so that it scrolls the panel."""
    grid = QGridLayout()
    grid.setVerticalSpacing(tokens().spacing.small)
    grid.setHorizontalSpacing(tokens().spacing.medium)
    for line, (text, field) in enumerate(rows.items()):
        label = make_label(text, "secondary")
        label.setBuddy(field)
        field.setAccessibleName(text)
        if isinstance(field, QComboBox | QAbstractSpinBox):
            field.installEventFilter(_WheelFilter(field))
        grid.addWidget(label, line, 0)
        grid.addWidget(field, line, 1)
    grid.setColumnStretch(1, 1)
    return grid


@final
class _WheelFilter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def make_scroll_area() -> QScrollArea:
    """A frameless area that scrolls vertically and takes no focus."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area


def make_search_field(text: str) -> QLineEdit:
    field = QLineEdit()
    field.setProperty("variant", "search")
    field.setPlaceholderText(text)
    field.setAccessibleName(text)
    field.setClearButtonEnabled(True)
    field.addAction(icon("search", "text_muted"), QLineEdit.ActionPosition.LeadingPosition)
    return field


def tab_stops(part: QWidget) -> Iterator[QWidget]:
    """The widgets inside a part that accept the Tab key, in order."""
    widget = part.nextInFocusChain()
    while widget is not None and widget is not part:
        takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if takes_tab and part.isAncestorOf(widget) and widget.isVisible() and widget.isEnabled():
            yield widget
        widget = widget.nextInFocusChain()


def make_separator(*, vertical: bool = False) -> QFrame:
    line = QFrame()
    line.setProperty("role", "separator-vertical" if vertical else "separator")
    return line


def set_property(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet selects by, and repolish the widget."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


@final
class ElidedLabel(QLabel):
    """A label with one elided line and the whole text as tooltip.

    Without `takes_rest` it is as wide as its text.
    """

    def __init__(
        self,
        role: str = "",
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        takes_rest: bool = True,
    ) -> None:
        super().__init__()
        self._mode = mode
        self._takes_rest = takes_rest
        self.setTextFormat(Qt.TextFormat.PlainText)
        across = QSizePolicy.Policy.Expanding if takes_rest else QSizePolicy.Policy.Maximum
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str, *, role: str = "", tip: str = "") -> None:
        self.setText(text)
        self.setToolTip(plain_tip(tip or text))
        if role:
            set_property(self, "role", role)

    @property
    def shown_text(self) -> str:
        """The text as painted, with its ellipsis."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def sizeHint(self) -> QSize:
        height = super().sizeHint().height()
        if self._takes_rest:
            return QSize(0, height)
        # QLabel's own hint is never below the minimum width, which may be that of an earlier text.
        margins = self.contentsMargins()
        text = self.fontMetrics().size(Qt.TextFlag.TextSingleLine, self.text()).width()
        return QSize(text + margins.left() + margins.right() + 2 * self.margin(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), leading_edge(), isolated(self.shown_text))
        painter.end()
