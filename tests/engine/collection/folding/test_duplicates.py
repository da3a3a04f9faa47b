import time

import numpy as np
import pytest

from engine.collection.folding.duplicates import LEAST_COSINE, MOST_BITS, copies, same_content
from engine.collection.folding.partitions import ALONE
from engine.collection.folding.sequences import UNKNOWN_TIME

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def _copies(
    bits: list[int], *, seconds: list[int] | None = None, embeddings: Vectors | None = None
) -> list[int]:
    count = len(bits)
    vectors = np.ones((count, 1), dtype=np.float32) if embeddings is None else embeddings
    times = np.array(seconds or [UNKNOWN_TIME] * count, dtype=np.int64)
    return copies(np.array(bits, dtype=np.uint64), times, vectors, np.arange(count)).tolist()


def _flipped(bits: int, count: int) -> int:
    """Flip bits of a fingerprint, spread evenly."""
    for place in range(count):
        bits ^= 1 << (7 * place) % 64
    return bits


def test_same_bytes() -> None:
    """Images that were never read have no duplicates."""
    assert same_content(np.array([b"a", b"b", b"a", b"", b""])).tolist() == [
        0,
        ALONE,
        0,
        ALONE,
        ALONE,
    ]


def test_hashes_that_begin_alike_are_other_bytes() -> None:
    """A collision of the first eight bytes makes no duplicates: whole hashes are compared."""
    keys = np.array([b"12345678a", b"12345678b", b"x", b"12345678b", b"12345678"])
    assert same_content(keys).tolist() == [ALONE, 0, ALONE, 0, ALONE]


def test_hashes_of_a_few_other_bits_are_copies() -> None:
    first = 0x0123456789ABCDEF
    assert _copies([first, _flipped(first, MOST_BITS), ~first & (2**64 - 1)]) == [0, 0, ALONE]
    assert _copies([first, _flipped(first, MOST_BITS + 1)]) == [ALONE, ALONE]


def test_plain_pictures_have_no_copies() -> None:
    """Plain pictures, as with a lens cap on, have no fingerprint and no copies."""
    assert _copies([0, 0]) == [ALONE, ALONE]


def test_embeddings_have_a_say() -> None:
    far = np.array([[1, 0], [LEAST_COSINE - 0.01, 0.7]], dtype=np.float32)
    assert _copies([5, 5], embeddings=far) == [ALONE, ALONE]
    assert _copies([5, 5], embeddings=np.array([[1, 0], [1, 0]], dtype=np.float32)) == [0, 0]


def test_an_image_without_an_embedding_is_judged_by_its_hash() -> None:
    rows = np.array([-1, 0])
    times = np.full(2, UNKNOWN_TIME)
    assert copies(
        np.array([5, 5], dtype=np.uint64), times, np.ones((1, 1), dtype=np.float32), rows
    ).tolist() == [0, 0]


def test_photos_of_different_times_are_two_photos() -> None:
    """Different capture times mean different photos; a copy has the same time or none."""
    assert _copies([5, 5], seconds=[1000, 2000]) == [ALONE, ALONE]
    assert _copies([5, 5], seconds=[1000, 1000]) == [0, 0]
    assert _copies([5, 5], seconds=[1000, UNKNOWN_TIME]) == [0, 0]


def test_a_chain_does_not_join_its_ends() -> None:
    """Near-duplicates are not transitive."""
    chain = [0x0F0F0F0F0F0F0F0F]
    for step in range(4):
        bits = chain[-1]
        for place in range(6 * step, 6 * step + 6):
            bits ^= 1 << place
        chain.append(bits)
    found = _copies(chain)
    assert found[0] == found[1] == found[2] != found[4]


@pytest.mark.slow
def test_hostile_crowds_take_seconds() -> None:
    """Thousands of identical or near-identical images fold in bounded time and memory."""
    count = 20_000
    times, vectors = np.full(count, UNKNOWN_TIME), np.ones((count, 1), dtype=np.float32)
    started_s = time.perf_counter()
    assert copies(np.full(count, 5, dtype=np.uint64), times, vectors, np.arange(count)).max() == 0
    few = (np.arange(count, dtype=np.uint64) << np.uint64(8)) | np.uint64(0xAB)
    found = copies(few, times, vectors, np.arange(count))
    assert np.count_nonzero(found == ALONE) < count // 100
    assert time.perf_counter() - started_s < 20
