"""Keeps fingerprints of pictures between runs, by content. A cache: it may be deleted at any time."""

import sqlite3
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from engine.images.cache_file import open_cache, recover, transaction
from engine.images.fingerprint import Fingerprint

FILE_NAME: Final = "fingerprints.sqlite"
_VERSION: Final = 2  # of the cache's tables, and of the way in which fingerprints are made
_SCHEMA: Final = """
CREATE TABLE fingerprint (content_hash BLOB PRIMARY KEY, bits BLOB NOT NULL, sharpness REAL NOT NULL) WITHOUT ROWID
"""
_BITS: Final = 8  # bytes
_AT_ONCE: Final = 4096  # rows

_Rows = tuple[
    NDArray[np.bytes_], NDArray[np.uint64], NDArray[np.float32]
]  # hashes, bits, sharpness, (r,) each

T = TypeVar("T")


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of n pictures."""

    bits: NDArray[np.uint64]  # (n,) 0 where there is none
    sharpness: NDArray[np.float32]  # (n,) NaN where it is not known
    is_known: NDArray[np.bool_]  # (n,) whether the picture was looked at

    @staticmethod
    def none(count: int) -> "Fingerprints":
        return Fingerprints(
            np.zeros(count, dtype=np.uint64),
            np.full(count, np.nan, dtype=np.float32),
            np.zeros(count, dtype=bool),
        )


@final
class FingerprintCache:
    """Safe to use from many threads and processes; where the folder cannot be used, nothing is kept."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        with self._lock:
            self._drop_connection()

    def get_many(self, keys: NDArray[np.bytes_]) -> Fingerprints:
        """Fingerprints by content hash (n,), which is empty before the image was read."""
        found = Fingerprints.none(len(keys))
        kept = self._with_cache(_all_rows) if self._path.exists() else None
        if kept is None or len(kept[0]) == 0:
            return found
        hashes, bits, sharpness = kept
        rows = np.minimum(np.searchsorted(hashes, keys), len(hashes) - 1)
        places = np.flatnonzero((hashes[rows] == keys) & (keys != b""))
        found.bits[places], found.sharpness[places] = bits[rows[places]], sharpness[rows[places]]
        found.is_known[places] = True
        return found

    def put_many(self, prints: Iterable[tuple[bytes, Fingerprint]]) -> None:
        rows = [(key, each.bits.to_bytes(_BITS, "big"), each.sharpness) for key, each in prints]

        def write(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany("INSERT OR REPLACE INTO fingerprint VALUES (?, ?, ?)", rows)

        if rows:
            self._with_cache(write)

    def _with_cache(self, use: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `use` on the open cache; a damaged file is replaced once, any other trouble means no cache."""
        with self._lock:
            for _attempt in range(2):
                try:
                    if self._connection is None:
                        self._connection = open_cache(self._path, _SCHEMA, version=_VERSION)
                    return use(self._connection)
                except sqlite3.Error as error:
                    self._drop_connection()
                    if not recover(self._path, error):
                        return None
                except OSError:
                    return None
            return None

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _all_rows(connection: sqlite3.Connection) -> _Rows:
    """By ascending hash; few rows are Python objects at once."""
    cursor = connection.execute(
        "SELECT content_hash, bits, sharpness FROM fingerprint ORDER BY content_hash"
    )
    parts: list[_Rows] = []
    while rows := cursor.fetchmany(_AT_ONCE):
        hashes, bits, sharpness = zip(*rows, strict=True)
        whole = np.frombuffer(b"".join(bits), dtype=">u8").astype(np.uint64)
        parts.append(
            (np.array(hashes, dtype=np.bytes_), whole, np.array(sharpness, dtype=np.float32))
        )
    if not parts:
        return np.zeros(0, dtype="S1"), np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.float32)
    all_hashes, all_bits, all_sharpness = zip(*parts, strict=True)
    return np.concatenate(all_hashes), np.concatenate(all_bits), np.concatenate(all_sharpness)
