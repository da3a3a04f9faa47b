"""Experiments in tests use one core and one generated data set."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from research.cells import Cell, train_cell
from research.data_sets.stored import FewShotData
from tests.support.few_shot_data import colour_data
from tests.support.quick_training import quick_settings


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors are slower on several cores, and tests run in parallel."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def colours() -> FewShotData:
    """A read-only data set in memory."""
    return colour_data()


@pytest.fixture(scope="session")
def trained_runs(tmp_path_factory: pytest.TempPathFactory, colours: FewShotData) -> Path:
    """Folder of runs with PPN and Prototypical Net for 5-way 1-shot, seed 3; read-only."""
    folder = tmp_path_factory.mktemp("runs")
    for method in ("ppn", "prototypical-net"):
        train_cell(colours, Cell(method, 5, 1), quick_settings(seed=3), folder)
    return folder
