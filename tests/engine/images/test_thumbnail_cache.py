import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.images.thumbnail_cache import FILE_NAME, ThumbnailCache

IMAGE = Path("/photos/鳥 🦜.jpg")


def test_what_was_put_is_found_again(tmp_path: Path) -> None:
    """Thumbnails persist by file state and side."""
    cache = ThumbnailCache(tmp_path)
    cache.put(IMAGE, 10, 20, 160, b"picture")
    cache.close()
    cache = ThumbnailCache(tmp_path)
    assert cache.get(IMAGE, 10, 20, 160) == b"picture"
    assert cache.get(IMAGE, 11, 20, 160) is None
    assert cache.get(IMAGE, 10, 21, 160) is None
    assert cache.get(IMAGE, 10, 20, 161) is None
    assert cache.get(Path("/photos/other.jpg"), 10, 20, 160) is None
    cache.close()


def test_undecodable_path_is_a_key(tmp_path: Path) -> None:
    """A path that is not UTF-8 can be stored."""
    cache = ThumbnailCache(tmp_path)
    cache.put(Path("caf\udce9.jpg"), 1, 2, 3, b"x")
    assert cache.get(Path("caf\udce9.jpg"), 1, 2, 3) == b"x"
    cache.close()


def test_the_longest_unused_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Least recently used thumbnails are evicted above the limit."""
    now_s = 1_000_000.0
    monkeypatch.setattr("engine.images.thumbnail_cache.time.time", lambda: now_s)
    cache = ThumbnailCache(tmp_path, limit_bytes=1000)
    for number in range(10):
        now_s += 10_000
        cache.put(IMAGE, number, 0, 160, b"x" * 100)
    now_s += 10_000
    assert cache.get(IMAGE, 0, 0, 160) is not None
    now_s += 10_000
    cache.put(IMAGE, 10, 0, 160, b"x" * 100)
    held = [number for number in range(11) if cache.get(IMAGE, number, 0, 160)]
    assert 10 in held
    assert 0 in held
    assert 1 not in held
    assert 100 * len(held) <= 900
    cache.close()


def test_replacing_a_picture(tmp_path: Path) -> None:
    """The second one is stored."""
    cache = ThumbnailCache(tmp_path)
    cache.put(IMAGE, 1, 2, 3, b"old")
    cache.put(IMAGE, 1, 2, 3, b"new")
    assert cache.get(IMAGE, 1, 2, 3) == b"new"
    cache.close()


def test_damaged_file_is_started_anew(tmp_path: Path) -> None:
    """A damaged cache is moved away and a new one is made."""
    cache = ThumbnailCache(tmp_path)
    cache.put(IMAGE, 9, 9, 9, b"x")
    cache.close()
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:100] + b"rubbish" * 1000)
    cache = ThumbnailCache(tmp_path)
    assert cache.get(IMAGE, 1, 2, 3) is None
    cache.put(IMAGE, 1, 2, 3, b"x")
    assert cache.get(IMAGE, 1, 2, 3) == b"x"
    assert (tmp_path / (FILE_NAME + ".damaged")).exists()
    cache.close()


def test_damage_while_in_use(tmp_path: Path) -> None:
    """Damaged pages lose thumbnails without an error."""
    cache = ThumbnailCache(tmp_path)
    for number in range(50):
        cache.put(IMAGE, number, 2, 3, b"x" * 4000)
    cache.close()
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    assert cache.get(IMAGE, 1, 2, 3) is None
    cache.put(IMAGE, 1, 2, 3, b"y")
    assert cache.get(IMAGE, 1, 2, 3) == b"y"
    cache.close()


def test_file_deleted_while_in_use(tmp_path: Path) -> None:
    """A cache deleted while open is created again."""
    cache = ThumbnailCache(tmp_path)
    cache.put(IMAGE, 1, 2, 3, b"x")
    for path in tmp_path.iterdir():
        path.unlink()
    cache.put(IMAGE, 4, 2, 3, b"y")
    cache.get(IMAGE, 4, 2, 3)
    cache.close()
    cache.put(IMAGE, 5, 2, 3, b"z")
    assert cache.get(IMAGE, 5, 2, 3) == b"z"
    cache.close()


def test_folder_that_refuses_means_no_cache(tmp_path: Path) -> None:
    """Without a folder nothing is cached and nothing fails."""
    (tmp_path / "file").write_text("in the way")
    cache = ThumbnailCache(tmp_path / "file" / "cache")
    cache.put(IMAGE, 1, 2, 3, b"x")
    assert cache.get(IMAGE, 1, 2, 3) is None
    cache.close()


def test_other_version_is_emptied(tmp_path: Path) -> None:
    """A cache of another version is emptied."""
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.executescript("CREATE TABLE thumbnail (picture TEXT); PRAGMA user_version = 99;")
    connection.close()
    cache = ThumbnailCache(tmp_path)
    cache.put(IMAGE, 1, 2, 3, b"x")
    assert cache.get(IMAGE, 1, 2, 3) == b"x"
    cache.close()


def test_many_threads_and_two_programs(tmp_path: Path) -> None:
    """Threads of two programs use one cache."""
    caches = [ThumbnailCache(tmp_path), ThumbnailCache(tmp_path)]

    def put_and_get(number: int) -> bytes | None:
        cache = caches[number % 2]
        cache.put(IMAGE, number, 2, 3, str(number).encode())
        return cache.get(IMAGE, number, 2, 3)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(put_and_get, range(100))) == [
            str(number).encode() for number in range(100)
        ]
    for cache in caches:
        cache.close()


@pytest.mark.slow
def test_several_that_open_a_new_file_at_once_lose_nothing(tmp_path: Path) -> None:
    """SQLite is busy for all but one, which retry."""
    threads = 4
    barrier = threading.Barrier(threads)

    def first_use(folder: Path, number: int) -> None:
        cache = ThumbnailCache(folder)
        barrier.wait(30)
        cache.put(Path(f"/{number}.jpg"), 1, 1, 256, b"picture")
        cache.close()

    with ThreadPoolExecutor(threads) as pool:
        for attempt in range(60):
            folder = tmp_path / str(attempt)
            list(pool.map(first_use, [folder] * threads, range(threads)))
            cache = ThumbnailCache(folder)
            assert all(cache.get(Path(f"/{number}.jpg"), 1, 1, 256) for number in range(threads))
            cache.close()
