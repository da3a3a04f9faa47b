"""An ONNX model of a bundled backbone, written layer by layer from its torch module.

torch's exporter would do the same in half a minute, needs packages that classification does not, and names and orders
things as its version likes. Here the same weights give the same bytes on every computer, each value bears the name of
the layer it comes from, and batch normalisation is folded into the convolutions. That the file does what the module
does is not believed but compared (`convert.py`).
"""

import math
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray
from torch import nn

from engine.model.backbone import SMALLEST, UnitEmbedding, Whitened
from engine.model.efficientnet_lite import EfficientNetLite, InvertedResidual, SameConvolution, centre_weights
from engine.training.onnx_conversion import OPSET, store_weights_as_half

FORMAT: Final = 10
"""Version of the ONNX file format; ONNX Runtime reads it from 1.18 on."""
_MOST_ACTIVE: Final = 6.0  # where ReLU6 ends
_SHORTEST: Final = 1e-12  # torch's normalize divides by no less


def write_graph(backbone: UnitEmbedding, side: int, name: str) -> Any:
    """Write a bundled backbone as an `onnx.ModelProto` for any number of images of one side.

    Args:
        side: of the images in pixels; it decides how they are padded.
    """
    from onnx import TensorProto, helper

    writer, inner = _Writer(), backbone.backbone
    network = inner.backbone if isinstance(inner, Whitened) else inner
    assert isinstance(network, EfficientNetLite), "other networks are exported by torch"
    values = writer.embedding(network, side)
    width = network.embedding_width
    if isinstance(inner, Whitened):
        values, width = writer.linear(inner.whitening, values), inner.embedding_width
    writer.unit(values, "embeddings")
    graph = helper.make_graph(
        writer.nodes,
        name,
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, side, side])],
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", width])],
        writer.arrays,
    )
    store_weights_as_half(graph)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT)
    helper.set_model_props(model, {"name": name})
    return model


@final
class _Writer:
    """Collects nodes and arrays; a method returns the name of the value that its last node gives."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.arrays: list[Any] = []
        self._names: set[str] = set()

    def embedding(self, network: EfficientNetLite, side: int) -> str:
        """The pooled maps side by side."""
        maps: list[tuple[str, int]] = []
        features, side = self.convolution(network.stem, "images", "stem", side)
        for place, stage in enumerate(network.stages):
            assert isinstance(stage, nn.Sequential), "a stage is a row of blocks"
            for number, block in enumerate(stage):
                assert isinstance(block, InvertedResidual), "a stage is a row of blocks"
                features, side = self._block(block, features, f"stages.{place}.{number}", side)
            maps.append((features, side))
        maps.append(self.convolution(network.head, features, "head", side))
        pooled = [self._pooled(*maps[place], f"pooled.{place}") for place in network.heard]
        return self._node("Concat", pooled, "pooled", axis=1)

    def _block(self, block: InvertedResidual, source: str, name: str, side: int) -> tuple[str, int]:
        features = source
        if len(block.expand):
            features, side = self.convolution(block.expand, features, f"{name}.expand", side)
        features, side = self.convolution(block.depthwise, features, f"{name}.depthwise", side)
        features, side = self.convolution(block.project, features, f"{name}.project", side)
        return (self._node("Add", [features, source], name), side) if block.has_shortcut else (features, side)

    def convolution(self, layers: nn.Sequential, source: str, name: str, side: int) -> tuple[str, int]:
        """A convolution with the normalisation behind it folded in, and its activation."""
        convolution, norm = layers[0], layers[1]
        assert isinstance(convolution, SameConvolution), "as written by _convolution"
        assert isinstance(norm, nn.BatchNorm2d), "as written by _convolution"
        before, after = convolution.padding_of(side)
        if before or after:
            pads = self._array("pads", [0, 0, before, before, 0, 0, after, after], np.int64)
            source = self._node("Pad", [source, pads], f"{name}.padded")
        weight, bias = _folded(convolution, norm)
        inputs = [source, self._array(f"{name}.weight", weight), self._array(f"{name}.bias", bias)]
        options = {"group": convolution.groups, "strides": convolution.stride}
        options |= {"kernel_shape": convolution.kernel_size}
        side = math.ceil(side / convolution.stride[0])
        if len(layers) == 2:  # noqa: PLR2004 (no activation)
            return self._node("Conv", inputs, name, **options), side
        linear = self._node("Conv", inputs, f"{name}.linear", **options)
        bounds = [self._array("zero", 0.0), self._array("six", _MOST_ACTIVE)]
        return self._node("Clip", [linear, *bounds], name), side

    def _pooled(self, source: str, side: int, name: str) -> str:
        """As `pooled_around_centre`."""
        present = self._node("Max", [source, self._array("smallest", SMALLEST)], f"{name}.present")
        square = self._node("Mul", [present, present], f"{name}.square")
        cube = self._node("Mul", [square, present], f"{name}.cube")
        weights = self._array(f"centre.{side}", _numbers(centre_weights(side, side)))
        weighed = self._node("Mul", [cube, weights], f"{name}.weighed")
        mean = self._node("ReduceMean", [weighed, self._array("places", [2, 3], np.int64)], f"{name}.mean", keepdims=0)
        root = self._node("Pow", [mean, self._array("third", 1 / 3)], f"{name}.root")
        return self.unit(root, name)

    def linear(self, layer: nn.Linear, source: str) -> str:
        arrays = [self._array("cut.weight", _numbers(layer.weight)), self._array("cut.bias", _numbers(layer.bias))]
        return self._node("Gemm", [source, *arrays], "cut", transB=1)

    def unit(self, source: str, name: str) -> str:
        length = self._node("ReduceL2", [source, self._array("row", [1], np.int64)], f"{name}.length")
        divisor = self._node("Max", [length, self._array("shortest", _SHORTEST)], f"{name}.divisor")
        return self._node("Div", [source, divisor], name)

    def _node(self, kind: str, inputs: list[str], name: str, **options: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **options))
        return name

    def _array(self, name: str, values: Any, kind: Any = np.float32) -> str:
        """An array by its name; short ones are told apart by their values and kept once."""
        from onnx import numpy_helper

        values = np.asarray(values, dtype=kind)
        if name == "pads":
            name = "pads." + ".".join(map(str, values[2:].tolist()))
        if name not in self._names:
            self._names.add(name)
            self.arrays.append(numpy_helper.from_array(values, name))
        return name


def _folded(convolution: SameConvolution, norm: nn.BatchNorm2d) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and bias of the one convolution that does what the two layers do."""
    scale = _numbers(norm.weight) / np.sqrt(_numbers(norm.running_var) + norm.eps)
    weight = _numbers(convolution.weight) * scale[:, None, None, None]
    return weight, _numbers(norm.bias) - _numbers(norm.running_mean) * scale


def _numbers(array: Any) -> NDArray[np.float64]:
    """Double precision, so that rounding is done once and the same everywhere."""
    return array.detach().numpy().astype(np.float64)
