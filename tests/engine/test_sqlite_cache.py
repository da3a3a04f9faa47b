"""Caches open only files with their mark, or with tables of an earlier cache.

Other files are unchanged.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from engine.embedding.cache import EmbeddingCache, cache_path
from engine.errors import StorageError
from engine.images.thumbnail_cache import FILE_NAME, ThumbnailCache
from engine.mapped_cache import MappedCache
from engine.sqlite_cache import APPLICATION_ID, ForeignFileError, open_cache, set_aside

SCHEMA = "CREATE TABLE IF NOT EXISTS row (key BLOB PRIMARY KEY, value BLOB NOT NULL)"


def script(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)


def damaged(path: Path, statements: str) -> None:
    script(path, statements)
    path.write_bytes(path.read_bytes()[:200] + b"\xff" * 5000)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "tables of another program": lambda path: script(
        path, "CREATE TABLE diary (day); INSERT INTO diary VALUES (1)"
    ),
    "another mark": lambda path: script(path, f"PRAGMA application_id = 7; {SCHEMA}"),
    "a table beside ours": lambda path: script(path, f"{SCHEMA}; CREATE TABLE diary (day)"),
    "another column": lambda path: script(path, "CREATE TABLE row (key, day)"),
    "a view beside ours": lambda path: script(path, SCHEMA + "; CREATE VIEW diary AS SELECT 1"),
    "no table": lambda path: script(path, "PRAGMA user_version = 3"),
    "damaged, of another mark": lambda path: damaged(path, f"PRAGMA application_id = 7; {SCHEMA}"),
    "no database": lambda path: path.write_bytes(b"dear diary" * 99),
    "half a header": lambda path: path.write_bytes(b"SQLite format 3\0"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_others_is_left_alone(tmp_path: Path, kind: str) -> None:
    """It is neither opened, emptied, renamed nor replaced, also as damaged."""
    path = tmp_path / "cache.sqlite"
    FOREIGN[kind](path)
    before = path.read_bytes()
    with pytest.raises(ForeignFileError):
        open_cache(path, SCHEMA, version=1)
    assert not set_aside(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_embedding_cache_says_what_lies_in_its_place(tmp_path: Path) -> None:
    """In one line; thumbnails are not cached then."""
    path = cache_path(tmp_path, "ab" * 32, 4)
    script(path, "CREATE TABLE diary (day)")
    with pytest.raises(StorageError, match="not a Protoleaf cache"):
        EmbeddingCache(tmp_path, "ab" * 32, 4)
    (tmp_path / FILE_NAME).write_bytes(b"dear diary")
    thumbnails = ThumbnailCache(tmp_path)
    thumbnails.put(path, 1, 1, 1, b"picture")
    assert thumbnails.get(path, 1, 1, 1) is None
    assert (tmp_path / FILE_NAME).read_bytes() == b"dear diary"


def test_an_earlier_cache_is_known_by_its_tables(tmp_path: Path) -> None:
    """Its content stays, also what is only in its log, and it bears the mark from then on."""
    path = tmp_path / "cache.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA journal_mode = WAL; {SCHEMA}; PRAGMA user_version = 1")
        connection.execute("INSERT INTO row VALUES (x'01', x'02')")
        with closing(open_cache(path, SCHEMA, version=1)) as opened:
            assert opened.execute("SELECT * FROM row").fetchall() == [(b"\1", b"\2")]
            assert opened.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_new_cache_is_marked_before_anything_is_in_it(tmp_path: Path) -> None:
    """Also in the file itself, whatever its log still holds: it is ours after a kill."""
    path = tmp_path / "cache.sqlite"
    with closing(open_cache(path, SCHEMA, version=1)):
        assert int.from_bytes(path.read_bytes()[68:72], "big") == APPLICATION_ID


def test_what_is_called_damaged_already_stays(tmp_path: Path) -> None:
    """A file of others takes no part; an earlier damaged cache of ours is replaced."""
    path, other = tmp_path / "cache.sqlite", tmp_path / "cache.sqlite.damaged"
    other.write_bytes(b"dear diary")
    for _ in range(2):
        open_cache(path, SCHEMA, version=1).close()
        path.write_bytes(path.read_bytes()[:100] + b"\xff" * 5000)
        open_cache(path, SCHEMA, version=1).close()
    assert other.read_bytes() == b"dear diary"
    assert {each.name for each in tmp_path.iterdir()} == {
        path.name,
        other.name,
        "cache.sqlite.damaged1",
    }


@pytest.mark.parametrize(
    "text", ["../../victim/my", "/etc/passwd", "a/b", "", "..", "x\0y", "\ud800", "=1+1", "A" * 64]
)
def test_no_text_is_a_path(tmp_path: Path, text: str) -> None:
    """What is no SHA-256 names a file of its own in the folder all the same."""
    path = cache_path(tmp_path, text, 4)
    assert path.parent == tmp_path
    assert len(path.name) == len(cache_path(tmp_path, "ab" * 32, 4).name)
    with EmbeddingCache(tmp_path, text, 4) as cache:
        cache.put_many([b"a"], np.ones((1, 4), dtype=np.float16))
    assert path.is_file()


def test_mapped_caches_evict_only_their_own(tmp_path: Path) -> None:
    """Neither another program's file of the same ending nor what a link leads to."""
    other, target = tmp_path / "notes.rows", tmp_path / "target"
    for each in (other, target):
        each.write_bytes(b"x" * 100)
        os.utime(each, (1, 1))
    (tmp_path / f"{'a' * 32}-000.rows").symlink_to(target)
    cache = MappedCache(tmp_path, "name", ".rows", limit_bytes=1)
    cache.write({"numbers": np.arange(10)})
    cache.read()
    assert other.is_file()
    assert target.stat().st_mtime == 1
    assert (tmp_path / f"{'a' * 32}-000.rows").is_symlink()
