"""All images as columns, aggregated by SQLite: a row of Python objects each is twice as slow.

One statement fetches thousands of images without the interpreter lock, so the window stays
responsive.
"""

from array import array
from typing import Any

import numpy as np

from engine.arrays import Integers
from engine.project.connection import Connection
from engine.project.packed import PackedHashes, PackedTexts, RareTexts, unpacked_text
from engine.project.records import ImageTable

AT_ONCE = 8192
_FAILED = "SELECT image_id, failure FROM image_fact WHERE failure IS NOT NULL ORDER BY image_id"
_COLUMNS = """SELECT max(image_id), group_concat(image_id),
    group_concat(coalesce(size, size_bytes)), group_concat(coalesce(modified, modified_ns)),
    CAST(group_concat(path, '') AS BLOB), group_concat(length(CAST(path AS BLOB))),
    group_concat(hex(content_hash), ''), group_concat(coalesce(length(content_hash), 0)),
    CAST(group_concat(part, '') AS BLOB), group_concat(length(part)),
    min(typeof(path) IN ('text', 'blob') AND length(part) = length(CAST(part AS BLOB)))
    FROM (SELECT image.*, content_hash, changed.size_bytes AS size, changed.modified_ns AS modified
    FROM image LEFT JOIN image_fact USING (image_id)
    LEFT JOIN image_change AS changed USING (image_id)
    WHERE image_id > ? ORDER BY image_id LIMIT ?)"""


def whole_table(connection: Connection) -> ImageTable | None:
    """All images as of one moment; None where a value is of no use: rows tell which."""
    ids, sizes, modified = array("q"), array("q"), array("q")
    paths, hashes, parts = PackedTexts(), PackedHashes(), PackedTexts()
    with connection.one_moment():
        last = 0
        while (row := connection.row(_COLUMNS, (last, AT_ONCE))) is not None and row[0] is not None:
            last, *numbers, path_bytes, path_lengths, hash_digits, hash_lengths = row[:8]
            part_bytes, part_lengths, are_texts = row[8:]
            if not are_texts:
                return None
            for column, text in zip((ids, sizes, modified), numbers, strict=True):
                column.frombytes(_integers(text).tobytes())
            paths.extend_packed(path_bytes, _integers(path_lengths).tolist())
            hashes.extend_packed(bytes.fromhex(hash_digits), _integers(hash_lengths).tolist())
            parts.extend_packed(part_bytes, _integers(part_lengths).tolist())
        failures = RareTexts.of(len(ids), _failed(connection, np.frombuffer(ids, dtype=np.int64)))
    return ImageTable(ids, paths, sizes, modified, hashes, failures, parts)


def _integers(text: str) -> Integers:
    return np.fromstring(text, dtype=np.int64, sep=",")


def _failed(connection: Connection, ids: Integers) -> dict[int, str]:
    """Why images could not be read, by their places."""
    failed: dict[int, Any] = dict(connection.rows(_FAILED))
    wanted = np.array(list(failed), dtype=np.int64)
    places = np.searchsorted(ids, wanted)
    found = {}
    for image_id, place in zip(wanted.tolist(), places.tolist(), strict=True):
        if place < len(ids) and ids[place] == image_id:  # facts of images that were removed stay
            found[place] = unpacked_text(failed[image_id]) or ""
    return found
