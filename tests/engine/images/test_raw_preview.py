"""RAW photos are shown by their embedded preview, in every maker's layout."""

from pathlib import Path

import numpy as np
import pytest
import simplejpeg

from engine.errors import ImageError
from engine.images.decode import decode_rgb, decode_square
from engine.images.find_images import find_images
from engine.images.kinds import RAW_KINDS
from engine.images.raw_photo import raw_kind
from engine.images.thumbnail_cache import thumbnail
from tests.support.images import (
    encoded,
    exif_with_orientation,
    four_corners,
    jpeg_declaring,
    picture,
    stored_turned,
)
from tests.support.raw_photos import KINDS, raw_photo

SMALL, MIDDLE, LARGE = (
    encoded(picture(width, width * 2 // 3), "JPEG") for width in (160, 600, 1200)
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_preview_is_shown(kind: str, tmp_path: Path) -> None:
    """Independent of the suffix; sensor data, often a lossless JPEG, is skipped."""
    data = raw_photo(kind, LARGE)
    assert np.array_equal(decode_rgb(data), decode_rgb(LARGE))
    assert np.array_equal(decode_square(data, 96), decode_square(LARGE, 96))
    for name in (f"a.{kind.lower()}", f"a.{kind}", "a.tif", "a.dat"):
        (tmp_path / name).write_bytes(data)
        found = find_images([tmp_path / name])
        assert ([file.path.name for file in found.files], found.failures) == ([name], [])
    assert len(thumbnail(tmp_path / "a.dat", 96)) > 100


def test_all_kinds_are_tried() -> None:
    """The list of supported formats equals the tested ones."""
    assert set(KINDS) == set(RAW_KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("previews", [(), (SMALL,)])
def test_without_preview(kind: str, previews: tuple[bytes, ...]) -> None:
    """No preview, or one of 160 pixels, raises an error."""
    data = raw_photo(kind, *previews)
    words = (
        rf"the RAW photo has no preview that can be shown: found {raw_kind(data)}\. Develop "
        rf"it, or export"
    )
    for decode in (decode_rgb, lambda some: decode_square(some, 96)):
        with pytest.raises(ImageError, match=words):
            decode(data)


@pytest.mark.parametrize("kind", ["NEF", "CR3", "PEF", "ORF", "DNG"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_photos_stand_upright(kind: str, orientation: int) -> None:
    """The orientation of the preview, or else of the photo; never both."""
    corners = four_corners(320)
    stored = stored_turned(corners, orientation)
    own = encoded(stored, "JPEG", quality=95, exif=exif_with_orientation(orientation))
    for preview in (encoded(stored, "JPEG", quality=95), own):
        decoded = decode_rgb(raw_photo(kind, preview, orientation=orientation))
        assert decoded.shape == corners.shape
        assert (
            np.abs(decoded[80::160, 160::320].astype(int) - corners[80::160, 160::320]).max() <= 8
        )


@pytest.mark.parametrize("kind", ["NEF", "DNG", "CR3", "PEF"])
def test_the_smallest_preview_that_is_large_enough(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A square of 96 pixels needs no preview of 45 megapixels; the viewer uses the largest."""
    decoded: list[int] = []
    decode_jpeg = simplejpeg.decode_jpeg

    def noted(data: bytes, *rest: object, **options: object) -> object:
        decoded.append(len(data))
        return decode_jpeg(data, *rest, **options)

    monkeypatch.setattr("simplejpeg.decode_jpeg", noted)
    data = raw_photo(kind, LARGE, SMALL, MIDDLE)
    for side in (96, 500):
        decode_square(data, side)
    decode_rgb(data)
    decode_rgb(data, longest_side=500)
    decode_rgb(data, longest_side=6000)
    assert decoded == [len(MIDDLE), len(LARGE), len(LARGE), len(MIDDLE), len(LARGE)]


def test_a_preview_with_black_bars_is_not_the_photo() -> None:
    """A preview with another aspect ratio than the largest is skipped."""
    barred = encoded(picture(600, 450), "JPEG")
    data = raw_photo("NEF", LARGE, barred)
    assert np.array_equal(decode_rgb(data, smallest_side=100), decode_rgb(LARGE, smallest_side=100))


def test_tiles_of_a_dng_are_no_preview() -> None:
    """A lossy DNG stores sensor data in JPEG tiles."""
    tile = encoded(picture(900, 600), "JPEG")
    data = raw_photo("DNG") + tile
    with pytest.raises(ImageError, match="no preview"):
        decode_rgb(data)


@pytest.mark.parametrize("kind", ["NEF", "CR3"])
def test_a_damaged_preview(kind: str) -> None:
    """A truncated preview is damaged; one of gigapixels is too large."""
    with pytest.raises(ImageError, match="damaged"):
        decode_rgb(raw_photo(kind, LARGE[: len(LARGE) // 2] + b"\x00" * 9)[: len(LARGE) // 2 + 300])
    with pytest.raises(ImageError, match="too large"):
        decode_rgb(raw_photo(kind, jpeg_declaring(60_000, 60_000)))


def test_a_file_made_to_take_long() -> None:
    """Millions of false JPEG or directory starts end soon."""
    starts = b"FUJIFILMCCD-RAW " + b"\xff\xd8\xff" * 1_000_000
    fill = b"FUJIFILMCCD-RAW \xff\xd8" + b"\xff" * 3_000_000
    circle = (
        raw_photo("NEF")[:8]
        + b"\x01\x00"
        + b"\x4a\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00" * 2
        + bytes(99)
    )
    for data in (starts, fill, circle):
        with pytest.raises(ImageError):
            decode_rgb(data)


@pytest.mark.parametrize("kind", KINDS)
def test_rotten_raw_photos_give_pixels_or_an_image_error(kind: str) -> None:
    """Changed bytes, also in directories, give pixels or an ImageError."""
    generator = np.random.default_rng(3)
    sound = np.frombuffer(
        raw_photo(kind, encoded(picture(402, 40), "JPEG"), orientation=6), dtype=np.uint8
    )
    for attempt in range(40):
        rotten = sound.copy()
        places = generator.integers(
            0, len(rotten) if attempt % 2 else 200, generator.integers(1, 12)
        )
        rotten[places] = generator.integers(0, 256, len(places))
        try:
            pixels = decode_rgb(rotten.tobytes())
        except ImageError:
            continue
        assert pixels.shape[2] == 3
