"""When predictions have followed an edit: the state before it, and the state after."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, QTimer, Signal

from engine.collection.state import CollectionState
from engine.graph.edits import ClassRemoved

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from app.session import Session
    from engine.project import Change


@final
class EditWatch(QObject):
    """Follows a session: an edit of graph, bar or label, then the predictions that come of it."""

    # the `CollectionState` before the edits since predictions were last up to date, the one now that they are again,
    # and the edits in words
    followed = Signal(CollectionState, CollectionState, tuple)
    forgotten = Signal()  # the project was left

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gone: dict[int, str] = {}  # names of classes that were removed
        self._session = session
        self._previous: CollectionState | None = None
        self._current: CollectionState | None = None
        self._before: CollectionState | None = None  # while predictions are on their way
        self._pending: list[str] = []
        self._is_fitting = False
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.fitting_changed.connect(self._on_fitting_changed)
        session.closed.connect(self._on_closed)

    def _on_state_changed(self, state: CollectionState | None) -> None:
        self._previous, self._current = self._current, state

    def _on_change_made(self, change: Change) -> None:
        """Note an edit; its own state has just come in."""
        if not (change.graph_edits or change.policies or change.labelled):
            return
        self.gone |= {edit.class_id: edit.name for edit in change.graph_edits if isinstance(edit, ClassRemoved)}
        if not self._pending:
            self._before = self._previous
        self._pending.append(change.text)
        QTimer.singleShot(0, self, self._finish_unless_fitting)  # by then a fit has begun where one is due

    def _on_fitting_changed(self, is_fitting: bool) -> None:
        self._is_fitting = is_fitting
        self._finish_unless_fitting()

    def _finish_unless_fitting(self) -> None:
        before, after = self._before, self._current
        if self._is_fitting or before is None or after is None:
            return
        texts = tuple(self._pending)
        self.pass_over()
        self.followed.emit(before, after, texts)

    def pass_over(self) -> None:
        """Tell nothing of the edits that were not told of yet."""
        self._before = None
        self._pending.clear()

    def _on_closed(self) -> None:
        self.pass_over()
        self._previous = self._current = None
        self.gone.clear()
        self._is_fitting = False
        self.forgotten.emit()
