"""Rows of images, and what hangs on them: written within a step, or as facts of the machine."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

from engine.errors import InputError
from engine.files import FoundFile
from engine.graph.codes import EMPTY
from engine.project.connection import Connection, Row
from engine.project.packed import packed_text, unpacked_text
from engine.project.records import ClassId, ImageId, NewItem
from engine.project.schema import (
    AUDIT_ITEM,
    CONFIRMED_LABEL,
    EXCLUSION,
    FIELD_VALUE,
    IMAGE,
    LABEL,
    LONGEST_TEXT,
)
from engine.project.step import OpenStep
from engine.project.store import ImagePaths


def plain_ids(image_ids: Iterable[ImageId]) -> list[ImageId]:
    """Plain distinct integers, in order: callers may bring those of NumPy."""
    return list(dict.fromkeys(map(int, image_ids)))


def insert_new(
    step: OpenStep, files: Sequence[FoundFile | NewItem], paths: ImagePaths, new_ids: list[ImageId]
) -> list[ImageId]:
    """Add images, with the ids of new ones in `new_ids`; returns the id of each."""
    next_id = (
        int(step.connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'image'") or 0) + 1
    )
    known: dict[tuple[str | bytes, str], ImageId] = {}
    image_ids: list[ImageId] = []
    rows: list[Row] = []
    for each in files:
        item = each if isinstance(each, NewItem) else NewItem(each)
        path = paths.stored(item.file.path)
        key = path, item.part
        image_id = known.get(key) or id_of(step.connection, *key)
        if image_id is None:
            image_id = next_id + len(rows)
            place = item.file.size_bytes, item.file.modified_ns
            rows.append((image_id, path, *place, item.part, item.category, item.detection_score))
        known[key] = image_id
        image_ids.append(image_id)
    step.insert(IMAGE, rows)
    new_ids += [row[0] for row in rows]
    return image_ids


def label_new(
    step: OpenStep, given: Iterable[tuple[ImageId, ClassId | None]], ending: tuple[str, str, str]
) -> dict[ImageId, ClassId]:
    """Label unlabelled images, each with its first class; rows end with author, time and source."""
    classes: dict[ImageId, ClassId] = {}
    for image_id, class_id in given:
        if class_id is not None:
            classes.setdefault(image_id, int(class_id))
    labelled = {each: classes[each] for each in classes if not _has_label(step.connection, each)}
    step.put(LABEL, [label_row(*pair, *ending) for pair in labelled.items()])
    return labelled


def label_row(image_id: ImageId, code: int, who: str, when: str, source: str) -> Row:
    """The row of a label: a class id, `UNKNOWN` or `EMPTY`."""
    return image_id, code if code >= 0 else None, who, when, source, int(code == EMPTY)


def move_images(
    step: OpenStep,
    moves: Iterable[tuple[ImageId, FoundFile]],
    leaving: Collection[ImageId],
    paths: ImagePaths,
) -> int:
    """Relocate files with all their images; see `ProjectImages.relink`. Returns their number."""
    gone: list[ImageId] = []
    rows: dict[str | bytes, list[Row]] = {}
    for image_id, file in moves:
        path = paths.stored(file.path)
        items = [] if path in rows else _items_of_file(step.connection, image_id)
        own_ids = {row[0] for row in items}
        holders = [each for each in _ids_at(step.connection, path) if each not in own_ids]
        is_taken = any(
            each not in leaving or _has_answer(step.connection, each) for each in holders
        )
        if not items or is_taken:
            continue
        gone += holders
        rows[path] = [(row[0], path, file.size_bytes, file.modified_ns, *row[4:]) for row in items]
    # Confirmations outlive their labels, for undo.
    step.delete(CONFIRMED_LABEL, [(image_id,) for image_id in gone])
    remove_lists(step, gone)
    step.delete(IMAGE, [(image_id,) for image_id in gone])
    moved = [row for items in rows.values() for row in items]
    step.put(IMAGE, moved)
    return len(moved)


def _items_of_file(connection: Connection, image_id: ImageId) -> list[Row]:
    """The rows of all images of an image's file."""
    return connection.rows(
        f"{IMAGE.select_all} WHERE path = (SELECT path FROM image WHERE image_id = ?)"  # noqa: S608
        " ORDER BY image_id",
        (image_id,),
    )


def _ids_at(connection: Connection, path: str | bytes) -> list[ImageId]:
    return [
        image_id
        for (image_id,) in connection.rows("SELECT image_id FROM image WHERE path = ?", (path,))
    ]


def within_pictures(connection: Connection, image_ids: Sequence[ImageId]) -> list[ImageId]:
    """The images that are boxes, or further things, in pictures among these images."""
    rows = connection.rows(
        "SELECT item.image_id FROM image AS picture JOIN image AS item USING (path)"
        " WHERE picture.image_id IN (SELECT value FROM json_each(?))"
        " AND item.image_id <> picture.image_id"
        " AND iif(picture.part = '', item.part LIKE 'xywh=%' OR item.part LIKE 'thing=%',"
        " substr(item.part, 1, length(picture.part) + 1) = picture.part || '&')",
        (json.dumps(list(image_ids)),),
    )
    return [image_id for (image_id,) in rows]


def remove_lists(step: OpenStep, image_ids: Sequence[ImageId]) -> None:
    """Take images out of audits, and their excluded classes and values of fields away."""
    for table in (AUDIT_ITEM, EXCLUSION, FIELD_VALUE):
        found = step.connection.rows(
            f"SELECT {', '.join(table.columns[: table.key_width])} FROM {table.name}"  # noqa: S608
            " WHERE image_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(image_ids)),),
        )
        step.delete(table, found)


def check_images(connection: Connection, image_ids: Iterable[ImageId]) -> None:
    """Raise `InputError` where an image is not in the project."""
    for image_id in image_ids:
        if not _is_there(connection, image_id):
            raise no_such_image(image_id)


def store_facts(
    connection: Connection, facts: Iterable[tuple[ImageId, bytes | str | None, str | None]]
) -> None:
    """Store image id, content hash (bytes or hex) and failure, either of them None, of read images.

    Removed images are skipped. A known content hash is not cleared where the file could not be
    read: its disk may come back.
    """
    rows = [
        (
            int(image_id),
            _hash_bytes(content_hash),
            None if failure is None else packed_text(failure, LONGEST_TEXT),
        )
        for image_id, content_hash, failure in facts
    ]
    with connection.transaction():
        connection.write_many(
            "INSERT INTO image_fact (image_id, content_hash, failure)"
            " SELECT image_id, ?2, ?3 FROM image WHERE image_id = ?1"
            " ON CONFLICT (image_id) DO UPDATE SET"
            " content_hash = coalesce(excluded.content_hash, content_hash),"
            " failure = excluded.failure",
            rows,
        )


def facts_of(
    connection: Connection, image_ids: Iterable[ImageId]
) -> Iterator[tuple[ImageId, bytes | None, str | None]]:
    """Facts of these images, but for those never read, for `store_facts`."""
    for image_id in image_ids:
        row = connection.row(
            "SELECT content_hash, failure FROM image_fact WHERE image_id = ?", (image_id,)
        )
        if row is not None:
            yield image_id, row[0], unpacked_text(row[1])


def _is_there(connection: Connection, image_id: ImageId) -> bool:
    return connection.row("SELECT 1 FROM image WHERE image_id = ?", (image_id,)) is not None


def _has_label(connection: Connection, image_id: ImageId) -> bool:
    """Whether the current picture of the file is labelled; see `engine.project.labels`."""
    statement = (
        "SELECT found_at > labelled_at FROM label LEFT JOIN image_change USING (image_id)"
        " WHERE image_id = ?"
    )
    row = connection.row(statement, (image_id,))
    return row is not None and not row[0]


def _has_answer(connection: Connection, image_id: ImageId) -> bool:
    """Whether an image has a label, a note or field values."""
    tables = ("image_note", "label", "field_value")
    return any(
        connection.row(f"SELECT 1 FROM {table} WHERE image_id = ?", (image_id,))  # noqa: S608
        is not None
        for table in tables
    )


def no_such_image(image_id: ImageId) -> InputError:
    """The error of an id that the project does not have."""
    return InputError(
        "there is no such image in the project",
        found=str(image_id),
        remedy="it may have been removed",
    )


def id_of(connection: Connection, path: str | bytes, part: str | None = None) -> ImageId | None:
    """The image at a stored path; of its parts the one that is named, or the first."""
    found = connection.value(
        "SELECT image_id FROM image WHERE path = ?1 AND (?2 IS NULL OR part = ?2)"
        " ORDER BY part LIMIT 1",
        (path, part),
    )
    return None if found is None else int(found)


def _hash_bytes(content_hash: bytes | str | None) -> bytes | None:
    return bytes.fromhex(content_hash) if isinstance(content_hash, str) else content_hash
