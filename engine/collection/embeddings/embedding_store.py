"""All embeddings of an open collection in memory, one row an image, in 16 bits a number."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.embedding.views import unit_length
from engine.everyday.blocks import to_fixed, to_floats

FIRST_CAPACITY: Final = 1024
GROWTH: Final = 1.25
FILL_ROWS: Final = 4096

LookUp = Callable[[Sequence[bytes]], tuple[NDArray[np.float16], NDArray[np.bool_]]]
"""Embeddings (n, d) of n contents, and which of them were found; see `EmbeddingCache.get_many`."""


class EmbeddingStore:
    """Unit-length embeddings (rows, d) in fixed point, in ascending image id; a row stays where it is.

    Memory of rows that are not filled yet is reserved but not touched.

    Attributes:
        is_filled: (rows,) bool; replaced, never changed.
        age: how often rows were filled or emptied.
        filled_at: (rows,) int64, the age at which each row became what it is; 0 for those that never were filled.
    """

    def __init__(self, width: int) -> None:
        self._ids = np.zeros(0, dtype=np.int64)
        self._rows = np.zeros((FIRST_CAPACITY, width), dtype=np.int16)
        self.is_filled = np.zeros(0, dtype=bool)
        self.age = 0
        self.filled_at = np.zeros(0, dtype=np.int64)

    @property
    def image_ids(self) -> NDArray[np.int64]:
        """(rows,) ascending."""
        return self._ids

    @property
    def embeddings(self) -> NDArray[np.int16]:
        """(rows, d) in fixed point; zeros where not filled."""
        return self._rows[: len(self._ids)]

    @property
    def squares(self) -> NDArray[np.float32]:
        """(rows,) squared norms: 1 where filled."""
        return self.is_filled.astype(np.float32)

    def rows_of(self, image_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Rows of these images, or None when one has no row."""
        wanted = np.asarray(image_ids, dtype=np.int64)
        rows = np.searchsorted(self._ids, wanted)
        inside = np.minimum(rows, max(len(self._ids) - 1, 0))
        if len(wanted) and (len(self._ids) == 0 or (self._ids[inside] != wanted).any()):
            return None
        return rows.astype(np.int64)

    def floats(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Embeddings (r, d) float32 of some rows."""
        return to_floats(self._rows[rows])

    def append(self, image_ids: NDArray[np.int64]) -> None:
        """Reserve rows for images whose ids are all above those that are there."""
        count = len(self._ids) + len(image_ids)
        if count > len(self._rows):
            grown = np.zeros((max(FIRST_CAPACITY, int(count * GROWTH)), self._rows.shape[1]), dtype=np.int16)
            filled = np.flatnonzero(self.is_filled)
            if len(filled):
                grown[: filled[-1] + 1] = self._rows[: filled[-1] + 1]
            self._rows = grown
        self._ids = np.concatenate([self._ids, image_ids])
        self.is_filled = np.concatenate([self.is_filled, np.zeros(len(image_ids), dtype=bool)])
        self.filled_at = np.concatenate([self.filled_at, np.zeros(len(image_ids), dtype=np.int64)])

    def fill(self, rows: NDArray[np.int64], hashes: Sequence[bytes | None], look_up: LookUp) -> NDArray[np.int64]:
        """Look embeddings up, a few thousand at a time; returns the rows that were found.

        A row whose embedding is not found is empty from then on: its file changed, or cannot be read any more.
        """
        filled, lost = [], self.is_filled[rows]
        self.is_filled, self.age = self.is_filled.copy(), self.age + 1
        known = np.flatnonzero([content is not None for content in hashes])
        for start in range(0, len(known), FILL_ROWS):
            part = known[start : start + FILL_ROWS]
            vectors, found = look_up([hashes[place] or b"" for place in part.tolist()])
            lost[part[found]] = False
            self._put(rows[part[found]], to_fixed(unit_length(vectors[found].astype(np.float32))))
            filled.append(rows[part[found]])
        self._rows[rows[lost]] = 0
        self.is_filled[rows[lost]] = False
        self.filled_at[rows[lost]] = self.age
        return np.concatenate(filled) if filled else np.zeros(0, dtype=np.int64)

    def _put(self, rows: NDArray[np.int64], embeddings: NDArray[np.int16]) -> None:
        is_new = ~self.is_filled[rows]
        again = np.flatnonzero(~is_new)
        is_new[again] = (self._rows[rows[again]] != embeddings[again]).any(axis=1)
        self._rows[rows[is_new]] = embeddings[is_new]
        self.filled_at[rows[is_new]] = self.age
        self.is_filled[rows] = True
