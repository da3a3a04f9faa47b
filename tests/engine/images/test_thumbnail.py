from pathlib import Path

import numpy as np
import pytest

from engine.errors import ImageError
from engine.images.decode import decode_rgb
from engine.images.thumbnail_cache import thumbnail
from tests.support.images import encoded, exif_with_orientation, picture, stored_turned, write_jpeg


def test_longer_side_is_as_asked(tmp_path: Path) -> None:
    """400 x 200 with a side of 100 becomes 100 x 50."""
    assert decode_rgb(
        thumbnail(write_jpeg(tmp_path / "a.jpg", width=400, height=200), 100)
    ).shape == (50, 100, 3)


def test_it_stands_upright(tmp_path: Path) -> None:
    """The EXIF orientation is applied."""
    pixels = picture(200, 100)
    path = tmp_path / "turned.jpg"
    path.write_bytes(
        encoded(stored_turned(pixels, 6), "JPEG", exif=exif_with_orientation(6), quality=95)
    )
    shown = decode_rgb(thumbnail(path, 200))
    assert shown.shape == pixels.shape
    assert np.abs(shown.astype(int) - pixels).mean() < 6


def test_turned_picture_that_is_not_scaled(tmp_path: Path) -> None:
    """A small rotated picture is not enlarged, and can be encoded."""
    path = tmp_path / "small.jpg"
    path.write_bytes(encoded(picture(20, 10), "JPEG", exif=exif_with_orientation(8)))
    assert decode_rgb(thumbnail(path, 200)).shape == (20, 10, 3)


def test_rotten_file_is_an_image_error(tmp_path: Path) -> None:
    """An unreadable file has no thumbnail."""
    path = tmp_path / "note.jpg"
    path.write_text("hello")
    with pytest.raises(ImageError, match="found text"):
        thumbnail(path, 64)
