"""Menus, shortcuts and the command palette, all built from the table of actions."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import final

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.actions.key_places import digit_by_place
from app.actions.keys import keys_in_use, sequence_of
from app.actions.menu_keys import dress_menu, marked_letters
from app.actions.row import (
    KEYS_ONLY,
    MENUS,
    ONLY_IN_GRID,
    ActionRow,
    MenuLine,
    Needs,
    lines_within,
    menu_lines,
)
from app.palette.logic import PaletteRow
from app.texts import tr
from app.theme.icons import icon

_TEXT_FIELDS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox)
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def _is_typed(event: QKeyEvent, focus: QWidget) -> bool:
    """Whether a key event types a character into a text field."""
    return isinstance(focus, _TEXT_FIELDS) and not event.modifiers() & _COMMANDS


def _line_alone(row: ActionRow) -> MenuLine:
    """The line of an action in a context menu, which has no submenus."""
    return MenuLine(f"{row.section.menu} {row.section.part}", (row,))


@final
class Registry(QObject):
    """Creates one `QAction` per row of the table.

    Args:
        rows: all actions by name, in the order of the menus.
        callbacks: callback of each action, by name; must cover the table.
        window: owner of the actions.
        image_widgets: where shortcuts of images work; the first one is the grid.
        class_widgets: where shortcuts of classes work.
    """

    def __init__(
        self,
        rows: Mapping[str, ActionRow],
        callbacks: Mapping[str, Callable[[], None]],
        window: QWidget,
        image_widgets: Sequence[QWidget],
        class_widgets: Sequence[QWidget] = (),
    ) -> None:
        super().__init__(window)
        self._rows, self._by_name = tuple(rows.values()), rows
        self._callbacks = callbacks
        self._image_widgets, self._class_widgets = image_widgets, class_widgets
        self._actions = {row.name: self._make(row, window) for row in self._rows}
        self._show_keys()
        keys_in_use().changed.connect(self._show_keys)
        self._there: Needs | None = None
        self.set_available(Needs.NOTHING)

    def _make(self, row: ActionRow, window: QWidget) -> QAction:
        action = QAction(icon(row.icon), tr(row.text), self)
        action.setObjectName(row.name)
        callback = self._callbacks[row.name]
        action.triggered.connect(lambda _is_checked=False: callback())
        if row.on_images or row.on_classes:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        for widget in self._widgets_of(row, window):
            widget.addAction(action)
        return action

    def _widgets_of(self, row: ActionRow, window: QWidget) -> Sequence[QWidget]:
        """The widgets where the shortcuts of an action work."""
        if row.on_classes:
            return self._class_widgets
        if row.on_images:
            return self._image_widgets[:1] if row.name in ONLY_IN_GRID else self._image_widgets
        return (window,)

    def _show_keys(self) -> None:
        """Set the shortcuts in use on all actions."""
        for row in self._rows:
            self._actions[row.name].setShortcuts([sequence_of(keys) for keys in row.keys])

    def act_in(self, page: QWidget) -> None:
        """Enable the shortcuts of images on a page, too."""
        for row in self._rows:
            if row.on_images and row.name not in ONLY_IN_GRID:
                page.addAction(self._actions[row.name])

    def action(self, name: str) -> QAction:
        return self._actions[name]

    def trigger(self, name: str) -> None:
        """Trigger an action if it is enabled."""
        self._actions[name].trigger()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Make keys of the digit row that give no digit trigger the shortcut of their digit.

        An event filter of the window's handle.
        """
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        digit, focus = digit_by_place(event), QApplication.focusWidget()
        if (
            digit is None
            or focus is None
            or QApplication.activePopupWidget() is not None
            or _is_typed(event, focus)
        ):
            return False
        action = self._action_in(focus, QKeySequence(QKeyCombination(event.modifiers(), digit)))
        if action is not None and (action.autoRepeat() or not event.isAutoRepeat()):
            action.trigger()
        return action is not None

    def _action_in(self, focus: QWidget, keys: QKeySequence) -> QAction | None:
        """The enabled action with this shortcut while the widget has the focus."""
        for action in self._actions.values():
            if not action.isEnabled() or keys not in action.shortcuts():
                continue
            owners = (each for each in action.associatedObjects() if isinstance(each, QWidget))
            if any(owner is focus or owner.isAncestorOf(focus) for owner in owners):
                return action
        return None

    def set_available(self, there: Needs) -> None:
        """Enable the actions whose needs are met."""
        if there == self._there:
            return
        self._there = there
        for row in self._rows:
            self._actions[row.name].setEnabled(row.needs & there == row.needs)

    def set_titles(self, titles: Mapping[str, str]) -> None:
        """Set titles that name what the actions currently apply to, by action name."""
        for name, title in titles.items():
            self._actions[name].setText(title)

    def fill(self, bar: QMenuBar, submenus: Mapping[str, QMenu]) -> None:
        """Build the menus of the menu bar; a submenu follows the action of its name."""
        for title, shown in zip(
            MENUS, marked_letters([tr(title) for title in MENUS], MENUS), strict=True
        ):
            rows = [row for row in self._rows if row.in_bar and row.section.menu == title]
            self._fill_menu(bar.addMenu(shown), menu_lines(rows), submenus)

    def _fill_menu(
        self,
        menu: QMenu,
        lines: Sequence[MenuLine],
        submenus: Mapping[str, QMenu] = MappingProxyType({}),
    ) -> None:
        for before, line in zip((None, *lines), lines, strict=False):
            if before is not None and before.part != line.part:
                menu.addSeparator()
            if line.submenu is not None:
                submenu = menu.addMenu(icon(line.submenu.icon), tr(line.submenu.text))
                submenu.menuAction().setObjectName(line.submenu.text)
                self._fill_menu(submenu, lines_within(line.rows))
                continue
            (row,) = line.rows
            menu.addAction(self._actions[row.name])
            if row.name in submenus:
                menu.addMenu(submenus[row.name]).setObjectName(row.name)
                dress_menu(submenus[row.name])
        dress_menu(menu)

    def menu_of(self, names: Sequence[str], parent: QWidget) -> QMenu:
        """A context menu of some actions."""
        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill_menu(menu, [_line_alone(self._by_name[name]) for name in names])
        return menu

    def palette_rows(self) -> list[PaletteRow]:
        """Rows of the command palette: the enabled actions."""
        return [
            PaletteRow(
                row.named(self._actions[row.name].text()).removesuffix("…").replace("&&", "&"),
                tr(row.section.menu),
                keys_in_use().text_of(row.name, row.shortcuts),
                row.icon,
                row.name,
            )
            for row in self._rows
            if self._actions[row.name].isEnabled()
            and row.name != "command_palette"
            and row.section not in KEYS_ONLY
        ]
