"""Checks of a project file: its seal, structure, tables, values and history."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter

from engine.errors import InputError, ProjectDamagedError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.file_parts import file_part
from engine.project.actions import stored_action
from engine.project.clock import time_of
from engine.project.connection import Connection
from engine.project.field_rows import value_faults
from engine.project.file.file_state import Seal, read_mark
from engine.project.model_rows import (
    MODEL_SETTING,
    chosen_version_id,
    file_faults,
    hash_faults,
    model_versions,
    setting_faults,
    stored_setting,
)
from engine.project.row_history import history_faults
from engine.project.schema_shape import shape_faults

Look = Callable[[Connection], list[str]]  # finds faults of one kind

_NAMESAKES = """SELECT name FROM class LEFT JOIN edge ON child_id = class_id
    GROUP BY parent_id, name HAVING COUNT(*) > 1 ORDER BY name"""
_TIMES = (
    ("label", "labelled_at"),
    ("image_note", "noted_at"),
    ("confirmed_label", "confirmed_at"),
    ("image_change", "found_at"),
    ("audit", "drawn_at"),
    ("exclusion", "excluded_at"),
    ("field_value", "entered_at"),
    ("model_version", "created_at"),
    ("journal_step", "done_at"),
)
_BROKEN_SEAL = "its bytes are other than they were when it was closed"


def opening_faults(
    connection: Connection,
    seal: Seal,
    *,
    has_writer: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> list[str]:
    """Faults of a project file of the present version, as far as opening it must know.

    A file with a valid checksum is bit for bit a sound, closed project, but for the page of the
    checksum itself, and writers have checked it. Any other is checked completely, but for trained
    models: a damaged one is reported when it is used, and another one can be chosen.
    """
    if seal is not Seal.WHOLE and not has_writer:
        history = partial(history_faults, on_progress=on_progress, cancel=cancel)
        return _all_faults(connection, seal, (*_LOOKS, history))
    try:  # of a whole file it takes a second for 4,000,000 images
        return _damage(connection, "quick_check" if has_writer else "quick_check(file_state)")
    except ProjectDamagedError as error:
        return [_fault(error)]


def has_sound_structure(connection: Connection) -> bool:
    """Whether SQLite finds no structural fault; a file is sealed only then."""
    return not _damage(connection, "quick_check")


def faults(
    connection: Connection,
    seal: Seal = Seal.OPEN,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> list[str]:
    """One line per fault of a project file of the current version; raises `Cancelled`."""
    history = partial(history_faults, on_progress=on_progress, cancel=cancel)
    return _all_faults(
        connection, seal, (*_LOOKS, history, setting_faults, value_faults, hash_faults, file_faults)
    )


def _all_faults(connection: Connection, seal: Seal, looks: Sequence[Look]) -> list[str]:
    try:
        lines = (
            shape_faults(connection)
            or _damage(connection, "integrity_check")
            or list(_wrong_values(connection, looks))
        )
    except ProjectDamagedError as error:
        lines = [_fault(error)]
    return lines if lines or seal is not Seal.BROKEN else [_BROKEN_SEAL]


def _damage(connection: Connection, check: str) -> list[str]:
    lines = [
        line for (text,) in connection.rows(f"PRAGMA {check}") for line in str(text).splitlines()
    ]
    return [] if lines == ["ok"] else [line for line in lines if not line.startswith("***")]


def _wrong_values(connection: Connection, looks: Sequence[Look]) -> Iterator[str]:
    for look in looks:
        try:
            yield from look(connection)
        except ProjectDamagedError as error:
            yield _fault(error)


def _fault(error: ProjectDamagedError) -> str:
    return f"{error.what} ({error.found})" if error.found else error.what


def _no_mark(connection: Connection) -> list[str]:
    read_mark(connection)
    return []


def _broken_references(connection: Connection) -> list[str]:
    rows = connection.rows("PRAGMA foreign_key_check")
    return [
        f"row {key} of table {table} names a {target} that is not there"
        for table, key, target, _ in rows
    ]


def _cycles(connection: Connection) -> list[str]:
    parents = defaultdict(list)
    for parent_id, child_id in connection.rows("SELECT parent_id, child_id FROM edge"):
        parents[child_id].append(parent_id)
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        return [f"classes {' > '.join(map(str, error.args[1]))} form a cycle"]
    return []


def _namesakes(connection: Connection) -> list[str]:
    return [
        f"two classes in one place are called {name}" for (name,) in connection.rows(_NAMESAKES)
    ]


def _missing_model(connection: Connection) -> list[str]:
    is_there = chosen_version_id(connection) in {
        each.version_id for each in model_versions(connection)
    }
    return [] if is_there else ["the model version in use is not there"]


def _unreadable_settings(connection: Connection) -> list[str]:
    for (name,) in connection.rows("SELECT name FROM setting WHERE name <> ?", (MODEL_SETTING,)):
        stored_setting(connection, name, None)
    return []


def _impossible_times(connection: Connection) -> list[str]:
    for table, column in _TIMES:
        for (text,) in connection.each(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608
        ):
            time_of(text)
    return []


def _unreadable_parts(connection: Connection) -> list[str]:
    """Invalid parts of files, or not in canonical form: two rows could be the same part."""
    for (text,) in connection.each("SELECT part FROM image WHERE part <> ''"):
        try:
            is_ours = file_part(text).text == text
        except InputError:
            is_ours = False
        if not is_ours:
            return [f"{text[:80]!r} names no part of a file"]
    return []


def _unreadable_actions(connection: Connection) -> list[str]:
    for row in connection.each("SELECT text, code, arguments FROM journal_step WHERE code <> ''"):
        str(stored_action(*row))
    return []


def _ids_given_twice(connection: Connection) -> list[str]:
    """A counter of ids that is behind the ids: the next one would be given a second time."""
    behind = []
    for table, column in (
        ("class", "class_id"),
        ("image", "image_id"),
        ("journal_step", "step_id"),
    ):
        largest = connection.value(f"SELECT max({column}) FROM {table}")  # noqa: S608
        counter = connection.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        if largest is not None and (not isinstance(counter, int) or counter < largest):
            behind.append(f"the counter of table {table} is behind its rows")
    return behind


_LOOKS: Sequence[Look] = (
    _no_mark,
    _broken_references,
    _cycles,
    _namesakes,
    _missing_model,
    _unreadable_settings,
    _impossible_times,
    _unreadable_parts,
    _unreadable_actions,
    _ids_given_twice,
)
