"""Shards come back as they were written, and damage is found."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from engine.dataset.described_folder import SHARDS, ShardFacts
from engine.dataset.embedded_rows import EmbeddedRows, from_arrow, schema_of, to_arrow
from engine.dataset.shard_files import ShardSet, check_shard, each_batch, new_shard
from engine.errors import FormatError, StorageError
from tests.support.data_sets import some_rows

WIDTH = 12
FLIPS = 300


@pytest.fixture
def shards(tmp_path: Path) -> ShardSet:
    """An empty folder of shards."""
    (tmp_path / SHARDS).mkdir()
    return ShardSet(tmp_path, "some data set", schema_of(WIDTH), "make it anew")


def written(shards: ShardSet, number: int, *groups: EmbeddedRows) -> Path:
    """Write a shard of some row groups."""
    with new_shard(shards, number) as shard:
        for rows in groups:
            shard.add(to_arrow(rows))
        shard.facts = ShardFacts(
            sum(map(len, groups)), sum(int((~rows.has_embedding).sum()) for rows in groups), "CPU"
        )
    return shards.path(number)


def assert_equal(found: EmbeddedRows, expected: EmbeddedRows) -> None:
    """Row by row, embeddings bit by bit."""
    assert found.embeddings.tobytes() == expected.embeddings.tobytes()
    assert found.has_embedding.tolist() == expected.has_embedding.tolist()
    for name in ("content_hashes", "paths", "sizes_bytes", "statuses", "reasons"):
        assert list(getattr(found, name)) == list(getattr(expected, name))


def test_rows_come_back(shards: ShardSet) -> None:
    """With rows that have no embedding, in row groups of their own."""
    first, second = some_rows(20, WIDTH, seed=1), some_rows(7, WIDTH, seed=2)
    written(shards, 3, first, second)
    found = [from_arrow(batch) for batch in each_batch(shards, 3)]
    assert_equal(from_arrow(to_arrow(first)), first)
    assert np.concatenate([rows.embeddings for rows in found]).tobytes() == (
        first.embeddings.tobytes() + second.embeddings.tobytes()
    )
    assert [path for rows in found for path in rows.paths] == [*first.paths, *second.paths]
    assert check_shard(shards, 3) == ShardFacts(27, 3, "CPU")


def test_nothing_is_left_of_a_shard_that_fails(shards: ShardSet) -> None:
    """Neither under its name nor under a hidden one."""
    with pytest.raises(ValueError, match="does not match"), new_shard(shards, 0) as shard:
        shard.add(to_arrow(some_rows(5, WIDTH + 1)))
    assert list((shards.folder / SHARDS).iterdir()) == []


def test_a_missing_shard_is_named(shards: ShardSet) -> None:
    """With what to do."""
    with pytest.raises(StorageError, match=r"a shard is missing.*0000004.parquet. Make it anew"):
        check_shard(shards, 4)


def test_a_shard_of_another_place_is_no_shard(shards: ShardSet) -> None:
    """A shard under another's number, or in another data set, would give rows twice."""
    content = written(shards, 0, some_rows(5, WIDTH)).read_bytes()
    shards.path(1).write_bytes(content)
    with pytest.raises(FormatError, match="it belongs to another data set"):
        check_shard(shards, 1)
    other = ShardSet(shards.folder, "another data set", shards.schema, "")
    with pytest.raises(FormatError, match="it belongs to another data set"):
        check_shard(other, 0)


@pytest.mark.slow
def test_damage_is_found_or_harmless(shards: ShardSet) -> None:
    """One bit flipped anywhere, or a file cut short anywhere: an error, or every row as it was."""
    rows = some_rows(50, WIDTH)
    path = written(shards, 0, rows)
    whole, chance, found = path.read_bytes(), Random(1), 0
    for trial in range(FLIPS):
        damaged = bytearray(whole)
        if trial % 10:
            damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        else:
            del damaged[chance.randrange(len(whole)) :]
        path.write_bytes(damaged)
        try:
            check_shard(shards, 0)
        except FormatError:
            found += 1
        else:
            (batch,) = each_batch(shards, 0)
            assert_equal(from_arrow(batch), rows)
    assert found > FLIPS / 2
