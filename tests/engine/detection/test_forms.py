"""Discs are found in every form of output, in pictures of every shape."""

from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto

from engine.images.decode import ImageDecoder
from tests.support.detector_networks import FORMS, Disc, picture_of_discs
from tests.support.detectors import farthest_edge, opened_detector
from tests.support.images import encoded, exif_with_orientation, stored_turned

PIXELS = 2
"""By how much an edge may be off."""
WIDE = (640, 360)
DISCS: tuple[Disc, ...] = ((100, 81, 20, False), (401, 200, 31, True), (600, 330, 18, False))
HIGH = (360, 640)
HIGH_DISCS: tuple[Disc, ...] = ((60, 60, 25, True), (300, 601, 22, False))
INPUTS: dict[str, dict[str, Any]] = {
    "torchvision": {"layout": "chw", "sides": ("height", "width")},
    "torchvision-numbered": {"layout": "chw"},
    "tensorflow": {"layout": "nhwc", "kind": TensorProto.UINT8, "batch": 1},
    "nms-6": {"batch": 1},
    "yolov5": {"sides": ("height", "width")},
}
"""What the exports of a form take, where that is not NCHW of one size."""


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_discs_are_found(tmp_path: Path, form: str) -> None:
    """In a wide and a high picture, and in a file that a camera stored turned.

    None in an empty one.
    """
    detector = opened_detector(tmp_path / "discs.onnx", form=form, **INPUTS.get(form, {}))
    wide, high = picture_of_discs(WIDE, DISCS), picture_of_discs(HIGH, HIGH_DISCS)
    stored = stored_turned(high, 6)
    file = encoded(stored, "JPEG", quality=95, exif=exif_with_orientation(6))
    turned = detector.detect_in([detector.letterboxed(ImageDecoder(file))])
    empty = picture_of_discs((90, 160), ())
    found = [*detector.detect([wide, high]), *turned]
    assert detector.detect([empty]) == [[]]
    for detections, discs, size in zip(
        found, (DISCS, HIGH_DISCS, HIGH_DISCS), (WIDE, HIGH, HIGH), strict=True
    ):
        assert len({each.box for each in detections}) == len(discs)
        for disc in discs:
            nearest = min(detections, key=lambda each: farthest_edge(each, disc, size))
            assert farthest_edge(nearest, disc, size) <= PIXELS
            assert nearest.category == ("red" if disc[3] else "white")
            assert nearest.score > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("form", ["yolov5", "yolov8", "nms-7"])
def test_batches_find_what_each_picture_finds(tmp_path: Path, form: str) -> None:
    """Pictures of several sizes: those of one size run together."""
    detector = opened_detector(tmp_path / "discs.onnx", form=form, sides=("height", "width"))
    pictures = [picture_of_discs(WIDE, DISCS[:count]) for count in range(4)]
    pictures.insert(1, picture_of_discs(HIGH, HIGH_DISCS))
    alone = detector.detect(pictures)
    assert [len(each) for each in alone] == [0, 2, 1, 2, 3]
    detector.batch_size = 3
    assert detector.facts.takes.takes_batches
    assert detector.detect(pictures) == alone
