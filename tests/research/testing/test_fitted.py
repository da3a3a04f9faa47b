"""Classifiers fitted to each task, on separable embeddings and on ones that need base classes."""

import numpy as np
import pytest
import torch

from research.data_sets.stored import FewShotData
from research.testing.bench import Bench, EmbeddedTasks, test_images
from research.testing.fitted import Calibrated, fitted, tasks_of, transformed
from research.testing.posterior import KnownClasses
from research.testing.tasks import draw_tasks


@pytest.fixture
def bench(colours: FewShotData) -> Bench:
    """Embeddings are mean colours: equal within a class."""
    channels = colours.pixels.shape.index(3, 1)
    rows = np.moveaxis(colours.pixels, channels, 1).reshape(len(colours.pixels), 3, -1)
    means = torch.from_numpy(rows.mean(axis=2, dtype=np.float32) / 255)
    return Bench(colours, lambda positions: means[torch.from_numpy(positions)])


@pytest.fixture
def embedded(bench: Bench) -> EmbeddedTasks:
    """Tasks over test classes."""
    return bench.embed_tasks(draw_tasks(test_images(bench.data), ways=5, shots=1, count=6))


def test_tasks_come_one_by_one(embedded: EmbeddedTasks) -> None:
    """With the class of each shot."""
    tasks = list(tasks_of(embedded))
    assert len(tasks) == 6
    assert tasks[0].classes.tolist() == [0, 1, 2, 3, 4]
    assert np.array_equal(tasks[5].queries, embedded.queries[5].numpy())


def test_plain_colours_are_distinguished(bench: Bench, embedded: EmbeddedTasks) -> None:
    """Both classifiers predict every query, mostly correctly; chance is 0.2."""
    for predictions in (
        fitted(100.0, embedded),
        Calibrated(KnownClasses(bench), draws=50)(embedded),
    ):
        assert predictions.shape == (6, embedded.queries.shape[1])
        assert embedded.tasks.accuracies(predictions).mean() > 0.6


def test_scale_of_embeddings_does_not_matter(embedded: EmbeddedTasks) -> None:
    """The strength of regularisation is relative to the length of embeddings."""
    longer = EmbeddedTasks(embedded.tasks, embedded.support * 100, embedded.queries * 100)
    assert (fitted(1.0, longer) == fitted(1.0, embedded)).mean() > 0.99


def test_power_transform_by_hand() -> None:
    """Roots 3 and 4 of 9 and 16, then length 1; signs stay."""
    assert transformed(np.array([[9.0, -16.0]], dtype=np.float32)).tolist() == [
        [pytest.approx(0.6), pytest.approx(-0.8)]
    ]
