"""The labels' rows. Only actions of a person come here; no function of this module takes a prediction."""

from collections.abc import Iterable, Iterator, Mapping

from engine.project.clock import now_text, time_of, time_text
from engine.project.connection import Connection, Row
from engine.project.records import ClassId, ImageId, Label, LabelTable
from engine.project.schema import LABEL
from engine.project.step import OpenStep

_COLUMNS = "SELECT image_id, class_id, who, labelled_at, source FROM label"


def put_labels(step: OpenStep, classes: Mapping[ImageId, ClassId | None], *, who: str, source: str) -> None:
    """Label images, in place of earlier labels; one that says the same already is left as it is.

    Args:
        step: the open step.
        classes: the class of each image; None for "none of the classes".
        who: the person.
        source: by which way the labels came.
    """
    when = now_text()
    rows = [(image_id, class_id, who, when, source) for image_id, class_id in classes.items()]
    step.put(LABEL, [row for row in rows if not _says_the_same(_row_of(step.connection, row[0]), row)])


def put_missing_labels(step: OpenStep, classes: Mapping[ImageId, ClassId], *, who: str, source: str) -> list[ImageId]:
    """Label only those images that have no label; see `put_labels`.

    Returns:
        The images that got one.
    """
    when = now_text()
    unlabelled = [image_id for image_id in classes if _row_of(step.connection, image_id) is None]
    step.insert(LABEL, [(image_id, classes[image_id], who, when, source) for image_id in unlabelled])
    return unlabelled


def put_foreign_labels(step: OpenStep, labels: Iterable[Label]) -> list[ImageId]:
    """Label those images that have no label, each with its own person and time.

    Returns:
        The images that got one.
    """
    missing = {label.image_id: label for label in labels if _row_of(step.connection, label.image_id) is None}
    step.insert(
        LABEL,
        [(i, label.class_id, label.who, time_text(label.when), label.source) for i, label in sorted(missing.items())],
    )
    return list(missing)


def delete_labels(step: OpenStep, image_ids: Iterable[ImageId]) -> int:
    """Take labels away.

    Returns:
        How many there were.
    """
    return len(step.delete(LABEL, [(image_id,) for image_id in image_ids]))


def move_labels(step: OpenStep, class_id: ClassId, heir_id: ClassId | None) -> int:
    """Give the labels of a class that goes away to another class, or take them away.

    Args:
        step: the open step.
        class_id: the class that goes away.
        heir_id: who gets its labels; None takes them away.

    Returns:
        How many labels there were.
    """
    rows = step.connection.rows(f"{_COLUMNS} WHERE class_id = ? ORDER BY image_id", (class_id,))
    if heir_id is None:
        step.delete(LABEL, [row[:1] for row in rows])
    else:
        step.put(LABEL, [(row[0], heir_id, *row[2:]) for row in rows])
    return len(rows)


def labelled_as(step: OpenStep, class_id: ClassId, image_ids: Iterable[ImageId]) -> list[ImageId]:
    """Those of these images that are labelled with exactly this class."""
    rows = ((image_id, _row_of(step.connection, image_id)) for image_id in image_ids)
    return [image_id for image_id, row in rows if row is not None and row[1] == class_id]


def label_of(connection: Connection, image_id: ImageId) -> Label | None:
    """Read one image's label, or None."""
    row = _row_of(connection, image_id)
    return None if row is None else _label(row)


def labels(connection: Connection) -> Iterator[Label]:
    """Read all labels in ascending image id order."""
    return map(_label, connection.rows(f"{_COLUMNS} ORDER BY image_id"))


def label_table(connection: Connection) -> LabelTable:
    """Read all labels as columns."""
    rows = connection.rows("SELECT image_id, class_id FROM label ORDER BY image_id")
    image_ids, class_ids = zip(*rows, strict=True) if rows else ((), ())
    return LabelTable(image_ids, class_ids)


def labelled_counts(connection: Connection) -> dict[ClassId, int]:
    """Count the labels of each class that has any; "none of the classes" is not counted."""
    rows = connection.rows("SELECT class_id, COUNT(*) FROM label WHERE class_id IS NOT NULL GROUP BY class_id")
    return {class_id: count for class_id, count in rows}  # noqa: C416 (rows are typed loosely)


def _row_of(connection: Connection, image_id: ImageId) -> Row | None:
    return connection.row(f"{_COLUMNS} WHERE image_id = ?", (image_id,))


def _label(row: Row) -> Label:
    image_id, class_id, who, when, source = row
    return Label(image_id, class_id, who, time_of(when), source)


def _says_the_same(old: Row | None, new: Row) -> bool:
    # All but the time.
    return old is not None and (*old[:3], old[4]) == (*new[:3], new[4])
