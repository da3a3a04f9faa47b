"""The methods of the table, and settings by name."""

import pytest
import torch

from engine.errors import InputError, UsageError
from engine.training.level_wise import PrototypePropagation
from research.data_sets.stored import FewShotData
from research.methods import METHODS, PPN, MethodSettings, make_objective, with_chosen
from tests.support.quick_training import quick_settings


@pytest.mark.parametrize("method", METHODS)
def test_same_settings_same_weights(method: str, colours: FewShotData) -> None:
    """Two objectives start alike, whatever was drawn before; another seed starts differently."""
    training_set = colours.training_set()
    first = make_objective(method, training_set, quick_settings()).state_dict()
    torch.rand(3)
    again = make_objective(method, training_set, quick_settings()).state_dict()
    other = make_objective(method, training_set, quick_settings(seed=1)).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_unknown_method(colours: FewShotData) -> None:
    """The message has the methods."""
    with pytest.raises(InputError, match=r"closer-look-star, ppn, .*ppn-guessed, found “ppn\+”"):
        make_objective("ppn+", colours.training_set(), quick_settings())


def test_settings_reach_their_part(colours: FewShotData) -> None:
    """Names are found at any depth, values are converted, and the objective uses them."""
    settings = with_chosen(
        MethodSettings(),
        {
            "iterations": "7",
            "lambda_": "0.25",
            "coarse_images": "2",
            "edge_width": "8",
            "scale": "3",
        },
    )
    assert settings.training.iterations == 7
    assert settings.propagation.lambda_ == 0.25
    assert settings.shape.coarse_images == 2
    assert settings.gnn.network.edge_width == 8
    assert settings.closer_look.scale == 3.0
    objective = make_objective(PPN, colours.training_set(), with_chosen(settings, {"side": "16"}))
    assert isinstance(objective, PrototypePropagation)
    assert objective.settings == settings.propagation


def test_fitting_of_closer_look_keeps_its_own() -> None:
    """Settings of the training with the same names do not change it."""
    before = MethodSettings()
    after = with_chosen(
        before, {"learning_rate": 0.5, "weight_decay": 0.5, "momentum": 0.5, "batch_size": 9}
    )
    assert (
        after.training.learning_rate
        == after.training.weight_decay
        == after.training.momentum
        == 0.5
    )
    assert after.closer_look.batch_size == 9
    assert after.closer_look.fitting == before.closer_look.fitting


@pytest.mark.parametrize(
    "name", ["learning_rat", "ways", "shots", "max_ways", "epochs", "training"]
)
def test_unknown_settings(name: str) -> None:
    """The message has the known ones, without those of the column and of the fitting."""
    with pytest.raises(
        UsageError, match=r"expected .*coarse_images.*iterations.*weight_decay, found " + name
    ) as refused:
        with_chosen(MethodSettings(), {name: 1})
    assert "max_ways" not in str(refused.value).partition("found")[0]


@pytest.mark.parametrize(
    ("name", "value"), [("iterations", "many"), ("precision", "float8"), ("compiles", "2")]
)
def test_values_of_another_type(name: str, value: str) -> None:
    """The message has the value and what is expected."""
    with pytest.raises(UsageError, match=f"{name} has a wrong value.*“{value}”"):
        with_chosen(MethodSettings(), {name: value})


def test_value_out_of_range() -> None:
    """Settings validate themselves."""
    with pytest.raises(InputError, match="iterations is too small"):
        with_chosen(MethodSettings(), {"iterations": 0})
