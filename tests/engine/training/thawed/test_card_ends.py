"""A thawed network sees images as its card says, and is asked to agree with its file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import Preparation, pooled
from engine.training.arithmetic import normalised
from engine.training.thawed.network import thawed
from engine.training.thawed.wrappers import AsCarded, check_agreement, images_at_once
from tests.support.backbones import tiny_card, write_tiny_backbone

CARDS = {
    "plain": {},
    "scale": {"mean": (127.0, 127.0, 127.0), "std": (128.0, 128.0, 120.0), "value_scale": 255.0},
    "bgr": {"channel_order": "bgr", "mean": (0.1, 0.2, 0.3)},
    "grey": {"channel_order": "grey"},
    "last": {"layout": "nhwc"},
}


@pytest.mark.parametrize("name", CARDS)
def test_images_are_prepared_as_for_embedding(name: str) -> None:
    """Scale, order and layout, up to rounding."""
    card: BackboneCard = replace(tiny_card(), **CARDS[name])  # type: ignore[arg-type]
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    seen = AsCarded(nn.Identity(), card)(normalised(torch.from_numpy(images)))
    np.testing.assert_allclose(seen.numpy(), Preparation(card).prepare(images), atol=2e-5)


@pytest.mark.parametrize(
    ("pooling", "shape"), [("mean", (2, 4, 3, 3)), ("mean", (2, 5, 4)), ("first", (2, 5, 4))]
)
def test_what_comes_out_is_pooled_as_for_embedding(pooling: str, shape: tuple[int, ...]) -> None:
    """Maps, tokens, and length 1."""
    card = replace(tiny_card(), pooling=pooling, unit_length=True)
    output = torch.randn(*shape, generator=torch.Generator().manual_seed(0))
    found = AsCarded(nn.Identity(), card)._pooled(output)  # noqa: SLF001 (the one end alone)
    np.testing.assert_allclose(found.numpy(), pooled(output.numpy(), card), atol=1e-6)


def test_a_network_that_does_something_else_is_refused(tmp_path: Path) -> None:
    """Compared on pictures, through the card."""
    path = tmp_path / "tiny.onnx"
    card = write_tiny_backbone(path)
    network = thawed(path)
    assert images_at_once(path, card) is None
    assert check_agreement(path, card, AsCarded(network, card)) < 1e-5
    with torch.no_grad():
        network.weights[0].add_(0.1)
    with pytest.raises(ModelError, match="does not match its file"):
        check_agreement(path, card, AsCarded(network, card))
