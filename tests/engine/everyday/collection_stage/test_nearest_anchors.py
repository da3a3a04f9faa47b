"""Nearest anchors that lie in a table, and those of few images beside it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.collection_stage.neighbours import (
    MOST_NEWER,
    NEIGHBOURS,
    Nearest,
    NearestAnchors,
)

IMAGES = 400


def _drawn(rows: int, seed: int, first: int = 0) -> Nearest:
    generator = np.random.default_rng(seed)
    positions = generator.integers(first, first + 50, (rows, NEIGHBOURS)).astype(np.int32)
    return Nearest(
        positions, -np.sort(-generator.random((rows, NEIGHBOURS), dtype=np.float32), axis=1)
    )


def _same(found: Nearest, expected: tuple[NDArray[np.int32], NDArray[np.float32]]) -> bool:
    return np.array_equal(found.positions, expected[0]) and np.array_equal(
        found.cosines, expected[1]
    )


@pytest.mark.parametrize("seed", range(5))
def test_rows_as_if_all_were_written_into_the_table(seed: int) -> None:
    """By rows in any order, by slices, and as a whole, after several rounds."""
    generator = np.random.default_rng(seed)
    table = _drawn(IMAGES, seed)
    found, positions, cosines = (
        NearestAnchors.of(table),
        table.positions.copy(),
        table.cosines.copy(),
    )
    for count in range(6):
        rows = np.sort(generator.choice(IMAGES, 25, replace=False))
        newer = _drawn(len(rows), 100 * seed + count, first=50)
        found = found.with_newer(rows, newer)
        positions[rows], cosines[rows] = newer.positions, newer.cosines
        assert _same(found.whole(), (positions, cosines))
        chosen = generator.integers(0, IMAGES, 60)
        assert _same(found.rows(chosen), (positions[chosen], cosines[chosen]))
        for part in (slice(0, 1), slice(17, 140), slice(390, 500), slice(None)):
            assert _same(found.rows(part), (positions[part], cosines[part]))


def test_the_table_is_not_copied_for_few_images() -> None:
    table = _drawn(IMAGES, 0)
    table.positions.flags.writeable = table.cosines.flags.writeable = False
    few, many = np.arange(0, IMAGES, 10), np.arange(1 + int(MOST_NEWER * IMAGES))
    found = NearestAnchors.of(table).with_newer(few, _drawn(len(few), 1))
    assert found.table is table
    other = found.with_newer(many, _drawn(len(many), 2))
    assert len(other.newer_rows) == 0
    assert _same(other.rows(many), (_drawn(len(many), 2).positions, _drawn(len(many), 2).cosines))
    assert _same(found.rows(few), (_drawn(len(few), 1).positions, _drawn(len(few), 1).cosines)), (
        "as it was before"
    )
