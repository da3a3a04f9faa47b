"""Detections in pictures, cached by content. The file may be deleted at any time."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, final

from engine.detection.detections import Detection
from engine.file_parts import BoundingBox
from engine.files import hash_in_name
from engine.sqlite_cache import SqliteCache

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS found (
    content_hash BLOB PRIMARY KEY, boxes TEXT NOT NULL
) WITHOUT ROWID
"""


@final
class DetectionCache:
    """Cache of one detector's detections.

    Where the folder cannot be used, nothing is cached.

    Args:
        identity: hash of the detector's file and of its options.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        path = folder / f"{hash_in_name(identity)[:32]}.sqlite"
        self._cache = SqliteCache(path, _SCHEMA, version=_VERSION)
        self.close = self._cache.close

    def get(self, content: bytes) -> tuple[Detection, ...] | None:
        """The detections in a picture, best first; None where it was not searched."""
        query = "SELECT boxes FROM found WHERE content_hash = ?"
        row = self._cache.try_use(
            lambda connection: connection.execute(query, (content,)).fetchone()
        )
        return None if row is None else _detections(row[0])

    def put_many(self, found: Iterable[tuple[bytes, Sequence[Detection]]]) -> None:
        rows = [
            (content, json.dumps([[*each.box, each.score, each.category] for each in detections]))
            for content, detections in found
        ]
        self._cache.try_put("found", rows)


def _detections(text: str) -> tuple[Detection, ...] | None:
    """The detections in a row; None where it is damaged."""
    try:
        return tuple(
            Detection(BoundingBox.of(left, top, width, height), float(score), str(category))
            for left, top, width, height, score, category in json.loads(text)
        )
    except (ValueError, TypeError):
        return None
