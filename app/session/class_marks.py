"""What people set for classes, as rows and cards show it: colours, and how sure the program must be."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.project import Change, ClassPolicy

    Found = tuple[Mapping[int, str], Mapping[int, ClassPolicy]]
    Ask = Callable[[Callable[[LiveCollection], Found], Callable[[Found], None]], None]


@final
class ClassMarks(QObject):
    """Follows the open project.

    Args:
        ask: asks the collection.
        parent: whose they are.

    Attributes:
        colours: own colours of the classes that have one, as `#rrggbb`.
        policies: of the classes that have one of their own.

    Signals:
        changed: another colour or policy, or another project.
    """

    changed = Signal()

    def __init__(self, ask: "Ask", parent: QObject) -> None:
        super().__init__(parent)
        self._ask = ask
        self.colours: Mapping[int, str] = {}
        self.policies: Mapping[int, ClassPolicy] = {}

    def read(self) -> None:
        """A project was opened, or nobody can tell what changed: ask for all of it."""
        self._ask(lambda live: (live.project.colours(), live.project.policies()), self._take)

    def follow(self, change: "Change") -> None:
        """An action, undo or redo was done."""
        if change.details or change.policies:
            self.read()

    def clear(self) -> None:
        """No project is open any more."""
        self._take(({}, {}))

    def _take(self, found: "Found") -> None:
        if found != (self.colours, self.policies):
            self.colours, self.policies = found
            self.changed.emit()
