"""Small ONNX files: valid ones of many shapes, and invalid ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

WIDTH = 12
SIDE = 32
OPSET = 17
Axis = int | str | None


def weights(*, channels: int = 3, width: int = WIDTH) -> NDArray[np.float32]:
    """Weights (width, channels, 3, 3) of a convolution."""
    return np.random.default_rng(0).standard_normal((width, channels, 3, 3)).astype(np.float32)


def write_model(
    path: Path,
    nodes: Sequence[Any],
    outputs: Mapping[str, tuple[int, Sequence[Axis] | None]],
    *,
    inputs: Mapping[str, Sequence[Axis]] | None = None,
    kind: int = TensorProto.FLOAT,
    initializers: Sequence[Any] = (),
    opset: int = OPSET,
    ir_version: int = 8,
    domains: Sequence[str] = (),
    functions: Sequence[Any] = (),
    producer: str = "",
    notes: Mapping[str, str] | None = None,
) -> Path:
    """Write a graph, valid or not.

    Args:
        path: file to write.
        nodes: of `onnx.helper.make_node`.
        outputs: name to element type and shape.
        inputs: name to shape; by default `images` of 3 channels and any size.
        kind: element type of the inputs.
        initializers: tensors.
        opset: of the standard operators.
        ir_version: of the file.
        domains: of operators that are not standard.
        functions: of the file itself.
        producer: of the file.
        notes: key and value pairs of metadata.
    """
    inputs = inputs or {"images": ("batch", 3, "height", "width")}
    graph = helper.make_graph(
        list(nodes),
        "small",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()],
        [
            helper.make_tensor_value_info(name, element, shape)
            for name, (element, shape) in outputs.items()
        ],
        list(initializers),
    )
    imports = [
        helper.make_opsetid("", opset),
        *(helper.make_opsetid(domain, 1) for domain in domains),
    ]
    model = helper.make_model(
        graph,
        opset_imports=imports,
        ir_version=ir_version,
        functions=list(functions),
        producer_name=producer,
    )
    for key, value in (notes or {}).items():
        model.metadata_props.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())
    return path


def convolution(
    source: str = "images", *, channels: int = 3, width: int = WIDTH
) -> tuple[list[Any], list[Any]]:
    """Nodes and initializers from images to a map `features` of `width` channels, stride 4."""
    nodes = [
        helper.make_node(
            "Conv", [source, "weights"], ["linear"], strides=[4, 4], pads=[1, 1, 1, 1]
        ),
        helper.make_node("Relu", ["linear"], ["features"]),
    ]
    return nodes, [numpy_helper.from_array(weights(channels=channels, width=width), "weights")]


def average(source: str = "features", target: str = "embeddings", *, keepdims: int = 0) -> Any:
    """A node of global average pooling."""
    return helper.make_node("ReduceMean", [source], [target], axes=[2, 3], keepdims=keepdims)


def write_vectors(
    path: Path, *, side: Axis = "side", batch: Axis = "batch", **options: Any
) -> Path:
    """A network with an output (B, 12)."""
    nodes, initializers = convolution()
    return write_model(
        path,
        [*nodes, average()],
        {"embeddings": (TensorProto.FLOAT, (batch, WIDTH))},
        inputs={"images": (batch, 3, side, side)},
        initializers=initializers,
        **options,
    )


def write_map(path: Path) -> Path:
    """A network with an output (B, 12, H, W) that must be pooled."""
    nodes, initializers = convolution()
    return write_model(
        path,
        nodes,
        {"features": (TensorProto.FLOAT, ("batch", WIDTH, None, None))},
        initializers=initializers,
    )


def write_tokens(path: Path) -> Path:
    """A network with an output (B, tokens, 12), as transformers have."""
    nodes, initializers = convolution()
    nodes += [
        helper.make_node("Reshape", ["features", "flat"], ["channels_first"]),
        helper.make_node("Transpose", ["channels_first"], ["last_hidden_state"], perm=[0, 2, 1]),
    ]
    initializers.append(numpy_helper.from_array(np.array([0, WIDTH, -1], dtype=np.int64), "flat"))
    shape = ("batch", "tokens", WIDTH)
    return write_model(
        path, nodes, {"last_hidden_state": (TensorProto.FLOAT, shape)}, initializers=initializers
    )


def write_channels_last(path: Path, *, pooled: bool = True) -> Path:
    """A network with the input (B, 32, 32, 3), as TensorFlow has."""
    nodes, initializers = convolution("planes")
    nodes = [helper.make_node("Transpose", ["images"], ["planes"], perm=[0, 3, 1, 2]), *nodes]
    shape: Sequence[Axis] = ("batch", WIDTH) if pooled else ("batch", 8, 8, WIDTH)
    if pooled:
        nodes.append(average())
    else:
        nodes.append(helper.make_node("Transpose", ["features"], ["embeddings"], perm=[0, 2, 3, 1]))
    return write_model(
        path,
        nodes,
        {"embeddings": (TensorProto.FLOAT, shape)},
        inputs={"images": ("batch", SIDE, SIDE, 3)},
        initializers=initializers,
        producer="tf2onnx",
    )


def write_grey(path: Path) -> Path:
    """A network with one channel."""
    nodes, initializers = convolution(channels=1)
    return write_model(
        path,
        [*nodes, average()],
        {"embeddings": (TensorProto.FLOAT, ("batch", WIDTH))},
        inputs={"images": ("batch", 1, SIDE, SIDE)},
        initializers=initializers,
    )


def write_half(path: Path) -> Path:
    """A network in half precision."""
    nodes, _ = convolution()
    initializers = [numpy_helper.from_array(weights().astype(np.float16), "weights")]
    return write_model(
        path,
        [*nodes, average()],
        {"embeddings": (TensorProto.FLOAT16, ("batch", WIDTH))},
        inputs={"images": ("batch", 3, SIDE, SIDE)},
        kind=TensorProto.FLOAT16,
        initializers=initializers,
    )


def write_scores_and_features(path: Path) -> Path:
    """A classifier with two outputs: scores first, then features."""
    nodes, initializers = convolution()
    nodes += [
        average(target="pooled_features"),
        helper.make_node("MatMul", ["pooled_features", "head"], ["logits"]),
        helper.make_node("ArgMax", ["logits"], ["labels"], axis=1, keepdims=0),
    ]
    initializers.append(numpy_helper.from_array(np.eye(WIDTH, 5, dtype=np.float32), "head"))
    outputs = {
        "logits": (TensorProto.FLOAT, ("batch", 5)),
        "labels": (TensorProto.INT64, ("batch",)),
        "pooled_features": (TensorProto.FLOAT, ("batch", WIDTH)),
    }
    return write_model(path, nodes, outputs, initializers=initializers)


def write_external(path: Path, *, location: str = "weights.bin", write_data: bool = True) -> Path:
    """A network with external weights.

    Args:
        path: the ONNX file.
        location: name of the external file in the ONNX file.
        write_data: whether the external file is written.
    """
    write_vectors(path)
    model = onnx.load(str(path))
    tensor = model.graph.initializer[0]
    content = numpy_helper.to_array(tensor).tobytes()
    lead = b"\0" * 64
    if write_data:
        (path.parent / location).write_bytes(lead + content)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (
        ("location", location),
        ("offset", str(len(lead))),
        ("length", str(len(content))),
    ):
        tensor.external_data.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())
    return path


def write_endless(path: Path) -> Path:
    """A network that counts to 2^62 before it returns."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["keep_going"], ["go_on"]),
            helper.make_node("Mul", ["state", "state"], ["next_state"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, ()),
            helper.make_tensor_value_info("keep_going", TensorProto.BOOL, ()),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, ()),
            helper.make_tensor_value_info("next_state", TensorProto.FLOAT, None),
        ],
    )
    nodes, initializers = convolution()
    nodes += [
        average(target="start"),
        helper.make_node("Loop", ["turns", "", "start"], ["embeddings"], body=body),
    ]
    initializers.append(numpy_helper.from_array(np.array(2**62, dtype=np.int64), "turns"))
    return write_model(
        path,
        nodes,
        {"embeddings": (TensorProto.FLOAT, ("batch", WIDTH))},
        initializers=initializers,
    )


def write_greedy(path: Path, *, numbers: int = 25_000_000_000) -> Path:
    """A network that allocates 100 GB of zeros, as many as its input says, and sums them."""
    nodes, initializers = convolution()
    nodes += [
        average(target="small"),
        helper.make_node("Shape", ["small"], ["shape"]),
        helper.make_node("Mul", ["shape", "factor"], ["large_shape"]),
        helper.make_node("ConstantOfShape", ["large_shape"], ["large"]),
        helper.make_node("ReduceSum", ["large"], ["total"], keepdims=0),
        helper.make_node("Add", ["small", "total"], ["embeddings"]),
    ]
    factor = np.array([1, numbers // WIDTH], dtype=np.int64)
    initializers.append(numpy_helper.from_array(factor, "factor"))
    return write_model(
        path,
        nodes,
        {"embeddings": (TensorProto.FLOAT, ("batch", WIDTH))},
        initializers=initializers,
    )


def write_with_node(
    path: Path, operator: str, *, domain: str = "", opset: int = OPSET, **attributes: Any
) -> Path:
    """A network with an additional last operator from `pooled` to `embeddings`."""
    nodes, initializers = convolution()
    nodes += [
        average(target="pooled"),
        helper.make_node(operator, ["pooled"], ["embeddings"], domain=domain, **attributes),
    ]
    return write_model(
        path,
        nodes,
        {"embeddings": (TensorProto.FLOAT, ("batch", WIDTH))},
        initializers=initializers,
        opset=opset,
        domains=[domain] if domain else [],
    )


def write_output(
    path: Path, node: Any, shape: Sequence[Axis] | None, *, kind: int = TensorProto.FLOAT
) -> Path:
    """A network whose only output is a node's result of the map `features`.

    Args:
        path: file to write.
        node: takes `features`, gives `made`.
        shape: declared.
        kind: element type.
    """
    nodes, initializers = convolution()
    return write_model(path, [*nodes, node], {"made": (kind, shape)}, initializers=initializers)
