"""Valid files in unsupported encodings are not called damaged."""

import io
import struct

import pytest
from PIL import Image

from engine.errors import ImageError
from engine.images.decode import decode_rgb
from engine.images.pillow_errors import is_unsupported


def _saved(kind: str) -> bytes:
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).convert("RGB").save(file, kind)
    return file.getvalue()


def _jpeg(frame: int, bits: int = 8) -> bytes:
    data = bytearray(_saved("JPEG"))
    at = data.index(b"\xff\xc0")
    data[at + 1], data[at + 4] = frame, bits
    return bytes(data)


def _tiff(tag: int, value: int) -> bytes:
    data = bytearray(_saved("TIFF"))
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        if struct.unpack_from("<H", data, entry)[0] == tag:
            struct.pack_into("<H", data, entry + 8, value)
    return bytes(data)


def _bmp(compression: int) -> bytes:
    """A BMP of ten bits per channel."""
    header = struct.pack(
        "<IiiHHIIiiIIIII", 40, 4, 4, 1, 32, compression, 64, 0, 0, 0, 0, 0x3FF00000, 0xFFC00, 0x3FF
    )
    return (
        struct.pack("<2sIHHI", b"BM", 14 + len(header) + 64, 0, 0, 14 + len(header))
        + header
        + bytes(64)
    )


UNREAD = {
    "BMP of ten bits": _bmp(3),
    "BMP with a JPEG inside": _bmp(4),
    "JPEG of twelve bits": _jpeg(0xC1, 12),
    "lossless JPEG": _jpeg(0xC3),
    "TIFF of JPEG 2000": _tiff(259, 34712),
    "TIFF of JBIG": _tiff(259, 34661),
    "TIFF of LERC": _tiff(259, 34887),
    "TIFF of LogLuv": _tiff(262, 32844),
}


@pytest.mark.parametrize("data", UNREAD.values(), ids=UNREAD.keys())
def test_a_whole_file_is_stored_in_a_way_that_is_not_read(data: bytes) -> None:
    with pytest.raises(ImageError, match="stored in a way that cannot be read"):
        decode_rgb(data)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP", "TIFF"])
def test_half_a_file_is_damaged(kind: str) -> None:
    data = _saved(kind)
    with pytest.raises(ImageError, match="damaged or incomplete"):
        decode_rgb(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("item", "is_unread"), [(b"unci", True), (b"avc1", True), (b"hvc1", False)]
)
def test_heif_files_by_the_type_of_their_pictures(item: bytes, *, is_unread: bool) -> None:
    entry = struct.pack(">I4sIHH4s", 21, b"infe", 2 << 24, 1, 0, item)
    assert (
        is_unsupported(struct.pack(">I4s4sI4s", 20, b"ftyp", b"mif1", 0, b"mif1") + entry, "")
        is is_unread
    )
