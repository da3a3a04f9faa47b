"""Is the file what it should be? Its seal, its structure, its tables, its values and its history."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Final

from engine.errors import ProjectDamagedError
from engine.project.actions import stored_action
from engine.project.clock import time_of
from engine.project.connection import Connection, Row
from engine.project.file.file_state import Seal, read_mark
from engine.project.model_rows import MODEL_SETTING, chosen_version_id, file_faults, model_versions, setting
from engine.project.schema import JOURNALED_TABLES, JournaledTable, shape_faults
from engine.project.step import RowChange, decoded

Look = Callable[[Connection], list[str]]  # finds faults of one kind

_NAMESAKES: Final = """SELECT name FROM class LEFT JOIN edge ON child_id = class_id
    GROUP BY parent_id, name HAVING COUNT(*) > 1 ORDER BY name"""
_TIMES: Final = (
    ("label", "labelled_at"),
    ("image_note", "noted_at"),
    ("confirmed_label", "confirmed_at"),
    ("model_version", "created_at"),
    ("journal_step", "done_at"),
)
_BROKEN_SEAL: Final = "its bytes are other than they were when it was closed"


def opening_faults(connection: Connection, seal: Seal) -> list[str]:
    """Faults of a project file of the present version, as far as opening it must know.

    A file whose seal holds is bit for bit what a sound project was when it was closed; of any other all is checked,
    but for trained models: a damaged one is reported when it is used, and another one can be chosen.
    """
    if seal is not Seal.WHOLE:
        return _all_faults(connection, seal, _LOOKS)
    try:
        return _damage(connection, "quick_check")
    except ProjectDamagedError as error:
        return [_fault(error)]


def faults(connection: Connection, seal: Seal = Seal.OPEN) -> list[str]:
    """One line for each fault of a project file of the present version."""
    return _all_faults(connection, seal, (*_LOOKS, file_faults))


def _all_faults(connection: Connection, seal: Seal, looks: Sequence[Look]) -> list[str]:
    try:
        lines = (
            shape_faults(connection) or _damage(connection, "integrity_check") or list(_wrong_values(connection, looks))
        )
    except ProjectDamagedError as error:
        lines = [_fault(error)]
    return lines if lines or seal is not Seal.BROKEN else [_BROKEN_SEAL]


def _damage(connection: Connection, check: str) -> list[str]:
    lines = [line for (text,) in connection.rows(f"PRAGMA {check}") for line in str(text).splitlines()]
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
    return [f"row {key} of table {table} names a {target} that is not there" for table, key, target, _ in rows]


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
    return [f"two classes in one place are called {name}" for (name,) in connection.rows(_NAMESAKES)]


def _missing_model(connection: Connection) -> list[str]:
    is_there = chosen_version_id(connection) in {each.version_id for each in model_versions(connection)}
    return [] if is_there else ["the model version in use is not there"]


def _unreadable_settings(connection: Connection) -> list[str]:
    for (name,) in connection.rows("SELECT name FROM setting WHERE name <> ?", (MODEL_SETTING,)):
        setting(connection, name, None)
    return []


def _impossible_times(connection: Connection) -> list[str]:
    for table, column in _TIMES:
        for (text,) in connection.each(f"SELECT DISTINCT {column} FROM {table}"):  # noqa: S608 (our names)
            time_of(text)
    return []


def _unreadable_actions(connection: Connection) -> list[str]:
    for row in connection.each("SELECT text, code, arguments FROM journal_step WHERE code <> ''"):
        str(stored_action(*row))
    return []


def _ids_given_twice(connection: Connection) -> list[str]:
    """A counter of ids that is behind the ids: the next one would be given a second time."""
    behind = []
    for table, column in (("class", "class_id"), ("image", "image_id"), ("journal_step", "step_id")):
        largest = connection.value(f"SELECT max({column}) FROM {table}")  # noqa: S608 (our names)
        counter = connection.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        if largest is not None and (not isinstance(counter, int) or counter < largest):
            behind.append(f"the counter of table {table} is behind its rows")
    return behind


_NAMED_AT_MOST: Final = 5

Rows = Mapping[tuple[str, Row], Row | None]  # what a row holds by table and key; None where it was deleted


def history_faults(connection: Connection) -> list[str]:
    """One line for each row that differs from its history, and for each step that cannot be read.

    Every row that a person made comes from a step of the journal, so the steps must add up to what the tables hold.
    This finds what no check of the file's structure can: a value that is well formed and wrong, or half of an action.
    """
    explained: dict[tuple[str, Row], Row | None] = {}
    unreadable = []
    chunks = connection.rows(
        "SELECT step_id, sequence, is_undone FROM journal_chunk JOIN journal_step USING (step_id)"
        " ORDER BY step_id, sequence"
    )
    for step_id, sequence, is_undone in chunks:
        try:
            changes = read_chunk(connection, step_id, sequence)
        except ProjectDamagedError as error:
            unreadable.append(f"{error.what} ({error.found})")
            continue
        if not is_undone:
            explained.update(_after(changes))
    if unreadable:
        return unreadable
    is_whole = bool(connection.value("SELECT is_journal_whole FROM file_state"))
    differing = chain.from_iterable(
        _differing(connection, table, explained, is_whole=is_whole) for table in JOURNALED_TABLES.values()
    )
    lines = list(differing)
    rest = len(lines) - _NAMED_AT_MOST
    return lines if rest <= 1 else [*lines[:_NAMED_AT_MOST], f"and {rest} more rows that do not fit their history"]


def read_chunk(connection: Connection, step_id: int, sequence: int) -> list[RowChange]:
    """Read the row changes of a part of a step; raises `ProjectDamagedError` where they cannot be read."""
    stored = connection.value(
        "SELECT row_changes FROM journal_chunk WHERE step_id = ? AND sequence = ?", (step_id, sequence)
    )
    try:
        return decoded(stored)
    except ValueError as error:
        raise ProjectDamagedError(
            "a step of the history cannot be read",
            found="step {step_id}: {reason}",
            remedy="restore a backup or open an earlier copy of the file",
            step_id=step_id,
            reason=error,
        ) from error


def _after(changes: list[RowChange]) -> Iterator[tuple[tuple[str, Row], Row | None]]:
    for name, before, after in changes:
        row = after if after is not None else before
        if row is not None:
            yield (name, row[: JOURNALED_TABLES[name].key_width]), after


def _differing(connection: Connection, table: JournaledTable, explained: Rows, *, is_whole: bool) -> Iterator[str]:
    expected = {key: row for (name, key), row in explained.items() if name == table.name}
    columns = ", ".join(table.columns)
    for row in connection.each(f"SELECT {columns} FROM {table.name}"):  # noqa: S608 (our names)
        key = row[: table.key_width]
        if key in expected:
            recorded = expected.pop(key)
            if recorded is None or row != table.whole(recorded):
                yield f"row {_text(key)} of table {table.name} is other than its history says"
        elif is_whole and key != (MODEL_SETTING,):
            yield f"row {_text(key)} of table {table.name} has no history"
    for key, recorded in expected.items():
        if recorded is not None:
            yield f"row {_text(key)} of table {table.name} is gone, and its history does not say why"


def _text(key: Row) -> str:
    return ", ".join(map(str, key))


_LOOKS: Final[Sequence[Look]] = (
    _no_mark,
    _broken_references,
    _cycles,
    _namesakes,
    _missing_model,
    _unreadable_settings,
    _impossible_times,
    _unreadable_actions,
    _ids_given_twice,
    history_faults,
)
