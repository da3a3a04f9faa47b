"""Shared state of an open project: its connection, its graph, and the way to change them."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from engine.errors import ProjectDamagedError
from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import check_growth
from engine.project import graph_rows
from engine.project.actions import UNNAMED, Action
from engine.project.backups.keeping import ProjectBackups
from engine.project.backups.place import BackupReason
from engine.project.change import Change
from engine.project.clock import person_name
from engine.project.connection import Connection, Row
from engine.project.file.file_lock import read_only_error
from engine.project.file.file_state import read_mark
from engine.project.opening import OpenFile
from engine.project.step import OpenStep, StepWriter

_SEPARATOR = "/"


@dataclass(frozen=True)
class ImagePaths:
    """Translates between paths on this computer and paths in the file."""

    folder: Path  # the project's, absolute
    # its spellings, with and without links resolved, each with a separator at its end
    prefixes: tuple[str, ...]

    @classmethod
    def around(cls, project: Path, spelled: Path) -> "ImagePaths":
        """The path translation of a project file, for its absolute and its given folder."""
        folder = project.parent
        spellings = dict.fromkeys((os.fspath(folder), os.path.realpath(folder)))
        if spelled.parent.is_dir() and spelled.parent.samefile(folder):
            spellings[os.path.abspath(spelled.parent)] = None  # noqa: PTH100 (links are kept)
        prefixes = tuple(os.path.join(each, "") for each in spellings)  # noqa: PTH118
        return cls(folder, prefixes)

    def stored(self, path: Path) -> str | bytes:
        """The stored value of a path: text, or bytes where the name is not valid Unicode."""
        text = os.fspath(path)
        if not os.path.isabs(text):  # noqa: PTH117 (this runs 100,000 times)
            text = os.path.abspath(text)  # noqa: PTH100
        for prefix in self.prefixes:
            if text.startswith(prefix):
                text = text[len(prefix) :]
                break
        if os.sep != _SEPARATOR:
            text = text.replace(os.sep, _SEPARATOR)
        try:
            text.encode()
        except UnicodeEncodeError:
            return os.fsencode(text)
        return text

    def absolute(self, path: str) -> Path:
        """The path on this computer for one that a record shows."""
        return self.folder / path  # an absolute path wins over the folder


def shown_path(value: str | bytes) -> str:
    """The path of a stored value; raises `ProjectDamagedError` for an invalid one."""
    try:
        return value if isinstance(value, str) else os.fsdecode(value)
    except TypeError as error:
        raise ProjectDamagedError(
            "an image's path cannot be read",
            found=repr(value),
            remedy="open an earlier copy of the file",
        ) from error


@final
class ProjectStore:
    """The transactions of an open project."""

    def __init__(self, path: Path, file: OpenFile, *, spelled: Path) -> None:
        self.path = path
        self.file = file
        # or a copy of it in memory while something is tried out
        self.connection: Connection = file.connection
        self.paths = ImagePaths.around(path, spelled)
        self.loaded_graph: CategoryGraph | None = None  # until it is needed
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
        """Connections for facts: the file, unless read-only, and the what-if copy, if any."""
        self.check_writable()
        is_copied_too = self.is_what_if and self.file.is_writable
        return (self.file.connection, self.connection) if is_copied_too else (self.connection,)

    def write_facts(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for each row of facts, which are not journaled, in one transaction."""
        for connection in self.fact_connections:
            with connection.transaction():
                connection.write_many(statement, rows)

    @property
    def backups(self) -> ProjectBackups:
        """The backups of this project."""
        lock = self.file.lock
        project_id = read_mark(self.connection).project_id
        return ProjectBackups(self.path, project_id, None if lock is None else lock.identity)

    def check_writable(self) -> None:
        """Raise `ProjectReadOnlyError` for a read-only file; a what-if copy may be changed."""
        if not (self.file.is_writable or self.is_what_if):
            raise read_only_error(self.path)

    @contextmanager
    def one_step(
        self, action: Action = UNNAMED, *, who: str = "", backup: BackupReason | None = None
    ) -> Iterator[OpenStep]:
        """Make the actions inside a `with` block atomic, and undone at once.

        After the block the step's `change` is the whole change. Inside another step it becomes part
        of that; when it fails, only its own part is taken back.

        Args:
            who: the annotator; by default the current user.
            backup: why a backup is made before, if any. The action goes on without one, since undo
                exists. Within a larger action that one made its backup, and a what-if trial needs
                none.
        """
        self.check_writable()
        outer = self._open_step
        making = (
            self._outermost(action, who or person_name(), backup)
            if outer is None
            else self._inner(outer, action)
        )
        with making as step:
            self._open_step = step
            try:
                yield step
            finally:
                self._open_step = outer

    def edit_graph(
        self, edit: Callable[[CategoryGraph], object], action: Action = UNNAMED
    ) -> Change:
        """Edit the graph and write the edits, as one step."""
        with self.one_step(action) as step:
            graph = self._held_graph(step)
            with graph.record() as edits:
                edit(graph)
                check_growth(graph, edits)
                graph_rows.store_edits(step, edits)
        return step.change

    @contextmanager
    def _outermost(
        self, action: Action, who: str, backup: BackupReason | None
    ) -> Iterator[OpenStep]:
        notice = "" if backup is None or self.is_what_if else self.backups.before(backup)
        writer = StepWriter(self.connection, action, who)
        # The resources are left after the commit, so that a commit that fails takes them back, too.
        with writer.resources, self.connection.transaction():
            step = OpenStep(writer, action, notice)
            yield step
            writer.check_is_whole()
            writer.finish(step.action)

    @contextmanager
    def _inner(self, outer: OpenStep, action: Action) -> Iterator[OpenStep]:
        writer, step = outer.writer, OpenStep(outer.writer, action)
        place = writer.savepoint()
        with self._held_graph(step).record():  # what fails leaves the graph as the file has it
            try:
                yield step
                writer.flush()
            except BaseException:
                if writer.connection.in_transaction:
                    writer.go_back(place)
                raise
        writer.keep()
        outer.builder.absorb(step.builder)

    def _held_graph(self, step: OpenStep) -> CategoryGraph:
        """The graph, held so that it goes back when the step does not reach the disk."""
        if not step.writer.holds_graph:
            step.writer.resources.enter_context(self.graph.record())
            step.writer.holds_graph = True
        return self.graph


class ProjectPart:
    """Base of the parts of an open project, such as its labels."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    @property
    def _connection(self) -> Connection:
        """The connection of the file, or of the what-if copy."""
        return self._store.connection
