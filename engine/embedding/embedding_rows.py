"""Embeddings of a large collection in one memory-mapped file, in the row order of an open project.

Looking up 2.5 million embeddings by content takes half a minute and as much memory as they take;
mapping them takes neither. The file may be deleted at any time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Integers
from engine.mapped_cache import MappedCache

FEWEST_CACHED = 20_000  # images; fewer are looked up within a second
LIMIT_BYTES = 12 << 30  # of the files of all collections
SPARE_SHARE = 0.25  # of the rows, reserved so that images can be added without a copy
SUFFIX = ".rows"


@dataclass(frozen=True)
class EmbeddingRows:
    """Embeddings of n images.

    Attributes:
        image_ids: (n,) int64, ascending.
        contents: (n,) uint64, beginnings of content hashes; 0 for images that were not read.
        is_filled: (n,) bool, which have an embedding.
        embeddings: (n or more, d) int16 in fixed point. Mapped ones are copied on write.
    """

    image_ids: Integers
    contents: NDArray[np.uint64]
    is_filled: Flags
    embeddings: NDArray[np.int16]


@final
class EmbeddingRowsCache:
    """The embeddings of one project and backbone."""

    def __init__(self, folder: Path, name: str, width: int) -> None:
        self._cache = MappedCache(folder, name, SUFFIX, LIMIT_BYTES, copy_on_write=True)
        self._width = width

    def read(self) -> EmbeddingRows | None:
        """Map the rows; None where there is no file, or a damaged one, or one of another width."""
        found = self._cache.read()
        if found is None or found.arrays["embeddings"].shape[1:] != (self._width,):
            return None
        return EmbeddingRows(**found.arrays)

    def write(self, rows: EmbeddingRows, is_current: Callable[[], bool] = lambda: True) -> None:
        """Write the rows, completely or not at all; an error of the disk is only logged.

        Args:
            rows: may change while they are written.
            is_current: whether they did not change; else the file is discarded.
        """
        count = len(rows.image_ids)
        arrays = {**vars(rows), "embeddings": rows.embeddings[:count]}
        self._cache.write(arrays, spare_rows=int(count * SPARE_SHARE), is_current=is_current)


def codes_of(hashes: NDArray[np.bytes_] | Sequence[bytes]) -> NDArray[np.uint64]:
    """The first eight bytes (n,) of content hashes; 0 for an empty one."""
    return np.array(hashes, dtype="S8").view(np.uint64)
