"""Colours of video frames: colour matrix and range."""

from fractions import Fraction

import av
import numpy as np
import pytest

from engine.images.video_stream import FrameGeometry, rgb_of

SMALL, HD = (64, 48), (1280, 720)
BT_709, BT_601, UNSPECIFIED = 1, 6, 2  # ITU-T H.273
LIMITED, FULL = 1, 2


def frame(
    yuv: tuple[int, int, int], size: tuple[int, int], matrix: int, value_range: int
) -> av.VideoFrame:
    width, height = size
    planes = [
        np.full(width * height // share, value) for value, share in zip(yuv, (1, 4, 4), strict=True)
    ]
    stored = np.concatenate(planes).astype(np.uint8).reshape(height * 3 // 2, width)
    made = av.VideoFrame.from_ndarray(stored, format="yuv420p")
    made.colorspace, made.color_range = matrix, value_range
    return made


@pytest.mark.parametrize(
    ("yuv", "size", "matrix", "value_range"),
    [
        ((81, 90, 240), SMALL, UNSPECIFIED, LIMITED),  # pure red by BT.601
        ((81, 90, 240), HD, BT_601, LIMITED),
        ((63, 102, 240), HD, UNSPECIFIED, LIMITED),  # pure red by BT.709
        ((63, 102, 240), SMALL, BT_709, LIMITED),
        ((76, 85, 255), SMALL, UNSPECIFIED, FULL),
        ((54, 99, 255), HD, UNSPECIFIED, FULL),
    ],
)
def test_red_is_red(
    yuv: tuple[int, int, int], size: tuple[int, int], matrix: int, value_range: int
) -> None:
    """Without a colour matrix the height decides, as in players."""
    pixels = rgb_of(frame(yuv, size, matrix, value_range), FrameGeometry())
    assert pixels.shape == (size[1], size[0], 3)
    assert np.abs(pixels.astype(int) - (255, 0, 0)).max() <= 3


@pytest.mark.parametrize(
    ("luma", "value_range", "gray"), [(16, LIMITED, 0), (235, LIMITED, 255), (16, FULL, 16)]
)
def test_black_and_white_use_the_whole_range(luma: int, value_range: int, gray: int) -> None:
    pixels = rgb_of(frame((luma, 128, 128), SMALL, UNSPECIFIED, value_range), FrameGeometry())
    assert set(np.unique(pixels)) == {gray}


def test_an_absurd_shape_of_pixels_counts_as_square() -> None:
    made = frame((81, 90, 240), SMALL, UNSPECIFIED, LIMITED)
    sizes = [
        FrameGeometry.of(made, shape).size(made)
        for shape in (Fraction(16, 11), Fraction(1000), Fraction(1, 1000), None)
    ]
    assert sizes == [(93, 48), SMALL, SMALL, SMALL]
