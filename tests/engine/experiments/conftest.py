"""Experiments in tests run on one core and on one generated data set."""

from collections.abc import Iterator

import pytest
import torch

from engine.experiments.data_sets.stored import FewShotData
from tests.support.few_shot_data import colour_data


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors are slower on several cores, and tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def colours() -> FewShotData:
    """A data set in memory; nobody writes to it."""
    return colour_data()
