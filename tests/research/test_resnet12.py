"""ResNet-12 of few-shot papers."""

import pytest
import torch

from engine.errors import InputError
from engine.training.level_wise import PrototypePropagation
from research.data_sets.stored import FewShotData
from research.methods import NEWER, PPN, constants_of, make_objective, with_chosen
from research.resnet12 import ResNet12
from tests.support.quick_training import quick_settings


def test_shape_and_size() -> None:
    """640 features at any side, and 12.4 million weights as in papers."""
    network = ResNet12(32)
    assert round(sum(value.numel() for value in network.parameters()) / 1e6, 1) == 12.4
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 640)
    assert ResNet12(84, (4, 4, 4, 8)).eval()(torch.zeros(1, 3, 84, 84)).shape == (1, 8)


def test_distances_are_small_at_first() -> None:
    """A softmax over large squared distances would be saturated."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        found = ResNet12(32)(torch.randn(8, 3, 32, 32))
    distances = torch.cdist(found, found).square()
    assert 0.05 < float(distances.max()) < 50


def test_too_small() -> None:
    """Four halvings need 16 px."""
    with pytest.raises(InputError, match="at least 16 px, found 15 px"):
        ResNet12(15)


def test_a_method_takes_the_backbone_that_is_set(colours: FewShotData) -> None:
    """By name; a checkpoint stores it only where it is not the default."""
    plain = quick_settings()
    settings = with_chosen(plain, {"backbone": "resnet12"})
    objective = make_objective(PPN, colours.training_set(), settings)
    assert isinstance(objective, PrototypePropagation)
    assert isinstance(objective.backbone, ResNet12)
    assert objective.constants["backbone"] == "resnet12"
    assert not NEWER.keys() & constants_of(PPN, plain).keys()
