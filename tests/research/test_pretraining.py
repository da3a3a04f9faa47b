"""Pretraining: the loss of ancestor classes, and a short run."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from research.leaf_net import LeafNet
from research.pretraining import (
    AncestorLoss,
    PretrainingImages,
    PretrainingSettings,
    accuracy,
    augment,
    pretrain,
)


def test_the_ancestor_loss_by_hand() -> None:
    """Cross entropy of the class plus that of its ancestors.

    Four equally likely classes, two below one coarse class: -log 1/4 for the class, -log 1/2 for
    the coarse class.
    """
    ancestors = torch.tensor([[1.0], [1.0], [0.0], [0.0]])
    scores, targets = torch.zeros(1, 4), torch.tensor([0])
    assert AncestorLoss(ancestors, 0.0, 0.0)(scores, targets).item() == pytest.approx(math.log(4))
    assert AncestorLoss(ancestors, 0.5, 0.0)(scores, targets).item() == pytest.approx(
        math.log(4) + 0.5 * math.log(2)
    )
    alone = AncestorLoss(ancestors, 0.5, 0.0)(scores, torch.tensor([3]))
    assert alone.item() == pytest.approx(math.log(4))  # without ancestors


def test_confusing_siblings_costs_less_than_confusing_strangers() -> None:
    """With a sibling predicted, the coarse class is still right."""
    loss = AncestorLoss(torch.tensor([[1.0], [1.0], [0.0], [0.0]]), 1.0, 0.0)
    sibling, stranger = torch.tensor([[0.0, 5.0, 0.0, 0.0]]), torch.tensor([[0.0, 0.0, 5.0, 0.0]])
    assert loss(sibling, torch.tensor([0])) < loss(stranger, torch.tensor([0]))


def test_augmenting_keeps_shape_and_varies() -> None:
    """Crops of another side, normalised and distinct."""
    torch.manual_seed(0)
    pixels = torch.randint(0, 255, (1, 20, 20, 3), dtype=torch.uint8).expand(4, -1, -1, -1)
    crops = augment(pixels, 16)
    assert crops.shape == (4, 3, 16, 16)
    assert crops.is_contiguous(memory_format=torch.channels_last)
    assert not torch.allclose(crops[0], crops[1])


@pytest.mark.slow
def test_a_short_run_learns_to_tell_colours() -> None:
    """Red and blue squares, chance is 0.5; the average and the log come with each epoch."""
    generator = np.random.default_rng(0)
    targets = np.arange(64) % 2
    pixels = generator.integers(0, 60, (64, 16, 16, 3)).astype(np.uint8)
    pixels[targets == 0, ..., 0] += 150
    pixels[targets == 1, ..., 2] += 150
    images = PretrainingImages(pixels, targets.astype(np.int64), ("red", "blue"))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = LeafNet((4, 4, 8, 8), (1, 1, 1, 1), stem_width=4)
    settings = PretrainingSettings(
        stages=((2, 12), (4, 16)), batch_size=16, averaging=0.8, ancestor_weight=0.5
    )
    reported: list[tuple[int, float]] = []

    def on_epoch(epoch: int, loss: float, averaged: nn.Module, images_per_s: float) -> None:
        assert images_per_s > 0
        reported.append((epoch, loss))
        assert 0 <= accuracy(averaged, images) <= 1
        if epoch == 5:
            assert accuracy(averaged, images) > 0.9

    pretrain(network, images, settings, embedding_width=network.embedding_width, on_epoch=on_epoch)
    assert [epoch for epoch, _ in reported] == [0, 1, 2, 3, 4, 5]
    assert reported[-1][1] < reported[0][1]
