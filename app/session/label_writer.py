"""A person's labels on their way: on the screen at once, on disk within milliseconds, taken back when it refuses."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal

from app.session.pending_labels import LabelOverlay, PendingLabels

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.project import Change, Project

FRAME_S: Final = 0.016
"""So long a label may take to the disk before the screen goes on without waiting for it."""

OnProject = Callable[["Callable[[LiveCollection], None]"], None]
Publish = Callable[["LiveCollection", "Change", Callable[[], None]], None]
"""Tells everybody of a change; what it is given last is called on the GUI thread just before that."""


@final
class LabelWriter(QObject):
    """Holds the labels that are on their way to the file.

    Args:
        on_project: runs work on the project thread.
        publish: brings a change to the window.
        post: calls something on the GUI thread.

    Signals:
        changed: labels were given, or taken back.
        unsaved_changed: actions that have taken longer than a frame and are not on disk yet.
    """

    changed = Signal()
    unsaved_changed = Signal(int)

    def __init__(
        self,
        on_project: OnProject,
        publish: Publish,
        post: Callable[[Callable[[], None]], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._on_project = on_project
        self._publish = publish
        self._post = post
        self._overlay = LabelOverlay()
        self._reported = 0

    def write(self, codes: Mapping[int, int], action: "Callable[[Project], Change]") -> None:
        """Show labels and write them down.

        The disk is waited for, but no longer than a frame: nearly always a label is saved before the next card shows.

        Args:
            codes: what each image gets: a class id, `UNKNOWN` or `NO_CLASS`.
            action: the same as one transaction of the project.
        """
        pending, is_saved = self._overlay.add(codes), threading.Event()

        def work(live: "LiveCollection") -> None:
            try:
                change = action(live.project)
            except BaseException:
                self._post(lambda: self._take_back(pending))
                raise
            finally:
                is_saved.set()
            self._publish(live, change, lambda: self._forget(pending))

        self._on_project(work)
        if not is_saved.wait(FRAME_S):
            self._tell_unsaved(len(self._overlay))
        self.changed.emit()

    def over(self, state: "CollectionState") -> "CollectionState":
        """The state as it will be when all is written."""
        return self._overlay.over(state)

    def clear(self) -> None:
        """Forget all: the project was left."""
        self._overlay.clear()
        self._tell_unsaved(0)

    def _take_back(self, pending: PendingLabels) -> None:
        self._forget(pending)
        self.changed.emit()

    def _forget(self, pending: PendingLabels) -> None:
        self._overlay.drop(pending)
        if self._reported:
            self._tell_unsaved(len(self._overlay))

    def _tell_unsaved(self, count: int) -> None:
        if count != self._reported:
            self._reported = count
            self.unsaved_changed.emit(count)
