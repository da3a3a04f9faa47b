import numpy as np
import pytest

from engine.images.pixels import fit_within, square
from tests.support.images import picture


@pytest.mark.parametrize("shape", [(32, 48), (48, 32), (300, 301), (1, 400), (2000, 3)])
def test_square_has_the_wanted_side(shape: tuple[int, int]) -> None:
    """Every aspect ratio gives the requested side, without a warning."""
    height, width = shape
    assert square(picture(width, height), 32).shape == (32, 32, 3)


def test_square_keeps_the_centre() -> None:
    """The centre is cropped."""
    pixels = np.zeros((30, 90, 3), dtype=np.uint8)
    pixels[:, 30:60] = 200
    assert np.all(square(pixels, 10)[:, 1:-1] == 200)


def test_square_of_the_right_size_is_the_picture_itself() -> None:
    """No resampling at the exact size."""
    pixels = picture(32, 32)
    assert np.array_equal(square(pixels, 32), pixels)


def test_resize_share_shows_less_of_the_picture() -> None:
    """A share of one half crops the inner half of the shorter side."""
    pixels = np.zeros((64, 64, 3), dtype=np.uint8)
    pixels[16:48, 16:48] = 100
    assert square(pixels, 32, 0.5).min() == 100
    assert square(pixels, 32, 1.0).min() == 0


def test_square_is_antialiased() -> None:
    """A checkerboard of single pixels becomes even grey."""
    board = (np.indices((512, 512)).sum(axis=0) % 2 * 255).astype(np.uint8)
    small = square(np.repeat(board[:, :, None], 3, axis=2), 32)
    assert np.abs(small.astype(int) - 127).max() <= 3


def test_square_takes_views() -> None:
    """A rotated view equals its copy."""
    view = picture(40, 60).transpose(1, 0, 2)[::-1]
    assert np.array_equal(square(view, 16), square(view.copy(), 16))


@pytest.mark.parametrize("side", [16, 40])
def test_square_takes_padded_pixels(side: int) -> None:
    """Padded pixels (four channels), shared or copied, give the same values."""
    pixels = picture(60, 40)
    padded = np.dstack(
        [pixels, np.random.default_rng(0).integers(0, 256, (40, 60), dtype=np.uint8)]
    )
    assert np.array_equal(square(padded, side), square(pixels, side))
    assert np.array_equal(square(padded[::-1], side), square(pixels[::-1], side))
    assert np.array_equal(square(padded[:, 10:50], side), square(pixels[:, 10:50], side))


def test_fit_within_keeps_the_aspect_and_never_enlarges() -> None:
    """400 x 100 fits 40 as 40 x 10; a small picture is unchanged; a line keeps one pixel."""
    assert fit_within(picture(400, 100), 40).shape == (10, 40, 3)
    assert fit_within(picture(20, 10), 40).shape == (10, 20, 3)
    assert fit_within(picture(1000, 1), 40).shape == (1, 40, 3)
