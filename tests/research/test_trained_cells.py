"""Trained cells are taken up with the settings of their training."""

from pathlib import Path

import pytest

from engine.errors import InputError, UsageError
from research.cells import Cell
from research.data_sets.stored import FewShotData
from research.trained_cells import load_ppn, raw_cosine_results, trained_settings
from tests.support.quick_training import quick_settings

CELL = Cell("ppn", 5, 1)


def test_settings_come_from_the_checkpoint(colours: FewShotData, trained_runs: Path) -> None:
    """Nobody has to remember them; those of the propagation can be chosen for the test, and the device."""
    settings = trained_settings(colours, CELL, trained_runs, {"lambda_": 0.25, "device": "auto"})
    expected = quick_settings(seed=3, device="auto", point_interval=100)
    assert settings.training == expected.training
    assert settings.propagation.own_weight == 0.25
    assert settings.shape.ways == 5


@pytest.mark.parametrize(("name", "value"), [("seed", 4), ("iterations", 2), ("precision", "bfloat16")])
def test_other_settings_than_trained_with(
    name: str, value: int | str, colours: FewShotData, trained_runs: Path
) -> None:
    """A result would claim what was not done."""
    with pytest.raises(InputError, match=f"trained with another {name}: expected {value}, found"):
        trained_settings(colours, CELL, trained_runs, {name: value})


def test_not_trained(colours: FewShotData, trained_runs: Path) -> None:
    """The message says what to train."""
    with pytest.raises(InputError, match=r"gnn was not trained for 10-way 5-shot tasks on WS-Colours-Pure.*Train it"):
        trained_settings(colours, Cell("gnn", 10, 5), trained_runs, {})


def test_unknown_setting(colours: FewShotData, trained_runs: Path) -> None:
    """As everywhere."""
    with pytest.raises(UsageError, match="no such setting"):
        trained_settings(colours, CELL, trained_runs, {"magic": 1})


def test_raw_cosine_stands_beside_the_softmax(colours: FewShotData, trained_runs: Path) -> None:
    """Rows of their own on the same tasks; untrained weights of some thousandths draw prototypes to the origin."""
    found = raw_cosine_results(load_ppn(colours, CELL, trained_runs, {"normalisation": "cosine"}), CELL)
    assert [result.row for result in found] == ["ppn:cosine", "ppn+:cosine"]
    assert {len(result.accuracies) for result in found} == {600}
    assert found[0].settings["seed"] == 3
