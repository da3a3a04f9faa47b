"""What people set for classes, as rows and cards show it: colours, and how sure the program must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.session.runner import Runner
from engine.graph.edits import AttributesChanged, ClassRemoved

if TYPE_CHECKING:
    from engine.project import Change, ClassPolicy


@final
class ClassMarks(QObject):
    """Follows the open project."""

    changed = Signal()  # another colour or policy, or another project

    def __init__(self, runner: Runner, parent: QObject) -> None:
        super().__init__(parent)
        self._runner = runner
        self.colours: Mapping[int, str] = {}  # own ones of the classes that have one, as `#rrggbb`
        self.policies: Mapping[int, ClassPolicy] = {}  # of the classes that have one of their own

    def read(self) -> None:
        """A project was opened, or nobody can tell what changed: ask for all of it."""
        self._runner.ask(
            lambda live: (live.project.classes.colours(), live.project.policies.by_class()),
            self._take,
            owner=self,
            topic="marks",
        )

    def follow(self, change: Change) -> None:
        """An action, undo or redo was done."""
        if any(isinstance(edit, AttributesChanged | ClassRemoved) for edit in change.graph_edits):
            self.read()

    def clear(self) -> None:
        """No project is open any more."""
        self._take(({}, {}))

    def _take(self, found: tuple[Mapping[int, str], Mapping[int, ClassPolicy]]) -> None:
        if found != (self.colours, self.policies):
            self.colours, self.policies = found
            self.changed.emit()
