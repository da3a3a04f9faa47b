"""What is known of a published network before anything of it is there."""

from dataclasses import replace

import pytest

from engine.backbones.published.facts import TIMM
from tests.support.backbone_jobs import SMALL

VIT = replace(
    SMALL,
    publisher=TIMM,
    network="vit_small_patch14_dinov2",
    weights="lvd142m",
    input_side=518,
    resize_side=518,
)


def test_another_side_is_another_backbone() -> None:
    """It shows the same share of an image, and has a name of its own.

    The usual side is the network as it was.
    """
    zoomed = replace(VIT, input_side=224, resize_side=256)
    chosen = zoomed.at_side(448)
    assert (chosen.input_side, chosen.resize_side) == (448, 512)
    assert chosen.library_name == f"{zoomed.library_name}-448px"
    assert chosen.source == zoomed.source
    assert zoomed.at_side(224) is zoomed


@pytest.mark.parametrize(
    ("network", "patch"),
    [
        ("vit_small_patch14_reg4_dinov2", 14),
        ("vit_base_patch16_siglip_512", 16),
        ("convnextv2_tiny", 0),
    ],
)
def test_names_tell_the_patch(network: str, patch: int) -> None:
    """As timm writes them."""
    assert replace(VIT, network=network).patch == patch


def test_torchvision_keeps_the_side() -> None:
    """Only timm builds networks for others."""
    assert VIT.takes_other_sides
    assert not SMALL.takes_other_sides
