"""Detectors of torchvision, untrained, as its users export them: for the form alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.detection.detections import Detection
from engine.detection.detector import ObjectDetector
from engine.detection.output_forms import APART
from tests.support.detectors import examined_detector
from tests.support.images import picture

SIZE = (200, 150)
NAMES = ("nothing", "fox", "hare")
LEAST = 0.01
TOLERANCE = 0.1
"""Of an edge, in pixels."""
SCORE_TOLERANCE = 1e-4


def _faster_rcnn() -> Any:
    from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn as make

    return make(weights=None, weights_backbone=None, num_classes=3, box_score_thresh=0.01)


def _ssd_lite() -> Any:
    import torch
    from torchvision.models.detection import ssdlite320_mobilenet_v3_large as make

    network = make(weights=None, weights_backbone=None, num_classes=3)
    for (
        values
    ) in network.parameters():  # else all scores are the same, and which boxes are left is chance
        if values.ndim > 1:
            torch.nn.init.kaiming_normal_(values)
    return network


def _retina_net() -> Any:
    from torchvision.models.detection import retinanet_resnet50_fpn as make

    return make(
        weights=None,
        weights_backbone=None,
        num_classes=3,
        min_size=128,
        max_size=200,
        score_thresh=0.001,
    )


@pytest.mark.slow
@pytest.mark.parametrize("make", [_faster_rcnn, _ssd_lite, _retina_net])
@pytest.mark.filterwarnings("ignore")  # of tracing
def test_boxes_are_torchs(tmp_path: Path, make: Callable[[], Any]) -> None:
    """The same boxes, scores and labels as the network gives before it is exported."""
    import torch

    torch.manual_seed(0)
    network = make().eval()
    pixels = picture(*SIZE)
    image = torch.from_numpy(pixels.copy()).permute(2, 0, 1) / 255
    with torch.no_grad():
        (expected,) = network([image])
    path = tmp_path / "torchvision.onnx"
    names = list(expected)
    axes = {"image": {1: "height", 2: "width"}}
    torch.onnx.export(
        network,
        ([image],),
        path,
        input_names=["image"],
        output_names=names,
        dynamic_axes=axes,
        dynamo=False,
    )
    facts = examined_detector(path, names=NAMES)
    assert (facts.form.kind, facts.takes.layout) == (APART, "chw")
    (found,) = ObjectDetector(path, facts, threshold=LEAST).detect([pixels])
    boxes = np.array([_edges(each) for each in found])
    scores = np.array([each.score for each in found])
    categories = np.array([NAMES.index(each.category) for each in found])
    wanted = {name: values.numpy() for name, values in expected.items()}
    is_wanted = wanted["scores"] >= LEAST
    is_found = []
    for place in np.flatnonzero(is_wanted):
        is_same = np.abs(boxes - wanted["boxes"][place]).max(axis=1) < TOLERANCE
        is_same &= np.abs(scores - wanted["scores"][place]) < SCORE_TOLERANCE
        is_found.append((is_same & (categories == wanted["labels"][place])).any())
    assert len(is_found) > 3
    assert np.mean(is_found) > 0.95  # rounding decides which of two boxes suppresses the other


def _edges(detection: Detection) -> tuple[float, float, float, float]:
    left, top, width, height = detection.box.in_pixels(SIZE)
    return left, top, left + width, top + height
