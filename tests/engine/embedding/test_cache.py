import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.embedding import cache as module
from engine.embedding.cache import EmbeddingCache
from engine.errors import StorageError
from engine.files import FoundFile
from engine.images.read_file import content_hash

WIDTH = 6
BACKBONE = "ab" * 32


def hashes_of(count: int) -> list[bytes]:
    return [content_hash(str(number).encode()) for number in range(count)]


def vectors_of(count: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((count, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("asked", [3, 2500])
def test_what_was_put_is_found_again(tmp_path: Path, asked: int) -> None:
    """In the requested order, also after reopening, for few and for most rows."""
    hashes, vectors = hashes_of(2500), vectors_of(2500)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes, vectors)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        order = np.random.default_rng(1).permutation(2500)[:asked]
        found_vectors, found = cache.get_many([hashes[position] for position in order])
    assert found.all()
    assert found_vectors.dtype == np.float16
    assert np.array_equal(found_vectors, vectors[order].astype(np.float16))


def test_missing_and_repeated_hashes(tmp_path: Path) -> None:
    """Unknown hashes give zeros and False; repeated ones are repeated."""
    hashes, vectors = hashes_of(4), vectors_of(4)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes[:2], vectors[:2])
        found_vectors, found = cache.get_many([hashes[3], hashes[1], hashes[1]])
        assert found.tolist() == [False, True, True]
        assert not found_vectors[0].any()
        assert np.array_equal(found_vectors[1], found_vectors[2])
        assert cache.missing([hashes[3], hashes[0], hashes[2], hashes[3]]) == [hashes[3], hashes[2]]


def test_nothing_asked(tmp_path: Path) -> None:
    """Empty requests have empty results."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many([], np.zeros((0, WIDTH), dtype=np.float32))
        vectors, found = cache.get_many([])
        assert vectors.shape == (0, WIDTH)
        assert found.shape == (0,)
        assert cache.missing([]) == []
        assert cache.path_hashes([]) == []


def test_values_beyond_half_precision_are_clipped(tmp_path: Path) -> None:
    """A value of a million becomes the largest float16, without a warning."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many([b"x"], np.full((1, WIDTH), 1e6, dtype=np.float32))
        assert np.all(cache.get_many([b"x"])[0] == np.finfo(np.float16).max)


def test_wrong_shape_is_a_bug(tmp_path: Path) -> None:
    """Vectors of another width raise before writing."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        with pytest.raises(ValueError, match="shape"):
            cache.put_many([b"x"], np.zeros((1, WIDTH + 1), dtype=np.float32))
        assert cache.missing([b"x"]) == [b"x"]


def test_backbones_do_not_mix(tmp_path: Path) -> None:
    """Each backbone has its own file."""
    with (
        EmbeddingCache(tmp_path, BACKBONE, WIDTH) as one,
        EmbeddingCache(tmp_path, "cd" * 32, WIDTH) as other,
    ):
        one.put_many(hashes_of(1), vectors_of(1))
        assert other.missing(hashes_of(1)) == hashes_of(1)


def test_known_files(tmp_path: Path) -> None:
    """Files are known by path, size and time; the latest state counts."""
    first = FoundFile(Path("/a/鳥.jpg"), 10, 20)
    changed = FoundFile(first.path, 10, 21)
    odd = FoundFile(Path("/a/caf\udce9.jpg"), 1, 1)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.remember_files([first, odd], [b"1", b"2"])
        assert cache.path_hashes([changed, first, odd]) == [None, b"1", b"2"]
        cache.remember_files([changed], [b"3"])
        assert cache.path_hashes([first, changed]) == [None, b"3"]


def test_damaged_file_is_started_anew(tmp_path: Path) -> None:
    """A damaged cache is moved away and a new one is made."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        path = cache.path
    content = path.read_bytes()[:100] + b"\xff" * 5000
    path.write_bytes(content)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes_of(3), vectors_of(3))
        assert cache.missing(hashes_of(3)) == []
    assert path.with_name(path.name + ".damaged").read_bytes() == content


def test_damage_inside_is_found_while_in_use(tmp_path: Path) -> None:
    """Damaged pages discard the cache without an error."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes_of(2000), vectors_of(2000))
        path = cache.path
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        assert not cache.get_many(hashes_of(2000))[1].any()
        cache.put_many(hashes_of(1), vectors_of(1))
        assert cache.missing(hashes_of(2)) == hashes_of(2)[1:]


def test_folder_that_refuses_is_a_storage_error(tmp_path: Path) -> None:
    """The error is a StorageError."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="embedding cache"):
        EmbeddingCache(tmp_path / "file" / "cache", BACKBONE, WIDTH)


def test_full_disk_is_a_storage_error_and_loses_nothing(tmp_path: Path) -> None:
    """A write fails as a whole, and stored rows stay."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes_of(5), vectors_of(5))
        connection = cache._cache._connection  # noqa: SLF001
        assert connection is not None
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StorageError, match="disk is full"):
            cache.put_many(hashes_of(5000), vectors_of(5000))
        assert cache.missing(hashes_of(6)) == hashes_of(6)[5:]


def test_vector_of_a_wrong_length_counts_as_missing(tmp_path: Path) -> None:
    """A row without `width` values is ignored."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes_of(2), vectors_of(2))
        connection = sqlite3.connect(cache.path)
        connection.execute(
            "UPDATE embedding SET vector = x'00' WHERE content_hash = ?", (hashes_of(1)[0],)
        )
        connection.commit()
        connection.close()
        assert cache.get_many(hashes_of(2))[1].tolist() == [False, True]


def test_two_programs_write_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both write to one file and see all rows."""
    monkeypatch.setattr(module, "_SCAN_ROWS", 7)
    hashes, vectors = hashes_of(200), vectors_of(200)
    with (
        EmbeddingCache(tmp_path, BACKBONE, WIDTH) as one,
        EmbeddingCache(tmp_path, BACKBONE, WIDTH) as other,
    ):

        def write(cache: EmbeddingCache, start: int) -> None:
            for position in range(start, start + 100, 10):
                cache.put_many(hashes[position : position + 10], vectors[position : position + 10])

        threads = [threading.Thread(target=write, args=pair) for pair in ((one, 0), (other, 100))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert one.missing(hashes) == []
        assert np.array_equal(other.get_many(hashes)[0], vectors.astype(np.float16))


def test_a_deleted_cache_is_started_anew(tmp_path: Path) -> None:
    """Later rows are written to a new file."""
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.put_many(hashes_of(1), vectors_of(1))
        if not deleted(tmp_path):
            pytest.skip("open files cannot be deleted here")
        cache.put_many(hashes_of(2)[1:], vectors_of(2)[1:])
        with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as other:
            assert other.missing(hashes_of(2)) == hashes_of(1)


def test_a_cache_that_another_program_made_anew(tmp_path: Path) -> None:
    """Two programs with a deleted cache continue in the same new file."""
    with (
        EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache,
        EmbeddingCache(tmp_path, BACKBONE, WIDTH) as other,
    ):
        cache.put_many(hashes_of(1), vectors_of(1))
        if not deleted(tmp_path):
            pytest.skip("open files cannot be deleted here")
        other.put_many(hashes_of(2)[1:], vectors_of(2)[1:])
        cache.put_many(hashes_of(3)[2:], vectors_of(3)[2:])
        assert cache.missing(hashes_of(3)) == other.missing(hashes_of(3)) == hashes_of(1)


def deleted(folder: Path) -> bool:
    """Delete a folder's files; False if the system refuses that for open files."""
    try:
        for file in list(folder.iterdir()):
            file.unlink()
    except OSError:
        return False
    return True


def test_what_a_file_held_when_it_was_last_read(tmp_path: Path) -> None:
    """It is answered without reading the file, for any number of requests.

    None for a file that was never read.
    """
    paths, hashes = [tmp_path / f"{number}.png" for number in range(2000)], hashes_of(2000)
    with EmbeddingCache(tmp_path, BACKBONE, WIDTH) as cache:
        cache.remember_files([FoundFile(path, 1, 1) for path in paths], hashes)
        cache.remember_files([FoundFile(paths[0], 2, 2)], [hashes[7]])
        assert cache.last_hashes([*paths, tmp_path / "other.png"]) == [hashes[7], *hashes[1:], None]
