"""Keeps what detectors found in pictures, by content. A cache: it may be deleted at any time."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar, final

from engine.detection.detections import Detection
from engine.file_parts import BoundingBox
from engine.files import hash_in_name
from engine.images.cache_file import open_cache, recover, transaction

_VERSION: Final = 1
_SCHEMA: Final = (
    "CREATE TABLE found (content_hash BLOB PRIMARY KEY, boxes TEXT NOT NULL) WITHOUT ROWID"
)
T = TypeVar("T")


@final
class DetectionCache:
    """Cache of one detector's detections, used from one thread.

    Where the folder cannot be used, nothing is cached.

    Args:
        identity: hash of the detector's file and of how it is used.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / f"{hash_in_name(identity)[:32]}.sqlite"
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def get(self, content: bytes) -> tuple[Detection, ...] | None:
        """What was found in a picture, the best first; None where it was not searched."""
        statement = "SELECT boxes FROM found WHERE content_hash = ?"
        row = self._with_cache(
            lambda connection: connection.execute(statement, (content,)).fetchone()
        )
        return None if row is None else _detections(row[0])

    def put_many(self, found: Iterable[tuple[bytes, Sequence[Detection]]]) -> None:
        rows = [
            (content, json.dumps([[*each.box, each.score, each.category] for each in detections]))
            for content, detections in found
        ]

        def write(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany("INSERT OR REPLACE INTO found VALUES (?, ?)", rows)

        if rows:
            self._with_cache(write)

    def _with_cache(self, use: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `use` on the open cache; a damaged file is replaced once, other errors disable it."""
        for _attempt in range(2):
            try:
                if self._connection is None:
                    self._connection = open_cache(self._path, _SCHEMA, version=_VERSION)
                return use(self._connection)
            except sqlite3.Error as error:
                self.close()
                if not recover(self._path, error):
                    return None
            except OSError:
                return None
        return None


def _detections(text: str) -> tuple[Detection, ...] | None:
    """The boxes in a row; None where it is damaged."""
    try:
        return tuple(
            Detection(BoundingBox.of(left, top, width, height), float(score), str(category))
            for left, top, width, height, score, category in json.loads(text)
        )
    except (ValueError, TypeError):
        return None
