"""ONNX graph from pixels to probabilities: preprocessing, backbone, pooling, fitted model.

A backbone may have any layout, channel order and precision, an output that has to be pooled, or a
batch size of 1. The graph does what `engine.runtime` does by the backbone's card, so that its input
are plain pixels.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ModelError
from engine.everyday.classifier import EMBEDDING, Exports
from engine.everyday.graph_writer import GraphWriter, Value
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import SMALLEST_LENGTH, InputOutput, Preparation, input_output
from engine.runtime.pixel_input import preparation_nodes
from engine.runtime.sessions import open_session, run_session

IMAGES = "images"  # input: (B, views, side, side, 3) uint8, red, green and blue
_PREFIX = "backbone/"
_OLDEST_OPSET = 13  # minimum opset; older backbones are converted
CONVERTED_OPSET = 17  # opset of converted backbones
_LEAST_FORMAT = 8  # minimum IR version of the ONNX file
_SHORTEST = 1e-6  # minimum divisor of `unit_length`
_MAP_RANK = 4  # batch, channels, height and width
_TOKENS_RANK = 3  # batch, tokens and width
_STANDARD = ("", "ai.onnx")


def classifier_model(
    backbone: Path, card: BackboneCard, fitted: Exports, *, views: int, name: str
) -> Any:
    """Make the `onnx.ModelProto`; an embedding is the mean over the views of an image.

    Raises:
        ModelError: the backbone cannot be read, does not match its card, or has an unsupported
            version.
    """
    import onnx
    from onnx import TensorProto, helper

    ends, rank = _probed(backbone, card)
    network = _prefixed(_loaded(backbone))
    graph, side = GraphWriter(_opset(network)), card.input_side
    output = _add_network(_add_preprocessing(graph, card, ends), network.graph, ends)
    _add_pooling(output, rank, card, views)
    answers = fitted.export(_opset(network)).graph
    graph.nodes.extend(answers.node)
    graph.arrays.extend(answers.initializer)
    body = helper.make_graph(
        graph.nodes,
        name,
        [helper.make_tensor_value_info(IMAGES, TensorProto.UINT8, ["batch", views, side, side, 3])],
        list(answers.output),
        graph.arrays,
        sparse_initializer=graph.sparse_arrays,
    )
    model = helper.make_model(
        body,
        opset_imports=list(network.opset_import),
        ir_version=max(network.ir_version, _LEAST_FORMAT),
        functions=list(network.functions),
    )
    try:
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise _unusable(backbone, error) from error
    return model


def model_bytes(model: Any) -> bytes:
    """Serialise an `onnx.ModelProto`.

    Raises:
        ModelError: it is too large for one file.
    """
    from google.protobuf.message import EncodeError

    try:
        content: bytes = model.SerializeToString()
    except (EncodeError, ValueError) as error:
        raise ModelError(
            "the backbone is too large for one ONNX file",
            expected="at most 2 GB",
            remedy="choose a smaller backbone for the model that you export",
        ) from error
    return content


def _probed(backbone: Path, card: BackboneCard) -> tuple[InputOutput, int]:
    """Names of input and output, and the rank of the output, which not every file declares."""
    session = open_session(backbone)
    ends = input_output(session, card)
    pixels = np.zeros((1, card.input_side, card.input_side, 3), dtype=np.uint8)
    prepared = Preparation(card).prepare(pixels).astype(ends.input_type, copy=False)
    return ends, run_session(session, {ends.input_name: prepared}, [ends.output_name])[0].ndim


def _loaded(backbone: Path) -> Any:
    """Load the network, converted if its opset is too old."""
    import onnx

    from engine.backbones.onnx_structure import write_inlined

    content = io.BytesIO()
    write_inlined(backbone, content)
    model = onnx.load_from_string(content.getvalue())
    if _opset(model) >= _OLDEST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, CONVERTED_OPSET)
    except Exception as error:  # the converter raises any exception
        raise _unusable(backbone, error) from error


def _unusable(backbone: Path, error: Exception) -> ModelError:
    return ModelError(
        "the backbone cannot be made a part of one file",
        expected="ONNX operators of version {opset} or later",
        found=f"{backbone.name}: "
        f"{str(error).splitlines()[0][:200] if str(error) else type(error).__name__}",
        remedy="export the backbone again with newer operators, and add that",
        opset=_OLDEST_OPSET,
    )


def _opset(model: Any) -> int:
    return next(
        (int(one.version) for one in reversed(model.opset_import) if one.domain in _STANDARD), 0
    )


def _prefixed(model: Any) -> Any:
    """Add a prefix to all names of a network, to avoid clashes."""
    from onnx import compose

    for one in model.opset_import:
        one.domain = "" if one.domain in _STANDARD else one.domain
    constants = [one.name for one in model.graph.initializer]
    constants += [
        part.name for one in model.graph.sparse_initializer for part in (one.values, one.indices)
    ]
    # subgraphs may use these names before they are defined
    names = {name: _PREFIX + name for name in constants}
    compose.add_prefix_graph(model.graph, _PREFIX, inplace=True, name_map=names)
    return model


def _add_preprocessing(graph: GraphWriter, card: BackboneCard, ends: InputOutput) -> Value:
    """Add the preprocessing of plain pixels."""
    side = card.input_side
    squares = graph.value(IMAGES).reshaped([-1, side, side, 3])
    nodes, arrays = preparation_nodes(card, squares.name, "prepared", ends.input_type)
    graph.nodes.extend(nodes)
    graph.arrays.extend(arrays)
    return graph.value("prepared")


def _add_network(source: Value, network: Any, ends: InputOutput) -> Value:
    """Add the network; one with a batch size of 1 is run in a loop."""
    graph = source.graph
    given, output = f"{_PREFIX}{ends.input_name}", f"{_PREFIX}{ends.output_name}"
    if ends.most_images is None:
        source.apply("Identity", name=given)
        graph.nodes.extend(network.node)
        graph.arrays.extend(network.initializer)
        graph.sparse_arrays.extend(network.sparse_initializer)
        return graph.value(output)
    from onnx import helper

    one = GraphWriter(_OLDEST_OPSET)
    one.value("one.image").apply("Unsqueeze", [0], name=given)
    one.nodes.extend(network.node)
    one.value(output).apply("Squeeze", [0], name="one.output")
    element = helper.np_dtype_to_tensor_dtype(np.dtype(ends.input_type))
    declared = next(value for value in network.output if value.name == output)
    body = helper.make_graph(
        one.nodes,
        "one_image",
        [helper.make_tensor_value_info("one.image", element, None)],
        [helper.make_tensor_value_info("one.output", declared.type.tensor_type.elem_type, None)],
        [*one.arrays, *network.initializer],
        sparse_initializer=list(network.sparse_initializer),
    )
    return source.apply("Scan", name=output, body=body, num_scan_inputs=1)


def _add_pooling(output: Value, rank: int, card: BackboneCard, views: int) -> None:
    """Add pooling and the mean over the views, as `pooled` and `mean_of_views` do."""
    values = output.cast(np.float32)
    if card.pooling == "mean" and rank in {_MAP_RANK, _TOKENS_RANK}:
        values = values.reduced("ReduceMean", _pooled_axes(rank, card), keeps=False)
    elif card.pooling == "first" and rank == _TOKENS_RANK:
        values = values.columns(0)
    width = card.embedding_width
    values = values.reshaped([-1, width])
    if card.unit_length:
        values = values.unit(SMALLEST_LENGTH)
    each = values.unit(_SHORTEST)
    if views > 1:
        stacked = each.reshaped([-1, views, width])
        each = stacked.reduced("ReduceMean", keeps=False)
    each.unit(_SHORTEST, EMBEDDING)


def _pooled_axes(rank: int, card: BackboneCard) -> Sequence[int]:
    if rank == _TOKENS_RANK:
        return (1,)
    return (2, 3) if card.layout == "nchw" else (1, 2)
