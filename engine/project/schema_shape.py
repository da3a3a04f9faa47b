"""Whether a project file has the tables, indexes and nothing else that this version makes."""

import functools
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing

from engine.project import schema
from engine.project.connection import Connection

_SHAPE = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema"


def shape_faults(connection: Connection) -> list[str]:
    """One line per missing, unknown or different table, index, trigger or view."""
    found = {(kind, name): _plain(sql) for kind, name, sql in connection.rows(_SHAPE)}
    ours = _our_shape(schema.SCHEMA)
    missing = [f"without {kind} {name}" for kind, name in sorted(ours.keys() - found.keys())]
    strange = [
        f"with {kind} {name}, which is not ours"
        for kind, name in sorted(found.keys() - ours.keys())
    ]
    other = [
        f"{kind} {name} is other than ours"
        for kind, name in sorted(ours.keys() & found.keys())
        if ours[kind, name] != found[kind, name]
    ]
    return missing + strange + other


def acting_faults(connection: Connection) -> list[str]:
    """One line for each trigger or view of a file of an older version: none ever had one."""
    rows = connection.rows(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name"
    )
    return [f"with {kind} {name}, which is not ours" for kind, name in rows]


@functools.lru_cache(maxsize=4)
def _our_shape(statements: str) -> Mapping[tuple[str, str], str]:
    with closing(sqlite3.connect(":memory:")) as memory:
        memory.executescript(statements)
        return {(kind, name): _plain(sql) for kind, name, sql in memory.execute(_SHAPE)}


def _plain(sql: object) -> str:
    # A column that a migration added is in the same place with other white space.
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(str(sql).split()))
