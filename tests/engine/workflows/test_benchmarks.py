"""The benchmarks run at small sizes and give figures; how fast is for the benchmark itself to say."""

import math
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from engine.config import CacheFolders
from engine.errors import InputError
from engine.workflows.benchmarks.embedding import measure_embed
from engine.workflows.benchmarks.reclassify import measure_reclassify
from engine.workflows.benchmarks.synthetic import synthetic_embeddings, synthetic_project
from engine.workflows.live import LiveCollection
from tests.support.collections import Collection
from tests.support.command_line import done


def test_reclassify_at_small_size() -> None:
    """All figures are finite and above zero, and the sizes are those asked for."""
    figures = measure_reclassify(1500, 60, width=32, rounds=3)
    assert (figures.images, figures.classes, figures.width) == (1500, 60, 32)
    assert all(math.isfinite(value) and value > 0 for value in astuple(figures))


def test_reclassify_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The smallest size that is allowed works, as text and as JSON."""
    sizes = ("--images", "1000", "--classes", "10")
    assert "one class changed" in done(capsys, "benchmark", "reclassify", *sizes).out
    fields = done(capsys, "benchmark", "reclassify", *sizes, "--json").fields
    assert fields["images"] == 1000
    assert fields["full_ratio"] > 0


def test_synthetic_embeddings_cover_every_class() -> None:
    """Unit length, every class has its share, the same seed gives the same, and classes can be told apart."""
    drawn = synthetic_embeddings(400, 48, classes=200)
    np.testing.assert_allclose(np.linalg.norm(drawn.embeddings, axis=1), 1, atol=1e-5)
    assert set(np.bincount(drawn.classes)) == {2}
    np.testing.assert_array_equal(drawn.embeddings, synthetic_embeddings(400, 48, classes=200).embeddings)
    likeness = drawn.embeddings @ drawn.embeddings.T
    same = drawn.classes[:, None] == drawn.classes[None, :]
    np.fill_diagonal(same, val=False)
    assert likeness[same].mean() > likeness[~same].mean() + 0.2


def test_synthetic_project_is_a_project(tmp_path: Path) -> None:
    """It opens, every image has an embedding, each class five shots, and predictions follow."""
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.open(synthetic_project(tmp_path, caches, 1000), caches)
    state = live.load()
    assert set(state.shot_counts.values()) == {5}
    assert len(state.shot_counts) == 200
    assert (state.best_class > 0).all()
    assert live.project.check() == []
    live.close()


def test_embed_benchmark_on_a_few_pictures(collection: Collection) -> None:
    """Decoding, backbone and both together are timed on the files that were given."""
    figures = measure_embed([collection.shots], device="cpu", rounds=1, most=6)
    assert (figures.images, figures.device) == (6, "CPU")
    rates = (figures.decode, figures.inference, figures.pipeline, figures.share_of_limit, figures.share_of_reachable)
    assert all(math.isfinite(value) and value > 0 for value in rates)


def test_embed_benchmark_without_pictures(tmp_path: Path) -> None:
    """A folder without images cannot be measured."""
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match="no images"):
        measure_embed([tmp_path / "bare"], device="cpu")
