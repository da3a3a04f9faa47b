"""Tiny backbones with random weights, written directly to ONNX."""

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.model_card import BackboneCard, write_card

WIDTH = 16
SIDE = 32


def tiny_card(*, width: int = WIDTH, side: int = SIDE) -> BackboneCard:
    """Card of a tiny backbone."""
    return BackboneCard(
        name="tiny",
        input_side=side,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        embedding_width=width,
    )


def write_tiny_backbone(
    path: Path, *, width: int = WIDTH, channels: int = 3, seed: int = 0
) -> BackboneCard:
    """Write strided convolution, ReLU and average pooling, with the card.

    Args:
        path: ONNX file to write.
        width: embedding width.
        channels: channels of the input; other than 3 makes a file that must be refused.
        seed: of the random weights.
    """
    weights = tiny_weights(width=width, channels=channels, seed=seed)
    nodes = [
        helper.make_node(
            "Conv", ["images", "weights"], ["features"], strides=[2, 2], pads=[1, 1, 1, 1]
        ),
        helper.make_node("Relu", ["features"], ["active"]),
        helper.make_node("ReduceMean", ["active"], ["embeddings"], axes=[2, 3], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(
                "images", TensorProto.FLOAT, ["batch", channels, "height", "width"]
            )
        ],
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["batch", width])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    card = tiny_card(width=width)
    write_card(path, card)
    return card


def tiny_weights(*, width: int = WIDTH, channels: int = 3, seed: int = 0) -> NDArray[np.float32]:
    """Weights (width, channels, 3, 3) of the only convolution."""
    generator = np.random.default_rng(seed)
    return generator.standard_normal((width, channels, 3, 3)).astype(np.float32)
