"""Keeps embeddings between runs, by content of the image and identity of the embedding. May be deleted at any time."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.files import FoundFile, hash_in_name
from engine.full_disk import storage_error
from engine.images.cache_file import file_identity, open_cache, recover, transaction

_VERSION: Final = 1  # of the cache's tables; a file of another version is started anew
_SCHEMA: Final = """
CREATE TABLE embedding (content_hash BLOB PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE known_file (
    path TEXT PRIMARY KEY, size_bytes INTEGER NOT NULL, modified_ns INTEGER NOT NULL, content_hash BLOB NOT NULL
) WITHOUT ROWID
"""
_PICTURES: Final = "CREATE TABLE IF NOT EXISTS picture (content_hash BLOB PRIMARY KEY, bits BLOB NOT NULL) WITHOUT ROWID"
"""Perceptual hashes of what the backbone saw; caches of before lack them."""
_BITS: Final = 8  # bytes of one
_PUT_EMBEDDING: Final = "INSERT OR REPLACE INTO embedding VALUES (?, ?)"
_PUT_PICTURE: Final = "INSERT OR REPLACE INTO picture VALUES (?, ?)"
_PUT_FILE: Final = "INSERT OR REPLACE INTO known_file VALUES (?, ?, ?, ?)"
_NO_HASHES: Final[Mapping[bytes, int]] = {}
_CHUNK: Final = 900  # parameters of one question; every SQLite allows 999
_SCAN_FACTOR: Final = 3  # more than a third of the file is requested: read it all
_FLOAT16_MAX: Final = float(np.finfo(np.float16).max)

T = TypeVar("T")


class EmbeddingCache:
    """Embeddings of one identity in one SQLite file, plus which content each known file had.

    Safe to use from several threads and several processes at once. A damaged file is set aside and started anew.

    Args:
        project_id: of the project that also sees the embeddings that a data set brought it, see `imported_file`.
            Those computed here come first, and only they are written here.
    """

    def __init__(self, folder: Path, identity: str, width: int, *, project_id: str = "") -> None:
        self.opened_with = folder, identity, width, project_id  # what opens it in another process
        self.path = cache_file(folder, identity, width)
        self.width = width
        self._imported = imported_cache(folder, identity, width, project_id) if project_id else None
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._with_cache(lambda _connection: None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._drop_connection()
        if self._imported is not None:
            self._imported.close()

    def put_many(
        self,
        hashes: Sequence[bytes],
        vectors: NDArray[np.floating],
        picture_hashes: Mapping[bytes, int] = _NO_HASHES,
    ) -> None:
        """Store embeddings (n, width), clipped to float16, in one transaction; then they survive a kill.

        Args:
            picture_hashes: perceptual hashes (64 bits) of the pictures, as the backbone saw them, by content hash.

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
        pictures = [(key, each.to_bytes(_BITS, "big")) for key, each in picture_hashes.items()]
        self._write((_PUT_PICTURE, pictures), (_PUT_EMBEDDING, rows))

    def picture_hashes(self, hashes: Iterable[bytes]) -> dict[bytes, int]:
        """The perceptual hashes of those pictures, by their content hashes, that have one; 0 for a plain picture."""
        wanted = list(dict.fromkeys(hashes))
        return self._with_cache(lambda connection: _known_pictures(connection, wanted))

    def get_many(self, hashes: Sequence[bytes]) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
        """Embeddings (n, width) float16, zeros where there is none, and found (n,) bool; hashes may repeat."""
        vectors = np.zeros((len(hashes), self.width), dtype=np.float16)
        found = np.zeros(len(hashes), dtype=np.bool_)
        self._with_cache(lambda connection: self._fill(connection, hashes, vectors, found))
        if self._imported is not None and not found.all():
            others = np.flatnonzero(~found)
            vectors[others], found[others] = self._imported.get_many(
                [hashes[place] for place in others.tolist()]
            )
        return vectors, found

    def missing(self, hashes: Iterable[bytes]) -> list[bytes]:
        """The hashes without an embedding, each once, in order."""
        wanted = list(dict.fromkeys(hashes))
        known = self._with_cache(lambda connection: _known_hashes(connection, wanted))
        missing = [key for key in wanted if key not in known]
        return missing if self._imported is None else self._imported.missing(missing)

    def remember_files(self, files: Sequence[FoundFile], hashes: Sequence[bytes]) -> None:
        """Store the content hash of each file, so that an unchanged file need not be read again.

        Raises:
            StorageError: the disk refuses.
        """
        by_file = dict(zip(files, hashes, strict=True))  # one with boxes comes more than once
        rows = [
            (_path_text(file.path), file.size_bytes, file.modified_ns, key)
            for file, key in by_file.items()
        ]
        self._write((_PUT_FILE, rows))

    def path_hashes(self, files: Sequence[FoundFile]) -> list[bytes | None]:
        """Content hash of each file that is known with this size and modification time; None for others."""
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
        """Size, modification time and content hash of each file when it was last read; None for others."""
        names = [_path_text(path) for path in paths]
        known = self._with_cache(lambda connection: _known_files(connection, names))
        return [known.get(name) for name in names]

    def _fill(
        self,
        connection: sqlite3.Connection,
        hashes: Sequence[bytes],
        vectors: NDArray[np.float16],
        found: NDArray[np.bool_],
    ) -> None:
        """Copy embeddings into `vectors` chunk by chunk, to save memory."""
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

    def _write(self, *statements: tuple[str, Sequence[tuple[object, ...]]]) -> None:
        """Run statements, each with its rows, in one transaction."""

        def write_all(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for statement, rows in statements:
                    connection.executemany(statement, rows)

        if any(rows for _statement, rows in statements):
            self._with_cache(write_all)

    def _with_cache(self, use: Callable[[sqlite3.Connection], T]) -> T:
        """Run `use` on the open cache; once more after a damaged or deleted file was replaced."""
        with self._lock:
            try:
                try:
                    return use(self._opened())
                except sqlite3.Error as error:
                    self._drop_connection()
                    if not recover(self.path, error):
                        raise
                    return use(self._opened())
            except (sqlite3.Error, OSError) as error:
                remedy = "free some disk space or choose another cache folder"
                raise storage_error(
                    self.path, error, "the embedding cache cannot be used", remedy
                ) from error

    def _opened(self) -> sqlite3.Connection:
        """The open file; a new one when it was deleted: SQLite would go on in the deleted one."""
        if self._connection is not None and file_identity(self.path) != self._identity:
            self._drop_connection()
        if self._connection is None:
            self._connection = open_cache(self.path, _SCHEMA, version=_VERSION)
            self._connection.execute(_PICTURES)
            self._identity = file_identity(self.path)
        return self._connection

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def to_halves(vectors: NDArray[np.floating]) -> NDArray[np.float16]:
    """Embeddings (n, width) as they are kept: float16, values beyond its range clipped."""
    return np.clip(vectors, -_FLOAT16_MAX, _FLOAT16_MAX).astype(np.float16)


def cache_file(folder: Path, identity: str, width: int) -> Path:
    """Where the cache of embeddings of an identity lies, whether it is there or not."""
    return folder / f"{hash_in_name(identity)[:32]}-{width:d}.sqlite"


def imported_file(folder: Path, identity: str, width: int, project_id: str) -> Path:
    """Where the embeddings lie that a data set brought to one project; no other project sees them."""
    return (
        folder
        / "imported"
        / hash_in_name(project_id)[:32]
        / cache_file(folder, identity, width).name
    )


def imported_cache(
    folder: Path, identity: str, width: int, project_id: str
) -> EmbeddingCache | None:
    """The embeddings that a data set brought to a project, where it was made of one."""
    path = imported_file(folder, identity, width, project_id)
    return EmbeddingCache(path.parent, identity, width) if path.exists() else None


def _embedding_rows(
    connection: sqlite3.Connection, hashes: Sequence[bytes]
) -> Iterator[list[tuple[bytes, bytes]]]:
    """Chunks of at least the wanted rows; reading the whole file is faster than looking up most of it."""
    (rows,) = connection.execute("SELECT coalesce(max(rowid), 0) FROM embedding").fetchone()
    if len(hashes) * _SCAN_FACTOR > rows:
        cursor = connection.execute("SELECT content_hash, vector FROM embedding")
        while chunk := cursor.fetchmany(_CHUNK):
            yield chunk
        return
    for wanted in _chunks(hashes):
        question = (
            f"SELECT content_hash, vector FROM embedding WHERE content_hash IN ({_marks(wanted)})"  # noqa: S608
        )
        yield connection.execute(question, wanted).fetchall()


def _known_hashes(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> set[bytes]:
    known: set[bytes] = set()
    for chunk in _chunks(hashes):
        question = f"SELECT content_hash FROM embedding WHERE content_hash IN ({_marks(chunk)})"  # noqa: S608
        known.update(key for (key,) in connection.execute(question, chunk))
    return known


def _known_pictures(connection: sqlite3.Connection, hashes: Sequence[bytes]) -> dict[bytes, int]:
    known: dict[bytes, int] = {}
    for chunk in _chunks(hashes):
        question = f"SELECT content_hash, bits FROM picture WHERE content_hash IN ({_marks(chunk)})"  # noqa: S608
        known.update(
            (key, int.from_bytes(bits, "big")) for key, bits in connection.execute(question, chunk)
        )
    return known


def _known_files(
    connection: sqlite3.Connection, names: Sequence[str]
) -> dict[str, tuple[int, int, bytes]]:
    """Size, modification time and content hash by path."""
    known: dict[str, tuple[int, int, bytes]] = {}
    for chunk in _chunks(names):
        question = f"SELECT * FROM known_file WHERE path IN ({_marks(chunk)})"  # noqa: S608
        known.update(
            (path, (size, time, key))
            for path, size, time, key in connection.execute(question, chunk)
        )
    return known


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _path_text(path: Path) -> str:
    """Path as text for SQLite: undecodable bytes become escapes."""
    return str(path).encode("utf-8", "backslashreplace").decode()
