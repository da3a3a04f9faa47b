"""Fingerprints of pictures, cached between runs by content. The file may be deleted at any time."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags, Floats
from engine.images.fingerprint import Fingerprint
from engine.sqlite_cache import SqliteCache

FILE_NAME = "fingerprints.sqlite"
_VERSION = 2  # of the schema, and of the computation of fingerprints
_SCHEMA = """
CREATE TABLE IF NOT EXISTS fingerprint (
    content_hash BLOB PRIMARY KEY, bits BLOB NOT NULL, sharpness REAL NOT NULL
) WITHOUT ROWID
"""
_BITS_BYTES = 8  # of a perceptual hash
_CHUNK_ROWS = 4096  # that are Python objects at a time

_Rows = tuple[NDArray[np.bytes_], NDArray[np.uint64], Floats]
"""Ascending content hashes, bits and sharpness, (r,) each."""


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of n pictures."""

    bits: NDArray[np.uint64]  # (n,) 0 where there is none
    sharpness: Floats  # (n,) NaN where it is not known
    is_known: Flags  # (n,) whether the picture was read

    @staticmethod
    def none(count: int) -> "Fingerprints":
        return Fingerprints(
            np.zeros(count, dtype=np.uint64),
            np.full(count, np.nan, dtype=np.float32),
            np.zeros(count, dtype=bool),
        )


@final
class FingerprintCache:
    """A cache for many threads and processes; empty where the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / FILE_NAME, _SCHEMA, version=_VERSION)
        self.close = self._cache.close

    def get_many(self, keys: NDArray[np.bytes_]) -> Fingerprints:
        """Fingerprints by content hash (n,), which is empty before the image was read."""
        found = Fingerprints.none(len(keys))
        cached = self._cache.try_use(_all_rows) if self._cache.path.exists() else None
        if cached is None:
            return found
        hashes, bits, sharpness = cached
        rows = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
        places = np.flatnonzero((hashes[rows] == keys) & (keys != b""))
        found.bits[places], found.sharpness[places] = bits[rows[places]], sharpness[rows[places]]
        found.is_known[places] = True
        return found

    def put_many(self, prints: Iterable[tuple[bytes, Fingerprint]]) -> None:
        rows = [
            (key, each.bits.to_bytes(_BITS_BYTES, "big"), each.sharpness) for key, each in prints
        ]
        self._cache.try_put("fingerprint", rows)


def _all_rows(connection: sqlite3.Connection) -> _Rows | None:
    """All rows, of which few are Python objects at a time; None for an empty cache."""
    cursor = connection.execute(
        "SELECT content_hash, bits, sharpness FROM fingerprint ORDER BY content_hash"
    )
    chunks: list[tuple[NDArray[Any], ...]] = []
    while rows := cursor.fetchmany(_CHUNK_ROWS):
        hashes, bits, sharpness = zip(*rows, strict=True)
        chunks.append(
            (
                np.array(hashes, dtype=np.bytes_),
                np.frombuffer(b"".join(bits), dtype=">u8").astype(np.uint64),
                np.array(sharpness, dtype=np.float32),
            )
        )
    if not chunks:
        return None
    all_hashes, all_bits, all_sharpness = map(np.concatenate, zip(*chunks, strict=True))
    return all_hashes, all_bits, all_sharpness
