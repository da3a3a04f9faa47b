"""Image metadata (EXIF, IPTC, XMP), valid and malicious."""

import io
import struct
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.ExifTags import GPS, Base
from PIL.TiffImagePlugin import IFDRational

from engine.file_parts import BoundingBox, FilePart
from engine.files import PhotoDetails
from engine.images import opened_file
from engine.images.found_details import LONGEST_NAME, LONGEST_TEXT, camera_name, clean, real_place
from engine.images.image_header import are_directories_bounded
from engine.images.photo_details import NO_DETAILS, details_in, read_details
from engine.images.taken_time import real_time
from engine.images.xmp_details import xmp_details
from tests.support.images import write_jpeg
from tests.support.raw_photos import KINDS, raw_photo

TAKEN = datetime.fromisoformat("2024-05-17T06:30:12")
PACKET = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" \
xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmp:Rating="4" exif:GPSLatitude="48,30.0N" \
exif:GPSLongitude="9,15,36W"
 exif:DateTimeOriginal="2024-05-17T06:30:12+02:00">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">At the feeder</rdf:li></rdf:Alt></dc:title>
<dc:subject><rdf:Bag><rdf:li>fox</rdf:li><rdf:li>night</rdf:li><rdf:li>fox</rdf:li></rdf:Bag></dc:subject>
<dc:creator><rdf:Seq><rdf:li>Ada Möller</rdf:li></rdf:Seq></dc:creator>
</rdf:Description></rdf:RDF></x:xmpmeta>""".encode()


def exif() -> Image.Exif:
    block = Image.Exif()
    block[Base.Make], block[Base.Model] = "NIKON CORPORATION", "NIKON D70"
    block[Base.ImageDescription], block[Base.Artist], block[Base.Copyright] = (
        "A fox\nat night",
        "Ada",
        "CC BY",
    )
    block.get_ifd(Base.ExifOffset).update(
        {
            Base.DateTimeOriginal: TAKEN.strftime("%Y:%m:%d %H:%M:%S"),
            Base.ExposureTime: IFDRational(1, 250),
            Base.FNumber: IFDRational(28, 10),
            Base.ISOSpeedRatings: 800,
            Base.FocalLength: IFDRational(50),
            Base.LensModel: "AF-S 50mm\0\0\0",
        }
    )
    block.get_ifd(Base.GPSInfo).update(
        {
            GPS.GPSLatitudeRef: "S",
            GPS.GPSLatitude: (IFDRational(3), IFDRational(30), IFDRational(0)),
            GPS.GPSLongitudeRef: "E",
            GPS.GPSLongitude: (IFDRational(37), IFDRational(15), IFDRational(36)),
        }
    )
    return block


def saved(kind: str, **info: object) -> bytes:
    out = io.BytesIO()
    picture = Image.new("RGB", (64, 48), (90, 140, 60))
    if kind == "HEIF":
        pillow_heif = pytest.importorskip("pillow_heif")
        pillow_heif.from_pillow(picture).save(out, exif=exif().tobytes())
    else:
        picture.save(out, kind, **info)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP", "HEIF", "AVIF"])
def test_exif_of_each_kind(kind: str, tmp_path: Path) -> None:
    data = saved(kind, exif=exif().tobytes())
    found = details_in(data)
    assert (found.width, found.height) == (64, 48)
    assert found.taken_at == TAKEN
    assert found.camera == "NIKON D70"
    assert found.latitude == pytest.approx(-3.5)
    assert found.longitude == pytest.approx(37.26)
    assert dict(found.fields) == {
        "description": "A fox at night",
        "creator": "Ada",
        "copyright": "CC BY",
        "lens": "AF-S 50mm",
        "exposure_s": "1/250",
        "aperture": "2.8",
        "iso": "800",
        "focal_length_mm": "50",
    }
    (tmp_path / "photo.jpg").write_bytes(data)
    assert read_details(tmp_path / "photo.jpg") == found


def test_sideways_photo_has_the_size_that_is_seen() -> None:
    block = exif()
    block[Base.Orientation] = 6
    found = details_in(saved("JPEG", exif=block))
    assert (found.width, found.height) == (48, 64)


def test_xmp_has_the_word_about_what_people_wrote() -> None:
    found = details_in(saved("JPEG", exif=exif(), xmp=PACKET))
    assert found.fields["title"] == "At the feeder"
    assert found.fields["keywords"] == "fox\nnight"
    assert found.fields["creator"] == "Ada Möller"
    assert found.fields["rating"] == "4"
    assert found.latitude == pytest.approx(-3.5)  # of EXIF, not of XMP


def test_xmp_alone() -> None:
    found = details_in(saved("JPEG", xmp=PACKET))
    assert found.taken_at == TAKEN.replace(tzinfo=timezone(timedelta(hours=2)))
    assert found.latitude == pytest.approx(48.5)
    assert found.longitude == pytest.approx(-9.26)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_photos(kind: str) -> None:
    found = details_in(raw_photo(kind, saved("JPEG", exif=exif())))
    assert found.camera == ("NIKON D70" if kind == "RAF" else found.camera)
    assert found.camera or kind == "RAF"


def test_canon_boxes_of_a_cr3() -> None:
    def block(**directory: object) -> bytes:
        part = Image.Exif()
        part.update({getattr(Base, name): value for name, value in directory.items()})
        return part.tobytes()[6:]

    boxes = (
        block(Make="Canon", Model="Canon EOS R5"),
        block(DateTimeOriginal="2024:05:17 06:30:12", ISOSpeedRatings=100),
    )
    data = raw_photo("CR3", saved("JPEG"))
    at = data.index(b"CMT1")
    packed = b"".join(
        struct.pack(">I4s", len(box) + 8, name) + box
        for name, box in zip((b"CMT1", b"CMT2"), boxes, strict=True)
    )
    found = details_in(data[: at - 4] + packed + data[at - 4 :])
    assert found.camera == "Canon EOS R5"
    assert found.taken_at == TAKEN
    assert found.fields["iso"] == "100"


@pytest.mark.parametrize(
    ("make", "model", "expected"),
    [
        ("NIKON CORPORATION", "NIKON D70", "NIKON D70"),
        ("Canon", "Canon EOS 5D", "Canon EOS 5D"),
        ("RECONYX", "HYPERFIRE 2", "RECONYX HYPERFIRE 2"),
        ("OLYMPUS IMAGING CORP.", "E-M1", "OLYMPUS E-M1"),
        ("Apple", "", "Apple"),
        (b"\0\0", None, ""),
        (17, "x" * 10_000, f"{'x' * (LONGEST_NAME - 1)}…"),
    ],
)
def test_camera(make: object, model: object, expected: str) -> None:
    assert camera_name(make, model) == expected


@pytest.mark.parametrize("year", ["0000", "1799", "2999", "9999"])
def test_dates_that_no_photo_has(year: str) -> None:
    block = exif()
    block.get_ifd(Base.ExifOffset)[Base.DateTimeOriginal] = f"{year}:01:01 00:00:00"
    assert details_in(saved("JPEG", exif=block)).taken_at is None


def test_an_old_print_keeps_its_date() -> None:
    taken_at = datetime.fromisoformat("1899-12-31")
    assert real_time(taken_at) == taken_at
    assert real_time(datetime.now(UTC) + timedelta(days=30)) is None


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [(91.0, 0.5), (0.5, 180.5), (float("nan"), 0.0), (float("inf"), 1.0), (0.0, 0.0), (None, 3.0)],
)
def test_places_beyond_the_earth(latitude: float | None, longitude: float | None) -> None:
    assert real_place(latitude, longitude) == (None, None)


@pytest.mark.parametrize(
    "value", [b"", b"\0" * 50, 3, None, (1, 2), "\u202egpj.exe", "a\x00b", "x\ud800y"]
)
def test_texts_are_clean(value: object) -> None:
    text = clean(value)
    assert text.encode() or not text
    assert not {"\0", "\u202e"} & set(text)


def test_huge_fields_are_cut() -> None:
    block = exif()
    block[Base.ImageDescription], block[Base.Model] = "fox " * 10_000, "m" * 5_000
    found = details_in(saved("PNG", exif=block))
    assert len(found.fields["description"]) <= LONGEST_TEXT
    assert len(found.camera) <= LONGEST_NAME


def with_directories(entries: list[tuple[int, int, int, int]], following: int = 0) -> bytes:
    packed = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + packed + struct.pack("<I", following)


@pytest.mark.parametrize(
    "block",
    [
        with_directories([(Base.ExifOffset, 4, 1, 8)]),  # a cyclic directory
        with_directories([(Base.ExifOffset, 4, 1, 8), (Base.GPSInfo, 4, 1, 8)], following=8),
        with_directories([(Base.Make, 2, 0xFFFFFFFF, 8)]),
        with_directories(
            [(Base.DateTimeOriginal, 5, 1, 8), (Base.Make, 12, 2, 0), (Base.Model, 99, 1, 0)]
        ),
        b"II*\0" + b"\xff" * 60,
        b"MM\0*" + bytes(200),
    ],
)
def test_odd_directories(block: bytes) -> None:
    started_s = time.perf_counter()
    for data in (saved("JPEG", exif=b"Exif\0\0" + block), block):
        found = details_in(data)
        assert found.taken_at is None
        assert found.latitude is None
    assert time.perf_counter() - started_s < 1


def test_tags_that_share_their_bytes_are_not_read() -> None:
    """Four thousand tags of the same 60 kB would take 240 MB."""
    shared = [(40_000 + tag, 7, 60_000, 8) for tag in range(4_000)]
    block = with_directories(shared) + bytes(12_000)
    assert not are_directories_bounded(io.BytesIO(block))
    assert are_directories_bounded(io.BytesIO(exif().tobytes()[6:]))
    assert not details_in(saved("PNG", exif=b"Exif\0\0" + block)).fields


@pytest.mark.parametrize(
    "packet",
    [
        b"<x:xmpmeta",
        b'<!DOCTYPE a [<!ENTITY b "cccc">]><a>&b;</a>',
        b"<a>" * 300_000,
        b"<a>" * 50_000 + b"</a>" * 50_000,
        PACKET.replace(b"48,30.0N", b"99,99999999999999999999N").replace(b"2024-", b"2999-"),
        PACKET.decode().encode("utf-16"),
    ],
)
def test_odd_packets(packet: bytes) -> None:
    assert xmp_details(packet).latitude is None or packet.startswith(b"\xff\xfe")


@pytest.mark.slow
@given(
    st.binary(max_size=300),
    st.integers(min_value=0, max_value=900),
    st.sampled_from(["JPEG", "TIFF", "PNG"]),
)
def test_damage_is_never_an_exception(noise: bytes, at: int, kind: str) -> None:
    data = bytearray(photo(kind))
    data[at : at + len(noise)] = noise
    found = details_in(bytes(data))
    assert isinstance(found, PhotoDetails)
    assert all(
        len(text) <= 200 * (LONGEST_NAME + 1) and "\0" not in text for text in found.fields.values()
    )


_PHOTOS: dict[str, bytes] = {}


def photo(kind: str) -> bytes:
    if kind not in _PHOTOS:
        _PHOTOS[kind] = saved(kind, exif=exif())
    return _PHOTOS[kind]


@pytest.mark.parametrize(
    "make", [lambda _path: None, lambda path: path.mkdir(), lambda path: path.write_bytes(b"text")]
)
def test_what_is_no_image(make: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    make(path)
    assert read_details(path) == NO_DETAILS


def test_details_of_a_photo_are_read_once_for_all_its_boxes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metadata belongs to the file; reading it takes as long as a crop."""
    times: list[int] = []

    def counted(data: bytes) -> PhotoDetails:
        times.append(len(data))
        return details_in(data)

    monkeypatch.setattr(opened_file, "details_in", counted)
    write_jpeg(tmp_path / "photo.jpg", width=64, height=48, seed=1)
    box = FilePart(box=BoundingBox.of(0.1, 0.1, 0.5, 0.5))
    with opened_file.OpenedFile(tmp_path / "photo.jpg", box) as file:
        found = [file.details(part) for part in (FilePart(), box, FilePart(thing=2))]
    assert found == [details_in((tmp_path / "photo.jpg").read_bytes())] * 3
    assert len(times) == 1
