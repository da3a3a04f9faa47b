"""Is the file what it should be? Checks that go deeper than opening can afford."""

from collections import defaultdict
from graphlib import CycleError, TopologicalSorter

from engine.errors import ProjectDamagedError
from engine.project.connection import Connection
from engine.project.journal import Journal
from engine.project.model_rows import MODEL_SETTING, file_faults

_NAMESAKES = """SELECT name FROM class LEFT JOIN edge ON child_id = class_id
    GROUP BY parent_id, name HAVING COUNT(*) > 1 ORDER BY name"""


def faults(connection: Connection) -> list[str]:
    """All that is wrong with a project file.

    Returns:
        One line for each fault; [] when the file is sound.
    """
    try:
        return _damage(connection) or [
            *_broken_references(connection),
            *_cycles(connection),
            *(f"two classes in one place are called {name}" for (name,) in connection.rows(_NAMESAKES)),
            *_missing_model(connection),
            *file_faults(connection),
            *Journal(connection).faults(),
        ]
    except ProjectDamagedError as error:
        return [str(error)]


def _damage(connection: Connection) -> list[str]:
    lines = [str(line) for (line,) in connection.rows("PRAGMA integrity_check")]
    return [] if lines == ["ok"] else lines


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


def _missing_model(connection: Connection) -> list[str]:
    found = connection.value(
        "SELECT 1 FROM setting JOIN model_version ON version_id = CAST(value AS INTEGER) WHERE setting.name = ?",
        (MODEL_SETTING,),
    )
    return [] if found else ["the model version in use is not there"]
