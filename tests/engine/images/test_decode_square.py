"""The network's input from a file's bytes equals decoding, cropping and resizing."""

import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.errors import ImageError
from engine.images.decode import decode_rgb, decode_square
from engine.images.pixels import square
from tests.support.images import (
    encoded,
    exif_with_orientation,
    four_corners,
    jpeg_declaring,
    picture,
    png_declaring,
    png_of_sixteen_bits,
    stored_turned,
)

SIDE = 24


def plain_way(data: bytes, side: int = SIDE, share: float = 1.0) -> NDArray[np.uint8]:
    return square(decode_rgb(data, smallest_side=round(side / share)), side, share)


def gray_ramp() -> NDArray[np.uint16]:
    return np.linspace(0, 65535, 60 * 80).astype(np.uint16).reshape(60, 80)


SOUND = {
    "baseline JPEG": encoded(picture(300, 200), "JPEG", quality=90),
    "JPEG without subsampling": encoded(picture(300, 200), "JPEG", quality=90, subsampling=0),
    "progressive JPEG": encoded(picture(300, 200), "JPEG", quality=90, progressive=True),
    "gray JPEG": encoded(Image.fromarray(picture(300, 200)).convert("L"), "JPEG"),
    "CMYK JPEG": encoded(Image.fromarray(picture(300, 200)).convert("CMYK"), "JPEG"),
    "JPEG with bytes behind it": encoded(picture(300, 200), "JPEG") + b"\x00\x01 more",
    "JPEG smaller than the side": encoded(picture(15, 9), "JPEG"),
    "JPEG of just the side": encoded(picture(SIDE, SIDE), "JPEG"),
    "large JPEG": encoded(picture(2000, 1500), "JPEG"),
    "PNG": encoded(picture(90, 70), "PNG"),
    "PNG with alpha": encoded(Image.fromarray(picture(90, 70)).convert("RGBA"), "PNG"),
    "PNG of 16 bits": png_of_sixteen_bits(gray_ramp()),
    "WEBP": encoded(picture(90, 70), "WEBP", lossless=True),
    "line": encoded(picture(400, 1), "JPEG"),
}


@pytest.mark.parametrize("share", [1.0, 0.875])
@pytest.mark.parametrize("kind", sorted(SOUND))
def test_it_is_the_plain_way(kind: str, share: float) -> None:
    """Bit-identical for every format."""
    found = decode_square(SOUND[kind], SIDE, share)
    assert found.shape == (SIDE, SIDE, 3)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, plain_way(SOUND[kind], SIDE, share))


@pytest.mark.parametrize("least", range(20, 330, 37))
@pytest.mark.parametrize(
    "kind", ["baseline JPEG", "progressive JPEG", "gray JPEG", "JPEG without subsampling"]
)
def test_pillow_alone_decodes_to_the_same_pixels(kind: str, least: int) -> None:
    """Exported models use Pillow alone, at a half, quarter or eighth of a JPEG's size."""
    with Image.open(io.BytesIO(SOUND[kind])) as image:
        image.draft(None, (least, least))
        expected = np.asarray(image.convert("RGB"))
    np.testing.assert_array_equal(decode_rgb(SOUND[kind], smallest_side=least), expected)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_turned_photos_stand_upright(orientation: int) -> None:
    """Rotation after resizing gives the same corners and, within rounding, values."""
    corners = four_corners(64)[:, 32:96]
    data = encoded(
        stored_turned(corners, orientation),
        "JPEG",
        exif=exif_with_orientation(orientation),
        quality=95,
        subsampling=0,
    )
    found = decode_square(data, SIDE).astype(int)
    assert (
        np.abs(
            found[SIDE // 4 :: SIDE // 2, SIDE // 4 :: SIDE // 2] - corners[16::32, 16::32]
        ).max()
        <= 8
    )
    assert np.abs(found - plain_way(data)).max() <= 2


@pytest.mark.parametrize(
    "kind", ["baseline JPEG", "progressive JPEG", "gray JPEG", "CMYK JPEG", "PNG"]
)
def test_half_a_file_is_refused(kind: str) -> None:
    """Damage is an ImageError."""
    with pytest.raises(ImageError, match=r"damaged|not an image"):
        decode_square(SOUND[kind][: len(SOUND[kind]) // 2], SIDE)


@pytest.mark.parametrize("data", [png_declaring(50_000, 50_000), jpeg_declaring(60_000, 60_000)])
def test_bombs_are_refused(data: bytes) -> None:
    """Gigapixels are refused by the header."""
    with pytest.raises(ImageError, match="too large"):
        decode_square(data, SIDE)


def test_lack_of_memory_is_the_files_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """MemoryError is a failure of that image."""

    def no_memory(*_arguments: object, **_options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("simplejpeg.decode_jpeg", no_memory)
    with pytest.raises(ImageError, match="memory"):
        decode_square(SOUND["baseline JPEG"], SIDE)
