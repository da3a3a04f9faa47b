"""HEIC files with each library, and without any."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image

from engine.errors import ImageError
from engine.images import kinds
from engine.images.decode import decode_rgb, decode_square
from engine.images.find_images import find_images
from engine.images.kinds import PACKAGES, heif_reader, is_avif, is_heif
from engine.images.thumbnail_cache import thumbnail
from tests.support.images import encoded, exif_with_orientation, picture

HEIC = encoded(picture(), "HEIF", quality=95)


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Select the libraries available; restored afterwards."""
    heif_reader.cache_clear()
    yield monkeypatch
    heif_reader.cache_clear()


@pytest.mark.parametrize("package", PACKAGES)
def test_either_library_reads_heic(package: str, only: pytest.MonkeyPatch) -> None:
    """One is bundled; the other is used if installed."""
    only.setattr(kinds, "PACKAGES", (package,))
    reader = heif_reader()
    assert reader is not None
    assert reader.package == package
    pixels = decode_rgb(HEIC)
    assert type(Image.open(io.BytesIO(HEIC))).__module__.startswith(package.replace("-", "_"))
    assert np.abs(pixels.astype(int) - picture()).max() <= 24


def test_without_library(only: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The file counts as an image and fails with a message; other formats are read."""
    for package in PACKAGES:
        only.setitem(sys.modules, package.replace("-", "_"), None)
    (tmp_path / "a.heic").write_bytes(HEIC)
    assert [file.path.name for file in find_images([tmp_path]).files] == ["a.heic"]
    with pytest.raises(
        ImageError, match=r"found an HEIC image\. Install the Python package pi-heif"
    ):
        thumbnail(tmp_path / "a.heic", 64)
    assert decode_rgb(encoded(picture(), "AVIF")).shape == (32, 48, 3)


@pytest.mark.parametrize("suffix", ["heic", "HEIC", "heif", "hif", "jpg", "dat"])
def test_heic_under_any_suffix(suffix: str, tmp_path: Path) -> None:
    """Phones rename them to .jpg, too."""
    path = tmp_path / f"IMG_1.{suffix}"
    path.write_bytes(HEIC)
    assert [file.path for file in find_images([path]).files] == [path]
    assert len(thumbnail(path, 24)) > 100


@pytest.mark.parametrize("length", [13, 30, 120, 300, len(HEIC) // 2, len(HEIC) - 1])
def test_half_a_file_is_damaged(length: int) -> None:
    """A truncated file is damaged, not an unknown format."""
    for decode in (decode_rgb, lambda data: decode_square(data, 24)):
        with pytest.raises(ImageError, match="the image is damaged or incomplete"):
            decode(HEIC[:length])


def test_the_main_picture_counts() -> None:
    """The primary image of the file is shown."""
    frames = [Image.new("RGB", (64, 64), colour) for colour in ((250, 10, 10), (10, 10, 250))]
    data = encoded(
        frames[0], "HEIF", save_all=True, append_images=frames[1:], primary_index=1, quality=95
    )
    assert np.abs(decode_rgb(data)[32, 32].astype(int) - (10, 10, 250)).max() <= 8


def test_transparency_lies_on_white() -> None:
    """Transparent pixels are white."""
    data = encoded(Image.new("RGBA", (64, 64), (9, 9, 9, 0)), "HEIF", quality=95)
    assert np.abs(decode_rgb(data)[32, 32].astype(int) - 255).max() <= 4


def test_ten_bits_are_scaled() -> None:
    """HIF files of cameras have ten bits per channel."""
    values = np.zeros((64, 64, 3), dtype=np.uint16)
    values[...] = (0, 32896, 65535)
    file = pillow_heif.from_bytes("RGB;16", (64, 64), values.tobytes())
    with io.BytesIO() as buffer:
        file.save(buffer, quality=-1, chroma=444)
        pixels = decode_rgb(buffer.getvalue())
    assert np.abs(pixels[32, 32].astype(int) - (0, 128, 255)).max() <= 4


def test_too_many_pixels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the header, as in every format."""
    monkeypatch.setattr("engine.images.decode.MAX_PIXELS", 1000)
    monkeypatch.setattr(
        "engine.images.decode.reading", lambda *_rest: pytest.fail("pixels were decoded")
    )
    with pytest.raises(ImageError, match="too large"):
        decode_rgb(HEIC)


def test_avif_and_heic_are_distinguished() -> None:
    """They share a container, and a file may have both brands."""
    avif = encoded(picture(), "AVIF")
    both = avif.replace(b"ftypavif", b"ftypmif1")
    assert [(is_heif(data), is_avif(data)) for data in (HEIC, avif, both)] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    assert np.array_equal(decode_rgb(both), decode_rgb(avif))


def test_the_container_says_how_to_turn() -> None:
    """The container's rotation counts, not EXIF's, which phones write as well."""
    data = encoded(picture(), "HEIF", exif=exif_with_orientation(6), quality=95)
    assert (b"irot" in data, decode_rgb(data).shape) == (True, (48, 32, 3))
    only_exif = data.replace(b"irot", b"free")
    assert decode_rgb(only_exif).shape == (32, 48, 3)
