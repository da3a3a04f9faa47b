"""EfficientNet-Lite: its table, its padding, and its outputs beside the published package's."""

import math

import pytest
import torch
from torch import nn

from engine.errors import ModelError
from engine.model.efficientnet_lite import (
    CENTRE_SPREAD,
    LITE_VARIANTS,
    EfficientNetLite,
    InvertedResidual,
    LiteStage,
    LiteVariant,
    SameConvolution,
    centre_weights,
    load_published,
    pooled_around_centre,
)
from tests.support.published_names import published_names


@pytest.fixture(scope="module")
def small() -> EfficientNetLite:
    """A network of the same class with narrow stages, for what does not depend on width."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return EfficientNetLite(LiteVariant(0.1, 1.0, 64)).eval()


def test_wider_and_deeper_by_hand() -> None:
    """Lite2: 24 x 1.1 = 26.4, rounded to 24; 80 x 1.1 = 88; 112 x 1.1 = 123.2 to 120.

    Ceil(3 x 1.2) = 4 blocks.
    """
    stages = LITE_VARIANTS["efficientnet-lite2"].stages
    assert [stage.width for stage in stages] == [16, 24, 48, 88, 120, 208, 352]
    assert [stage.blocks for stage in stages] == [1, 3, 3, 4, 4, 5, 1]


@pytest.mark.parametrize(
    ("side", "stride", "before", "after"), [(224, 2, 0, 1), (65, 2, 1, 1), (33, 1, 1, 1)]
)
def test_the_end_gets_the_odd_pixel(side: int, stride: int, before: int, after: int) -> None:
    """3x3 with stride 2: an even side lacks one pixel, an odd one two.

    Ceil(side / stride) come out.
    """
    convolution = SameConvolution(1, 1, 3, stride)
    nn.init.ones_(convolution.weight)
    row = convolution(torch.ones(1, 1, side, side))[0, 0, side // stride // 2]
    assert len(row) == -(-side // stride)
    assert (row[0].item(), row[-1].item()) == (9 - 3 * before, 9 - 3 * after)


def test_a_shortcut_where_nothing_changes_its_shape() -> None:
    """A block that narrows to zero returns its input, and one with another width does not."""
    block = InvertedResidual(4, LiteStage(1, 3, 1, 2, 4), 1).eval()
    nn.init.zeros_(block.project[0].weight)  # type: ignore[arg-type]  # the last convolution
    features = torch.randn(1, 4, 5, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(block(features), features)
    assert not InvertedResidual(4, LiteStage(1, 3, 1, 2, 8), 1).has_shortcut
    assert not InvertedResidual(4, LiteStage(1, 3, 2, 2, 4), 2).has_shortcut


def test_every_stage_is_listened_to(small: EfficientNetLite) -> None:
    """Sides halve five times, as the paper's table has it.

    The embedding holds a unit vector of each map.
    """
    images = torch.randn(2, 3, 64, 96, generator=torch.Generator().manual_seed(1))
    maps = small.maps(images)
    assert [each.shape[2] for each in maps] == [32, 16, 8, 4, 4, 2, 2, 2]
    assert [each.shape[3] for each in maps] == [48, 24, 12, 6, 6, 3, 3, 3]
    assert tuple(each.shape[1] for each in maps) == small.map_widths
    parts = small(images).split(small.map_widths, dim=1)
    assert [part.norm(dim=1).tolist() for part in parts] == [
        pytest.approx([1.0, 1.0], abs=1e-5)
    ] * 8


def test_places_count_by_hand() -> None:
    """In 2 of the spread's squares from the centre e^-1 of it counts.

    The mean is 1, and both axes are alike.
    """
    weights = centre_weights(5, 7)
    assert weights.shape == (5, 7)
    assert weights.mean().item() == pytest.approx(1)
    assert (weights[0, 3] / weights[2, 3]).item() == pytest.approx(
        math.exp(-((2 / 5) ** 2) / (2 * CENTRE_SPREAD**2))
    )
    assert torch.allclose(centre_weights(4, 4), centre_weights(4, 4).flip(0).T)
    assert 0.1 < (centre_weights(64, 64)[0, 0] / centre_weights(64, 64).max()).item() < 0.15


def test_what_is_in_the_middle_counts_more() -> None:
    """A channel that answers at the centre outweighs one that answers as strongly in a corner.

    Level maps are level.
    """
    maps = torch.zeros(1, 3, 7, 7)
    maps[0, 0, 3, 3], maps[0, 1, 0, 0] = 1, 1
    centre, corner, silent = pooled_around_centre(maps)[0].tolist()
    assert centre > 1.5 * corner > 100 * silent
    assert pooled_around_centre(torch.ones(1, 4, 6, 8))[0].tolist() == pytest.approx([0.5] * 4)


@pytest.mark.parametrize(("name", "side"), [("efficientnet-lite0", 64), ("efficientnet-lite2", 65)])
def test_the_published_package_says_the_same(name: str, side: int) -> None:
    """Random weights and statistics under the published names: the last map is the package's."""
    peer_module = pytest.importorskip("efficientnet_lite_pytorch")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        peer = peer_module.EfficientNet.from_name(name, image_size=side).eval()
        for module in peer.modules():
            if isinstance(module, nn.BatchNorm2d):
                assert module.running_var is not None
                nn.init.uniform_(
                    module.running_var, 0.1, 0.2
                )  # what random convolutions give, so that nothing fades
        images = torch.randn(2, 3, side, side)
    network = EfficientNetLite(LITE_VARIANTS[name]).eval()
    load_published(network, peer.state_dict())
    with torch.no_grad():
        expected, found = peer.extract_features(images), network.maps(images)[-1]
    assert expected.std() > 0.01, "the comparison would say nothing"
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("damage", ["missing", "other shape", "left over"])
def test_weights_of_another_network_are_refused(small: EfficientNetLite, damage: str) -> None:
    """With the array that does not fit."""
    published = published_names(small)
    if damage == "missing":
        del published["_blocks.1._bn1.bias"]
    elif damage == "other shape":
        published["_conv_stem.weight"] = torch.zeros(1)
    else:
        published["_blocks.99._bn1.bias"] = torch.zeros(1)
    with pytest.raises(ModelError, match="weights of another network"):
        load_published(small, published)


def test_published_names_are_all_taken(small: EfficientNetLite) -> None:
    """A fresh network with the published arrays is the same function.

    The classifier's arrays are left.
    """
    fresh = EfficientNetLite(LiteVariant(0.1, 1.0, 64)).eval()
    images = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(fresh(images), small(images))
    load_published(
        fresh,
        published_names(small) | {"_fc.weight": torch.zeros(3, 2), "_fc.bias": torch.zeros(3)},
    )
    assert torch.equal(fresh(images), small(images))
