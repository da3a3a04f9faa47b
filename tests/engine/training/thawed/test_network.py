"""Any exported network becomes a trainable network again, and goes back into its file."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from engine.collection.models import find_model
from engine.errors import ModelError
from engine.training.onnx_conversion import ModelShape, to_onnx
from engine.training.thawed.network import average_with_file, thawed, with_weights
from tests.support.backbones import write_tiny_backbone


def _run(path: Path, images: torch.Tensor) -> torch.Tensor:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return torch.from_numpy(session.run(None, {session.get_inputs()[0].name: images.numpy()})[0])


def _noise(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(4, 3, 48, 48), (3, 3, 64, 40)])
def test_it_does_what_the_file_does(size: tuple[int, int, int, int]) -> None:
    """The bundled network: residual blocks, means of all stages, whitening, length 1."""
    path, images = find_model().backbone, _noise(*size)
    network = thawed(path)
    with torch.no_grad():
        torch.testing.assert_close(
            network.train()(images), _run(path, images), atol=1e-5, rtol=1e-4
        )


class _Blocks(nn.Module):
    """What published networks are made of.

    Squeeze and excite, uneven strides, hard activations, attention.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()
        )
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.depthwise = nn.Sequential(
            nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.ReLU6(), nn.AvgPool2d(2)
        )
        narrow, wide = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.excite = nn.Sequential(nn.AdaptiveAvgPool2d(1), narrow, nn.SiLU(), wide, nn.Sigmoid())
        self.attention = nn.TransformerEncoderLayer(
            8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.start = nn.Parameter(torch.zeros(1, 1, 8))
        self.head = nn.Linear(8, 6)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.depthwise(self.pool(self.stem(images)))
        features = features * self.excite(features)
        tokens = features.flatten(2).transpose(1, 2)
        tokens = torch.cat([self.start.expand(len(tokens), -1, -1), tokens], dim=1)
        embeddings: torch.Tensor = self.head(self.attention(tokens)[:, 0])
        return embeddings


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of such a network."""
    path = tmp_path_factory.mktemp("blocks") / "blocks.onnx"
    shape = ModelShape(("images",), ("embeddings",), ({0: "batch"},))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = to_onnx(_Blocks().eval(), (torch.zeros(2, 3, 32, 32),), shape, notes={})
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.slow
def test_it_goes_through_what_published_networks_are_made_of(blocks: Path) -> None:
    """Convolutional and transformer parts, in training mode as in evaluation mode."""
    images = _noise(2, 3, 32, 32)
    network = thawed(blocks)
    torch.testing.assert_close(network.train()(images), _run(blocks, images), atol=1e-5, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leafnet", "blocks"])
def test_a_trained_network_goes_back_into_its_file(name: str, blocks: Path, tmp_path: Path) -> None:
    """Untouched it is the same file, byte by byte.

    After a step the new file does what the network does.
    """
    path = find_model().backbone if name == "leafnet" else blocks
    network, images = thawed(path), _noise(2, 3, 32, 32)
    assert with_weights(path, network) == path.read_bytes()
    optimiser = torch.optim.SGD(network.parameters(), 0.1)
    torch.autograd.backward(network(images).square().mean() + network(images)[:, 0].sum())
    optimiser.step()
    new = tmp_path / "new.onnx"
    new.write_bytes(with_weights(path, network))
    assert abs(new.stat().st_size - path.stat().st_size) < 100
    found = _run(new, images)
    assert not torch.allclose(found, _run(path, images), atol=1e-3)
    torch.testing.assert_close(found, network(images).detach(), atol=2e-3, rtol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_trained_weights_are_averaged_with_those_of_the_file(share: float, blocks: Path) -> None:
    """By hand: each moved by 1 in training has moved by the trained share in the mean."""
    network, before = thawed(blocks), thawed(blocks)
    with torch.no_grad():
        for weight in network.weights:
            weight.add_(1.0)
    average_with_file(blocks, network, share)
    for weight, start in zip(network.weights, before.weights, strict=True):
        torch.testing.assert_close(weight.detach(), start.detach() + share)


def test_frozen_layers_stay(blocks: Path) -> None:
    """The first half of the layers gets no gradient and no memory for one."""
    network = thawed(blocks, frozen_share=0.5)
    torch.autograd.backward(network(_noise(2, 3, 32, 32)).sum())
    have_slope = [weight.grad is not None for weight in network.weights]
    assert have_slope == sorted(have_slope)
    assert 0 < sum(have_slope) < len(have_slope)
    assert len(list(network.trained_weights())) == sum(have_slope)


def test_an_operator_that_is_not_known_is_named(tmp_path: Path) -> None:
    """Of a file from anywhere, the message says which operator, where, and what to do instead."""
    node = helper.make_node("Det", ["images"], ["embeddings"])
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, 8, 8])
        for name in ("images", "embeddings")
    ]
    model = helper.make_model(helper.make_graph([node], "odd", ends[:1], ends[1:]))
    onnx.save(model, str(tmp_path / "odd.onnx"))
    with pytest.raises(
        ModelError, match=r"cannot go through this network.*“Det” in .*odd\.onnx.*Tune propagation"
    ):
        thawed(tmp_path / "odd.onnx")


def test_weights_too_large_for_the_file_are_refused(tmp_path: Path) -> None:
    """A file that stores float16 takes nothing beyond its range."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    model = onnx.load(str(tmp_path / "tiny.onnx"))
    (weights,) = model.graph.initializer
    values = numpy_helper.to_array(weights).astype(np.float16)
    weights.CopyFrom(numpy_helper.from_array(values, "half"))
    model.graph.node.insert(
        0, helper.make_node("Cast", ["half"], ["weights"], to=TensorProto.FLOAT)
    )
    onnx.save(model, str(tmp_path / "half.onnx"))
    network = thawed(tmp_path / "half.onnx")
    with torch.no_grad():
        network.weights[0].fill_(1e6)
    with pytest.raises(
        ModelError, match=r"does not fit into the file: expected float16, found half"
    ):
        with_weights(tmp_path / "half.onnx", network)
