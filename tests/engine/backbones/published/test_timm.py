"""Networks of timm as backbones.

Listed, read as plain numbers, without their heads, at the side that was chosen.
"""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import timm
import torch
from torch import nn

from engine.backbones.published.catalogue import find_published
from engine.backbones.published.facts import (
    LONGEST_LIBRARY_NAME,
    PublishedNetwork,
    card_of_published,
)
from engine.backbones.published.timm_networks import (
    load_published,
    published_networks,
    shape_of,
    with_input_side,
)
from engine.errors import ModelError
from tests.support.collections import cache_of_test
from tests.support.published_networks import saved
from tests.support.timm_networks import CONVNET, VIT, as_safetensors, random_network

DINOV2 = "vit_small_patch14_dinov2.lvd142m"


def facts_of(name: str) -> PublishedNetwork:
    """The facts of a network of timm."""
    (found,) = published_networks([name])
    return found


def images_of(side: int) -> torch.Tensor:
    """Two images of noise."""
    return torch.randn(2, 3, side, side, generator=torch.Generator().manual_seed(0))


def test_facts_are_those_of_timm() -> None:
    """Hand-copied from timm's documentation and the network's page on the hub."""
    found = facts_of(DINOV2)
    assert (found.source, found.title) == (f"timm:{DINOV2}", DINOV2)
    assert (found.input_side, found.resize_share, found.embedding_width) == (518, 1, 384)
    assert found.parameters == 22_056_192
    assert found.size_text == "about 88.2 MB"
    assert found.url == f"https://huggingface.co/timm/{DINOV2}/resolve/main/model.safetensors"
    assert found.other_urls[0].endswith("/pytorch_model.bin")
    assert (found.licence, found.licence_url) == (
        "Apache 2.0",
        f"https://huggingface.co/timm/{DINOV2}",
    )
    assert (found.top1, found.interpolation) == (None, "bicubic")
    assert found.library_name == f"timm-{DINOV2}"
    card = card_of_published(found)
    assert card.command == f"protoleaf backbone add timm:{DINOV2}"
    assert "imagenet_top1_percent" not in card.figures


@pytest.mark.parametrize(
    ("name", "licence", "is_for_commerce"),
    [
        ("convnextv2_tiny.fcmae_ft_in22k_in1k", "CC-BY-NC 4.0: not for commercial use", False),
        (
            "vit_small_patch16_dinov3.lvd1689m",
            "dinov3-license; its own terms, see the network's page on the hub",
            True,
        ),
        ("vit_base_patch16_siglip_224.webli", "Apache 2.0", True),
        ("eva02_small_patch14_336.mim_in22k_ft_in1k", "MIT", True),
    ],
)
def test_licences_are_known(name: str, licence: str, is_for_commerce: bool) -> None:
    """Weights that forbid commercial use say so, as those of torchvision do."""
    found = facts_of(name)
    assert (found.licence, found.is_for_commerce) == (licence, is_for_commerce)


def test_every_network_is_described() -> None:
    """More than a thousand: each with an address, a valid name, and a round trip through JSON."""
    found = published_networks()
    assert len(found) > 1_500
    assert len({network.library_name.lower() for network in found}) == len(found)
    assert all(len(network.library_name) <= LONGEST_LIBRARY_NAME for network in found)
    assert all(
        network.url.startswith("https://") and 0 < network.resize_share <= 1 for network in found
    )
    content = msgspec.json.encode(found)
    assert msgspec.json.decode(content, type=tuple[PublishedNetwork, ...]) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [VIT, CONVNET, "resnet18.a1_in1k", "mobilenetv3_small_075.lamb_in1k"]
)
def test_sizes_in_the_list_are_true(name: str) -> None:
    """Parameters and width of the list, made once for a version of timm, are the network's."""
    found = facts_of(name)
    network = timm.create_model(name, pretrained=False)
    assert found.parameters == sum(parameter.numel() for parameter in network.parameters())
    assert shape_of(found)[1] == found.embedding_width


@pytest.mark.parametrize("name", [VIT, CONVNET])
@pytest.mark.parametrize("as_pickle", [False, True])
def test_weights_are_read_into_their_network(name: str, as_pickle: bool, tmp_path: Path) -> None:
    """The embedding is what the head would have got.

    The file's kind follows from its beginning, not its name.
    """
    whole, path = random_network(name), tmp_path / "weights"
    path.write_bytes(saved(whole.state_dict()) if as_pickle else as_safetensors(whole.state_dict()))
    network = load_published(facts_of(name), path)
    with torch.no_grad():
        found = network(images_of(160))
        features = whole.forward_features(images_of(160))  # type: ignore[operator]
        pooled = whole.forward_head(features, pre_logits=True)  # type: ignore[operator]
        torch.testing.assert_close(found, pooled)
    assert found.shape == (2, facts_of(name).embedding_width)


@pytest.mark.slow
def test_another_side_interpolates_position_embeddings(tmp_path: Path) -> None:
    """As timm does it; the network that takes any side is the same one."""
    path = tmp_path / "weights"
    for name in (VIT, CONVNET):
        whole = random_network(name)
        path.write_bytes(as_safetensors(whole.state_dict()))
        chosen = with_input_side(facts_of(name), 96)
        assert chosen.library_name == f"timm-{name}-96px"
        assert chosen.input_side == 96
        assert chosen.resize_share == pytest.approx(facts_of(name).resize_share, abs=0.01)
        assert card_of_published(chosen).command.endswith(" --input-side 96")
        network = load_published(chosen, path)
        if name == VIT:
            positions = network.get_parameter("pos_embed")
            assert positions.shape[1] < whole.get_parameter("pos_embed").shape[1]
        with torch.no_grad():
            assert network(images_of(96)).shape == (2, 64)


@pytest.mark.slow
def test_a_side_that_it_cannot_take_is_refused() -> None:
    """A patch is 14 pixels; torchvision's networks keep theirs."""
    caches = cache_of_test()
    assert find_published(caches, f"timm:{DINOV2}", input_side=224).embedding_width == 384
    with pytest.raises(
        ModelError, match=r"cannot be built for images of 225 pixels.*multiple of 14"
    ):
        find_published(caches, f"timm:{DINOV2}", input_side=225)
    with pytest.raises(
        ModelError, match="side of the input cannot be chosen for networks of torchvision"
    ):
        find_published(caches, "torchvision:vit_b_16", input_side=96)


def without(network: nn.Module, beginning: str) -> dict[str, torch.Tensor]:
    """The weights but those whose names begin so."""
    return {
        name: value
        for name, value in network.state_dict().items()
        if not name.startswith(beginning)
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            lambda: as_safetensors(random_network(CONVNET).state_dict()),
            "do not fit",
            id="another network",
        ),
        pytest.param(
            lambda: as_safetensors(without(random_network(VIT), "head")), "do not fit", id="no head"
        ),
        pytest.param(
            lambda: as_safetensors(
                random_network(VIT).state_dict() | {"norm.weight": torch.zeros(7)}
            ),
            "do not fit",
            id="wrong shape",
        ),
        pytest.param(
            lambda: as_safetensors(random_network(VIT).state_dict())[:-9],
            "cannot be read as plain numbers",
            id="cut",
        ),
        pytest.param(
            lambda: (40).to_bytes(8, "little") + b'{"no JSON' + bytes(40),
            "plain numbers",
            id="broken head",
        ),
        pytest.param(lambda: b"<html>", "plain numbers", id="web page"),
        pytest.param(lambda: saved({"norm.weight": ModelError}), "plain numbers", id="code"),
    ],
)
def test_what_are_no_weights_of_it_is_refused(
    content: object, message: str, tmp_path: Path
) -> None:
    """One line each, and nothing of it is run."""
    path = tmp_path / "weights"
    path.write_bytes(content())  # type: ignore[operator]
    with pytest.raises(ModelError, match=message):
        load_published(facts_of(VIT), path)


def test_names_are_found_with_and_without_their_tag() -> None:
    """By default with timm's own choice of weights; close names are offered."""
    caches = cache_of_test()
    found = find_published(caches, "timm:VIT_Small_Patch14_DINOv2")
    assert (found.full_name, found.is_default) == (DINOV2, True)
    assert find_published(caches, "timm:convnext_tiny", "in12k").full_name == "convnext_tiny.in12k"
    with pytest.raises(
        ModelError, match=r"timm publishes no such network.*vit_small_patch14_dinov2"
    ):
        find_published(caches, "timm:vit_small_patch14_dinov")
    with pytest.raises(
        ModelError, match=r"vit_small_patch14_dinov2 has no such weights: expected lvd142m"
    ):
        find_published(caches, "timm:vit_small_patch14_dinov2.lvd")


def test_long_names_are_shortened_for_the_library() -> None:
    """Two that begin alike stay apart."""
    first = replace(facts_of(VIT), network="x" * 80)
    second = replace(first, weights="other")
    assert len(first.library_name) == len(second.library_name) == LONGEST_LIBRARY_NAME
    assert first.library_name != second.library_name
