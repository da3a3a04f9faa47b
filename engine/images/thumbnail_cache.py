"""Thumbnails, cached between runs up to a size limit. The cache file may be deleted at any time."""

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import final

import simplejpeg

from engine.arrays import Pixels
from engine.file_parts import WHOLE, file_part
from engine.files import FoundFile
from engine.images.opened_file import OpenedFile
from engine.sqlite_cache import SqliteCache

FILE_NAME = "thumbnails.sqlite"
DEFAULT_LIMIT_BYTES = 1024**3  # on disk. Chosen: a disk can spare them.
_VERSION = 2  # of the schema
# Without rowid the key finds its row in one step; the index serves eviction and the sum of sizes.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS thumbnail (
    key BLOB PRIMARY KEY, used_s INTEGER NOT NULL, size INTEGER NOT NULL, picture BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS thumbnail_used ON thumbnail (used_s, size)
"""
_USE_STEP_S = 3600  # a use is recorded at most once an hour: most reads must not write
_QUALITY = 85  # of a JPEG, out of 100. Chosen: no difference is seen at this size.


@final
class ThumbnailCache:
    """Thumbnails by file, size, modification time and side; safe to use from many threads.

    The least recently used ones are evicted above `limit_bytes`. When the folder cannot be used,
    nothing is cached.
    """

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self._cache = SqliteCache(
            folder / FILE_NAME,
            _SCHEMA,
            version=_VERSION,
            evicted_table="thumbnail",
            limit_bytes=limit_bytes,
        )
        self.close = self._cache.close

    def get(
        self, path: Path, size_bytes: int, modified_ns: int, side: int, part: str = WHOLE
    ) -> bytes | None:
        """Thumbnail of a part of exactly this state of the file, or None."""
        key = _key(FoundFile(path, size_bytes, modified_ns), part, side)
        return self._cache.try_use(lambda connection: _read(connection, key))

    def put(self, path: Path, size_bytes: int, modified_ns: int, side: int, picture: bytes) -> None:
        """Store the thumbnail of a whole file, in place of an earlier one of the same state."""
        self.put_many([(FoundFile(path, size_bytes, modified_ns), WHOLE, picture)], side)

    def put_many(self, pictures: Sequence[tuple[FoundFile, str, bytes]], side: int) -> None:
        """Store thumbnails of parts of files, in the states in which these were read."""
        now_s = int(time.time())
        rows = [
            (_key(file, part, side), now_s, len(picture), picture)
            for file, part, picture in pictures
        ]
        self._cache.try_put("thumbnail", rows)


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


def thumbnail(path: Path, side: int, part: str = WHOLE) -> bytes:
    """Make an upright JPEG of a part of a file; raises as `read_rgb`.

    Args:
        side: the longest side it may have, in pixels.
    """
    wanted = file_part(part)
    with OpenedFile(path, wanted) as opened:
        return encode_thumbnail(opened.decoder(wanted, side).shown(side, wanted.box))


def encode_thumbnail(pixels: Pixels) -> bytes:
    """The JPEG of a small picture (H, W, 3) uint8."""
    return simplejpeg.encode_jpeg(pixels, quality=_QUALITY)
