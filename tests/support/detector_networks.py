"""Generated detectors of bright discs, with every supported form of output.

A disc is a patch of bright pixels. Each pixel computes the edges of its patch by repeated max
pooling, so boxes are exact to a pixel of the input. White discs are of category 0, red ones of 1.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
SIDE = 320
STRIDES = (8, 16)
LARGEST_DISC = 64  # pixels of the input
NAMES = "{0: 'white', 1: 'red'}"
MASK = "pixel_mask"
SIZES = "orig_target_sizes"
Axis = int | str
Cells = tuple[str, str, str]
"""Results: boxes by edges (B, 4, n), brightness (B, 1, n), one-hot category (B, 2, n)."""
Outputs = dict[str, str]
"""Results by output name."""


class GraphBuilder:
    """Collects nodes and constants; each method returns the name of a result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        result = f"{operator}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [result], **attributes))
        return result

    def constant(self, values: Any, kind: Any = np.float32) -> str:
        """A constant."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype=kind), name))
        return name

    def whole(self, *values: int) -> str:
        """Integers."""
        return self.constant(values, np.int64)

    def channel(self, source: str, first: int, last: int, axis: int = 1) -> str:
        """Select channels."""
        return self.add("Slice", source, self.whole(first), self.whole(last), self.whole(axis))


def _is_above(graph: GraphBuilder, source: str, limit: float) -> str:
    return _as_float(graph, graph.add("Greater", source, graph.constant(limit)))


def _cells(graph: GraphBuilder, images: str, bright: float) -> Cells:
    """Cells of the pixels of a grid."""
    red, green = graph.channel(images, 0, 1), graph.channel(images, 1, 2)
    is_bright, is_white = _is_above(graph, red, bright), _is_above(graph, green, bright)
    rows, columns = (_positions(graph, is_bright, axis) for axis in (2, 3))
    one = graph.constant(1)
    far = graph.constant(10_000)
    edges = graph.add(
        "Concat",
        graph.add("Sub", far, columns),
        graph.add("Sub", far, rows),
        graph.add("Add", columns, one),
        graph.add("Add", rows, one),
        axis=1,
    )
    grown = graph.add("Mul", edges, is_bright)
    for _ in range(LARGEST_DISC // 2):
        widest = graph.add("MaxPool", grown, kernel_shape=[5, 5], pads=[2, 2, 2, 2], strides=[1, 1])
        grown = graph.add("Mul", widest, is_bright)
    left_top = graph.add("Sub", far, graph.channel(grown, 0, 2))
    corners = graph.add("Concat", left_top, graph.channel(grown, 2, 4), axis=1)
    around = graph.add(
        "Concat", columns, rows, graph.add("Add", columns, one), graph.add("Add", rows, one), axis=1
    )
    dark = graph.add("Sub", one, is_bright)
    boxes = graph.add("Add", graph.add("Mul", corners, is_bright), graph.add("Mul", around, dark))
    classes = graph.add("Concat", is_white, graph.add("Sub", one, is_white), axis=1)
    return _sampled(graph, boxes, 4), _sampled(graph, is_bright, 1), _sampled(graph, classes, 2)


def _positions(graph: GraphBuilder, like: str, axis: int) -> str:
    """Row or column of each pixel."""
    ones = graph.add("Add", graph.add("Mul", like, graph.constant(0)), graph.constant(1))
    one = graph.constant(1)
    counted = graph.add("CumSum", ones, graph.constant(axis, np.int64))
    return graph.add("Sub", counted, one)


def _sampled(graph: GraphBuilder, source: str, channels: int) -> str:
    """Every eighth pixel, then every sixteenth, (B, channels, n)."""
    ends, axes = graph.whole(2**31, 2**31), graph.whole(2, 3)
    levels = []
    for stride in STRIDES:
        starts, steps = graph.whole(stride // 2, stride // 2), graph.whole(stride, stride)
        some = graph.add("Slice", source, starts, ends, axes, steps)
        levels.append(graph.add("Reshape", some, graph.whole(0, channels, -1)))
    return graph.add("Concat", *levels, axis=2)


def _centred(graph: GraphBuilder, boxes: str) -> str:
    """Boxes by centre, width and height (B, 4, n)."""
    near, far = graph.channel(boxes, 0, 2), graph.channel(boxes, 2, 4)
    centre = graph.add("Mul", graph.add("Add", near, far), graph.constant(0.5))
    return graph.add("Concat", centre, graph.add("Sub", far, near), axis=1)


def _chosen(
    graph: GraphBuilder, boxes: str, bright: str, classes: str
) -> tuple[str, str, str, str]:
    """After suppression: boxes (n, 4), scores, classes and pictures (n, 1) each, all float."""
    rows = graph.add("Transpose", boxes, perm=[0, 2, 1])
    scores = graph.add("Mul", classes, bright)
    limits = graph.whole(100), graph.constant([0.5]), graph.constant([0.5])
    found = graph.add("NonMaxSuppression", rows, scores, *limits)
    picture, category, place = (graph.channel(found, at, at + 1) for at in range(3))
    at = graph.add("Concat", picture, place, axis=1)
    chosen = graph.add("GatherND", rows, at)
    score = graph.add("GatherND", scores, found)
    column = graph.add("Unsqueeze", score, graph.whole(1))
    return chosen, column, _as_float(graph, category), _as_float(graph, picture)


def _as_float(graph: GraphBuilder, source: str) -> str:
    return graph.add("Cast", source, to=TensorProto.FLOAT)


def _turned(graph: GraphBuilder, source: str) -> str:
    return graph.add("Transpose", source, perm=[0, 2, 1])


def _yolov5(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, bright, classes = cells
    once = _turned(graph, graph.add("Concat", _centred(graph, boxes), bright, classes, axis=1))
    return {"output": graph.add("Concat", once, once, once, axis=1)}


def _yolov5_with_grids(graph: GraphBuilder, cells: Cells) -> Outputs:
    """The form of older exports."""
    boxes = _yolov5(graph, cells)["output"]
    return {"output": boxes, "346": graph.add("Unsqueeze", boxes, graph.whole(0, 1))}


def _yolov8(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, bright, classes = cells
    scores = graph.add("Mul", classes, bright)
    return {"output0": graph.add("Concat", _centred(graph, boxes), scores, axis=1)}


def _yolov8_turned(graph: GraphBuilder, cells: Cells) -> Outputs:
    return {"output0": _turned(graph, _yolov8(graph, cells)["output0"])}


def _detr(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, bright, classes = cells
    nothing = graph.add("Sub", graph.constant(1), bright)
    every = graph.add("Concat", graph.add("Mul", classes, bright), nothing, axis=1)
    return {"logits": _logits(graph, every), "pred_boxes": _centred_shares(graph, boxes)}


def _rt_detr(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, bright, classes = cells
    scores = graph.add("Mul", classes, bright)
    return {"logits": _logits(graph, scores), "pred_boxes": _centred_shares(graph, boxes)}


def _logits(graph: GraphBuilder, scores: str) -> str:
    """Logits (B, n, k) of zeros and ones (B, k, n)."""
    centred = graph.add("Sub", scores, graph.constant(0.5))
    return _turned(graph, graph.add("Mul", centred, graph.constant(20)))


def _centred_shares(graph: GraphBuilder, boxes: str) -> str:
    return _shares(graph, _turned(graph, _centred(graph, boxes)))


def _shares(graph: GraphBuilder, boxes: str) -> str:
    return graph.add("Div", boxes, graph.constant([SIDE] * 4))


def _ultralytics_rt_detr(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, bright, classes = cells
    category = graph.channel(classes, 1, 2)
    scores = _turned(graph, graph.add("Concat", bright, category, axis=1))
    return {"output0": graph.add("Concat", _centred_shares(graph, boxes), scores, axis=2)}


def _nms_6(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, score, category, _ = _chosen(graph, *cells)
    return {"output": graph.add("Concat", boxes, score, category, axis=1)}


def _nms_batch_6(graph: GraphBuilder, cells: Cells) -> Outputs:
    return {"output0": graph.add("Unsqueeze", _nms_6(graph, cells)["output"], graph.whole(0))}


def _nms_7(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, score, category, picture = _chosen(graph, *cells)
    return {"output": graph.add("Concat", picture, boxes, category, score, axis=1)}


def _torchvision(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, score, category, _ = _chosen(graph, *cells)
    flat = [graph.add("Reshape", each, graph.whole(-1)) for each in (category, score)]
    labels = graph.add("Cast", flat[0], to=TensorProto.INT64)
    return {"boxes": boxes, "labels": labels, "scores": flat[1]}


def _rt_detr_apart(graph: GraphBuilder, cells: Cells) -> Outputs:
    """The form of its authors: boxes are scaled to given sizes."""
    boxes, bright, classes = cells
    sizes = _as_float(graph, SIZES)
    twice = graph.add("Unsqueeze", graph.add("Concat", sizes, sizes, axis=1), graph.whole(1))
    shares = _shares(graph, _turned(graph, boxes))
    category = graph.add("Squeeze", graph.channel(classes, 1, 2), graph.whole(1))
    return {
        "labels": graph.add("Cast", category, to=TensorProto.INT64),
        "boxes": graph.add("Mul", shares, twice),
        "scores": graph.add("Squeeze", bright, graph.whole(1)),
    }


def _torchvision_numbered(graph: GraphBuilder, cells: Cells) -> Outputs:
    return dict(zip(("3076", "3052", "3054"), _torchvision(graph, cells).values(), strict=True))


def _tensorflow(graph: GraphBuilder, cells: Cells) -> Outputs:
    boxes, score, category, _ = _chosen(graph, *cells)
    left, top, right, bottom = (graph.channel(boxes, at, at + 1) for at in range(4))
    turned = _shares(graph, graph.add("Concat", top, left, bottom, right, axis=1))
    one = graph.whole(1, -1)
    return {
        "detection_boxes": graph.add("Unsqueeze", turned, graph.whole(0)),
        "detection_scores": graph.add("Reshape", score, one),
        "detection_classes": graph.add("Reshape", category, one),
    }


FORMS: Mapping[str, Callable[[GraphBuilder, Cells], Outputs]] = {
    "yolov5": _yolov5,
    "yolov5-with-grids": _yolov5_with_grids,
    "yolov8": _yolov8,
    "yolov8-turned": _yolov8_turned,
    "nms-6": _nms_6,
    "nms-batch-6": _nms_batch_6,
    "nms-7": _nms_7,
    "torchvision": _torchvision,
    "torchvision-numbered": _torchvision_numbered,
    "tensorflow": _tensorflow,
    "detr": _detr,
    "rt-detr": _rt_detr,
    "rt-detr-apart": _rt_detr_apart,
    "ultralytics-rt-detr": _ultralytics_rt_detr,
}
"""All forms of output."""
FURTHER_INPUTS: Mapping[str, tuple[str, tuple[Axis, ...]]] = {
    "detr": (MASK, ("batch", 64, 64)),
    "rt-detr-apart": (SIZES, ("batch", 2)),
}
"""Name and shape of additional inputs, by form."""


def write_detector(
    path: Path,
    form: str = "yolov8",
    *,
    layout: str = "nchw",
    kind: int = TensorProto.FLOAT,
    batch: Axis = "batch",
    sides: tuple[Axis, Axis] = (SIDE, SIDE),
    notes: Mapping[str, str] | None = None,
) -> Path:
    """Write a detector of bright discs.

    Args:
        form: one of `FORMS`.
        layout: "nchw", "nhwc" or "chw".
        kind: element type of its input; uint8 values up to 255.
        batch: its batch axis.
        sides: height and width; text for a dynamic axis.
        notes: its metadata; by default the names of both categories.
    """
    graph = GraphBuilder()
    shapes = {"nchw": (batch, 3, *sides), "nhwc": (batch, *sides, 3), "chw": (3, *sides)}
    images = "images"
    if kind != TensorProto.FLOAT:
        images = _as_float(graph, images)
    if layout == "nhwc":
        images = graph.add("Transpose", images, perm=[0, 3, 1, 2])
    if layout == "chw":
        images = graph.add("Unsqueeze", images, graph.whole(0))
    bright = 190.0 if kind == TensorProto.UINT8 else 0.75
    outputs = {}
    for name, result in FORMS[form](graph, _cells(graph, images, bright)).items():
        graph.nodes.append(helper.make_node("Identity", [result], [name]))
        element = TensorProto.INT64 if name in {"labels", "3052"} else TensorProto.FLOAT
        outputs[name] = helper.make_tensor_value_info(name, element, None)
    inputs = [helper.make_tensor_value_info("images", kind, shapes[layout])]
    if form in FURTHER_INPUTS:
        name, shape = FURTHER_INPUTS[form]
        inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
    network = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "discs",
            inputs,
            list(outputs.values()),
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    helper.set_model_props(network, {"names": NAMES} if notes is None else dict(notes))
    path.write_bytes(network.SerializeToString())
    return path


Disc = tuple[float, float, float, bool]
"""Column and row of the centre, radius, in pixels of the picture, and whether it is red."""


def picture_of_discs(size: tuple[int, int], discs: Sequence[Disc]) -> NDArray[np.uint8]:
    """Discs on a dark background (height, width, 3) uint8 RGB."""
    width, height = size
    rows, columns = np.mgrid[:height, :width]
    pixels = np.full((height, width, 3), 40, dtype=np.uint8)
    for column, row, radius, is_red in discs:
        inside = (columns + 0.5 - column) ** 2 + (rows + 0.5 - row) ** 2 <= radius**2
        pixels[inside] = (250, 60, 60) if is_red else (250, 250, 250)
    return pixels
