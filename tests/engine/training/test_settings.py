from dataclasses import replace

import pytest

from engine.errors import InputError
from engine.training.settings import TrainingSettings


@pytest.mark.slow
def test_the_papers_schedule() -> None:
    """1e-3 until the 10,000th of 150,000 iterations, then times 0.7 there and every 15,000."""
    settings = TrainingSettings()
    changes = [
        iteration
        for iteration in range(1, settings.iterations)
        if settings.learning_rate_at(iteration) != settings.learning_rate_at(iteration - 1)
    ]
    assert changes == list(range(10_000, 150_000, 15_000))
    assert settings.learning_rate_at(0) == settings.learning_rate_at(9_999) == 1e-3
    assert settings.learning_rate_at(10_000) == pytest.approx(0.7e-3)
    assert settings.learning_rate_at(25_000) == pytest.approx(0.49e-3)
    assert settings.learning_rate_at(40_000) == pytest.approx(0.343e-3)


def test_the_papers_constants() -> None:
    """Section 4: Adam with momentum 0.9, weight decay 1e-4, 150k iterations, images of 84 px."""
    settings = TrainingSettings()
    assert (settings.momentum, settings.weight_decay) == (0.9, 1e-4)
    assert (settings.iterations, settings.side) == (150_000, 84)


def test_a_short_training_has_the_same_schedule() -> None:
    """Decays keep their places as shares of the whole.

    A fiftieth of the paper's length decays every 300.
    """
    settings = TrainingSettings(iterations=3_000)
    paper = TrainingSettings()
    for iteration in (0, 199, 200, 499, 500, 2_899, 2_900, 2_999):
        assert settings.learning_rate_at(iteration) == paper.learning_rate_at(iteration * 50)


def test_very_few_iterations_decay_once_each_at_most() -> None:
    """Three iterations do not fall through all ten decays at once."""
    settings = TrainingSettings(iterations=3)
    rates = [settings.learning_rate_at(iteration) for iteration in range(3)]
    assert rates == pytest.approx([1e-3, 0.7e-3, 0.49e-3])


@pytest.mark.parametrize("name", ["iterations", "side", "checkpoint_interval", "point_interval"])
def test_nothing_is_zero(name: str) -> None:
    """Counts below one are refused by name."""
    with pytest.raises(InputError, match=rf"{name} is too small: expected at least 1, found 0"):
        replace(TrainingSettings(), **{name: 0})  # type: ignore[arg-type]
