"""The benchmark of the cluster runs at small size."""

from pathlib import Path

import pytest

from engine.collection.models import find_model
from research.benchmarks.synthetic_data_set import write_synthetic
from tests.support.command_line import protoleaf
from tests.support.images import write_jpeg


@pytest.mark.slow
def test_cluster_benchmark_at_small_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both ways give the same bits; speed is not tested."""
    for number in range(120):
        write_jpeg(tmp_path / f"{number}.jpg", seed=number)
    asked = ("benchmark", "cluster", tmp_path, "--rows", "3000", "--rounds", "1")
    fields = protoleaf(capsys, *asked, "--json").fields
    assert (fields["images"], fields["differing"]) == (120, 0)
    assert fields["ratio"] > 0
    assert [fields[name]["rows"] for name in ("fewer", "many")] == [300, 3000]
    assert all(
        fields[name][figure] > 0
        for name in ("fewer", "many")
        for figure in ("rows_per_s", "worker_mib")
    )


def test_a_synthetic_data_set_is_one(tmp_path: Path) -> None:
    """It has the requested number of rows, over several shards."""
    data_set = write_synthetic(tmp_path / "set", 10_500, find_model())
    assert (data_set.manifest.rows, data_set.manifest.shard_count) == (10_500, 2)
    rows = [rows for number in range(2) for rows in data_set.each_rows(number)]
    assert (
        sum(len(each) for each in rows)
        == len({path for each in rows for path in each.paths})
        == 10_500
    )
    assert all(each.has_embedding.all() for each in rows)
