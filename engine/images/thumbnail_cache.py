"""Thumbnails, kept between runs up to a size. A cache: it may be deleted at any time and never fails a caller."""

import contextlib
import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import simplejpeg
from numpy.typing import NDArray

from engine.file_parts import WHOLE, file_part
from engine.files import FoundFile
from engine.images.cache_file import open_cache, recover, transaction
from engine.images.opened_file import OpenedFile

FILE_NAME: Final = "thumbnails.sqlite"
DEFAULT_LIMIT_BYTES: Final = 1024**3  # bytes on disk. Chosen: a disk can spare them.
_VERSION: Final = 2  # of the cache's tables; a file of another version is started anew
# Without rowid the key finds its row in one step; the index serves dropping the longest unused and summing sizes.
_SCHEMA: Final = """
CREATE TABLE thumbnail (key BLOB PRIMARY KEY, used_s INTEGER NOT NULL, size INTEGER NOT NULL, picture BLOB NOT NULL);
CREATE INDEX thumbnail_used ON thumbnail (used_s, size)
"""
_KEPT_SHARE: Final = (
    0.9  # how full the cache still is after making room, so that room is not made at every put
)
_USE_STEP_S: Final = 3600  # a use is noted at most once an hour: reading must not write each time
T = TypeVar("T")
_QUALITY: Final = 85  # of a JPEG, out of 100. Chosen: no difference is seen at this size.


class ThumbnailCache:
    """Thumbnails by file, size, time of change and side; safe to use from many threads.

    Above `limit_bytes` in sum the longest unused are dropped. When the folder cannot be used, nothing is kept and every
    `get` answers None.
    """

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._path = folder / FILE_NAME
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._held_bytes = 0

    def get(
        self, path: Path, size_bytes: int, modified_ns: int, side: int, part: str = WHOLE
    ) -> bytes | None:
        """Picture that was put for a part of exactly this state of the file, or None."""
        key = _key(FoundFile(path, size_bytes, modified_ns), part, side)
        return self._with_cache(lambda connection: _read(connection, key))

    def put(self, path: Path, size_bytes: int, modified_ns: int, side: int, picture: bytes) -> None:
        """Keep a picture of a whole file; replaces the one kept for the same state of it."""
        self.put_many([(FoundFile(path, size_bytes, modified_ns), WHOLE, picture)], side)

    def put_many(self, pictures: Sequence[tuple[FoundFile, str, bytes]], side: int) -> None:
        """Keep pictures of parts of files in the state in which they were read."""
        now_s = int(time.time())
        rows = [
            (_key(file, part, side), now_s, len(picture), picture)
            for file, part, picture in pictures
        ]
        self._with_cache(lambda connection: self._store(connection, rows))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._drop_connection()

    def _with_cache(self, use: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `use` on the open cache; a damaged file is replaced once, any other trouble means no cache."""
        with self._lock:
            for _attempt in range(2):
                try:
                    return use(self._opened())
                except sqlite3.Error as error:
                    self._drop_connection()
                    if not recover(self._path, error):
                        return None
                except OSError:
                    return None
            return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_cache(self._path, _SCHEMA, version=_VERSION)
            self._held_bytes = _sum_of_sizes(self._connection)
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _store(
        self, connection: sqlite3.Connection, rows: Sequence[tuple[bytes, int, int, bytes]]
    ) -> None:
        with transaction(connection):
            connection.executemany("INSERT OR REPLACE INTO thumbnail VALUES (?, ?, ?, ?)", rows)
        self._held_bytes += sum(size for _key, _used_s, size, _picture in rows)
        if self._held_bytes > self._limit_bytes:
            _make_room(connection, int(self._limit_bytes * _KEPT_SHARE))
            self._held_bytes = _sum_of_sizes(connection)


def _key(file: FoundFile, part: str, side: int) -> bytes:
    text = f"{file.path}\0{file.size_bytes}\0{file.modified_ns}\0{side}"
    if part:
        text = f"{text}\0{part}"
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _read(connection: sqlite3.Connection, key: bytes) -> bytes | None:
    row = connection.execute(
        "SELECT used_s, picture FROM thumbnail WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    used_s, picture = row
    now_s = int(time.time())
    if now_s - used_s > _USE_STEP_S:
        connection.execute("UPDATE thumbnail SET used_s = ? WHERE key = ?", (now_s, key))
    return bytes(picture)


def _sum_of_sizes(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(sum(size), 0) FROM thumbnail").fetchone()[0])


def _make_room(connection: sqlite3.Connection, target_bytes: int) -> None:
    """Delete the longest unused pictures until at most `target_bytes` are held."""
    connection.execute(
        """
        DELETE FROM thumbnail WHERE rowid IN (
            SELECT rowid FROM (
                SELECT rowid, sum(size) OVER (ORDER BY used_s DESC, rowid DESC) AS held FROM thumbnail
            ) WHERE held > ?
        )
        """,
        (target_bytes,),
    )


def thumbnail(path: Path, side: int, part: str = WHOLE) -> bytes:
    """Make an upright JPEG of a part of a file, its longer side at most `side` pixels; raises as `read_rgb`."""
    wanted = file_part(part)
    with OpenedFile(path, wanted) as opened:
        return encode_thumbnail(opened.decoder(wanted, side).shown(side, wanted.box))


def encode_thumbnail(pixels: NDArray[np.uint8]) -> bytes:
    """The JPEG of a small picture (H, W, 3) uint8."""
    return simplejpeg.encode_jpeg(pixels, quality=_QUALITY)
