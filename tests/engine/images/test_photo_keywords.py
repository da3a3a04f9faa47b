"""Keywords in photos of every format that Pillow can write them to."""

from pathlib import Path

import pytest
from PIL import Image

from engine.files import EmbeddedKeywords
from engine.images.kinds import heif_formats
from engine.images.photo_facts import photo_keywords

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp", ".heic", ".avif"])
def test_xmp_of_each_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"photo{suffix}"
    assert heif_formats()
    picture = Image.new("RGB", (64, 64))
    if suffix == ".tif":
        picture.save(path, tiffinfo={700: XMP})
    elif suffix == ".png":
        path.write_bytes(png_with_xmp(picture, tmp_path))
    elif suffix == ".heic":
        pytest.importorskip("pillow_heif").from_pillow(picture).save(path, xmp=XMP)
    else:
        picture.save(path, xmp=XMP)
    assert photo_keywords(path).xmp.rstrip(b"\0") == XMP


def png_with_xmp(picture: Image.Image, folder: Path) -> bytes:
    """With the chunk of XMP."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    picture.save(folder / "with.png", pnginfo=info)
    return (folder / "with.png").read_bytes()


@pytest.mark.parametrize(
    ("encoding", "declares", "expected"),
    [("utf-8", True, "Möwe"), ("utf-8", False, "Möwe"), ("latin-1", False, "Möwe")],
)
def test_iptc(tmp_path: Path, encoding: str, declares: bool, expected: str) -> None:
    """IPTC keywords in several encodings."""
    path = tmp_path / "photo.jpg"
    path.write_bytes(jpeg_with_iptc(["gull", "Möwe"], encoding, tmp_path, declares=declares))
    assert photo_keywords(path).iptc == ("gull", expected)


def jpeg_with_iptc(
    words: list[str], encoding: str, folder: Path, *, declares: bool = False
) -> bytes:
    """A JPEG with Photoshop's IPTC segment."""

    def entry(record: int, number: int, value: bytes) -> bytes:
        return bytes((0x1C, record, number)) + len(value).to_bytes(2, "big") + value

    data = (entry(1, 90, b"\x1b%G") if declares else b"") + b"".join(
        entry(2, 25, word.encode(encoding)) for word in words
    )
    data += b"\0" * (len(data) % 2)
    segment = b"Photoshop 3.0\x008BIM\x04\x04\x00\x00" + len(data).to_bytes(4, "big") + data
    Image.new("RGB", (16, 16)).save(folder / "plain.jpg")
    plain = (folder / "plain.jpg").read_bytes()
    return plain[:2] + b"\xff\xed" + (len(segment) + 2).to_bytes(2, "big") + segment + plain[2:]


@pytest.mark.parametrize(
    "content", [b"", b"no image", b"\xff\xd8\xff\xed\x00\x08Photosh", b"\x89PNG\r\n\x1a\n"]
)
def test_other_files_have_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.jpg"
    path.write_bytes(content)
    assert photo_keywords(path) == EmbeddedKeywords()
