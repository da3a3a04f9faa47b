"""Runs operations and queries on the open collection, in order on the project thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

import shiboken6
from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread, ThreadJob, ignore
from app.jobs.slow_work import SlowWork
from app.session.guesses import Guesses
from app.session.opening import BackboneMaking, UnmadeBackboneError
from app.texts import tr
from engine.config import CacheFolders
from engine.errors import Cancelled, ProjectDamagedError, ProjectMovedError
from engine.events import CancelToken, OnProgress
from engine.graph.edits import GraphEdit

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change


EDITS_REPLAYED_AT_MOST = 2_000
"""After more edits, the GUI thread gets a copy of the graph instead of replaying them, which would
block it."""


@dataclass(frozen=True)
class ProjectInfo:
    """The open project, for the title bar."""

    path: Path
    name: str
    is_writable: bool
    project_id: str


@dataclass(frozen=True)
class StateUpdate:
    """Changes of one operation."""

    state: CollectionState
    undo_text: str  # the next command to undo; "" for none
    redo_text: str  # the next command to redo; "" for none
    change: Change | None = None  # of an action; None for other news
    graph_edits: tuple[GraphEdit, ...] = ()  # to replay on the mirror, unless there is a new graph
    new_graph: CategoryGraph | None = None  # replaces the mirror
    is_behind: bool = False  # whether labels or settings are newer than the predictions


def _state_update(
    live: LiveCollection,
    change: Change | None = None,
    graph_edits: tuple[GraphEdit, ...] = (),
    new_graph: CategoryGraph | None = None,
) -> StateUpdate:
    history, shown_as = live.project.history, live.project.classes.graph.shown_as
    undo_text, redo_text = (
        action.with_names(shown_as).command if action else ""
        for action in (history.undo_action, history.redo_action)
    )
    if change is not None:
        change = replace(change, action=change.action.with_names(shown_as))
    return StateUpdate(
        live.state, undo_text, redo_text, change, graph_edits, new_graph, live.is_behind
    )


def update_of_state(live: LiveCollection, _result: object = None) -> StateUpdate:
    """News of a changed state only."""
    return _state_update(live)


def update_of_everything(live: LiveCollection) -> StateUpdate:
    """News of a project just opened, or of an unknown change."""
    # Else the first search would have to build the index.
    live.project.classes.graph.make_searchable()
    return _state_update(live, new_graph=live.project.classes.graph.copy())


def update_of_applied(live: LiveCollection, change: Change) -> StateUpdate:
    """News of a what-if that was kept; the mirror already has its edits."""
    return _state_update(live, change)


def update_of_change(live: LiveCollection, change: Change | None) -> StateUpdate | None:
    """News of an action, undo or redo; updates the collection, without predictions."""
    if change is None:
        return None
    live.take(change)
    edits = change.graph_edits
    return _state_update(
        live,
        change,
        edits,
        live.project.classes.graph.copy() if len(edits) > EDITS_REPLAYED_AT_MOST else None,
    )


def listed(live: LiveCollection) -> StateUpdate:
    """News of a collection just opened, without predictions; closes one that cannot be read."""
    try:
        live.load_list()
        return replace(
            update_of_everything(live), is_behind=False
        )  # the embeddings are loaded first
    except BaseException:
        live.close()
        raise


T = TypeVar("T")
Make = Callable[[Path, CacheFolders, BackboneMaking, SlowWork], "LiveCollection"]
"""Creates or opens a project, on the project thread."""


@final
class Runner(QObject):
    """Runs work on the project shown at the time of the call; skipped once that was closed.

    Args:
        caches: cache folders.
        making: builds missing backbones.
        guesses: updated with every operation.
        on_update: called on the GUI thread with the changes of an operation.
        on_entered: called on the project thread with a project just opened, and its first update.
    """

    busy_changed = Signal(bool)
    failed = Signal(str)  # a message
    damaged = Signal(Path)  # path of the project that cannot be opened; `failed` has the reason
    moved = Signal(bool, str)  # a file was moved: whether it is the open project's, and the message
    left = Signal()  # no project is open

    def __init__(
        self,
        caches: CacheFolders,
        making: BackboneMaking,
        guesses: Guesses,
        *,
        on_update: Callable[[StateUpdate], None],
        on_entered: Callable[[LiveCollection, StateUpdate], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        # The project of the window; on the GUI thread only compared.
        self.shown: LiveCollection | None = None
        self._caches = caches
        self._making = making
        self._guesses = guesses
        self._on_update = on_update
        self._on_entered = on_entered
        self._live: LiveCollection | None = None  # only accessed on the project thread
        self._newest: dict[str, object] = {}
        self._epoch = 0  # increases with every closed project, whose answers are dropped
        # Normal priority: the user waits for its writes.
        self._thread = BackgroundThread("project", self, is_low_priority=False)
        self._thread.busy_changed.connect(self.busy_changed)
        self.post = self._thread.post
        self.stop = self._thread.stop

    @property
    def is_busy(self) -> bool:
        return self._thread.is_busy

    def operate(
        self,
        operation: Callable[[LiveCollection], T],
        update_of: Callable[[LiveCollection, T], StateUpdate | None],
        on_success: Callable[[T], None] = ignore,
        *,
        first: Callable[[], None] = ignore,
        on_failure: Callable[[], None] = ignore,
    ) -> None:
        """Run an operation and publish its changes.

        Args:
            operation: called on the project thread.
            update_of: called there; returns the changes to publish, None for none.
            on_success: called with the result on the GUI thread, after they were published.
            first: called there before.
            on_failure: called there on failure; `failed` has the reason.
        """
        live = self.shown

        def apply() -> None:
            if live is None or live is not self._live:
                return
            result = operation(live)
            update = update_of(live, result)
            if update is not None:
                self.publish(live, update, lambda: on_success(result), first=first)

        self._submit(apply, on_failure)

    def ask(
        self,
        question: Callable[[LiveCollection], T],
        on_answer: Callable[[T], None],
        *,
        owner: QObject,
        topic: str = "",
        on_failure: Callable[[], None] = ignore,
    ) -> None:
        """Query the collection; the answer arrives on the GUI thread.

        Args:
            question: called on the project thread.
            on_answer: called unless `owner` was deleted, the project was closed, or a newer query
                replaced this one.
            owner: the requesting widget.
            topic: a query replaces unanswered ones of the same topic; "" replaces none.
            on_failure: called on the GUI thread; `failed` has the reason.
        """
        live, number, epoch = self.shown, object(), self._epoch
        self._newest[topic] = number

        def is_wanted() -> bool:
            return epoch == self._epoch and (not topic or self._newest[topic] is number)

        def deliver(answer: T) -> None:
            if is_wanted() and shiboken6.isValid(owner):
                on_answer(answer)

        def answer() -> None:
            if live is not None and live is self._live and is_wanted():
                found = question(live)
                self.post(lambda: deliver(found))

        self._submit(answer, on_failure)

    def drop_questions(self) -> None:
        """Drop the answers to all earlier queries."""
        self._epoch += 1

    def long_operation(
        self,
        title: str,
        operation: Callable[[LiveCollection, OnProgress, CancelToken], T],
        change_of: Callable[[T], Change | None],
    ) -> ThreadJob:
        """A job that runs an operation; cancelled once its project is closed."""
        live = self.shown

        def apply(on_progress: OnProgress, cancel: CancelToken) -> T:
            if live is None or live is not self._live:
                raise Cancelled
            try:
                result = operation(live, on_progress, cancel)
            except BaseException:  # finished work is kept, so it must be shown
                live.load(fits=False)
                self.publish(live, update_of_everything(live))
                raise
            update = update_of_change(live, change_of(result))
            if update is not None:
                self.publish(live, update)
            return result

        return ThreadJob(title, apply, self._thread)

    def publish(
        self,
        live: LiveCollection,
        update: StateUpdate,
        on_done: Callable[[], None] = ignore,
        *,
        first: Callable[[], None] = ignore,
    ) -> None:
        """Publish a state update on the GUI thread, with updated guesses; on the project thread."""
        found = self._guesses.look_up(
            live, None if update.change is None else update.change.labelled
        )

        def deliver() -> None:
            first()
            if live is self.shown:
                self._guesses.take(found)
                self._on_update(update)
            on_done()

        self.post(deliver)

    def _submit(self, work: Callable[[], None], on_failure: Callable[[], None] = ignore) -> None:
        """Run work on the project thread; failures are reported by `moved` or `failed`."""
        live = self.shown

        def attempt() -> None:
            try:
                work()
            except ProjectMovedError as error:
                reason = error.translated()
                self.post(on_failure)
                self.post(lambda: self.moved.emit(live is self.shown, reason))
            except BaseException:
                self.post(on_failure)
                raise

        self._thread.submit(attempt, self.failed.emit)

    # -- opening and closing

    def enter(self, make: Make, path: Path, *, is_new: bool = False) -> None:
        """Create or open a project; does nothing where it is already open."""

        def open_unless_open() -> None:
            is_open_already = self._live is not None and self._live.project.path == path.absolute()
            if is_new or not is_open_already:
                self._enter(make, path)

        self._submit(open_unless_open)

    def leave(self) -> None:
        """Close the project after all pending work."""
        self._submit(self._leave)

    def _enter(self, make: Make, path: Path) -> None:
        """Open a project, and close the previous one only on success."""
        try:
            checking = SlowWork(tr("Checking {1}", path.stem), self._making.jobs, self.post)
            live = make(path, self._caches, self._making, checking)
        except UnmadeBackboneError as error:
            unmade = error  # Python deletes `error` at the end of this block
            self.post(
                lambda: self._making.begin(
                    unmade, lambda: self._submit(lambda: self._enter(make, path))
                )
            )
            return
        except ProjectDamagedError:
            self.post(lambda: self.damaged.emit(path.absolute()))
            raise
        update = listed(live)
        self._leave()
        self._live = live
        self._on_entered(live, update)

    def _leave(self) -> None:
        if self._live is None:
            return
        live, self._live = self._live, None
        try:
            live.close()
        finally:
            self.post(self.left.emit)
