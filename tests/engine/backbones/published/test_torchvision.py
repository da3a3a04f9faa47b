"""Networks of torchvision as backbones.

Found, read as plain numbers, without their heads, and exported.
"""

import math
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn
from torchvision import models

from engine.backbones.published import export
from engine.backbones.published.export import export_published
from engine.backbones.published.facts import PublishedNetwork, card_of_published
from engine.backbones.published.torchvision_networks import (
    find_head,
    load_published,
    made,
    network_names,
    published_networks,
    without_head,
)
from engine.backbones.published.weight_file import read_numbers
from engine.errors import Cancelled, ModelError, StorageError
from engine.events import CancelToken
from tests.support.full_disk import full_disk_after
from tests.support.published_networks import (
    SMALL,
    TinyNetwork,
    facts_of,
    random_state,
    saved,
    tiny_facts,
)

FAMILIES = (
    ("alexnet", 4096),
    ("convnext_tiny", 768),
    ("densenet121", 1024),
    ("efficientnet_b0", 1280),
    ("googlenet", 1024),
    ("inception_v3", 2048),
    ("mnasnet0_5", 1280),
    ("mobilenet_v2", 1280),
    ("mobilenet_v3_small", 1024),
    ("resnet18", 512),
    ("resnext50_32x4d", 2048),
    ("shufflenet_v2_x0_5", 1024),
    ("squeezenet1_1", 512),
    ("swin_t", 768),
    ("vgg11", 4096),
    ("vit_b_32", 768),
    ("wide_resnet50_2", 2048),
    *(
        pytest.param(name, width, marks=pytest.mark.slow)
        for name, width in (("efficientnet_v2_s", 1280), ("maxvit_t", 512), ("swin_v2_t", 768))
    ),
)
"""One network of every family but RegNet, which needs numbers, with its embedding width."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "width"), FAMILIES)
def test_heads_come_off(name: str, width: int) -> None:
    """Without its head a network of each family gives one embedding for each image."""
    side = 256 if name == "swin_v2_t" else 224
    with torch.device("meta"):
        network = made(name).eval()
        images = torch.empty(2, 3, side, side)
    assert network(images).shape == (2, 1000)
    assert without_head(network, 1000) == width
    assert network(images).shape == (2, width)
    with pytest.raises(ModelError, match="no head"):
        find_head(nn.Sequential(*network.children()), 17)


def test_the_head_of_a_regnet_comes_off() -> None:
    """The one family that is built with numbers."""
    network = made("regnet_y_400mf").eval()
    assert without_head(network, 1000) == 440
    with torch.no_grad():
        assert network(torch.zeros(1, 3, 64, 64)).shape == (1, 440)


def test_facts_are_those_of_torchvision() -> None:
    """Hand-copied from torchvision's documentation: names, accuracy, size, transforms, licence.

    Its choice first.
    """
    resnet, older = published_networks(["resnet50"])
    assert (resnet.weights, resnet.is_default, older.weights, older.is_default) == (
        "IMAGENET1K_V2",
        True,
        "IMAGENET1K_V1",
        False,
    )
    assert (resnet.top1, resnet.top5, resnet.parameters) == (80.858, 95.434, 25_557_032)
    assert (resnet.input_side, resnet.resize_side, resnet.embedding_width) == (224, 232, 2048)
    assert resnet.resize_share == pytest.approx(224 / 232)
    assert resnet.sha256_prefix == "11ad3fa6"
    assert resnet.size_text == "102.5 MB"
    assert "BSD-3-Clause" in resnet.licence
    assert (resnet.source, resnet.library_name) == (
        "torchvision:resnet50",
        "torchvision-resnet50-imagenet1k_v2",
    )
    large = next(
        each
        for each in published_networks(["vit_b_16"])
        if each.weights == "IMAGENET1K_SWAG_E2E_V1"
    )
    assert (large.input_side, large.resize_share, large.interpolation) == (384, 1, "bicubic")
    assert large.licence == "CC-BY-NC 4.0: not for commercial use"
    assert large.licence_url == "https://github.com/facebookresearch/SWAG/blob/main/LICENSE"
    card = card_of_published(large)
    assert (card.unit_length, card.embedding_width, card.figures["imagenet_top1_percent"]) == (
        True,
        768,
        85.304,
    )
    assert "CC-BY-NC" in card.licence


def test_weights_without_a_head_are_left_out() -> None:
    """Torchvision has weights of VGG-16 whose last layers are missing: they give no embedding."""
    assert [network.weights for network in published_networks(["vgg16"])] == ["IMAGENET1K_V1"]


def test_only_classification_networks_are_named() -> None:
    """Detection, segmentation, video and quantised networks have other names."""
    names = network_names()
    assert {"resnet50", "swin_t", "vit_h_14", "maxvit_t", "convnext_tiny", "regnet_y_400mf"} <= set(
        names
    )
    assert not [
        name
        for name in names
        if "rcnn" in name or "quantized" in name or "r3d" in name or "lraspp" in name
    ]


@pytest.mark.slow
def test_every_network_is_described() -> None:
    """All: a checksum, a safe address, a head, finite figures, and a round trip through JSON."""
    found = published_networks()
    assert {network.network for network in found} == set(network_names())
    for network in found:
        assert len(network.sha256_prefix) >= 8
        assert network.url.startswith("https://")
        assert network.top1 is not None
        assert math.isfinite(network.top1)
        assert 0 < network.resize_share <= 1
        assert network.embedding_width < 10_000
        assert network.licence
        assert msgspec.json.decode(msgspec.json.encode(network), type=PublishedNetwork) == network


@pytest.mark.slow
@pytest.mark.parametrize("name", [SMALL, "shufflenet_v2_x0_5", "googlenet", "mnasnet0_5"])
def test_weights_are_read_into_their_network(name: str, tmp_path: Path) -> None:
    """The embedding is what the head would have got, also where auxiliary heads are dropped."""
    path = tmp_path / "w.pth"
    path.write_bytes(saved(random_state(name)))
    network = load_published(facts_of(name), path)
    whole = made(name, None)
    whole.load_state_dict(read_numbers(path))
    if name == "googlenet":
        vars(whole)["transform_input"] = (
            True  # torchvision's weights of it want another normalisation
        )
    head, width = find_head(whole.eval(), 1000)
    inputs_of_head: list[torch.Tensor] = []
    whole.get_submodule(head).register_forward_pre_hook(
        lambda _module, inputs: inputs_of_head.append(inputs[0])
    )
    images = torch.randn(2, 3, 96, 96, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole(images)
        embeddings = network(images)
    expected = (
        inputs_of_head[0].mean(dim=(2, 3)) if inputs_of_head[0].ndim == 4 else inputs_of_head[0]
    )
    if name == SMALL:
        expected = inputs_of_head[0].relu().mean(dim=(2, 3))  # what comes after its head stays
    assert embeddings.shape == (2, width)
    torch.testing.assert_close(embeddings, expected)


@pytest.mark.slow
def test_old_names_of_layers_are_understood(tmp_path: Path) -> None:
    """The published DenseNets have other names for their layers than the networks.

    Torchvision's builder knows.
    """
    state = random_state("densenet121")
    old = {
        name.replace("norm1.", "norm.1.") if "denselayer" in name else name: value
        for name, value in state.items()
        if "num_batches" not in name
    }
    assert not old.keys() <= state.keys()
    path = tmp_path / "w.pth"
    path.write_bytes(saved(old))
    network = load_published(facts_of("densenet121"), path)
    name = "features.denseblock1.denselayer1.norm1.weight"
    assert torch.equal(network.state_dict()[name], state[name])


def test_weights_in_half_numbers_become_whole(tmp_path: Path) -> None:
    """Some weights are published as float16; the network computes with float32."""
    path = tmp_path / "w.pth"
    path.write_bytes(saved({name: value.half() for name, value in random_state(SMALL).items()}))
    network = load_published(facts_of(SMALL), path)
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}


class Code:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("is_plain_pickle", [False, True])
def test_code_in_weights_is_never_run(is_plain_pickle: bool, tmp_path: Path) -> None:
    """A file that would run something is refused before it does."""
    trap, path = tmp_path / "ran", tmp_path / "w.pth"
    hidden = {"classifier.1.weight": Code(trap)}
    path.write_bytes(pickle.dumps(hidden) if is_plain_pickle else saved(hidden))
    with pytest.raises(ModelError, match=r"plain numbers.*No code of the file was run"):
        load_published(facts_of(SMALL), path)
    assert not trap.exists()


@pytest.mark.parametrize(
    "content", [b"", b"<html>", b"PK\x03\x04 cut", saved([1, 2]), saved({"a": 1})]
)
def test_what_are_no_weights_is_refused(content: bytes, tmp_path: Path) -> None:
    """Empty, a web page, damaged, a list, a number."""
    path = tmp_path / "w.pth"
    path.write_bytes(content)
    with pytest.raises(ModelError):
        read_numbers(path)


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    """The layers do not fit."""
    path = tmp_path / "w.pth"
    path.write_bytes(saved(random_state("shufflenet_v2_x0_5")))
    with pytest.raises(ModelError, match="do not fit"):
        load_published(facts_of(SMALL), path)
    kind = models.get_model_weights(SMALL)
    assert "get_state_dict" not in vars(kind)


def tiny_network(seed: int = 0) -> nn.Module:
    """A small network without its head."""
    torch.manual_seed(seed)
    network = TinyNetwork().eval()
    without_head(network, 10)
    return network


@pytest.fixture(scope="module")
def converted() -> bytes:
    """`tiny_network` as an ONNX file."""
    with torch.no_grad():
        convert = export._converted  # noqa: SLF001 (the steps of an export, one at a time)
        return convert(tiny_network(), tiny_facts(), is_half=False)


@pytest.mark.slow
def test_the_exported_file_does_what_the_network_does(
    converted_before: None, tmp_path: Path
) -> None:
    """For any number of images, in one file."""
    path, network = tmp_path / "x.onnx", tiny_network()
    agreement = export_published(network, tiny_facts(), path, cancel=CancelToken())
    assert (agreement.checks, agreement.largest_difference < 1e-5) == (2, True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for count in (1, 4):
        images = torch.randn(count, 3, 32, 32)
        found = session.run(None, {"images": images.numpy()})[0]
        with torch.no_grad():
            np.testing.assert_allclose(found, network(images).numpy(), rtol=1e-4, atol=1e-6)
    assert [each.name for each in tmp_path.iterdir()] == ["x.onnx"]


@pytest.mark.slow
def test_large_networks_keep_half_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would not fit into one file of 2 GiB is kept as float16.

    The comparison then allows for the rounding.
    """
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(3, 640, 3, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    monkeypatch.setattr(export, "LARGEST_FILE_BYTES", 0)
    path = tmp_path / "x.onnx"
    agreement = export_published(
        network, replace(tiny_facts(), embedding_width=640), path, cancel=CancelToken()
    )
    weights = 640 * 27
    assert 2 * weights < path.stat().st_size < 4 * weights
    assert (agreement.tolerance, agreement.largest_difference > 0) == (1e-2, True)


@pytest.fixture
def converted_before(monkeypatch: pytest.MonkeyPatch, converted: bytes) -> None:
    """Exports that convert nothing: what they would write was made before."""
    monkeypatch.setattr(export, "_converted", lambda *_arguments, **_options: converted)


@pytest.mark.slow
def test_a_file_that_does_something_else_is_refused(converted_before: None, tmp_path: Path) -> None:
    """A difference between ONNX and torch costs the file."""
    with pytest.raises(ModelError, match="does not match the torch model"):
        export_published(
            tiny_network(seed=1), tiny_facts(), tmp_path / "x.onnx", cancel=CancelToken()
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_cancelled_export_leaves_nothing(converted_before: None, tmp_path: Path) -> None:
    """Asked to stop while it is compared."""
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        export_published(
            tiny_network(),
            tiny_facts(),
            tmp_path / "x.onnx",
            on_written=cancel.cancel,
            cancel=cancel,
        )
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_file(converted_before: None, tmp_path: Path) -> None:
    """The export says so, and nothing half-made stays."""
    with (
        full_disk_after(500),
        pytest.raises(StorageError, match=r"cannot be written.*nothing was saved"),
    ):
        export_published(tiny_network(), tiny_facts(), tmp_path / "x.onnx", cancel=CancelToken())
    assert list(tmp_path.iterdir()) == []


def test_a_network_with_another_width_is_refused(tmp_path: Path) -> None:
    """What was promised of the embedding must hold."""
    with pytest.raises(ModelError, match=r"gives no embeddings.*\(2, 9\).*\(2, 8\)"):
        export_published(
            tiny_network(),
            replace(tiny_facts(), embedding_width=9),
            tmp_path / "x.onnx",
            cancel=CancelToken(),
        )
