"""Crops of boxes."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import ImageError
from engine.file_parts import BoundingBox, FilePart
from engine.images.crops import jpeg_of_part


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """Red with a blue rectangle, 40 by 20 pixels, stored rotated."""
    pixels = np.zeros((20, 40, 3), dtype=np.uint8)
    pixels[..., 0] = 255
    pixels[4:12, 10:30] = (0, 0, 255)
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "picture.png"
    Image.fromarray(np.rot90(pixels)).save(path, exif=exif)
    return path


def test_what_is_in_a_box(picture: Path) -> None:
    """Upright, without its surroundings."""
    box = BoundingBox.of_pixels(10, 4, 20, 8, (40, 20))
    with Image.open(io.BytesIO(jpeg_of_part(picture, FilePart(box=box)))) as crop:
        assert crop.size == (20, 8)
        colours = np.asarray(crop).reshape(-1, 3)
    assert (colours[:, 2] > 200).all()
    assert (colours[:, 0] < 60).all()


def test_the_smallest_box_is_a_pixel(picture: Path) -> None:
    box = BoundingBox.of(0.9999, 0.9999, 0.0001, 0.0001)
    with Image.open(io.BytesIO(jpeg_of_part(picture, FilePart(box=box)))) as crop:
        assert crop.size == (1, 1)


@pytest.mark.parametrize("part", [FilePart(page=2)])
def test_a_page_that_is_not_there_is_refused(picture: Path, part: FilePart) -> None:
    with pytest.raises(ImageError):
        jpeg_of_part(picture, part)
