"""What all parts of an open project share: its connection, its graph, and the one way to change it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from engine.graph.category_graph import CategoryGraph
from engine.graph.growth import check_growth
from engine.project import graph_rows
from engine.project.actions import UNNAMED, Action
from engine.project.backups.keeping import ProjectBackups
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.clock import person_name
from engine.project.connection import Connection
from engine.project.file.file_lock import read_only_error
from engine.project.file.file_state import read_mark
from engine.project.image_paths import ImagePaths
from engine.project.opening import OpenFile
from engine.project.step import OpenStep, StepWriter


@final
class ProjectStore:
    """The transactions of an open project.

    Args:
        path: the project file, absolute.
        file: the same, open.
        spelled: the same as the person gave it, which may lead over links.

    Attributes:
        connection: the file, or a copy of it in memory while something is tried out.
        paths: translates between paths on this computer and paths in the file.
        loaded_graph: the category graph; None until it is needed.
    """

    def __init__(self, path: Path, file: OpenFile, *, spelled: Path) -> None:
        self.path = path
        self.file = file
        self.connection: Connection = file.connection
        self.paths = ImagePaths.around(path, spelled)
        self.loaded_graph: CategoryGraph | None = None
        self._open_step: OpenStep | None = None

    @property
    def graph(self) -> CategoryGraph:
        """The category graph, loaded once."""
        if self.loaded_graph is None:
            self.loaded_graph = graph_rows.load_graph(self.connection)
        return self.loaded_graph

    @property
    def is_what_if(self) -> bool:
        """Whether actions go to a copy."""
        return self.connection is not self.file.connection

    @property
    def fact_connections(self) -> tuple[Connection, ...]:
        """Where facts go: the file, unless it is only read, and the copy where there is one.

        Raises:
            ProjectReadOnlyError: there is neither.
        """
        self.check_writable()
        is_copied_too = self.is_what_if and self.file.is_writable
        return (self.file.connection, self.connection) if is_copied_too else (self.connection,)

    @property
    def backups(self) -> ProjectBackups:
        """The backups of this project."""
        lock = self.file.lock
        project_id = read_mark(self.connection).project_id
        return ProjectBackups(self.path, project_id, None if lock is None else lock.identity)

    def check_writable(self) -> None:
        """Refuse to change a file that is only read; a copy in memory may be changed.

        Raises:
            ProjectReadOnlyError: it must not be changed.
        """
        if not (self.file.is_writable or self.is_what_if):
            raise read_only_error(self.path)

    @contextmanager
    def one_step(
        self, action: Action = UNNAMED, *, who: str = "", backup: BackupReason | None = None
    ) -> Iterator[OpenStep]:
        """Make the actions inside a `with` block one: all or none of them happen, and undo takes them back at once.

        Inside another step it becomes part of that one; when it fails, only its own part is taken back.

        Args:
            action: what the whole is called.
            who: the person; by default the one at this computer.
            backup: why a backup is made before, if one is. The action goes on in any case, since undo leads back.
                Within a larger action that one made its backup, and nothing needs one that is only tried out.

        Returns:
            Context manager that gives the step; after the block its `change` is the whole change.
        """
        self.check_writable()
        outer = self._open_step
        making = self._outermost(action, who or person_name(), backup) if outer is None else _inner(outer, action)
        with making as step:
            self._open_step = step
            try:
                yield step
            finally:
                self._open_step = outer

    def edit_graph(self, edit: Callable[[CategoryGraph], object], action: Action = UNNAMED) -> Change:
        """Edit the graph and write what was edited, as one step."""
        with self.one_step(action) as step:
            graph = self._held_graph(step)
            with graph.record() as edits:
                edit(graph)
                check_growth(graph, edits)
                graph_rows.store_edits(step, edits)
        return step.change

    @contextmanager
    def _outermost(self, action: Action, who: str, backup: BackupReason | None) -> Iterator[OpenStep]:
        notice = "" if backup is None or self.is_what_if else self.backups.before(backup)
        writer = StepWriter(self.connection, action, who)
        # The resources are left after the commit, so that a commit that fails takes them back, too.
        with writer.resources, self.connection.transaction():
            step = OpenStep(writer, action, notice)
            yield step
            writer.check_is_whole()
            writer.finish(step.action)

    def _held_graph(self, step: OpenStep) -> CategoryGraph:
        """The graph, held so that it goes back when the step does not reach the disk."""
        if not step.writer.holds_graph:
            step.writer.resources.enter_context(self.graph.record())
            step.writer.holds_graph = True
        return self.graph


@contextmanager
def _inner(outer: OpenStep, action: Action) -> Iterator[OpenStep]:
    writer, step = outer.writer, OpenStep(outer.writer, action)
    place = writer.savepoint()
    try:
        yield step
    except BaseException:
        if writer.connection.in_transaction:
            writer.go_back(place)
        raise
    writer.flush()
    writer.keep()
    outer.builder.absorb(step.builder)
