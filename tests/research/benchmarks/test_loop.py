"""The loop of a large data set at small size."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.models import find_model
from research.benchmarks.labelling import LabellingFigures
from research.benchmarks.loop import LoopFigures
from research.benchmarks.synthetic_data_set import write_clustered
from tests.support.command_line import done

KEPT = LoopFigures(1_000, (), LabellingFigures(1_000, 5, 5, 5, ()), compared=900, same=900)


@pytest.mark.slow
def test_the_loop_at_small_size(capsys: pytest.CaptureFixture[str]) -> None:
    """Every step is timed; speed is not tested."""
    fields = done(
        capsys, "benchmark", "loop", "--rows", "1500", "--keys", "6", "--per-s", "5", "--json"
    ).fields
    assert fields["labelling"]["images"] == fields["rows"] == 1500
    assert (
        fields["labelling"]["on_disk"]
        == fields["labelling"]["as_shown"]
        == fields["labelling"]["keys"]
        == 6
    )
    assert fields["same"] == fields["compared"] == 1500 - 200 - 6
    assert len(fields["steps"]) == 8
    assert all(step["seconds"] > 0 for step in fields["steps"])


@pytest.mark.parametrize(
    "figures",
    [
        replace(KEPT, labelling=replace(KEPT.labelling, on_disk=4)),
        replace(KEPT, labelling=replace(KEPT.labelling, as_shown=4)),
        replace(KEPT, same=898),
        replace(KEPT, compared=0, same=0),
    ],
)
def test_what_is_missed(figures: LoopFigures) -> None:
    """A lost or wrong label, differing predictions, and an empty comparison are missed."""
    assert KEPT.are_kept
    assert not figures.are_kept


def test_a_clustered_data_set(tmp_path: Path) -> None:
    """Embeddings of a row are most similar to those of its class."""
    data_set, classes = write_clustered(tmp_path / "set", 2_000, find_model())
    rows = list(data_set.each_rows(0))
    embeddings = np.concatenate([each.embeddings for each in rows]).astype(np.float32)
    cosines = embeddings @ embeddings.T
    np.fill_diagonal(cosines, -1)
    assert len(classes) == len({each.tobytes() for each in embeddings}) == 2_000
    assert (classes[cosines.argmax(axis=1)] == classes).mean() > 0.9
