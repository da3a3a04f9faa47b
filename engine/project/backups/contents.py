"""Differences of a backup and the present: classes, images, labels, and actions in between."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.project.actions import Action, stored_action
from engine.project.connection import Connection
from engine.project.file.on_disk import bare_file
from engine.project.schema import CLASS, CLASS_DETAIL, IMAGE_NOTE, JournaledTable

TEXTS_AT_MOST = 50

Step = tuple[int, str]  # id and time: together the same only where the step is


@dataclass(frozen=True)
class Contents:
    """User data of a project for the comparison of two states."""

    classes: Mapping[int, tuple[str, ...]]  # name and attributes by id
    images: frozenset[int]
    labels: Mapping[int, int | None]
    notes: Mapping[int, tuple[int, int, str]]  # stars, flag and comment
    steps: Mapping[Step, Action]  # those that are not undone, oldest first


@dataclass(frozen=True)
class Changes:
    """Differences between the present and a backup, in counts."""

    classes_added: int = 0
    classes_changed: int = 0  # those with another name or attribute
    classes_removed: int = 0
    images_added: int = 0
    images_removed: int = 0
    labels_added: int = 0
    labels_changed: int = 0
    labels_removed: int = 0
    notes_added: int = 0
    notes_changed: int = 0
    notes_removed: int = 0
    steps: int = 0  # actions since, but for undone ones
    texts: tuple[str, ...] = ()  # the latest of them in words, latest first
    steps_undone: int = 0  # actions that the backup knows and that were undone since

    @property
    def is_empty(self) -> bool:
        """Whether the present is as it was."""
        return self == Changes()


def read_contents(connection: Connection) -> Contents:
    """Read the compared values; some milliseconds for each 10,000 images."""
    details = (
        connection.rows("SELECT * FROM class_detail") if _has(connection, CLASS_DETAIL) else []
    )
    noted = {row[0]: CLASS_DETAIL.whole(row) for row in details}
    notes = connection.rows("SELECT * FROM image_note") if _has(connection, IMAGE_NOTE) else []
    steps = connection.rows("SELECT * FROM journal_step WHERE is_undone = 0 ORDER BY step_id")
    return Contents(
        {
            row[0]: (
                *CLASS.whole(row)[1:-1],
                *noted.get(row[0], (row[0], *CLASS_DETAIL.defaults))[1:],
            )
            for row in connection.rows("SELECT * FROM class")
        },
        frozenset(image_id for (image_id,) in connection.rows("SELECT image_id FROM image")),
        dict(connection.rows("SELECT image_id, class_id FROM label")),
        {image_id: tuple(noted[:3]) for image_id, *noted in notes},
        {(row[0], row[2]): stored_action(row[1], *row[5:]) for row in steps},
    )


def _has(connection: Connection, table: JournaledTable) -> bool:
    """Whether a file has a table; a backup of an older version may lack it."""
    return connection.row("SELECT 1 FROM sqlite_schema WHERE name = ?", (table.name,)) is not None


def contents_of_backup(path: Path) -> Contents:
    """Read the contents of a backup; raises `ProjectDamagedError` where it cannot be read."""
    with bare_file(path) as connection:
        return read_contents(connection)


def changes_between(before: Contents, present: Contents) -> Changes:
    """What changed since a backup."""
    classes, labels = (
        _compared(before.classes, present.classes),
        _compared(before.labels, present.labels),
    )
    since = [str(action) for step, action in present.steps.items() if step not in before.steps]
    return Changes(
        *classes,
        len(present.images - before.images),
        len(before.images - present.images),
        *labels,
        *_compared(before.notes, present.notes),
        steps=len(since),
        texts=tuple(since[: -TEXTS_AT_MOST - 1 : -1]),
        steps_undone=len(before.steps.keys() - present.steps.keys()),
    )


def _compared(before: Mapping[int, object], present: Mapping[int, object]) -> tuple[int, int, int]:
    """Numbers of added, changed and removed keys."""
    both = before.keys() & present.keys()
    changed = sum(before[key] != present[key] for key in both)
    return len(present) - len(both), changed, len(before) - len(both)
