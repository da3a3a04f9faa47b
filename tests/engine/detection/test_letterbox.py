"""Where a picture lies in a detector's input."""

import numpy as np
import pytest

from engine.detection.letterbox import GREY, Letterbox
from engine.file_parts import BoundingBox


def test_of_a_fixed_size() -> None:
    """1280 x 720 in 640 x 640 is 640 x 360, with 140 rows above; a small picture is enlarged."""
    wide = Letterbox.of((1280, 720), (640, 640))
    assert (wide.size, wide.picture, wide.left, wide.top) == ((640, 640), (640, 360), 0, 140)
    high = Letterbox.of((100, 200), (640, 640))
    assert (high.picture, high.left, high.top) == ((320, 640), 160, 0)


def test_of_any_size() -> None:
    """Sides are the least multiples of the stride that hold the picture."""
    found = Letterbox.of((1280, 720), (640, 640), stride=32)
    assert (found.size, found.picture, found.top) == ((640, 384), (640, 360), 12)
    assert Letterbox.of((4000, 3), (640, 640), stride=32).size == (640, 32)
    assert Letterbox.of((320, 200), (640, 640), stride=32).picture == (640, 400)
    assert Letterbox.of((320, 200), (640, 640), stride=1).size == (320, 200)


def test_grey_around_the_picture() -> None:
    """The picture is whole, its ground is grey."""
    found = Letterbox.of((4, 2), (4, 4)).filled(np.full((2, 4, 3), 200, dtype=np.uint8))
    assert found[..., 0].tolist() == [[GREY] * 4, [200] * 4, [200] * 4, [GREY] * 4]


def test_boxes_are_in_shares_of_the_picture() -> None:
    """What reaches out of it is cut off; what lies in the ground alone is no box."""
    letterbox = Letterbox.of((1280, 720), (640, 640))
    inside = letterbox.box(np.array([64, 140, 128, 320], dtype=np.float32))
    assert inside == pytest.approx(BoundingBox(0.1, 0.0, 0.1, 0.5))
    over = letterbox.box(np.array([-9, 100, 64, 176], dtype=np.float32))
    assert over == pytest.approx(BoundingBox(0.0, 0.0, 0.1, 0.1))
    assert letterbox.box(np.array([0, 10, 64, 139], dtype=np.float32)) is None
    assert letterbox.box(np.array([9, 200, 9, 220], dtype=np.float32)) is None
