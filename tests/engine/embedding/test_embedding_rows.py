"""Embeddings of a large collection in a memory-mapped file."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.embedding import embedding_rows
from engine.embedding.embedding_rows import SUFFIX, EmbeddingRows, EmbeddingRowsCache, codes_of

WIDTH = 6


def rows_of(count: int, seed: int = 0) -> EmbeddingRows:
    """Every third image has no embedding."""
    generator = np.random.default_rng(seed)
    return EmbeddingRows(
        np.arange(1, count + 1) * 2,
        generator.integers(1, 2**63, count).astype(np.uint64),
        np.arange(count) % 3 > 0,
        generator.integers(-32767, 32768, (count, WIDTH)).astype(np.int16),
    )


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingRowsCache:
    """An empty cache."""
    return EmbeddingRowsCache(tmp_path / "collections", "backbone project", WIDTH)


def the_file(tmp_path: Path) -> Path:
    """The only file."""
    (path,) = (tmp_path / "collections").glob(f"*{SUFFIX}")
    return path


@pytest.mark.parametrize("count", [1, 10, 70_000])
def test_rows_come_back(cache: EmbeddingRowsCache, count: int) -> None:
    """All rows, with capacity for more."""
    assert cache.read() is None
    rows = rows_of(count)
    cache.write(rows)
    found = cache.read()
    assert found is not None
    for name in ("image_ids", "contents", "is_filled"):
        assert np.array_equal(getattr(found, name), getattr(rows, name))
    assert np.array_equal(found.embeddings[:count], rows.embeddings)
    assert len(found.embeddings) == int(count * 1.25)
    assert not found.embeddings[count:].any()


def test_what_is_written_to_them_stays_in_this_process(cache: EmbeddingRowsCache) -> None:
    """Writes to the mapped rows are private."""
    cache.write(rows_of(10))
    found = cache.read()
    assert found is not None
    before = found.embeddings[:10].copy()
    found.embeddings[:] = 7
    again = cache.read()
    assert again is not None
    assert np.array_equal(again.embeddings[:10], before)


@pytest.mark.parametrize("place", [0, 20, 100, 300])
def test_a_damaged_beginning_is_known(
    cache: EmbeddingRowsCache, tmp_path: Path, place: int
) -> None:
    """A changed bit in magic number, header or ids discards the file."""
    cache.write(rows_of(100))
    data = bytearray(the_file(tmp_path).read_bytes())
    data[place] ^= 1
    the_file(tmp_path).write_bytes(data)
    assert cache.read() is None


@pytest.mark.parametrize("length", [0, 10, 200, -1])
def test_a_file_that_was_cut_off_is_known(
    cache: EmbeddingRowsCache, tmp_path: Path, length: int
) -> None:
    """At any length."""
    cache.write(rows_of(100))
    data = the_file(tmp_path).read_bytes()
    the_file(tmp_path).write_bytes(data[:length])
    assert cache.read() is None


@pytest.mark.parametrize("damage", ["a bit", "a block", "two rows"])
def test_embeddings_that_are_not_whole_are_known(
    cache: EmbeddingRowsCache, tmp_path: Path, damage: str
) -> None:
    """Ids, hashes and size are compared with the header."""
    rows = rows_of(1_000)
    cache.write(rows)
    data = bytearray(the_file(tmp_path).read_bytes())
    start = data.index(rows.embeddings.tobytes())
    match damage:
        case "a bit":
            data[start + 7 * WIDTH] ^= 64
        case "a block":
            data[start + 512 : start + 1024] = bytes(512)
        case _:
            row, other = (
                slice(start + place * WIDTH * 2, start + (place + 1) * WIDTH * 2)
                for place in (3, 4)
            )
            data[row], data[other] = data[other], data[row]
    the_file(tmp_path).write_bytes(data)
    assert cache.read() is None


def test_another_width_is_no_use(cache: EmbeddingRowsCache, tmp_path: Path) -> None:
    """A file swapped from another backbone is refused."""
    cache.write(rows_of(10))
    assert (
        EmbeddingRowsCache(tmp_path / "collections", "backbone project", WIDTH + 1).read() is None
    )


def test_rows_that_changed_while_they_were_written_are_dropped(
    cache: EmbeddingRowsCache, tmp_path: Path
) -> None:
    """The previous file stays, and no draft is left."""
    cache.write(rows_of(10))
    cache.write(rows_of(20), lambda: False)
    found = cache.read()
    assert found is not None
    assert len(found.image_ids) == 10
    assert len(list((tmp_path / "collections").iterdir())) == 1


def test_the_newest_is_read_and_others_go(cache: EmbeddingRowsCache, tmp_path: Path) -> None:
    """Each write gets a new name, since the previous file may be mapped."""
    cache.write(rows_of(10))
    first, mapped = the_file(tmp_path), cache.read()
    cache.write(rows_of(20))
    assert the_file(tmp_path) != first
    found = cache.read()
    assert found is not None
    assert len(found.image_ids) == 20
    assert mapped is not None
    assert np.array_equal(mapped.embeddings[:10], rows_of(10).embeddings)


def test_collections_that_were_not_opened_for_long_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Least recently opened collections are removed above a total size."""
    monkeypatch.setattr(embedding_rows, "LIMIT_BYTES", 80_000)
    many = [EmbeddingRowsCache(tmp_path / "collections", str(number), WIDTH) for number in range(5)]
    for each in many:
        each.write(rows_of(1_000))
    assert [each.read() is None for each in many] == [True, True, True, False, False]


def test_a_nearly_full_disk_is_left_alone(
    cache: EmbeddingRowsCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written if the disk is nearly full."""
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=100))
    cache.write(rows_of(1_000))
    assert cache.read() is None


def test_codes_are_beginnings_of_hashes() -> None:
    """The first bytes of hashes, also of short ones; zero for an unread image."""
    hashes = [bytes(range(1, 17)), b"", b"\x01"]
    expected = [int.from_bytes(bytes(range(1, 9)), "little"), 0, 1]
    assert codes_of(hashes).tolist() == expected
    assert codes_of(np.array(hashes, dtype="S16")).tolist() == expected


def test_a_copy_that_a_person_made_is_no_obstacle(
    cache: EmbeddingRowsCache, tmp_path: Path
) -> None:
    """A file without a number in its name is ignored."""
    cache.write(rows_of(10))
    path = the_file(tmp_path)
    path.with_name(f"{path.stem} copy{SUFFIX}").write_bytes(b"any")
    cache.write(rows_of(20))
    found = cache.read()
    assert found is not None
    assert len(found.image_ids) == 20


@pytest.mark.parametrize("count", [b"9999, 6", b"1e99, 6"])
def test_an_absurd_count_takes_no_memory(
    cache: EmbeddingRowsCache, tmp_path: Path, count: bytes
) -> None:
    """The checksum is verified before memory is allocated."""
    cache.write(rows_of(10))
    data = the_file(tmp_path).read_bytes()
    assert data.count(b"[10, 6]") == 1
    the_file(tmp_path).write_bytes(data.replace(b"[10, 6]", b"[" + count + b"]"))
    assert cache.read() is None
