"""What changed between a backup and the present: classes, images, labels, and the actions in between."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.project.actions import Action, stored_action
from engine.project.connection import Connection, Row
from engine.project.file.on_disk import address
from engine.project.schema import CLASS, CLASS_DETAIL

TEXTS_AT_MOST: Final = 50

Step = tuple[int, str]
"""Id and time: together the same only where the step is."""


@dataclass(frozen=True)
class Contents:
    """What people did in a project, as far as two of its states are compared.

    Attributes:
        classes: name and attributes by id.
        images: ids.
        labels: class by image.
        steps: the actions that count, oldest first.
    """

    classes: Mapping[int, tuple[str, ...]]
    images: frozenset[int]
    labels: Mapping[int, int | None]
    steps: Mapping[Step, Action]


@dataclass(frozen=True)
class Changes:
    """What is other in the present than it was in a backup.

    Attributes:
        classes_added, classes_changed, classes_removed: changed ones have another name or attribute.
        images_added, images_removed: by count.
        labels_added, labels_changed, labels_removed: by count.
        steps: actions that were made since and count.
        texts: the latest of them in words, latest first.
        steps_undone: actions that the backup knows and that do not count any more.
    """

    classes_added: int = 0
    classes_changed: int = 0
    classes_removed: int = 0
    images_added: int = 0
    images_removed: int = 0
    labels_added: int = 0
    labels_changed: int = 0
    labels_removed: int = 0
    steps: int = 0
    texts: tuple[str, ...] = ()
    steps_undone: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the present is as it was."""
        return self == Changes()


def read_contents(connection: Connection) -> Contents:
    """Read what is compared; some milliseconds for each 10,000 images."""
    noted = {row[0]: CLASS_DETAIL.whole(row) for row in _detail_rows(connection)}
    steps = connection.rows("SELECT * FROM journal_step WHERE is_undone = 0 ORDER BY step_id")
    return Contents(
        {
            row[0]: (*CLASS.whole(row)[1:], *noted.get(row[0], (row[0], *CLASS_DETAIL.defaults))[1:])
            for row in connection.rows("SELECT * FROM class")
        },
        frozenset(image_id for (image_id,) in connection.rows("SELECT image_id FROM image")),
        dict(connection.rows("SELECT image_id, class_id FROM label")),
        {(row[0], row[2]): stored_action(row[1], *row[5:]) for row in steps},
    )


def _detail_rows(connection: Connection) -> list[Row]:
    """Notes and colours; a backup from before version 5 has no room for them."""
    has_room = connection.value("SELECT 1 FROM sqlite_schema WHERE name = ?", (CLASS_DETAIL.name,))
    return connection.rows("SELECT * FROM class_detail") if has_room else []


def contents_of_backup(path: Path) -> Contents:
    """Read what a backup holds.

    Raises:
        ProjectDamagedError: it cannot be read.
    """
    with closing(Connection(path, address(path, "mode=ro&immutable=1"))) as connection:
        return read_contents(connection)


def changes_between(before: Contents, present: Contents) -> Changes:
    """What changed since a backup."""
    classes, labels = _compared(before.classes, present.classes), _compared(before.labels, present.labels)
    since = [str(action) for step, action in present.steps.items() if step not in before.steps]
    return Changes(
        *classes,
        len(present.images - before.images),
        len(before.images - present.images),
        *labels,
        steps=len(since),
        texts=tuple(since[: -TEXTS_AT_MOST - 1 : -1]),
        steps_undone=len(before.steps.keys() - present.steps.keys()),
    )


def _compared(before: Mapping[int, object], present: Mapping[int, object]) -> tuple[int, int, int]:
    """How many keys came, have another value, and are gone."""
    both = before.keys() & present.keys()
    changed = sum(before[key] != present[key] for key in both)
    return len(present) - len(both), changed, len(before) - len(both)
