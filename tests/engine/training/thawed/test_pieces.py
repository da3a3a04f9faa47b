"""A large batch goes through a network in pieces, with the same result and less memory."""

import torch
from torch import nn

from engine.training.thawed.wrappers import InPieces, images_within


def _network() -> nn.Sequential:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Conv2d(3, 4, 3, bias=False), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )


def test_pieces_change_no_number() -> None:
    """Embeddings and gradients are those of the whole batch."""
    images = torch.randn(5, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    slopes = []
    for at_once in (5, 2):
        network = _network()
        embeddings = InPieces(network, at_once)(images)
        torch.autograd.backward((embeddings**2).sum())
        slopes.append((embeddings.detach(), network[0].weight.grad))
    torch.testing.assert_close(slopes[0], slopes[1])


def test_as_many_images_as_fit() -> None:
    """Of 8 x 8 pixels the layers keep their inputs.

    What is allowed decides, and one image always fits.
    """
    network, image = _network(), torch.zeros(1, 3, 8, 8)
    few, many = (images_within(network, image, size) for size in (4_000, 400_000))
    assert 1 <= few <= 4
    assert 80 * few < many < 120 * (few + 1)
    assert images_within(network, image, 1) == 1


def test_without_gradient_nothing_is_kept() -> None:
    """Embedding for a check goes in pieces too."""
    with torch.no_grad():
        found = InPieces(_network(), 2)(torch.zeros(3, 3, 8, 8))
    assert found.shape == (3, 4)
    assert not found.requires_grad
