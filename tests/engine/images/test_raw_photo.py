"""RAW photos and unsupported formats are recognised by name, suffix and magic number."""

import struct
from pathlib import Path

import pytest

from engine.errors import ImageError
from engine.images.decode import decode_rgb, decode_square
from engine.images.find_images import find_images
from engine.images.raw_photo import raw_kind
from tests.support.images import encoded, picture

Fields = dict[int, tuple[int, int]]
"""Tags with type and value, or offset if the value is no number."""

SHORT, LONG, TEXT = 3, 4, 2
PREVIEW: Fields = {254: (LONG, 1), 262: (SHORT, 6)}
SENSOR: Fields = {254: (LONG, 0), 262: (SHORT, 32803)}


def directory(fields: Fields, order: str = "<") -> bytes:
    entries = b"".join(
        struct.pack(order + "HHI", tag, kind, 1)
        + struct.pack(
            order + ("HH" if kind == SHORT else "I"), *((value, 0) if kind == SHORT else (value,))
        )
        for tag, (kind, value) in sorted(fields.items())
    )
    return struct.pack(order + "H", len(fields)) + entries + bytes(4)


def tiff(fields: Fields, below: Fields | None = None, *, make: str = "", order: str = "<") -> bytes:
    """A TIFF's first directory, a sub-directory by tag 330, and the camera's maker."""
    fields = {**fields, **({330: (LONG, 0)} if below else {}), **({271: (TEXT, 0)} if make else {})}
    below_at = 8 + len(directory(fields, order))
    make_at = below_at + len(directory(below or {}, order))
    fields |= ({330: (LONG, below_at)} if below else {}) | ({271: (TEXT, make_at)} if make else {})
    entry = struct.pack(order + "HHI", 271, TEXT, 1)
    first = directory(fields, order).replace(
        entry, struct.pack(order + "HHI", 271, TEXT, len(make) + 1)
    )
    start = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8)
    return start + first + directory(below or {}, order) + make.encode() + b"\x00" + bytes(64)


def container(brand: bytes, *others: bytes) -> bytes:
    """Start of an ISO media file: MP4, MOV, HEIC, AVIF and CR3."""
    brands = b"".join(others)
    return (
        struct.pack(">I4s4sI", 16 + len(brands), b"ftyp", brand, 0)
        + brands
        + struct.pack(">I4s", 8, b"moov")
    )


RAW = {
    "CR2": b"II*\x00\x10\x00\x00\x00CR\x02\x00" + bytes(40),
    "CR3": container(b"crx ", b"crx ", b"isom"),
    "NEF": tiff(PREVIEW, SENSOR, make="NIKON CORPORATION"),
    "ARW": tiff(PREVIEW, SENSOR, make="SONY"),
    "PEF": tiff({262: (SHORT, 32803)}, make="PENTAX", order=">"),
    "DNG": tiff({254: (LONG, 1), 50706: (LONG, 0x0401)}),
    "RAW": tiff({254: (LONG, 0), 262: (SHORT, 2)}, SENSOR, make="Leaf"),
    "ORF": b"IIRO\x08\x00\x00\x00" + bytes(40),
    "RW2": b"IIU\x00\x18\x00\x00\x00" + bytes(40),
    "RAF": b"FUJIFILMCCD-RAW 0201" + bytes(40),
}


@pytest.mark.parametrize("kind", sorted(RAW))
def test_raw_photos_are_recognised_by_their_bytes(kind: str) -> None:
    """Independent of the suffix; the message says that they have no preview."""
    assert raw_kind(RAW[kind]) == kind
    for decode in (decode_rgb, lambda data: decode_square(data, 24)):
        with pytest.raises(
            ImageError, match=rf"no preview that can be shown: found {kind}\. Develop it"
        ):
            decode(RAW[kind])


@pytest.mark.parametrize("name", ["a.crw", "a.X3F", "a.mrw", "a.3fr", "a.iiq"])
def test_raw_photos_of_other_kinds_are_refused_by_their_suffix(name: str, tmp_path: Path) -> None:
    """A TIFF with a RAW suffix: a failure with a reason if named, counted in a folder."""
    (tmp_path / name).write_bytes(encoded(picture(), "TIFF"))
    kind = name[2:].upper()
    found = find_images([tmp_path / name])
    assert (len(found.files), len(found.failures)) == (0, 1)
    assert f"found a RAW photo ({kind}). Develop it" in found.failures[0].reason
    in_folder = find_images([tmp_path])
    assert (len(in_folder.files), in_folder.failures) == (0, [])
    assert in_folder.left_out.by_kind() == [(kind, 1)]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.psd", b"8BPS\x00\x01" + bytes(30), "a Photoshop document"),
        ("a.jxl", b"\xff\x0a\xfa\x1f", "a JPEG XL image"),
        ("a.jxl", b"\x00\x00\x00\x0cJXL \r\n\x87\n" + bytes(20), "a JPEG XL image"),
        ("a.mov", container(b"qt  "), "a video"),
        ("a.mp4", container(b"isom", b"isom", b"iso2", b"mp41"), "a video"),
        ("a.mts", b"\x00\x01\x02\x03" * 20, r"a video (MTS)"),
        (
            "a.tga",
            b"\x00\x01\x02\x03" * 20,
            "a file of the kind TGA. The kinds that are read: JPEG, PNG, TIFF, HEIC,",
        ),
    ],
)
def test_other_pictures_and_videos_are_refused_by_name(
    name: str, content: bytes, words: str, tmp_path: Path
) -> None:
    """An error names the format, by suffix or by content."""
    path = tmp_path / name
    path.write_bytes(content)
    found = find_images([path])
    assert not found.files
    assert words in found.failures[0].reason
    if "kind" not in words and "(" not in words:
        with pytest.raises(ImageError, match=words):
            decode_rgb(content)


def test_what_is_read_is_no_raw_photo(tmp_path: Path) -> None:
    """Plain TIFFs, TIFFs with sub-directories, and AVIF with any suffix are read."""
    for compression in ("raw", "tiff_lzw", "jpeg"):
        assert raw_kind(encoded(picture(), "TIFF", compression=compression)) == ""
    pyramid = tiff(
        {254: (LONG, 0), 262: (SHORT, 2)},
        {254: (LONG, 1), 262: (SHORT, 2)},
        make="NIKON CORPORATION",
    )
    assert raw_kind(pyramid) == ""
    for name, kind in (("a.tif", "TIFF"), ("b.dat", "AVIF"), ("c.dat", "TIFF")):
        (tmp_path / name).write_bytes(encoded(picture(), kind))
    found = find_images([tmp_path / "a.tif", tmp_path / "b.dat", tmp_path / "c.dat"])
    assert (len(found.files), found.failures) == (3, [])


@pytest.mark.parametrize("length", range(0, 220, 7))
def test_half_a_directory_is_no_end(length: int) -> None:
    """Truncated or invalid directories raise no error."""
    for data in RAW.values():
        assert raw_kind(data[:length]) in {*RAW, ""}
    assert raw_kind(b"II*\x00" + b"\xff" * length) == ""
