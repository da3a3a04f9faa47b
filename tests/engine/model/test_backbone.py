"""Backbones: what the stages say, and the affine map at the end."""

import pytest
import torch

from engine.model.backbone import UnitEmbedding, Whitened
from research.leaf_net import LastStage, LeafNet, pooled


def _network() -> LeafNet:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LeafNet((4, 6, 8, 10), (1, 2, 1, 1), stem_width=4).eval()


def test_pooling_lies_between_the_mean_and_the_maximum() -> None:
    """Values 1 and 3: the cube root of (1 + 27) / 2 is 2.41.

    Beside a constant channel of 1, scaled to length 1.
    """
    features = torch.tensor([[[[1.0, 3.0]], [[1.0, 1.0]]]])
    power_mean = 14 ** (1 / 3)
    length = (power_mean**2 + 1) ** 0.5
    assert pooled(features)[0].tolist() == pytest.approx(
        [power_mean / length, 1 / length], abs=1e-5
    )


def test_a_silent_map_gives_numbers_and_slopes() -> None:
    """The root of 0 has no slope; a channel that says nothing must not spoil training."""
    features = torch.zeros(1, 3, 2, 2, requires_grad=True)
    answer = pooled(features)
    answer.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(answer).all()
    assert features.grad is not None
    assert torch.isfinite(features.grad).all()


def test_a_network_is_listened_to_at_every_stage() -> None:
    """Each map has half the side of the one before.

    The embedding holds all of them, each of length 1.
    """
    network, images = (
        _network(),
        torch.randn(2, 3, 32, 48, generator=torch.Generator().manual_seed(1)),
    )
    assert [tuple(each.shape) for each in network.maps(images)] == [
        (2, 4, 16, 24),
        (2, 6, 8, 12),
        (2, 8, 4, 6),
        (2, 10, 2, 3),
    ]
    embedding = network(images)
    assert embedding.shape == (2, network.embedding_width) == (2, 28)
    assert [part.norm(dim=1).tolist() for part in embedding.split((4, 6, 8, 10), dim=1)] == [
        pytest.approx([1.0, 1.0], abs=1e-5)
    ] * 4


def test_the_last_stage_is_the_mean_of_the_last_map() -> None:
    """What a classifier is usually trained on."""
    network, images = (
        _network(),
        torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(1)),
    )
    last = LastStage(network, 10)
    assert torch.equal(last(images), network.maps(images)[-1].mean(dim=(2, 3)))
    assert last.embedding_width == 10


def test_whitening_subtracts_and_multiplies() -> None:
    """Matrix (x - mean), by hand: (2, 3) - (1, 1) = (1, 2).

    Its rows give 1 + 4 = 5 and 0.5 * 2 = 1.
    """
    whitened = Whitened(
        torch.nn.Identity(), torch.tensor([1.0, 1.0]), torch.tensor([[1.0, 2.0], [0.0, 0.5]])
    )
    assert whitened(torch.tensor([[2.0, 3.0]]))[0].tolist() == pytest.approx([5.0, 1.0])
    assert UnitEmbedding(whitened)(torch.tensor([[2.0, 3.0]])).norm().item() == pytest.approx(1.0)
