"""Exports get the same metadata that the window shows."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image, PngImagePlugin
from PIL.ExifTags import GPS, Base

from engine.files import utf8_packet
from engine.images.photo_facts import photo_facts, photo_keywords
from engine.interchange.xmp_packet import XmpPacket, property_name

PACKET = (
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"'
    ' xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" photoshop:DateCreated="1912-06-03" '
    'aux:SerialNumber="SN-7">'
    "<dc:subject><rdf:Bag><rdf:li>Füchse</rdf:li></rdf:Bag></dc:subject></rdf:Description></"
    "rdf:RDF></x:xmpmeta>"
)
ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"]


def _saved(path: Path, *, exif: Image.Exif | None = None, xmp: bytes = b"") -> Path:
    image = Image.new("RGB", (40, 30), "red")
    if path.suffix == ".png" and xmp:
        chunks = PngImagePlugin.PngInfo()
        chunks.add(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp)
        image.save(path, pnginfo=chunks)
    elif path.suffix == ".tif" and xmp:
        image.save(path, tiffinfo={700: xmp})
    else:
        options: dict[str, Any] = {"exif": exif, "xmp": xmp}
        image.save(path, **{name: value for name, value in options.items() if value})
    return path


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
def test_packets_in_wide_encodings(tmp_path: Path, suffix: str, encoding: str) -> None:
    file = _saved(tmp_path / f"a{suffix}", xmp=PACKET.encode(encoding))
    facts = photo_facts(file)
    assert (facts.taken_at, facts.date_text, facts.serial) == (None, "1912-06-03", "SN-7")
    packet = XmpPacket.parse(photo_keywords(file).xmp, file.name)
    assert packet.texts(property_name("dc:subject")) == ["Füchse"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_declaration_of_the_encoding_is_no_obstacle(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding[:6].rstrip("-")}"?>{PACKET}'
    assert XmpPacket.parse(text.encode(encoding), "a.xmp").texts(property_name("dc:subject")) == [
        "Füchse"
    ]
    assert utf8_packet(b"\0\0 nothing \0") == b"nothing"


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_size_is_that_of_the_upright_picture(tmp_path: Path, suffix: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[Base.Orientation] = orientation
    facts = photo_facts(_saved(tmp_path / f"a{suffix}", exif=exif))
    assert (facts.width, facts.height) == ((30, 40) if orientation >= 6 else (40, 30))


@pytest.mark.parametrize(
    "degrees",
    [(0.0, 0.0), (float("nan"), 8.0), (91.0, 8.0), (48.0, 181.0)],
    ids=["null island", "no number", "beyond the pole", "beyond the date line"],
)
def test_places_that_cannot_be_are_left_out(tmp_path: Path, degrees: tuple[float, float]) -> None:
    exif = Image.Exif()
    place = exif.get_ifd(Base.GPSInfo)
    for (letter, tag), value in zip(
        (("N", GPS.GPSLatitude), ("E", GPS.GPSLongitude)), degrees, strict=True
    ):
        place[tag - 1], place[tag] = letter, (value, 0.0, 0.0)
    facts = photo_facts(_saved(tmp_path / "a.jpg", exif=exif))
    assert (facts.width, facts.latitude, facts.longitude) == (40, None, None)


def test_what_a_camera_writes_comes_whole(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[Base.Make], exif[Base.Model] = "RECONYX", "HYPERFIRE 2"
    exif.get_ifd(Base.ExifOffset).update(
        {
            Base.DateTimeOriginal: "2024:05:01 06:00:00",
            Base.OffsetTimeOriginal: "+02:00",
            Base.BodySerialNumber: "SN-100",
        }
    )
    facts = photo_facts(_saved(tmp_path / "a.jpg", exif=exif))
    assert facts.date_text == "2024-05-01T06:00:00+02:00"
    assert (facts.camera, facts.serial) == ("RECONYX HYPERFIRE 2", "SN-100")
