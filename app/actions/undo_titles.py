"""The two actions whose titles name the step that they would take."""

from typing import final

from app.actions.registry import Registry
from app.actions.table import Needs
from app.texts import for_menu, tr
from engine.project.action_texts import command_text


@final
class UndoTitles:
    """Names what Undo and Redo would take back or do again, and knows whether there is anything."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.needs = Needs.NOTHING

    def show(self, undo_text: str, redo_text: str) -> None:
        """Take the texts of the two steps; "" when there is none."""
        undo, redo = tr("Undo"), tr("Redo")
        if undo_text:
            undo = tr("Undo %1", for_menu(command_text(undo_text)))
        if redo_text:
            redo = tr("Redo %1", for_menu(command_text(redo_text)))
        self._registry.set_titles({"undo": undo, "redo": redo})
        self.needs = (Needs.UNDO if undo_text else Needs.NOTHING) | (Needs.REDO if redo_text else Needs.NOTHING)
