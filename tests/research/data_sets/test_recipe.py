"""The settings of a data set."""

from typing import Any

import pytest

from engine.errors import UsageError
from research.data_sets.recipe import Recipe


def test_imagenet_gets_the_papers_probabilities() -> None:
    """ILSVRC-12 has 1,281 images in a folder, or 1,331 with val: both give the factor 1."""
    for images in (1281.167, 1331.167):
        recipe = Recipe("pure").resolved(images)
        assert recipe.factor == 1.0
        assert [recipe.share(level) for level in (3, 7)] == pytest.approx([0.216, 0.0279936])
    assert 1300 * recipe.share(7) == pytest.approx(36, abs=0.5)
    assert Recipe("mix").resolved(1281.167).share(7) == pytest.approx(0.0823543)


def test_tiny_imagenet_gets_a_factor() -> None:
    """300 images a folder: 4.3 for Pure; for Mix the coarsest level's share stays below 1."""
    assert Recipe("pure").resolved(300).factor == 4.3
    mix = Recipe("mix").resolved(300)
    assert mix.factor == 2.9
    assert 0.9 < mix.share(3) < 1


def test_a_given_factor_and_rate_stay() -> None:
    """Given values are used; a share above 1 is clipped."""
    recipe = Recipe("pure", factor=8.0, rate=0.5).resolved(300)
    assert (recipe.factor, recipe.rate) == (8.0, 0.5)
    assert [recipe.share(level) for level in (2, 3, 4)] == [1.0, 1.0, 0.5]
    assert Recipe("mix", factor=1.0).resolved(300).share(3) == pytest.approx(0.343)


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "blend"},
        {"factor": 0.0},
        {"rate": 1.5},
        {"seed": -1},
        {"first_level": -1},
        {"last_level": 3},
        {"few_shot_share": 0.0},
        {"test_share": 1.0},
        {"fewest_images": 0},
    ],
)
def test_values_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    """The message has the given value."""
    with pytest.raises(UsageError, match=str(next(iter(wrong.values())))):
        Recipe(**wrong)
