"""Embeddings, cached by content of the image and identity of the embedding.

The files may be deleted at any time.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Flags
from engine.files import FoundFile, hash_in_name
from engine.full_disk import storage_error
from engine.sqlite_cache import SqliteCache, select_many

_VERSION = 1  # of the schema
# Perceptual hashes of what the backbone saw are in `picture`, which early caches lack.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedding (content_hash BLOB PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS known_file (
    path TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
    content_hash BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS picture (
    content_hash BLOB PRIMARY KEY, bits BLOB NOT NULL
) WITHOUT ROWID
"""
_BITS_BYTES = 8
_NO_HASHES: Mapping[bytes, int] = {}
_SCAN_ROWS = 900
_SCAN_FACTOR = 3  # more than a third of the rows are requested: scan all of them
_FLOAT16_MAX = float(np.finfo(np.float16).max)

T = TypeVar("T")


@final
class EmbeddingCache:
    """Embeddings of one identity in one SQLite file, and the content hash of each known file.

    Safe to use from several threads and several processes at once.

    Args:
        project_id: of a project that also reads the embeddings that a data set brought it, see
            `imported_file`. Those computed here come first, and only they are written here.

    Raises:
        StorageError: the file cannot be used.
    """

    def __init__(self, folder: Path, identity: str, width: int, *, project_id: str = "") -> None:
        self.opened_with = folder, identity, width, project_id  # for another process
        self.path = cache_path(folder, identity, width)
        self.width = width
        self._imported = imported_cache(folder, identity, width, project_id) if project_id else None
        self._cache = SqliteCache(self.path, _SCHEMA, version=_VERSION)
        self._use(lambda _connection: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._cache.close()
        if self._imported is not None:
            self._imported.close()

    def put_many(
        self,
        hashes: Sequence[bytes],
        vectors: NDArray[np.floating],
        picture_hashes: Mapping[bytes, int] = _NO_HASHES,
    ) -> None:
        """Store embeddings (n, width), clipped to float16, in one transaction that survives a kill.

        Args:
            picture_hashes: perceptual hashes (64 bits) of the pictures as the backbone saw them, by
                content hash.

        Raises:
            StorageError: the disk refuses.
            ValueError: `vectors` does not have the shape (n, width).
        """
        if vectors.shape != (len(hashes), self.width):
            raise ValueError(
                f"expected embeddings of shape {(len(hashes), self.width)}, found {vectors.shape}"
            )
        halves = to_halves(vectors)
        rows = [(key, halves[index].tobytes()) for index, key in enumerate(hashes)]
        pictures = [
            (key, bits.to_bytes(_BITS_BYTES, "big")) for key, bits in picture_hashes.items()
        ]
        self._put({"picture": pictures, "embedding": rows})

    def picture_hashes(self, hashes: Iterable[bytes]) -> dict[bytes, int]:
        """Known perceptual hashes of pictures by content hash; 0 for a plain picture."""
        rows = self._select("content_hash, bits", "picture", "content_hash", hashes)
        return {key: int.from_bytes(bits, "big") for key, bits in rows}

    def get_many(self, hashes: Sequence[bytes]) -> tuple[NDArray[np.float16], Flags]:
        """Embeddings (n, width) float16, zeros where there is none, and found (n,) bool.

        Args:
            hashes: (n,) content hashes, which may repeat.
        """
        vectors = np.zeros((len(hashes), self.width), dtype=np.float16)
        found = np.zeros(len(hashes), dtype=np.bool_)
        self._use(lambda connection: self._fill(connection, hashes, vectors, found))
        if self._imported is not None and not found.all():
            others = np.flatnonzero(~found)
            vectors[others], found[others] = self._imported.get_many(
                [hashes[place] for place in others.tolist()]
            )
        return vectors, found

    def missing(self, hashes: Iterable[bytes]) -> list[bytes]:
        """The hashes without an embedding, each once, in order."""
        wanted = list(dict.fromkeys(hashes))
        known = set(self._select("content_hash", "embedding", "content_hash", wanted))
        missing = [key for key in wanted if (key,) not in known]
        return missing if self._imported is None else self._imported.missing(missing)

    def remember_files(self, files: Sequence[FoundFile], hashes: Sequence[bytes]) -> None:
        """Store the content hash of each file, so that unchanged files need not be read again.

        Raises:
            StorageError: the disk refuses.
        """
        by_file = dict(zip(files, hashes, strict=True))  # a file with boxes comes more than once
        rows = [
            (_path_text(file.path), file.size_bytes, file.modified_ns, key)
            for file, key in by_file.items()
        ]
        self._put({"known_file": rows})

    def path_hashes(self, files: Sequence[FoundFile]) -> list[bytes | None]:
        """Content hash of each file known with this size and modification time; None for others."""
        known = self.files_at([file.path for file in files])
        return [
            found[2]
            if found is not None and found[:2] == (file.size_bytes, file.modified_ns)
            else None
            for file, found in zip(files, known, strict=True)
        ]

    def last_hashes(self, paths: Sequence[Path]) -> list[bytes | None]:
        """Content hash of each file when it was last read; None for others."""
        return [None if found is None else found[2] for found in self.files_at(paths)]

    def files_at(self, paths: Sequence[Path]) -> list[tuple[int, int, bytes] | None]:
        """Size, modification time and content hash of files when last read; None for others."""
        names = [_path_text(path) for path in paths]
        rows = self._select("*", "known_file", "path", names)
        known = {path: (size, time, key) for path, size, time, key in rows}
        return [known.get(name) for name in names]

    def _fill(
        self,
        connection: sqlite3.Connection,
        hashes: Sequence[bytes],
        vectors: NDArray[np.float16],
        found: Flags,
    ) -> None:
        """Copy embeddings into `vectors`, chunk by chunk to save memory."""
        positions: dict[bytes, list[int]] = {}
        for position, key in enumerate(hashes):
            positions.setdefault(key, []).append(position)
        for rows in _embedding_rows(connection, list(positions)):
            usable = [
                (key, vector)
                for key, vector in rows
                if key in positions and len(vector) == 2 * self.width
            ]
            block = np.frombuffer(b"".join([vector for _key, vector in usable]), dtype=np.float16)
            targets = [positions[key] for key, _vector in usable]
            sources = np.repeat(np.arange(len(usable)), [len(target) for target in targets])
            flat = np.array([position for target in targets for position in target], dtype=np.int64)
            vectors[flat] = block.reshape(len(usable), self.width)[sources]
            found[flat] = True

    def _select(
        self, columns: str, table: str, key: str, values: Iterable[object]
    ) -> list[tuple[Any, ...]]:
        wanted = list(dict.fromkeys(values))
        return self._use(
            lambda connection: [
                row
                for chunk in select_many(connection, columns, table, key, wanted)
                for row in chunk
            ]
        )

    def _put(self, rows_by_table: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        with self._storage_errors():
            self._cache.put(rows_by_table)

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._storage_errors():
            return self._cache.use(work)

    @contextmanager
    def _storage_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            remedy = "free some disk space or choose another cache folder"
            raise storage_error(
                self.path, error, "the embedding cache cannot be used", remedy
            ) from error


def to_halves(vectors: NDArray[np.floating]) -> NDArray[np.float16]:
    """Embeddings (n, width) as stored: float16, with values beyond its range clipped."""
    return np.clip(vectors, -_FLOAT16_MAX, _FLOAT16_MAX).astype(np.float16)


def cache_path(folder: Path, identity: str, width: int) -> Path:
    """Path of the cache of embeddings of an identity, whether it exists or not."""
    return folder / f"{hash_in_name(identity)[:32]}-{width:d}.sqlite"


def imported_file(folder: Path, identity: str, width: int, project_id: str) -> Path:
    """Path of the embeddings that a data set brought to a project; other projects ignore them."""
    name = cache_path(folder, identity, width).name
    return folder / "imported" / hash_in_name(project_id)[:32] / name


def imported_cache(
    folder: Path, identity: str, width: int, project_id: str
) -> EmbeddingCache | None:
    """The embeddings that a data set brought to a project; None where it was not made of one."""
    path = imported_file(folder, identity, width, project_id)
    return EmbeddingCache(path.parent, identity, width) if path.exists() else None


def _embedding_rows(
    connection: sqlite3.Connection, hashes: Sequence[bytes]
) -> Iterator[list[tuple[bytes, bytes]]]:
    """Chunks with at least the wanted rows: a scan is faster than looking up most of them."""
    (rows,) = connection.execute("SELECT coalesce(max(rowid), 0) FROM embedding").fetchone()
    if len(hashes) * _SCAN_FACTOR <= rows:
        yield from select_many(
            connection, "content_hash, vector", "embedding", "content_hash", hashes
        )
        return
    cursor = connection.execute("SELECT content_hash, vector FROM embedding")
    while chunk := cursor.fetchmany(_SCAN_ROWS):
        yield chunk


def _path_text(path: Path) -> str:
    """A path as text for SQLite; undecodable bytes become escapes."""
    return str(path).encode("utf-8", "backslashreplace").decode()
