"""The speed measurement, at sizes that do not show the speed."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.events import Progress
from research.data_sets.stored import _problems
from research.generated_data import LIKE_PAPER, GeneratedSize, generated_data
from research.methods import METHODS, PPN, MethodSettings, make_objective
from research.speed import SpeedFigures, images_behind_buffer, measure_speed
from research.speed_jobs import BareIteration, TrainingIteration
from tests.support.quick_training import quick_settings

TINY = GeneratedSize((2, 3, 12), coarse_images=4, few_shot_images=16)


@pytest.fixture(scope="module")
def figures() -> SpeedFigures:
    """Two rounds."""
    return measure_speed(TINY, rounds=2, threads=1, settings=two_ways())


def two_ways() -> MethodSettings:
    """The number of test classes of the tiny data set."""
    settings = quick_settings()
    return replace(
        settings, propagation=replace(settings.propagation, shape=replace(settings.shape, ways=2))
    )


@pytest.mark.slow
def test_everything_is_measured(figures: SpeedFigures) -> None:
    """Each row of the table has both times; PPN+ has the training of PPN."""
    assert {time.row for time in figures.times} == {*METHODS, "ppn+"}
    assert all(
        time.training_s and time.test_s and time.training_s > 0 and time.test_s > 0
        for time in figures.times
    )
    of_row = {time.row: time for time in figures.times}
    assert of_row["ppn"].training_s == of_row["ppn+"].training_s == figures.ours_s
    assert (figures.threads, figures.precision, figures.device, figures.side) == (
        1,
        "float32",
        "cpu",
        16,
    )


def test_figures_fit_together(figures: SpeedFigures) -> None:
    """With two rounds medians are means; the ratio of medians is between those of the rounds."""
    assert figures.over_bare > 0
    assert figures.over_bare_float32 > 0
    assert figures.refresh_images == 39025
    assert figures.refresh_interval == 2
    assert figures.refresh_s == pytest.approx(39025 / figures.refresh_images_per_s / 2)
    assert figures.limit_over_float32 is None
    assert replace(figures, precision="bfloat16").limit_over_float32 == 0.55


def test_text(figures: SpeedFigures) -> None:
    """Ratios are beside their limits, and the paper's table is below."""
    text = replace(figures, over_bare=1.0312, precision="bfloat16").as_text()
    assert "1.03 x bare bfloat16 (limit 1.05)" in text
    assert "(limit 0.55)" in text
    assert "39,025 images" in text
    assert "0.074" in text.partition("PPN+")[2]


@pytest.mark.slow
def test_threads_are_put_back() -> None:
    """Measuring on one core restores the threads; warm-up rounds count as progress."""
    torch.set_num_threads(2)
    seen: list[Progress] = []
    figures = measure_speed(TINY, rounds=1, threads=1, settings=two_ways(), on_progress=seen.append)
    assert torch.get_num_threads() == 2
    assert figures.threads == 1
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (3, 3, "rounds")


@pytest.mark.parametrize(
    ("most", "images"), [(None, 39025), (100, 700 + 1300 + 2500 + 4350 + 2538)]
)
def test_images_behind_the_buffer(most: int | None, images: int) -> None:
    """The paper's training images, or a sample of each class."""
    assert images_behind_buffer(most) == images


def test_generated_data_is_sound() -> None:
    """The data set is valid, and an iteration of PPN has the paper's size."""
    data = generated_data(LIKE_PAPER, 1)
    assert list(_problems(data)) == []
    assert len(data.training_few_shot) == 71
    assert len(data.test_few_shot) == 18
    ppn = make_objective(
        PPN, generated_data(LIKE_PAPER, 16).training_set(), quick_settings(coarse_images=10)
    )
    draws = [ppn.draw(np.random.default_rng(number)) for number in range(100)]
    assert np.mean([len(draw.images) for draw in draws]) == pytest.approx(171, rel=0.04)


def test_bare_backbone_sees_the_iterations_images() -> None:
    """The same images for the bare backbone and for the loop, different in each round."""
    data = generated_data(TINY, 16)
    settings = quick_settings()
    iteration = TrainingIteration(
        make_objective(PPN, data.training_set(), settings),
        data.training_set().pixels,
        settings.training,
    )
    first, again, other = iteration.images(3), iteration.images(3), iteration.images(4)
    assert torch.equal(first, again)
    assert first.shape[0] == len(iteration.draw(3)[0].images)
    assert first.shape != other.shape or not torch.equal(first, other)
    bare = BareIteration(settings.training, iteration.images, is_tuned=True)
    before = next(bare._backbone.parameters()).detach().clone()  # noqa: SLF001 (private weights)
    bare.prepared(3)()
    assert not torch.equal(next(bare._backbone.parameters()), before)  # noqa: SLF001 (private weights)
