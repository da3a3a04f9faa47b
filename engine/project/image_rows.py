"""The images' rows, and what the machine found out about each file."""

import json
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from engine.errors import InputError
from engine.files import FoundFile
from engine.project.connection import Connection, Row
from engine.project.image_paths import ImagePaths, shown_path
from engine.project.packed import PackedHashes, PackedTexts, RareTexts
from engine.project.records import ImageId, ImageRecord, ImageTable
from engine.project.schema import IMAGE, LABEL, LONGEST_TEXT
from engine.project.step import OpenStep

_PATHS_AT_ONCE: Final = 1000
_COLUMNS = """SELECT image_id, path, size_bytes, modified_ns, content_hash, failure
    FROM image LEFT JOIN image_fact USING (image_id)"""


def insert_new(step: OpenStep, files: Sequence[FoundFile], paths: ImagePaths) -> tuple[list[ImageId], list[ImageId]]:
    """Add the files that the project does not know yet.

    Args:
        step: the open step.
        files: in the order in which they get ids.
        paths: the project's way of writing paths.

    Returns:
        The image id of each file, and the ids among them that are new.
    """
    next_id = int(step.connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'image'") or 0) + 1
    known: dict[str | bytes, ImageId] = {}
    image_ids: list[ImageId] = []
    rows: list[Row] = []
    for file in files:
        path = paths.stored(file.path)
        image_id = known.get(path)
        if image_id is None:
            image_id = _id_of(step.connection, path)
        if image_id is None:
            image_id = next_id + len(rows)
            rows.append((image_id, path, file.size_bytes, file.modified_ns))
        known[path] = image_id
        image_ids.append(image_id)
    step.insert(IMAGE, rows)
    return image_ids, [row[0] for row in rows]


def delete_images(step: OpenStep, image_ids: Iterable[ImageId]) -> int:
    """Take images and their labels out of the project.

    Returns:
        How many images were taken out.
    """
    keys = [(image_id,) for image_id in image_ids]
    step.delete(LABEL, keys)
    return len(step.delete(IMAGE, keys))


def move_images(
    step: OpenStep, moves: Iterable[tuple[ImageId, FoundFile]], strangers: Iterable[ImageId], paths: ImagePaths
) -> int:
    """Put other files in the place of images' old ones; everything else about the images stays.

    An image that is gone by now is passed over, and so is one whose new place belongs to another image.

    Args:
        step: the open step.
        moves: image id and its file.
        strangers: images that came in when their files were taken for new ones; where nobody has labelled one by now,
            it leaves for the image whose file it holds.
        paths: the project's way of writing paths.

    Returns:
        How many images were moved.
    """
    leaving, gone = set(strangers), []
    rows: dict[str | bytes, Row] = {}
    for image_id, file in moves:
        path = paths.stored(file.path)
        holder = _id_of(step.connection, path)
        is_there = step.connection.row("SELECT 1 FROM image WHERE image_id = ?", (image_id,)) is not None
        if not is_there or path in rows:
            continue
        if holder not in (None, image_id):
            if holder not in leaving or step.connection.row("SELECT 1 FROM label WHERE image_id = ?", (holder,)):
                continue
            gone.append(holder)
        rows[path] = (image_id, path, file.size_bytes, file.modified_ns)
    step.delete(IMAGE, [(image_id,) for image_id in gone])
    step.put(IMAGE, rows.values())
    return len(rows)


def check_images(connection: Connection, image_ids: Iterable[ImageId]) -> None:
    """Refuse ids that no image has.

    Raises:
        InputError: an image is not in the project.
    """
    for image_id in image_ids:
        if connection.row("SELECT 1 FROM image WHERE image_id = ?", (image_id,)) is None:
            raise InputError(
                "there is no such image in the project", found=str(image_id), remedy="it may have been removed"
            )


def image_record(connection: Connection, image_id: ImageId) -> ImageRecord:
    """Read one image.

    Raises:
        InputError: it is not in the project.
    """
    row = connection.row(f"{_COLUMNS} WHERE image_id = ?", (image_id,))
    if row is None:
        raise InputError(
            "there is no such image in the project", found=str(image_id), remedy="it may have been removed"
        )
    return _record(row)


def image_records(connection: Connection) -> list[ImageRecord]:
    """Read all images in ascending id order."""
    return [_record(row) for row in connection.rows(f"{_COLUMNS} ORDER BY image_id")]


def image_table(connection: Connection, image_ids: Sequence[ImageId] | None = None) -> ImageTable:
    """Read images as columns, row by row into packed memory.

    Args:
        connection: to the project file.
        image_ids: only these, where they are in the project; by default all.
    """
    which = "" if image_ids is None else " WHERE image_id IN (SELECT value FROM json_each(?))"
    values = () if image_ids is None else (json.dumps([int(image_id) for image_id in image_ids]),)
    ids, sizes, modified = array("q"), array("q"), array("q")
    paths, hashes, failures = PackedTexts(), PackedHashes(), RareTexts()
    for image_id, path, size_bytes, modified_ns, content_hash, failure in connection.each(
        f"{_COLUMNS}{which} ORDER BY image_id", values
    ):
        ids.append(image_id)
        paths.append(shown_path(path))
        sizes.append(size_bytes)
        modified.append(modified_ns)
        hashes.append(content_hash)
        failures.append(failure)
    return ImageTable(ids, paths, sizes, modified, hashes, failures)


def each_image_content(connection: Connection) -> Iterator[tuple[ImageId, str, bytes | None]]:
    """Id, stored path and content hash of each image in ascending id order, so many at a time.

    Writing in between is allowed.
    """
    last: ImageId = 0
    while some := connection.rows(
        "SELECT image_id, path, content_hash FROM image LEFT JOIN image_fact USING (image_id)"
        " WHERE image_id > ? ORDER BY image_id LIMIT ?",
        (last, _PATHS_AT_ONCE),
    ):
        yield from ((image_id, shown_path(path), content_hash) for image_id, path, content_hash in some)
        last = some[-1][0]


def paths_alike(connection: Connection, size_bytes: int, name: str) -> Iterator[str]:
    """Stored paths of the images that had this size when they were read last, or whose file has this name."""
    for (path,) in connection.rows("SELECT path FROM image WHERE size_bytes = ?", (size_bytes,)):
        yield shown_path(path)
    pattern = re.sub(r"([\\%_])", r"\\\1", name)
    for (path,) in connection.rows(
        "SELECT path FROM image WHERE path LIKE ? ESCAPE '\\'", (os.fsencode(f"%{pattern}").decode(errors="replace"),)
    ):
        yield shown_path(path)


def find_image(connection: Connection, path: str | bytes) -> ImageId | None:
    """Id of the image with this stored path, or None."""
    return _id_of(connection, path)


def store_facts(connection: Connection, facts: Iterable[tuple[ImageId, bytes | str | None, str | None]]) -> None:
    """Remember what reading the files found out; images that are gone by now are passed over.

    A content hash that was known stays where nobody could read the file: its disk may come back.

    Args:
        connection: the file.
        facts: image id, content hash (bytes or hex) and failure, either of them None.
    """
    rows = [
        (int(image_id), _hash_bytes(content_hash), None if failure is None else failure[:LONGEST_TEXT])
        for image_id, content_hash, failure in facts
    ]
    with connection.transaction():
        connection.write_many(
            "INSERT INTO image_fact (image_id, content_hash, failure)"
            " SELECT image_id, ?2, ?3 FROM image WHERE image_id = ?1"
            " ON CONFLICT (image_id) DO UPDATE SET"
            " content_hash = coalesce(excluded.content_hash, content_hash), failure = excluded.failure",
            rows,
        )


def facts_of(
    connection: Connection, image_ids: Iterable[ImageId]
) -> Iterator[tuple[ImageId, bytes | None, str | None]]:
    """What reading the files of these images found out, for `store_facts`; those never read are passed over."""
    for image_id in image_ids:
        row = connection.row("SELECT content_hash, failure FROM image_fact WHERE image_id = ?", (image_id,))
        if row is not None:
            yield image_id, *row


def _id_of(connection: Connection, path: str | bytes) -> ImageId | None:
    found = connection.value("SELECT image_id FROM image WHERE path = ?", (path,))
    return None if found is None else int(found)


def _record(row: Row) -> ImageRecord:
    image_id, path, size_bytes, modified_ns, content_hash, failure = row
    return ImageRecord(
        image_id, shown_path(path), size_bytes, modified_ns, content_hash.hex() if content_hash else None, failure
    )


def _hash_bytes(content_hash: bytes | str | None) -> bytes | None:
    return bytes.fromhex(content_hash) if isinstance(content_hash, str) else content_hash
