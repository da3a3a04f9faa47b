"""Images of a data set are drawn evenly over all shards, and none without an embedding."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.dataset.described_folder import ShardFacts
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.manifest import write_manifest
from engine.dataset.opened import DataSet
from engine.dataset.random_rows import draw_rows
from engine.errors import FormatError, InputError
from tests.support.data_sets import some_rows, write_data_set

ROWS = (7, 70, 2_100)  # six of seven have an embedding
READY = 6 + 60 + 1_800


@pytest.fixture(scope="module")
def data_set(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """Three shards of different sizes, the last in several batches."""
    return write_data_set(
        tmp_path_factory.mktemp("drawn") / "set",
        [some_rows(count, 384, seed=count) for count in ROWS],
    )


def drawn(data_set: DataSet, count: int, seed: int = 0) -> list[EmbeddedRows]:
    """The parts with rows."""
    return [rows for rows in draw_rows(data_set, count, seed=seed) if len(rows)]


def paths_of(parts: Sequence[EmbeddedRows]) -> list[str]:
    """In the order of drawing."""
    return [path for rows in parts for path in rows.paths]


@pytest.mark.slow
def test_the_drawn_rows_are_whole(data_set: DataSet) -> None:
    """Each with its own hash and embedding, none twice, in the order of the data set."""
    everything = {
        path: (rows.content_hashes[place], rows.embeddings[place].tobytes(), place)
        for number in range(len(ROWS))
        for rows in data_set.each_rows(number)
        for place, path in enumerate(rows.paths)
    }
    parts = drawn(data_set, 200)
    paths = paths_of(parts)
    assert len(set(paths)) == len(paths) == 200
    assert paths == [path for path in everything if path in set(paths)]
    for rows in parts:
        assert rows.has_embedding.all()
        for place, path in enumerate(rows.paths):
            assert (rows.content_hashes[place], rows.embeddings[place].tobytes()) == everything[
                path
            ][:2]


def test_all_can_be_drawn(data_set: DataSet) -> None:
    """Every image with an embedding, once; one more is refused, as is none."""
    paths = paths_of(drawn(data_set, READY))
    assert len(set(paths)) == len(paths) == READY
    for count in (READY + 1, 0, -1):
        with pytest.raises(InputError, match=r"expected from 1 to 1,866, .* found "):
            draw_rows(data_set, count)


@pytest.mark.slow
def test_every_image_is_as_probable(data_set: DataSet) -> None:
    """Over 300 draws of 100, an image comes up 16 times on average, whatever its shard."""
    times = Counter(path for seed in range(300) for path in paths_of(drawn(data_set, 100, seed)))
    expected = 300 * 100 / READY
    of_shard = Counter({path.split("-")[0]: 0 for path in times})
    for path, count in times.items():
        of_shard[path.split("-")[0]] += count
    for rows in ROWS:
        ready = rows // 7 * 6
        assert of_shard[f"photos/{rows}"] / ready == pytest.approx(
            expected, rel=5 / (expected * ready) ** 0.5
        )
    assert len(times) > 0.999 * READY


def test_a_manifest_of_other_counts_is_refused(tmp_path: Path) -> None:
    """Whichever is greater: no image is left out unnoticed.

    And counts that cannot be are no manifest.
    """
    data_set = write_data_set(tmp_path / "set", [some_rows(70, 384)])
    for failed in (0, 20):
        manifest = replace(data_set.manifest, shards=(ShardFacts(70, failed),))
        with pytest.raises(FormatError, match=r"not as the manifest describes it.* found 60 in"):
            list(draw_rows(replace(data_set, manifest=manifest), 30))
    write_manifest(data_set.folder, replace(data_set.manifest, shards=(ShardFacts(70, 71),)))
    with pytest.raises(FormatError, match="the manifest of a data set is damaged"):
        DataSet.open(data_set.folder)


@pytest.mark.slow
def test_shards_without_a_drawn_image_are_not_read(data_set: DataSet) -> None:
    """One image is in one shard."""
    assert sum(1 for _ in draw_rows(data_set, 1)) in {1, 3}
