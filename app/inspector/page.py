"""Building blocks of the inspector: pages, collapsible sections, paragraphs, scored class rows."""

from typing import final

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QSizePolicy, QWidget

from app.actions.keys import keys_in_use
from app.controls import ElidedLabel, fill_column, make_row, make_separator
from app.inspector.logic import ScoreRow
from app.key_names import ENTER_KEYS
from app.mirroring import leading_edge, placed
from app.painting import font_of, paint_box, paint_chip, paint_icon, paint_text, smooth_painter
from app.settings import Settings
from app.signal_types import either
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import clauses, percent, probability_text

HEIGHT = 34
BAR_HEIGHT = 4
KEY_SIDE = 18
KEY_MARGIN = 8  # around the name of a key with more than one letter
CHEVRON = 14  # logical pixels
CHEVRON_GAP = 6  # logical pixels
ROUNDING = 6
_CHOOSING = ENTER_KEYS | {Qt.Key.Key_Space}
_NOTHING = ScoreRow(-1, "", "", 0.0)


class RowButton(QAbstractButton):
    """Base of clickable rows. A click does not take the focus, so that labelling by keys continues.

    Space and Enter click a focused row, overriding shortcuts.
    """

    is_clickable = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def event(self, event: QEvent) -> bool:
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if isinstance(event, QKeyEvent) and is_override and event.key() in _CHOOSING:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self.click()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, HEIGHT)

    def paint_ground(self, painter: QPainter) -> None:
        """Paint the hover background and the focus ring."""
        shape = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -1.5)
        fill = "hover" if self.is_clickable and self.underMouse() else ""
        edge = "focus" if self.hasFocus() else ""
        if fill or edge:
            paint_box(painter, shape, ROUNDING, fill, edge=edge, width=1.5)


@final
class ScoreLine(RowButton):
    """Key, name, percentage, and a thin bar below; a click, Space or Enter chooses the class."""

    chosen = Signal(int)  # class id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = _NOTHING
        self._tone = "accent"
        self._key = ""
        self._score = ""
        self._shown: tuple[ScoreRow, str, bool, str, str, str] | None = None
        self.clicked.connect(self._on_clicked)

    def show_row(
        self,
        row: ScoreRow,
        *,
        tone: str = "accent",
        is_clickable: bool = True,
        has_score: bool = True,
        is_share: bool = False,
        condition: str = "",
        key: str = "",
    ) -> None:
        """Show a class.

        Args:
            is_share: whether the score is a share, which may be 100%; a probability may not.
            condition: prefix of its accessible name.
            key: replaces its digit.
        """
        score = percent(row.score) if is_share else probability_text(row.score)
        key = key or (
            keys_in_use().short_text_of(f"label_as_{row.digit}", str(row.digit))
            if row.digit
            else ""
        )
        shown = (row, tone, is_clickable, score if has_score else "", key, condition)
        if shown == self._shown:
            return
        self._shown = shown
        self._row, self._tone, self.is_clickable, self._score, self._key, _ = shown
        self.setToolTip(plain_tip(f"{row.place} / {row.name}" if row.place else row.name))
        words = clauses(row.name, self._score)
        self.setAccessibleName(f"{condition} {words}".strip())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if is_clickable else Qt.FocusPolicy.NoFocus)
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if is_clickable else Qt.CursorShape.ArrowCursor
        )
        self.update()

    @property
    def class_id(self) -> int:
        return self._row.class_id

    @property
    def key(self) -> str:
        """The key as painted; "" for none."""
        return self._key

    def _on_clicked(self) -> None:
        if self.is_clickable:
            self.chosen.emit(self._row.class_id)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, whole = smooth_painter(self), self.rect()
        self.paint_ground(painter)
        left = self._paint_key(painter) if self._key else 4
        room, side = whole.adjusted(left, 3, -4, -10), Qt.AlignmentFlag.AlignRight
        caption, body = font_of("caption"), font_of("body")
        place = placed(room, whole)
        used = paint_text(painter, place, self._score, caption, "text_muted", side=side)
        room.setRight(room.right() - (used + 8 if self._score else 0))
        paint_text(painter, placed(room, whole), self._row.name, body, "text")
        if self._score:
            self._paint_bar(painter, left)
        painter.end()

    def _paint_key(self, painter: QPainter) -> int:
        metrics = QFontMetrics(font_of("caption"))
        width = max(KEY_SIDE, metrics.horizontalAdvance(self._key) + KEY_MARGIN)
        box = placed(
            QRectF(4, (self.height() - KEY_SIDE) / 2 - 2, width, KEY_SIDE), QRectF(self.rect())
        )
        paint_chip(
            painter, box, 4, self._key, colour="text_secondary", fill="sunken", edge="border"
        )
        return width + 12

    def _paint_bar(self, painter: QPainter, left: int) -> None:
        groove = QRectF(left, self.height() - 9, self.width() - left - 4, BAR_HEIGHT)
        groove = placed(groove, QRectF(self.rect()))
        paint_box(painter, groove, 2, "sunken")
        filled = QRectF(groove)
        filled.setWidth(max(BAR_HEIGHT, groove.width() * min(1.0, self._row.score)))
        colour = "accent" if self._tone == "accent" else "text_disabled"
        paint_box(painter, placed(filled, groove), 2, colour)


# Minimum width from which words are broken: a little less than the room in the narrowest pane.
_NARROWEST = 200
_NEVER_LONG = 12  # letters; shorter words always fit
_ZERO_WIDTH_SPACE = "\u200b"


@final
class Paragraph(QLabel):
    """Wrapping text that also breaks long words; hidden while empty."""

    def __init__(self, role: str = "secondary") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(leading_edge())
        self.setWordWrap(True)
        self.setProperty("role", role)
        self.setMinimumWidth(1)  # no word may widen the pane
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        """One line: at the narrowest width a long text would need hundreds."""
        return QSize(1, self.fontMetrics().height())

    def show_text(self, text: str) -> None:
        """Show a text, or hide the paragraph.

        Call after it has a parent: a parentless widget would become a window.
        """
        self.setVisible(bool(text))
        if text:
            self.ensurePolished()
            self.setText(broken(text, self.fontMetrics()))


def broken(text: str, metrics: QFontMetrics, widest: int = _NARROWEST) -> str:
    """Allow line breaks at every letter of words wider than `widest` pixels."""
    return " ".join(
        _ZERO_WIDTH_SPACE.join(word)
        if len(word) > _NEVER_LONG and metrics.horizontalAdvance(word) > widest
        else word
        for word in text.split(" ")
    )


@final
class PageRequests(QObject):
    """Requests of the user on the pages of the inspector."""

    label_requested = Signal(int, int)  # image id, class id
    labels_requested = Signal(tuple, int)  # image ids, class id
    unlabel_requested = Signal(int)  # image id
    confirm_requested = Signal(int)  # image id, whose label applies to the current photo
    # Class id, minimum confidence in 0..1 or None to inherit it.
    bar_requested = Signal(int, either(float | None))
    deepest_requested = Signal(int, bool)  # class id, whether classes below it are not predicted
    broadest_requested = Signal(int, bool)  # class id, whether classes above it are not predicted
    parent_requested = Signal(int, int)  # class id, parent to link
    parent_wanted = Signal(int)  # class id to get another parent, still to be chosen
    unlink_requested = Signal(int, int)  # class id, parent to unlink it from
    attributes_changed = Signal(int, dict)  # class id, new values by attribute
    colour_chosen = Signal(int, str)  # class id, `#rrggbb` or ""
    class_requested = Signal(int)
    image_requested = Signal(int)
    stars_chosen = Signal(int, int)  # image id, 0 to 5
    flag_chosen = Signal(int, bool)  # image id, whether to flag it
    comment_written = Signal(int, str)  # image id, "" to remove the comment
    field_set = Signal(int, str, str)  # image id, name of the field, value or "" to remove it
    fields_wanted = Signal()  # edit the fields of the project
    folder_requested = Signal()  # of the displayed image, in the system's file browser
    left = Signal()  # the focus returns to the images
    part_opened = Signal(QWidget)  # a section whose content should be scrolled into view


class Page(QWidget):
    """A column of widgets.

    Args:
        is_inner: whether it is part of another page, and needs no margins.
    """

    def __init__(self, *, is_inner: bool = False) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.setProperty("surface", "pane")
        around = (spacing.medium, spacing.medium, spacing.medium, spacing.large)
        self._column = fill_column(self, margins=(0, 0, 0, spacing.tiny) if is_inner else around)
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)

    def add(self, widget: QWidget) -> None:
        self._column.addWidget(widget)

    def add_button(self, button: QPushButton) -> None:
        self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def add_section(self, title: str = "") -> ElidedLabel:
        heading = ElidedLabel("section")
        heading.setContentsMargins(0, tokens().spacing.small, 0, 0)
        heading.show_text(title)
        self.add(heading)
        return heading

    def add_part(self, title: str) -> "PagePart":
        part = PagePart(title)
        self.add(part)
        return part

    def add_row(self, first: QWidget, *others: QWidget) -> None:
        """Put widgets in a row; the first one takes the spare width."""
        self.add(make_row(first, *others, spacing=tokens().spacing.tiny, grows=0))

    def add_text(self, text: str = "", role: str = "secondary") -> Paragraph:
        paragraph = Paragraph(role)
        self.add(paragraph)
        paragraph.show_text(text)
        return paragraph


@final
class PagePart(Page):
    """A section of a page with a separator and a heading."""

    def __init__(self, title: str) -> None:
        super().__init__(is_inner=True)
        self.add(make_separator())
        self._heading = self.add_text(title, "strong")

    def show_title(self, title: str) -> None:
        self._heading.show_text(title)


@final
class FoldHead(RowButton):
    """The heading of a collapsible section, with a summary at its end while it is closed."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.summary = ""
        self.setText(title)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.toggled.connect(self._describe_state)
        self._describe_state(False)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(font_of("body", is_strong=True))
        return QSize(metrics.horizontalAdvance(self.text()) + CHEVRON + 2 * CHEVRON_GAP, HEIGHT)

    def _describe_state(self, is_open: bool) -> None:
        """Describe the state for screen readers: Qt has no role for it."""
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(tr("Expanded") if is_open else tr("Collapsed"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, whole = smooth_painter(self), self.rect()
        self.paint_ground(painter)
        top = (self.height() - CHEVRON) // 2
        name = "chevron_down" if self.isChecked() else "chevron_right"
        paint_icon(painter, placed(QRect(0, top, CHEVRON, CHEVRON), whole), name, "text_muted")
        room = whole.adjusted(CHEVRON + CHEVRON_GAP, 0, -CHEVRON_GAP, 0)
        title, caption = font_of("body", is_strong=True), font_of("caption")
        used = paint_text(painter, placed(room, whole), self.text(), title, "text")
        if self.summary and not self.isChecked():
            rest, side = room.adjusted(used + 2 * CHEVRON_GAP, 0, 0, 0), Qt.AlignmentFlag.AlignRight
            place = placed(rest, whole)
            paint_text(painter, place, self.summary, caption, "text_muted", side=side)
        painter.end()


@final
class Fold(QWidget):
    """A collapsible section, closed by default; its state is stored by its `name`."""

    def __init__(
        self,
        name: str,
        title: str,
        settings: Settings,
        requests: PageRequests,
        *,
        has_line: bool = True,
    ) -> None:
        super().__init__()
        self._name, self._settings, self._requests = name, settings, requests
        self.head, self.body = FoldHead(title), Page(is_inner=True)
        column = fill_column(self, spacing=tokens().spacing.tiny)
        if has_line:
            column.addWidget(make_separator())
        column.addWidget(self.head)
        column.addWidget(self.body)
        self.head.setChecked(settings.is_part_open(name))
        self.body.setVisible(self.head.isChecked())
        self.head.toggled.connect(self._on_toggled)

    def show_summary(self, text: str) -> None:
        self.head.summary = text
        self.head.setToolTip(plain_tip(text))
        self.head.update()

    def _on_toggled(self, is_open: bool) -> None:
        self.body.setVisible(is_open)
        self._settings.remember_part(self._name, is_open=is_open)
        if is_open:
            self._requests.part_opened.emit(self)
