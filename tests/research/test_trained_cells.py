"""Trained cells are loaded with the settings of their training."""

from pathlib import Path

import pytest
import torch

from engine.errors import Cancelled, InputError, UsageError
from engine.events import CancelToken, Progress
from engine.training.level_wise import PrototypePropagation
from research.cells import Cell, load_cell, train_cell
from research.cells import test_cell as cell_results
from research.data_sets.stored import FewShotData
from research.trained_cells import as_reached, refresh, trained_settings
from tests.support.quick_training import quick_settings

CELL = Cell("ppn", 5, 1)


def test_settings_come_from_the_checkpoint(colours: FewShotData, trained_runs: Path) -> None:
    """Settings of the propagation and the device can be chosen for the test."""
    settings = trained_settings(colours, CELL, trained_runs, {"lambda_": 0.25, "device": "auto"})
    expected = quick_settings(seed=3, device="auto", point_interval=100)
    assert settings.training == expected.training
    assert settings.propagation.own_weight == 0.25
    assert settings.shape.ways == 5


@pytest.mark.parametrize(
    ("name", "value"), [("seed", 4), ("iterations", 2), ("precision", "bfloat16")]
)
def test_other_settings_than_trained_with(
    name: str, value: int | str, colours: FewShotData, trained_runs: Path
) -> None:
    """A result with other settings than its training would be wrong."""
    with pytest.raises(InputError, match=f"trained with another {name}: expected {value}, found"):
        trained_settings(colours, CELL, trained_runs, {name: value})


def test_not_trained(colours: FewShotData, trained_runs: Path) -> None:
    """The message has the missing training."""
    with pytest.raises(
        InputError,
        match=r"gnn was not trained for 10-way 5-shot tasks on WS-Colours-Pure.*Train it",
    ):
        trained_settings(colours, Cell("gnn", 10, 5), trained_runs, {})


def test_unknown_setting(colours: FewShotData, trained_runs: Path) -> None:
    """Unknown settings are refused."""
    with pytest.raises(UsageError, match="no such setting"):
        trained_settings(colours, CELL, trained_runs, {"magic": 1})


@pytest.mark.slow
def test_stopped_training_counts_with_what_it_reached(colours: FewShotData, tmp_path: Path) -> None:
    """Its result has the iterations done, and the buffer is of the last weights."""

    def stop(progress: Progress) -> None:
        if progress.done >= 1:
            token.cancel()

    token, settings = CancelToken(), quick_settings(iterations=1000, checkpoint_interval=1000)
    with pytest.raises(Cancelled):
        train_cell(colours, CELL, settings, tmp_path, on_progress=stop, cancel=token)
    settings = trained_settings(colours, CELL, tmp_path, {})
    with pytest.raises(InputError, match="the training is not finished"):
        load_cell(colours, CELL, settings, tmp_path)
    reached = as_reached(colours, CELL, settings, tmp_path)
    assert 0 < reached.training.iterations < 1000
    objective = load_cell(colours, CELL, reached, tmp_path)
    assert isinstance(objective, PrototypePropagation)
    buffered = objective.buffer.vectors.clone()
    refresh(colours, objective, reached)
    assert not torch.equal(objective.buffer.vectors, buffered)
    assert (
        cell_results(colours, CELL, reached, objective)[0].settings["iterations"]
        == reached.training.iterations
    )
