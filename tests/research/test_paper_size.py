"""The paper's constants at its image size, end to end on a small data set."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.cells import Cell, load_cell, settings_for, train_cell
from research.cells import test_cell as cell_results
from research.generated_data import SMALL, generated_data
from research.methods import MethodSettings

PAPER = MethodSettings()
PIXELS = 84


@pytest.mark.slow
def test_two_iterations_with_the_papers_constants(tmp_path: Path) -> None:
    """Train at 84 px and 5 ways with lambda 0, resume once, test PPN and PPN+."""
    settings = settings_for(Cell("ppn", 5, 1), PAPER)
    training = settings.training
    assert (training.iterations, training.side, training.learning_rate) == (150_000, PIXELS, 1e-3)
    assert (settings.propagation.own_weight, settings.propagation.refresh_epochs) == (0.0, 5)
    data, cell = generated_data(SMALL, PIXELS), Cell("ppn", 5, 1)
    short = replace(
        PAPER, training=replace(training, iterations=2, precision="float32", device="cpu")
    )
    outcome = train_cell(data, cell, short, tmp_path)
    assert outcome.iterations == 2
    assert outcome.curve[-1].loss is not None
    assert np.isfinite(outcome.curve[-1].loss)
    found = cell_results(data, cell, short, load_cell(data, cell, short, tmp_path))
    assert [(result.row, result.settings["side"]) for result in found] == [
        ("ppn", PIXELS),
        ("ppn+", PIXELS),
    ]
    assert all(0.1 < result.mean < 0.35 for result in found), "noise is classified at chance"
