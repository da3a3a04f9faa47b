"""View of the "Change shortcuts" card: filter, table of actions, key recorder, presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app.controls import (
    ElidedLabel,
    fill_column,
    fill_row,
    make_button,
    make_choice_box,
    make_flowing_label,
    make_icon_button,
    make_label,
    make_row,
    make_search_field,
)
from app.key_choice.field import KeyField
from app.key_choice.logic import OWN, PRESETS, KeyGroup, KeyRow
from app.palette.overlay import Overlay
from app.tables import CellDelegate
from app.texts import plain_tip, tr
from app.theme.tokens import tokens

# In logical pixels.
WIDTH = 620
HEIGHT = 640
KEY_WIDTH = 168
_NAME = Qt.ItemDataRole.UserRole


@final
class KeysCard(Overlay):
    """Card over the window; Esc or a click outside closes it. Changes apply immediately."""

    preset_chosen = Signal(str)
    key_chosen = Signal(str, str)  # name of an action, recorded key ("" for none)
    reset_requested = Signal(str)  # name of an action
    all_reset_requested = Signal()
    use_requested = Signal()  # take the key from the other actions
    use_refused = Signal()

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH)
        self._rows: dict[str, KeyRow] = {}
        self.presets = make_choice_box(
            {"": tr(OWN)} | {name: tr(each.title) for name, each in PRESETS.items()}
        )
        self.presets.setAccessibleName(tr("Preset"))
        self.presets.setMinimumWidth(KEY_WIDTH)
        self.filter = make_search_field(tr("Find an action or a key"))
        self.table = self._make_table()
        self.field = KeyField()
        self.field.setFixedWidth(KEY_WIDTH)
        self._title = ElidedLabel("strong")
        self._hint = make_flowing_label(
            tr("Enter, then the new key. Esc cancels, Backspace removes the key."), "muted"
        )
        self.reset = make_button(tr("Reset"), lambda: self.reset_requested.emit(self.current))
        self.reset_all = make_button(tr("Reset all"), self.all_reset_requested.emit, variant="flat")
        self.conflict = _Conflict(self.use_requested.emit, self.use_refused.emit)
        self._lay_out()
        self._connect()

    # -- layout

    def _make_table(self) -> QTreeWidget:
        table = QTreeWidget()
        table.setColumnCount(2)
        table.setHeaderHidden(True)
        table.setRootIsDecorated(False)
        table.setItemsExpandable(False)
        table.setIndentation(0)
        table.setUniformRowHeights(True)
        table.setAccessibleName(tr("Actions and their keys"))
        table.setItemDelegate(CellDelegate(table))
        header = table.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, KEY_WIDTH)
        table.installEventFilter(self)
        return table

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        title, preset = (
            make_label(tr("Change shortcuts"), "heading"),
            make_label(tr("Preset"), "secondary"),
        )
        head = make_row(title, make_icon_button("close", tr("Close"), self.dismiss), grows=0)
        above = make_row(self.filter, preset, self.presets, grows=0)
        below = make_row(self._title, self.field, self.reset, grows=0)
        footer = fill_row(None, self._hint, self.reset_all, spacing=spacing.medium, grows=0)
        fill_column(
            self.panel,
            *(head, above, self.table, below, self.conflict, footer),
            spacing=spacing.medium,
            margins=(spacing.large, spacing.medium, spacing.large, spacing.large),
            grows=2,
        )

    def _connect(self) -> None:
        self.filter.returnPressed.connect(self.table.setFocus)
        self.presets.activated.connect(
            lambda _place: self.preset_chosen.emit(str(self.presets.currentData()))
        )
        self.table.currentItemChanged.connect(lambda _now, _before: self._show_current())
        self.table.itemDoubleClicked.connect(lambda _item, _column: self._begin())
        self.field.recorded.connect(lambda key: self.key_chosen.emit(self.current, key))
        self.field.recording_changed.connect(self._on_recording_changed)

    def wanted_height(self, _width: int) -> int:
        return HEIGHT

    # -- display

    @property
    def current(self) -> str:
        """Name of the current action; "" for none."""
        item = self.table.currentItem()
        return "" if item is None else str(item.data(0, _NAME) or "")

    def show_groups(self, groups: Sequence[KeyGroup]) -> None:
        """Rebuild the table; the current action is kept if it is still listed."""
        kept, place = self.current, self.table.verticalScrollBar().value()
        is_same = self._rows.keys() == {row.name for group in groups for row in group.rows}
        self._rows = {row.name: row for group in groups for row in group.rows}
        self.table.clear()
        for group in groups:
            self._add_group(group)
        self.table.expandAll()
        self.choose(kept if is_same else next(iter(self._rows), ""))
        self.table.verticalScrollBar().setValue(place if is_same else 0)

    def _add_group(self, group: KeyGroup) -> None:
        head = QTreeWidgetItem(self.table, [group.title])
        head.setFlags(Qt.ItemFlag.ItemIsEnabled)
        head.setFirstColumnSpanned(True)
        font = head.font(0)
        font.setBold(True)
        head.setFont(0, font)
        for row in group.rows:
            item = QTreeWidgetItem(head, [row.title, row.shown])
            item.setData(0, _NAME, row.name)
            font = item.font(1)
            font.setBold(row.is_changed)
            item.setFont(1, font)
            item.setToolTip(0, plain_tip(row.title))

    def choose(self, name: str) -> None:
        """Select the row of an action."""
        for item in self._items():
            if item.data(0, _NAME) == name:
                self.table.setCurrentItem(item)
        self._show_current()

    def _items(self) -> Iterable[QTreeWidgetItem]:
        heads = [self.table.topLevelItem(place) for place in range(self.table.topLevelItemCount())]
        children = (
            head.child(place)
            for head in heads
            if head is not None
            for place in range(head.childCount())
        )
        return [child for child in children if child is not None]

    def _show_current(self) -> None:
        row = self._rows.get(self.current)
        self.conflict.hide()
        for part in (self.field, self._title):
            part.setEnabled(row is not None)
        self._title.show_text("" if row is None else row.title)
        self.field.show_keys("" if row is None else row.shown)
        self.reset.setEnabled(row is not None and row.is_changed)

    # -- user actions

    def _on_recording_changed(self, is_recording: bool) -> None:
        if is_recording:
            self.conflict.hide()
        elif self.conflict.isHidden():
            self.table.setFocus()

    def _begin(self) -> None:
        if self.current:
            self.field.begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Record a key for the current action on Enter in the table."""
        is_key = (
            watched is self.table
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
        )
        if is_key and event.key() in (  # type: ignore[attr-defined]
            Qt.Key.Key_Return,
            Qt.Key.Key_Enter,
        ):
            self._begin()
            return True
        return super().eventFilter(watched, event)


@final
class _Conflict(QFrame):
    """Notice of actions with the same key, and the choices."""

    def __init__(self, on_use: Callable[[], None], on_leave: Callable[[], None]) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setProperty("tone", "warning")
        self.text = make_label("", wraps=True)
        self.use = make_button(tr("Use here instead"), on_use)
        self.leave = make_button(tr("Cancel"), on_leave, variant="flat")
        spacing = tokens().spacing
        margins = (spacing.medium, spacing.small, spacing.small, spacing.small)
        fill_row(self, self.text, self.use, self.leave, margins=margins, grows=0)
        self.hide()

    def show_text(self, text: str, *, can_use: bool = True) -> None:
        """Show why a recorded key was not assigned."""
        self.text.setText(text)
        self.use.setVisible(can_use)
        self.show()
        (self.use if can_use else self.leave).setFocus()
