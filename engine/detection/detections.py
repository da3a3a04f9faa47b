"""What detectors find, bounding boxes with scores and categories, and their cache."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats
from engine.file_parts import BoundingBox
from engine.files import hash_in_name
from engine.sqlite_cache import SqliteCache

Candidates = NDArray[np.float32]
"""(n, 6): left, top, right, bottom in pixels of the network's input, score 0..1, category."""
COLUMNS = 6  # of `Candidates`
SCORE = 4  # column of the score
CATEGORY = 5  # column of the category
THRESHOLD = 0.2
"""Score from which boxes count. Chosen: as MegaDetector's authors advise for version 5."""
OVERLAP = 0.45
"""Largest intersection over union within a category. Chosen: as in YOLO's detectors."""
_MOST_COMPARED = 10_000
"""Boxes of a picture that compete. Chosen: more than a threshold of 0.05 leaves."""
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS found (
    content_hash BLOB PRIMARY KEY, boxes TEXT NOT NULL
) WITHOUT ROWID
"""


class Detection(NamedTuple):
    """A thing that a detector found."""

    box: BoundingBox
    score: float  # 0..1
    category: str  # such as "animal"


def best_first(candidates: Candidates, most: int) -> Candidates:
    """The candidates of the highest scores, the best first."""
    order = np.argsort(-candidates[:, SCORE], kind="stable")
    return candidates[order[:most]]


def without_overlaps(candidates: Candidates, most: int) -> Candidates:
    """Non-maximum suppression within categories: at most so many boxes, the best first."""
    rest = best_first(candidates, _MOST_COMPARED)
    chosen: list[Floats] = []
    while len(rest) and len(chosen) < most:
        best, rest = rest[0], rest[1:]
        chosen.append(best)
        is_other = rest[:, CATEGORY] != best[CATEGORY]
        rest = rest[is_other | (_intersection_over_union(best, rest) <= OVERLAP)]
    return np.array(chosen, dtype=np.float32).reshape(-1, COLUMNS)


def _intersection_over_union(box: Floats, others: Candidates) -> Floats:
    left_top = np.maximum(box[:2], others[:, :2])
    right_bottom = np.minimum(box[2:4], others[:, 2:4])
    common = np.prod(np.maximum(right_bottom - left_top, 0), axis=1)
    areas = np.prod(np.maximum(others[:, 2:4] - others[:, :2], 0), axis=1)
    area = np.prod(np.maximum(box[2:4] - box[:2], 0))
    found: Floats = common / np.maximum(area + areas - common, np.finfo(np.float32).tiny)
    return found


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
