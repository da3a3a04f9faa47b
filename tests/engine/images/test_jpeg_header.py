"""JPEG files with excessive numbers of segments are refused."""

import io
import struct
from pathlib import Path

import pytest
from PIL import Image

from engine.errors import ImageError
from engine.images.decode import decode_square
from engine.images.image_header import MOST_EXIF, MOST_SEGMENTS, is_header_bounded
from engine.images.photo_facts import photo_facts, photo_keywords

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
STANDARD = b"http://ns.adobe.com/xap/1.0/\0" + XMP
EXTENDED = b"http://ns.adobe.com/xmp/extension/\0" + b"A" * 32 + b"\0" * 8 + b"x"
EXIF = b"Exif\0\0" + b"\0" * 10


def photo(path: Path, *segments: bytes) -> Path:
    """A photo with application segments."""
    made = io.BytesIO()
    Image.new("RGB", (16, 16)).save(made, "JPEG")
    data = made.getvalue()
    parts = (b"\xff\xe1" + struct.pack(">H", len(each) + 2) + each for each in segments)
    path.write_bytes(data[:2] + b"".join(parts) + data[2:])
    return path


def is_read(path: Path) -> bool:
    with path.open("rb") as file:
        return is_header_bounded(file) and file.tell() == 0


def test_extended_xmp_of_two_thousand_parts(tmp_path: Path) -> None:
    path = photo(tmp_path / "photo.jpg", STANDARD, *[EXTENDED] * 2_000)
    assert is_read(path)
    assert photo_keywords(path).xmp == XMP


@pytest.mark.parametrize(("segment", "count"), [(EXTENDED, MOST_SEGMENTS), (EXIF, MOST_EXIF)])
def test_more_than_photos_have(tmp_path: Path, segment: bytes, count: int) -> None:
    path = photo(tmp_path / "photo.jpg", STANDARD, *[segment] * (count + 1))
    assert not is_read(path)
    assert not photo_keywords(path).xmp
    assert not photo_facts(path).width


def test_a_picture_that_only_pillow_decodes(tmp_path: Path) -> None:
    """A CMYK JPEG with very many header segments is refused, since Pillow would take long."""
    made = io.BytesIO()
    Image.new("CMYK", (16, 16)).save(made, "JPEG")
    data = made.getvalue()
    part = b"\xff\xe1" + struct.pack(">H", len(EXIF) + 2) + EXIF
    assert decode_square(data, 8).shape == (8, 8, 3)
    with pytest.raises(ImageError, match="more parts than a photo's"):
        decode_square(data[:2] + part * (MOST_EXIF + 1) + data[2:], 8)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xd8",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe1",
        b"\xff\xd8" + b"\xff" * 99_999,
        b"\x89PNG",
    ],
)
def test_what_has_no_segments(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(data)
    assert is_read(path)
