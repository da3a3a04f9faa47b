"""The QObject around a project; it broadcasts changes.

`LiveCollection` lives on the project thread only. The GUI thread reads two safe copies: `graph`, a
mirror, and `state`, an immutable snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import DetachedJob, ignore
from app.jobs.job import Job, JobRunner
from app.session.current_card import CurrentCard
from app.session.fitting import Fitting
from app.session.guesses import Guesses
from app.session.label_writer import LabelWriter
from app.session.opening import BackboneMaking, create_collection, open_collection, open_for_reading
from app.session.runner import ProjectInfo, Runner, StateUpdate, update_of_change, update_of_state
from app.session.what_if import WhatIfSession
from engine.collection.state import CollectionState, Sorting
from engine.config import CacheFolders
from engine.events import CancelToken, OnProgress
from engine.graph.codes import NO_CLASS, UNKNOWN
from engine.graph.edits import AttributesChanged, ClassRemoved, changes_look
from engine.project import Change
from engine.project.labels import IN_BULK, REVIEW
from engine.project.models import BROADEST_SETTING, LOCKED_SETTING

if TYPE_CHECKING:
    from engine.collection.live import LiveCollection
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Change, ClassPolicy, Project

    Marks = tuple[Mapping[int, str], Mapping[int, ClassPolicy], Mapping[int, int], bool, int]


@final
class ClassMarks(QObject):
    """Colours, policies, keys and rules of the open project's classes."""

    changed = Signal()  # a colour, policy or rule changed, or the project

    def __init__(self, runner: Runner, parent: QObject) -> None:
        super().__init__(parent)
        self._runner = runner
        self.colours: Mapping[int, str] = {}  # of classes with their own colour, as `#rrggbb`
        self.policies: Mapping[int, ClassPolicy] = {}  # of classes with their own policy
        self.keys: Mapping[int, int] = {}  # class by digit key
        self.is_locked = False  # whether a question precedes a new class
        self.broadest_level = 0  # of predicted classes

    def read(self) -> None:
        self._runner.ask(_marks_of, self._take, owner=self, topic="marks")

    def follow(self, change: Change) -> None:
        is_rule = not {LOCKED_SETTING, BROADEST_SETTING}.isdisjoint(change.settings)
        if is_rule or any(
            isinstance(edit, AttributesChanged | ClassRemoved) for edit in change.graph_edits
        ):
            self.read()

    def clear(self) -> None:
        self._take(({}, {}, {}, False, 0))

    def _take(self, found: Marks) -> None:
        if found != (self.colours, self.policies, self.keys, self.is_locked, self.broadest_level):
            self.colours, self.policies, self.keys, self.is_locked, self.broadest_level = found
            self.changed.emit()


def _marks_of(live: LiveCollection) -> Marks:
    classes, policies = live.project.classes, live.project.policies
    keys = dict(classes.graph.class_keys())
    return classes.colours(), policies.by_class(), keys, policies.is_locked, policies.broadest_level


T = TypeVar("T")


def _news_of_known(live: LiveCollection, _nothing: None) -> StateUpdate:
    """News after image metadata changed."""
    live.publish_metadata()
    return update_of_state(live)


@final
class Session(QObject):
    """The session of one open project at a time.

    All methods return at once; results arrive by signal, on the GUI thread.
    """

    opened = Signal(ProjectInfo)  # images and graph follow at once, predictions later
    loaded = Signal()  # with predictions, as far as images are embedded
    closed = Signal()  # no project is open
    graph_changed = Signal(tuple)  # edits, already applied to `graph`; empty where it was replaced
    state_changed = Signal(CollectionState)
    change_made = Signal(Change)  # of an action, undo or redo
    undo_state_changed = Signal(str, str)  # the next commands to undo and to redo; "" for none
    failed = Signal(str)  # a message
    damaged = Signal(Path)  # path of the project that cannot be opened; `failed` has the reason
    # False with a reason after the file was moved away; True, "" once it is back.
    writable_changed = Signal(bool, str)
    busy_changed = Signal(bool)  # False: everything is on disk
    fitting_changed = Signal(bool)  # whether predictions are being computed
    # Number of labelling actions not on disk after more than a frame.
    unsaved_changed = Signal(int)

    def __init__(self, caches: CacheFolders, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.caches = caches
        self.jobs = JobRunner(self)
        self.making = BackboneMaking(self.jobs)
        self.info: ProjectInfo | None = None
        self.state: CollectionState | None = None
        self._saved: CollectionState | None = None  # without labels that are not on disk yet
        self._graph: CategoryGraph | None = None
        self._is_stopped = False  # the file was moved away
        self.guesses = Guesses(
            lambda question, on_answer: self.ask(question, on_answer, owner=self), self
        )
        self._runner = Runner(
            caches,
            self.making,
            self.guesses,
            on_update=self._on_update,
            on_entered=self._on_entered,
            parent=self,
        )
        self.ask = self._runner.ask
        self._runner.busy_changed.connect(self.busy_changed)
        self._runner.failed.connect(self.failed)
        self._runner.damaged.connect(self.damaged)
        self._runner.moved.connect(self._set_writable)
        self._runner.left.connect(self._leave)
        self.current_card = CurrentCard(lambda: self.state, lambda: self.graph, self.guesses, self)
        self.guesses.arrived.connect(self.current_card.follow)
        self._labels = LabelWriter(self._runner, self)
        self.write_labels = self._labels.write
        self._labels.changed.connect(self._show_state)
        self._labels.unsaved_changed.connect(self.unsaved_changed)
        self.marks = ClassMarks(self._runner, self)
        self._is_loading = self._wants_teaching = False
        self._sortings: frozenset[Sorting] = frozenset()
        # Visible images, which are classified first.
        self.in_view: Callable[[], Sequence[int]] = tuple
        self._fitting = Fitting(self._runner, lambda: (*self.in_view(), *self.guesses.wanted), self)
        self._fitting.running_changed.connect(self.fitting_changed)
        self._fitting.caught_up.connect(self._on_caught_up)
        self.what_if = WhatIfSession(self._runner, self._fitting, self)

    @property
    def graph(self) -> CategoryGraph:
        """Mirror of the project's graph for the GUI thread; empty while no project is open."""
        if self._graph is None:
            from engine.graph.category_graph import CategoryGraph

            self._graph = CategoryGraph()
        return self._graph

    @property
    def is_writable(self) -> bool:
        """Whether a project is open that may be changed."""
        return self.info is not None and self.info.is_writable

    @property
    def is_settled(self) -> bool:
        """Whether all labels are on disk, and included in the predictions."""
        return not self._runner.is_busy and not self._fitting.is_running

    @property
    def is_fitting(self) -> bool:
        return self._fitting.is_running

    def undisturbed(self) -> AbstractContextManager[None]:
        """Pause fits within this context."""
        return self._fitting.resting()

    def resting_token(self) -> CancelToken:
        """A token for background computation that pauses within `undisturbed`."""
        return self._fitting.resting_token()

    # -- project

    def create(self, path: Path, backbone: str = "") -> None:
        """Create and open an empty project with a backbone, by default the default one."""
        self._runner.enter(partial(create_collection, backbone=backbone), path, is_new=True)

    def open(self, path: Path, *, for_writing: bool = True) -> None:
        self._runner.enter(open_collection if for_writing else open_for_reading, path)

    def close(self) -> None:
        """Stop long jobs, finish pending actions, then close the project."""
        self.jobs.cancel_all()
        self._runner.drop_questions()
        self._runner.leave()

    def look_at_file(self) -> None:
        """Check whether the project file was moved away."""
        if self.info is not None:
            self._runner.ask(
                lambda live: live.project.check_place(),
                lambda _nothing: self._set_writable(True, ""),
                owner=self,
            )

    def shut_down(self) -> None:
        """Close the project and end its thread before the program ends.

        Waits for the running action.
        """
        self.jobs.stop()
        self._fitting.stop()
        self.close()
        self._runner.stop()

    # -- actions

    def act(
        self, action: Callable[[Project], Change], *, on_done: Callable[[Change], None] = ignore
    ) -> None:
        """Run one action (a transaction) on the project thread.

        `on_done` is called on the GUI thread, after the signals.
        """
        self._runner.operate(lambda live: action(live.project), update_of_change, on_done)

    def label(
        self,
        image_ids: Sequence[int],
        class_id: int | None,
        *,
        is_bulk: bool = False,
        left_out: Sequence[int] = (),
    ) -> None:
        """Label images as a class; None for "none of the classes".

        Args:
            is_bulk: whether predictions of several images are accepted together.
            left_out: images of the same group that are not of this class.
        """
        code, source = UNKNOWN if class_id is None else class_id, IN_BULK if is_bulk else REVIEW
        self.write_labels(
            dict.fromkeys(image_ids, code),
            lambda project: project.labels.set(
                image_ids, class_id, source=source, left_out=left_out
            ),
        )

    def exclude(self, image_ids: Sequence[int], class_id: int) -> None:
        """Exclude a class for images."""
        self.act(lambda project: project.exclusions.add(image_ids, class_id))

    def label_groups(self, groups: Mapping[int, Sequence[int]], *, is_bulk: bool = False) -> None:
        """Label images of several classes in one action.

        Args:
            groups: images by class.
            is_bulk: whether predictions of several images are accepted together.
        """
        source = IN_BULK if is_bulk else REVIEW
        if groups:
            self.write_labels(
                {image_id: class_id for class_id, ids in groups.items() for image_id in ids},
                lambda project: project.labels.set_groups(groups, source=source),
            )

    def unlabel(self, image_ids: Sequence[int]) -> None:
        self.write_labels(
            dict.fromkeys(image_ids, NO_CLASS), lambda project: project.labels.remove(image_ids)
        )

    def is_unsaved(self, image_id: int) -> bool:
        """Whether a label of this image is not on disk yet."""
        return self._labels.is_unsaved(image_id)

    def undo(self) -> None:
        self._runner.operate(lambda live: live.project.history.undo(), update_of_change)

    def redo(self) -> None:
        self._runner.operate(lambda live: live.project.history.redo(), update_of_change)

    def rank_images_to_label(self, *, is_wanted: bool) -> None:
        """Set whether states include the ranking of images to label first.

        Also applies to projects opened later.
        """
        if is_wanted != self._wants_teaching:
            self._wants_teaching = is_wanted
            self._runner.operate(
                lambda live: live.rank_images_to_label(is_wanted=is_wanted), update_of_state
            )

    def prepare_review_groups(self, *, is_wanted: bool) -> None:
        """Set whether review groups of the open project are computed."""
        self._runner.operate(
            lambda live: live.prepare_review_groups(is_wanted=is_wanted), update_of_state
        )

    def run_long(
        self,
        work: Callable[[LiveCollection, OnProgress, CancelToken], T],
        *,
        title: str,
        change_of: Callable[[T], Change | None],
    ) -> Job:
        """Run long work on the project thread as a cancellable job, such as importing a folder.

        `change_of` extracts the `Change` from the result. `finished` is emitted after all signals
        about the change.
        """
        job = self._runner.long_operation(title, work, change_of)
        job.failed.connect(self.failed)
        self.jobs.watch(job)
        job.start()
        return job

    def read_files(
        self,
        title: str,
        work: Callable[[OnProgress, CancelToken], T],
        on_read: Callable[[T], object],
        *,
        is_followed: bool = False,
    ) -> None:
        """Read files as a job on a thread of its own; cancelled once the project is closed."""
        job = DetachedJob(title, work)
        job.keeps_finished, job.is_followed = False, is_followed
        job.finished.connect(on_read)
        job.failed.connect(self.failed)
        self.closed.connect(job.cancel)
        self.jobs.watch(job)
        job.start()

    def sort_by(self, sortings: frozenset[Sorting]) -> None:
        """Set the sort orders whose ranks the states include, also of projects opened later."""
        if sortings != self._sortings:
            self._sortings = sortings
            self._runner.operate(lambda live: live.metadata.sort_by(sortings), _news_of_known)

    def learn(self, update: Callable[[LiveCollection], bool], on_done: Callable[[], None]) -> None:
        """Store facts about files; broadcast only where `update` returns that the state changed."""

        def tell(is_other: bool) -> None:
            if is_other:
                self._runner.operate(
                    lambda _live: None,
                    _news_of_known,
                    lambda _nothing: on_done(),
                    on_failure=on_done,
                )
            else:
                on_done()

        self._runner.ask(update, tell, owner=self, on_failure=on_done)

    def take(self, update: Callable[[LiveCollection], object], on_done: Callable[[], None]) -> None:
        """Store computed results such as embeddings: no undo step, no message.

        `on_done` is also called on failure.
        """
        self._runner.operate(update, update_of_state, lambda _result: on_done(), on_failure=on_done)

    # -- on the project thread

    def _on_entered(self, live: LiveCollection, update: StateUpdate) -> None:
        live.rank_images_to_label(is_wanted=self._wants_teaching)
        live.metadata.sort_by(self._sortings)
        project = live.project
        info = ProjectInfo(
            project.path, project.path.stem, project.is_writable, project.backups.project_id
        )
        self._runner.post(lambda: self._enter(info, live))
        self._runner.publish(live, update)
        live.load(fits=False)
        self._runner.publish(live, update_of_state(live), self._on_read)

    # -- on the GUI thread

    def _enter(self, info: ProjectInfo, live: LiveCollection) -> None:
        self.info, self._runner.shown, self._is_stopped, self._is_loading = info, live, False, True
        self.making.forget()
        self.opened.emit(info)
        self.marks.read()

    def _on_read(self) -> None:
        """Report the project as loaded where nothing has to be fitted; else the first fit does."""
        if not self._fitting.is_running:
            self._on_caught_up()

    def _on_caught_up(self) -> None:
        if self._is_loading:
            self._is_loading = False
            self.loaded.emit()

    def _set_writable(self, is_shown: bool, reason: str) -> None:
        """Handle that the file was moved away (with a reason), or is back (without one)."""
        info = self.info
        if info is None or not is_shown:
            if reason:
                self.failed.emit(reason)
        elif reason or self._is_stopped:
            self._is_stopped = bool(reason)
            self.info = replace(info, is_writable=not reason)
            self.writable_changed.emit(not reason, reason)

    def _leave(self) -> None:
        self.info, self.state, self._runner.shown = None, None, None
        self._saved, self._graph = None, None
        self._labels.clear()
        self.guesses.clear()
        self.current_card.look_at(None)
        self._fitting.forget()
        self._runner.drop_questions()
        self.what_if.forget()
        self.marks.clear()
        self.closed.emit()

    def _on_update(self, update: StateUpdate) -> None:
        """Update graph and state before any signal, so that all listeners see both."""
        self._saved, self.state = update.state, self._labels.over(update.state)
        if update.new_graph is not None:
            self._graph = update.new_graph
        elif update.graph_edits:
            self.graph.apply(update.graph_edits)
        self.current_card.follow()
        is_whole = update.new_graph is not None
        if is_whole or any(map(changes_look, update.graph_edits)):
            self.graph_changed.emit(() if is_whole else update.graph_edits)
        if is_whole:
            self.marks.read()
        self.state_changed.emit(self.state)
        self.undo_state_changed.emit(update.undo_text, update.redo_text)
        if update.change is not None and not update.change.is_empty:
            self.what_if.note_edit()
            self.marks.follow(update.change)
            self.change_made.emit(update.change)
        self._fitting.keep_up(is_behind=update.is_behind)

    def _show_state(self) -> None:
        """Apply labels that were just set or rolled back."""
        if self._saved is not None:
            self.state = self._labels.over(self._saved)
            self.current_card.follow()
            self.state_changed.emit(self.state)
