"""Keeps fingerprints of pictures between runs, by content. A cache: it may be deleted at any time."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from engine.images.cache_file import open_cache, recover, transaction
from engine.images.fingerprint import Fingerprint

FILE_NAME: Final = "fingerprints.sqlite"
_VERSION: Final = 1  # of the cache's tables, and of the way in which fingerprints are made
_SCHEMA: Final = """
CREATE TABLE fingerprint (content_hash BLOB PRIMARY KEY, bits BLOB NOT NULL, sharpness REAL NOT NULL) WITHOUT ROWID
"""
_BITS: Final = 8  # bytes

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
            np.zeros(count, dtype=np.uint64), np.full(count, np.nan, dtype=np.float32), np.zeros(count, dtype=bool)
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

    def get_many(self, hashes: Sequence[bytes | None]) -> Fingerprints:
        """Fingerprints by content (n,); a hash is None before the image was read."""
        found = Fingerprints.none(len(hashes))
        if not self._path.exists():
            return found
        places: dict[bytes, list[int]] = {}
        for place, key in enumerate(hashes):
            if key is not None:
                places.setdefault(key, []).append(place)
        for key, bits, sharpness in self._with_cache(_all_rows) or ():
            for place in places.get(key, ()):
                found.bits[place], found.sharpness[place] = int.from_bytes(bits, "big"), sharpness
                found.is_known[place] = True
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


def _all_rows(connection: sqlite3.Connection) -> list[tuple[bytes, bytes, float]]:
    return connection.execute("SELECT content_hash, bits, sharpness FROM fingerprint").fetchall()
