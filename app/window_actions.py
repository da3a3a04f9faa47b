"""Undo and redo, the command palette, the keys on one sheet, and files that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from app.actions.keys_sheet import KeysSheet
from app.actions.row import WRITE, Needs, Section, action
from app.feature import Feature
from app.palette.logic import Choice, ClassChoice, CommandChoice, PaletteRow, class_rows, commands_for
from app.texts import for_menu, marked, tr

if TYPE_CHECKING:
    from app.shell import Shell


@final
class WindowActions(Feature):
    """What concerns the whole window."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._keys: KeysSheet | None = None
        self._undo_text = self._redo_text = ""  # of the next step; empty for none
        self._session.undo_state_changed.connect(self._on_undo_state_changed)

    @action("show_failures", marked("Files that could not be read"), "failure", "", Section.VIEW_FOUND)
    def show_failures(self) -> None:
        self._shell.status_line.job_bar.show_failures()

    # -- undo and redo

    @action("undo", marked("Undo"), "undo", "Ctrl+Z", Section.EDIT_UNDO, needs=WRITE | Needs.UNDO)
    def undo(self) -> None:
        self._session.undo()

    @action("redo", marked("Redo"), "redo", "Ctrl+Shift+Z Ctrl+Y", Section.EDIT_UNDO, needs=WRITE | Needs.REDO)
    def redo(self) -> None:
        self._session.redo()

    def there(self) -> Needs:
        undo, redo = Needs.UNDO if self._undo_text else Needs.NOTHING, Needs.REDO if self._redo_text else Needs.NOTHING
        return undo | redo

    def titles(self) -> Mapping[str, str]:
        """Which steps they would take."""
        undo, redo = tr("Undo"), tr("Redo")
        if self._undo_text:
            undo = tr("Undo %1", for_menu(self._undo_text))
        if self._redo_text:
            redo = tr("Redo %1", for_menu(self._redo_text))
        return {"undo": undo, "redo": redo}

    def _on_undo_state_changed(self, undo_text: str, redo_text: str) -> None:
        self._undo_text, self._redo_text = undo_text, redo_text

    # -- the command palette

    @action(
        "command_palette",
        marked("Search commands and classes…"),
        "search",
        "Ctrl+K",
        Section.EDIT_SEARCH,
        needs=Needs.NOTHING,
    )
    def open_palette(self) -> None:
        """Ask for a command or a class."""
        prompt, foot = tr("Search commands and classes"), tr("Enter runs it · Esc closes")
        self._palette.ask(prompt, self._palette_rows, self._on_choice, foot=foot)

    def _palette_rows(self, text: str) -> list[PaletteRow]:
        rows = commands_for(self._shell.registry.palette_rows(), text)
        return rows + (class_rows(self._session.graph, text) if text.strip() else [])

    def _on_choice(self, choice: Choice) -> None:
        if isinstance(choice, CommandChoice):
            self._shell.trigger(choice.name)
        elif isinstance(choice, ClassChoice):
            self._shell.tree.select_class(choice.class_id)

    # -- keys

    @action("show_keys", marked("Keys"), "keys", "?", Section.HELP_READ, needs=Needs.NOTHING)
    def show_keys(self) -> None:
        if self._keys is None:
            self._keys = KeysSheet(self._host, self._shell.rows.values())
        self._keys.show_over()
        self._keys.setFocus()
