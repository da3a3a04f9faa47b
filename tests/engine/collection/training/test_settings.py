"""Training settings as texts are converted to their types or refused with a clear error."""

from collections.abc import Mapping

import pytest

from engine.collection.training.settings import (
    BackboneSettings,
    parse_settings,
    plain_settings,
    with_chosen,
)
from engine.errors import InputError, UsageError
from engine.project.records import Plain
from engine.training.propagation_training import PropagationTrainingSettings


def test_texts_are_taken_apart() -> None:
    """Names with a dash or underscore; values with "="; the last of duplicates counts."""
    found = parse_settings(
        ["iterations=5", " learning-rate = 0.1", "start=a=b", "iterations=7", "lambda=0.5"]
    )
    assert found == {"iterations": "7", "learning_rate": "0.1", "start": "a=b", "lambda_": "0.5"}


@pytest.mark.parametrize("text", ["iterations", "=5", ""])
def test_what_is_no_setting_is_refused(text: str) -> None:
    """The message shows the format."""
    with pytest.raises(UsageError, match="name=value"):
        parse_settings([text])


def test_values_reach_settings_inside_settings() -> None:
    """Nested settings are converted to the types of their fields; others keep their defaults."""
    chosen: Mapping[str, Plain] = {
        "iterations": "20",
        "ways": 3.0,
        "learning_rate": "1e-2",
        "lambda_": "none",
        "normalisation": "cosine",
        "learns_temperature": "no",
    }
    settings = with_chosen(PropagationTrainingSettings(lambda_=0.5), chosen)
    assert (settings.iterations, settings.episodes.ways, settings.learning_rate) == (20, 3, 0.01)
    assert (settings.lambda_, settings.normalisation, settings.learns_temperature) == (
        None,
        "cosine",
        False,
    )
    assert settings.episodes.shots == PropagationTrainingSettings().episodes.shots


def test_an_unknown_name_lists_the_known_ones() -> None:
    """The message lists all names."""
    with pytest.raises(UsageError, match=r"iterations.*learning_rate.*side.*found iteration$"):
        with_chosen(BackboneSettings(), {"iteration": "5"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("iterations", "many", "a whole number"),
        ("iterations", 2.5, "a whole number"),
        ("iterations", True, "a whole number"),
        ("iterations", None, "a whole number"),
        ("learning_rate", "nan", "a number or none"),
        ("augmentation", "fog", "shifted crop, resized crop, none"),
        ("side", "large", "a whole number or none"),
    ],
)
def test_a_wrong_type_says_expected_and_found(name: str, value: Plain, expected: str) -> None:
    """The message says expected and found types."""
    with pytest.raises(
        UsageError,
        match=f"the setting {name} has a wrong value: expected {expected}, found “{value}”",
    ):
        with_chosen(BackboneSettings(), {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("iterations", 0), ("ways", 1), ("lambda_", 1.5), ("side", 8), ("held_out_share", -0.1)],
)
def test_a_value_out_of_range_is_refused(name: str, value: float) -> None:
    """A value of the right type outside the range is refused."""
    with pytest.raises(InputError, match=f"the setting {name} is"):
        with_chosen(BackboneSettings(), {name: value})


def test_settings_as_plain_values_come_back() -> None:
    """Settings stored with a model version can be read again."""
    settings = with_chosen(PropagationTrainingSettings(), {"iterations": 3, "shots": 2, "steps": 2})
    assert with_chosen(PropagationTrainingSettings(), plain_settings(settings)) == settings
