"""Square crops around boxes: equal pixels in every format, orientation and scale."""

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.file_parts import BoundingBox
from engine.images.decode import ImageDecoder
from engine.images.image_header import upright
from engine.images.pixels import SURROUNDINGS, box_square, stored_box

SIZE = 640, 360  # as displayed
BOX = BoundingBox(0.6, 0.25, 0.1, 0.3)
ORIENTATIONS = range(1, 9)


def picture() -> Image.Image:
    """A grey ramp with a red rectangle in the box."""
    width, height = SIZE
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    pixels[:] = np.linspace(0, 200, width, dtype=np.uint8)[None, :, None]
    left, top, box_width, box_height = (round(each) for each in BOX.in_pixels(SIZE))
    pixels[top : top + box_height, left : left + box_width] = (255, 0, 0)
    return Image.fromarray(pixels)


def stored(image: Image.Image, orientation: int) -> Image.Image:
    """The picture as stored with an EXIF orientation."""
    undo = {5: 5, 6: 8, 7: 7, 8: 6}.get(orientation, orientation)
    return Image.fromarray(np.ascontiguousarray(upright(np.asarray(image), undo)))


def encoded(image: Image.Image, kind: str, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[274] = orientation
    file = io.BytesIO()
    options = {"quality": 100, "subsampling": 0} if kind == "JPEG" else {}
    stored(image, orientation).save(file, kind, exif=exif, **options)
    return file.getvalue()


def red_of(square: NDArray[np.uint8]) -> NDArray[np.bool_]:
    values = square.astype(int)
    return np.asarray((values[..., 0] > 180) & (values[..., 1] < 80))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_the_box_lies_in_the_middle_of_its_square(kind: str, orientation: int) -> None:
    side = 96
    red = red_of(ImageDecoder(encoded(picture(), kind, orientation)).square(side, box=BOX))
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    assert len(rows) == pytest.approx(side / SURROUNDINGS, abs=2)
    assert len(columns) == pytest.approx(side / SURROUNDINGS * 64 / 108, abs=2)
    assert (rows[0] + rows[-1] + 1) / 2 == pytest.approx(side / 2, abs=1.5)
    assert (columns[0] + columns[-1] + 1) / 2 == pytest.approx(side / 2, abs=1.5)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_box_goes_to_the_stored_picture_as_its_pixels_do(orientation: int) -> None:
    red = red_of(np.asarray(stored(picture(), orientation)))
    height, width = red.shape
    left, top, box_width, box_height = stored_box(BOX, orientation).in_pixels((width, height))
    rows, columns = np.flatnonzero(red.any(axis=1)), np.flatnonzero(red.any(axis=0))
    assert (columns[0], rows[0]) == pytest.approx((left, top), abs=1)
    assert (len(columns), len(rows)) == pytest.approx((box_width, box_height), abs=1)


def test_a_square_stays_in_the_picture() -> None:
    for box in (
        BoundingBox(0, 0, 0.02, 0.9),
        BoundingBox(0.9, 0.9, 0.1, 0.1),
        BoundingBox(0, 0.4, 1, 0.1),
    ):
        left, top, right, bottom = box_square(box, *SIZE)
        assert left >= 0
        assert top >= 0
        assert right <= SIZE[0] + 1e-9
        assert bottom <= SIZE[1] + 1e-9
        assert right - left == pytest.approx(bottom - top)


def test_a_small_box_is_seen_in_full_detail() -> None:
    """A JPEG is decoded at the scale that the box needs."""
    width, height = 3200, 1800
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    pixels[:, ::8] = 255  # lost at any smaller scale
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95)
    image = ImageDecoder(file.getvalue())
    assert image.square(96).astype(float).std() < 30
    assert (
        image.square(96, box=BoundingBox(0.5, 0.5, 80 / width, 80 / height)).astype(float).std()
        > 60
    )


@pytest.mark.slow
def test_large_pictures_are_cut_while_they_are_read(tmp_path: Path) -> None:
    """Crops of strip-wise read pictures equal those of others."""
    large = picture().resize((6400, 3600), Image.Resampling.NEAREST)
    for kind in ("PNG", "TIFF", "BMP"):
        path = tmp_path / f"large.{kind}"
        large.save(path, kind)
        red = red_of(ImageDecoder(path.read_bytes()).square(96, box=BOX))
        assert red.any(axis=1).sum() == pytest.approx(80, abs=2)
