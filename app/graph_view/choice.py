"""Which classes are chosen in the drawing, and the one among them that keys work from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from PySide6.QtCore import QObject, Signal

from app.signal_types import either


@final
class ChosenClasses(QObject):
    """A current class, and those that are chosen with it."""

    changed = Signal()
    current_changed = Signal(either(int | None))  # the class that is current now, or None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids: dict[int, None] = {}
        self.current: int | None = None  # the class that keys work from

    @property
    def ids(self) -> tuple[int, ...]:
        """The chosen classes, in the order in which they were chosen."""
        return tuple(self._ids)

    def __contains__(self, class_id: int) -> bool:
        return class_id in self._ids

    def choose(self, class_id: int | None) -> None:
        """Choose one class alone, or none."""
        self._set({} if class_id is None else {class_id: None}, class_id)

    def toggle(self, class_id: int) -> None:
        """Choose a class with the others, or let it go."""
        ids = dict(self._ids)
        if class_id in ids:
            del ids[class_id]
            self._set(ids, next(reversed(ids), None))
        else:
            self._set({**ids, class_id: None}, class_id)

    def choose_all(self, class_ids: Iterable[int], *, also: Iterable[int] = ()) -> None:
        ids = dict.fromkeys((*also, *class_ids))
        self._set(ids, self.current if self.current in ids else next(iter(ids), None))

    def keep_only(self, class_ids: Iterable[int]) -> None:
        """Let go of all others: they are gone."""
        kept = frozenset(class_ids)
        ids = {class_id: None for class_id in self._ids if class_id in kept}
        self._set(ids, self.current if self.current in ids else next(iter(ids), None))

    def _set(self, ids: dict[int, None], current: int | None) -> None:
        has_moved = current != self.current
        if ids.keys() == self._ids.keys() and not has_moved:
            return
        self._ids, self.current = ids, current
        self.changed.emit()
        if has_moved:
            self.current_changed.emit(current)
