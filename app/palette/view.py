"""The command palette: a text field with matching rows, for labels, commands and names."""

from collections.abc import Callable, Sequence
from typing import Any, final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.controls import ElidedLabel, fill_column, fill_row, make_label, make_separator
from app.key_names import ENTER_SIGN, enter_name
from app.mirroring import placed
from app.painting import font_of, paint_box, paint_chip, paint_icon, paint_text
from app.palette.logic import AskChoice, PaletteRow
from app.palette.overlay import Overlay
from app.texts import tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR

ROW_ROLE = Qt.ItemDataRole.UserRole
ROW_HEIGHT = 44
_ICON = 18
_PAD = 12


@final
class RowDelegate(QStyledItemDelegate):
    """Paints rows of equal height."""

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, PaletteRow):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(8, 1, -8, -1)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected) and row.choice is not None
        if is_chosen:
            paint_box(painter, area, tokens().spacing.radius_small, "accent_soft")
        inner = area.adjusted(_PAD, 0, -_PAD, 0)
        text_area = self._paint_icon(painter, inner, row, is_chosen=is_chosen)
        text_area = _paint_hint(painter, text_area, ENTER_SIGN if is_chosen else "")
        text_area = _paint_hint(painter, text_area, row.hint)
        _paint_text(painter, text_area, row)
        painter.restore()

    @staticmethod
    def _paint_icon(painter: QPainter, area: QRect, row: PaletteRow, *, is_chosen: bool) -> QRect:
        if row.icon:
            place = QRect(area.left(), area.center().y() - _ICON // 2 + 1, _ICON, _ICON)
            tint = "accent_text" if is_chosen else "text_muted"
            paint_icon(painter, placed(place, area), row.icon, tint)
        return placed(area.adjusted(_ICON + _PAD, 0, 0, 0), area)


def _paint_hint(painter: QPainter, area: QRect, hint: str) -> QRect:
    if not hint:
        return area
    width = QFontMetrics(font_of("caption")).horizontalAdvance(hint) + 12
    box = placed(QRect(area.right() - width + 1, area.center().y() - 10, width, 21), area)
    paint_chip(painter, box, 4, hint, colour="text_secondary", fill="sunken", edge="hairline")
    return placed(area.adjusted(0, 0, -width - _PAD, 0), area)


def _paint_text(painter: QPainter, area: QRect, row: PaletteRow) -> None:
    font, colour = font_of("body"), "text_muted" if row.choice is None else "text"
    used = paint_text(painter, area, row.title, font, colour)
    rest = area.adjusted(used + _PAD, 0, 0, 0)
    if row.subtitle and rest.width() > QFontMetrics(font).averageCharWidth() * 6:
        place, caption = placed(rest, area), font_of("caption")
        mode = Qt.TextElideMode.ElideLeft
        paint_text(painter, place, row.subtitle, caption, "text_muted", mode=mode)


WIDTH = 580
NOTHING_HEIGHT = 72  # logical pixels, shown in place of the rows where nothing matches
_ROWS_SHOWN = 9
_LIST_KEYS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}

RowsFor = Callable[[str], Sequence[PaletteRow]]
OnChoice = Callable[[Any], object]


@final
class Palette(Overlay):
    """A text field above a list of rows."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH)
        self.setObjectName("palette")
        self._rows_for: RowsFor = lambda _text: ()
        self._on_choice: OnChoice = lambda _choice: None
        self._given_text = ""  # initial text
        self._marked_first = 0  # row selected with the initial text
        self._field = QLineEdit(self.panel)
        self._field.setProperty("variant", "palette")
        self._field.textChanged.connect(self._refill)
        self._field.returnPressed.connect(self._choose_current)
        self._field.installEventFilter(self)
        self._list = QListWidget(self.panel)
        self._list.setObjectName("paletteList")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setItemDelegate(RowDelegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._list.setMouseTracking(True)
        self._list.itemEntered.connect(self._list.setCurrentItem)
        self._list.currentRowChanged.connect(self._show_what_enter_does)
        self._list.itemClicked.connect(self._choose_current)
        self._nothing = make_label(tr("Nothing matches"), "muted")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setFixedHeight(NOTHING_HEIGHT)
        self._line = make_separator()
        self._footer_end = ""
        self._footer = ElidedLabel("caption")
        field = fill_row(None, self._field, margins=(12, 0, 12, 6))
        # A label's own margins are lost where the theme changes before it is shown.
        footer = fill_row(None, self._footer, margins=(16, 8, 16, 10))
        parts = (field, self._line, self._list, self._nothing, footer)
        fill_column(self.panel, *parts, spacing=0, margins=(1, 6, 1, 1))

    def ask(
        self,
        prompt: str,
        rows_for: RowsFor,
        on_choice: OnChoice,
        *,
        text: str = "",
        footer: str = "",
        at: int = 0,
    ) -> None:
        """Open with a prompt.

        Args:
            prompt: placeholder and accessible name of the field.
            rows_for: returns the rows for a typed text.
            on_choice: called once with the choice of a row; not when dismissed.
            text: initial text, selected.
            foot: further hints, after the effect of Enter.
            at: initially selected row.
        """
        self._rows_for, self._on_choice, self._given_text, self._marked_first = (
            rows_for,
            on_choice,
            text,
            at,
        )
        self._field.setPlaceholderText(prompt)
        self._field.setAccessibleName(prompt)
        self._field.setText(text)
        self._field.selectAll()
        self._footer_end = SEPARATOR.join(filter(None, (footer, tr("Esc closes"))))
        self._refill(text)
        self.show_over()
        self._list.setCurrentRow(at)
        self._field.setFocus()

    @property
    def rows(self) -> list[PaletteRow]:
        return [self._list.item(place).data(ROW_ROLE) for place in range(self._list.count())]

    def _refill(self, text: str) -> None:
        self._list.clear()
        for row in self._rows_for(text):
            item = QListWidgetItem(self._list)
            item.setData(ROW_ROLE, row)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{row.title} {row.subtitle}".strip())
            item.setSizeHint(QSize(0, ROW_HEIGHT))
        self._list.setCurrentRow(self._marked_first if text == self._given_text else 0)
        self._show_what_enter_does()
        is_typed = bool(text.strip()) and text != self._given_text
        self._nothing.setVisible(is_typed and not self._list.count())
        if self.isVisible():
            self.place_panel()

    def _show_what_enter_does(self) -> None:
        row = self._current
        act = (
            ""
            if row is None or row.choice is None
            else tr("{1}: {2}", enter_name(), row.act_text, about="key")
        )
        self._footer.show_text(SEPARATOR.join(filter(None, (act, self._footer_end))))

    @property
    def footer_text(self) -> str:
        """The effect of Enter, and further hints."""
        return self._footer.text()

    @property
    def _current(self) -> PaletteRow | None:
        item = self._list.currentItem()
        row = item.data(ROW_ROLE) if item is not None else None
        return row if isinstance(row, PaletteRow) else None

    def place_panel(self) -> None:
        """Fit the height to the rows; in a low window the list scrolls."""
        shown = min(self._list.count(), _ROWS_SHOWN)
        wanted = shown * ROW_HEIGHT + (16 if shown else 0)
        self._set_list_height(wanted)
        too_high = self.panel.sizeHint().height() - self.highest()
        if too_high > 0:
            self._set_list_height(max(ROW_HEIGHT, wanted - too_high))
        super().place_panel()

    def _set_list_height(self, height: int) -> None:
        self._list.setFixedHeight(height)
        self.panel.updateGeometry()
        self.panel.layout().activate()  # type: ignore[union-attr]

    def _choose_current(self) -> None:
        row, on_choice = self._current, self._on_choice
        if row is None or row.choice is None:
            return
        self.dismiss()
        if isinstance(row.choice, AskChoice):
            self._ask_first(row.choice)
        else:
            on_choice(row.choice)

    def _ask_first(self, asked: AskChoice) -> None:
        """Show the answers to a question; typing returns to the rows before it."""
        answers, before = asked.answers(), self._rows_for
        self.ask(
            asked.question, lambda text: before(text) if text.strip() else answers, self._on_choice
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self._field
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        ):
            if event.key() in _LIST_KEYS:
                self._list.keyPressEvent(event)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
        return super().eventFilter(watched, event)
