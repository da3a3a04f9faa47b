"""Image metadata: when, where and with what it was taken, and texts of users.

Pillow reads Exif directories, of RAW photos too, and IPTC records; defusedxml reads XMP. A file
crafted to be slow is not read: its parts are counted and measured before. An invalid field does not
affect others.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

from PIL import Image, ImageFile

from engine.files import PhotoDetails, open_regular
from engine.images.exif_details import exif_details, iptc_details
from engine.images.found_details import FoundDetails, merged
from engine.images.image_header import are_directories_bounded, image_orientation, is_header_bounded
from engine.images.kinds import PILLOW_FORMATS, heif_formats
from engine.images.raw_photo import raw_kind
from engine.images.readers import PILLOW_DAMAGE, pillow_is_quiet
from engine.images.xmp_details import xmp_details

# of a RAW photo that are read for its details. Chosen: they are in the first ones.
_HEAD_BYTES = 4 * 1024**2
# first bytes that distinguish RAW photos of other structures than a TIFF's
_SIGNATURE_BYTES = 64
_JPEG = b"\xff\xd8"
_EXIF = b"Exif\x00\x00"
_SIDEWAYS = 5  # from this orientation on, rows are columns
_TIFF = (b"II*\x00", b"MM\x00*")
_TIFF_AT_HEART = (
    b"IIRO",
    b"IIRS",
    b"IIU\x00",
    b"MMOR",
)  # RAW photos that are TIFFs but for their signature
_BIG_TIFF = (b"II+\x00", b"MM\x00+")
_XMP_TAG = 700  # of TIFF
_XMP_START = b"<x:xmpmeta"
_XMP_END = b"</x:xmpmeta>"
_CANON_BOXES = (
    b"CMT1",
    b"CMT2",
    b"CMT4",
)  # of a CR3: its first directory, those of Exif and of the place
_RAF_JPEG_AT = 84  # offset of the JPEG in a RAF
_DAMAGE = (
    *PILLOW_DAMAGE,
    RuntimeError,
    MemoryError,
)  # RuntimeError: what is nested without end


NO_DETAILS = PhotoDetails()


def read_details(file: Path) -> PhotoDetails:
    """Read the metadata of an image file, from its header; empty if unreadable."""
    with suppress(*_DAMAGE), pillow_is_quiet(), open_regular(file) as opened:
        head = opened.read(_SIGNATURE_BYTES)
        if head.startswith((*_TIFF, *_TIFF_AT_HEART)) or raw_kind(head):
            head += opened.read(_HEAD_BYTES)
        opened.seek(0)
        kind = raw_kind(head)
        return _of_raw(head, kind) if kind else _of_picture(opened)
    return NO_DETAILS


def details_in(data: bytes) -> PhotoDetails:
    """The details in the bytes of an image file; nothing if they are not an image."""
    with suppress(*_DAMAGE), pillow_is_quiet():
        kind = "" if data.startswith(_JPEG) else raw_kind(data)
        return _of_raw(data[:_HEAD_BYTES], kind) if kind else _of_picture(io.BytesIO(data))
    return NO_DETAILS


def _of_picture(file: IO[bytes]) -> PhotoDetails:
    """Of what Pillow opens; no pixel is decoded."""
    beginning = file.read(len(_TIFF[0]))
    file.seek(0)
    if not is_header_bounded(file):
        return NO_DETAILS
    if beginning in _TIFF and not are_directories_bounded(file):
        return NO_DETAILS
    file.seek(0)
    with Image.open(file, formats=(*PILLOW_FORMATS, *heif_formats())) as image:
        found = (
            [] if beginning in _BIG_TIFF else [*_exif_of(image), *_iptc_of(image), *_xmp_of(image)]
        )
        return _details(*_shown_size(image), found, Image.MIME.get(image.format or "", ""))


def _shown_size(image: ImageFile.ImageFile) -> tuple[int, int]:
    """Width and height of the upright picture; Pillow turns those of a TIFF by itself."""
    if image.format != "TIFF" and image_orientation(image) >= _SIDEWAYS:
        return image.height, image.width
    return image.size


def _exif_of(image: ImageFile.ImageFile) -> Iterator[FoundDetails]:
    """Not by the PNG reader's own way, which decodes the whole picture to find a later block."""
    block = image.info.get("exif") or b""
    while block.startswith(_EXIF):
        block = block[len(_EXIF) :]
    with suppress(*_DAMAGE):
        if not block or are_directories_bounded(io.BytesIO(block)):
            yield exif_details(Image.Image.getexif(image))


def _xmp_of(image: ImageFile.ImageFile) -> Iterator[FoundDetails]:
    with suppress(*_DAMAGE):
        yield xmp_details(xmp_packet(image))


def xmp_packet(image: Image.Image) -> bytes:
    """The XMP packet of an opened image; b"" without one."""
    found = image.info.get("xmp") or getattr(image, "tag_v2", {}).get(_XMP_TAG) or b""
    return found.encode() if isinstance(found, str) else bytes(found)


def _iptc_of(image: ImageFile.ImageFile) -> Iterator[FoundDetails]:
    with suppress(*_DAMAGE):
        yield iptc_details(image)


def _of_raw(head: bytes, kind: str) -> PhotoDetails:
    """Of the first bytes of a RAW photo."""
    if kind == "RAF":
        at = int.from_bytes(head[_RAF_JPEG_AT : _RAF_JPEG_AT + 4], "big")
        return _of_picture(io.BytesIO(head[at:]))
    found: list[FoundDetails] = []
    for block in _directory_blocks(head, kind):
        with suppress(*_DAMAGE):
            if are_directories_bounded(io.BytesIO(block)):
                exif = Image.Exif()
                exif.load(block)
                found.append(exif_details(exif))
    with suppress(*_DAMAGE):
        found.append(xmp_details(_packet_in(head)))
    width, height = next(((each.width, each.height) for each in found if each.width), (0, 0))
    return _details(
        *((height, width) if any(each.is_sideways for each in found) else (width, height)), found
    )


def _packet_in(head: bytes) -> bytes:
    start = head.find(_XMP_START)
    end = head.find(_XMP_END, start)
    return head[start : end + len(_XMP_END)] if 0 <= start < end else b""


def _directory_blocks(head: bytes, kind: str) -> Iterator[bytes]:
    if kind == "CR3":
        places = [head.find(name) for name in _CANON_BOXES]
        yield from (head[at + len(_CANON_BOXES[0]) :] for at in places if at >= 0)
    elif head.startswith(_TIFF_AT_HEART):
        yield (b"MM\x00*" if head.startswith(b"MM") else b"II*\x00") + head[4:]
    elif head.startswith(_TIFF):
        yield head


def _details(
    width: int, height: int, found: Sequence[FoundDetails], media_type: str = ""
) -> PhotoDetails:
    whole = merged(found)
    return PhotoDetails(
        width,
        height,
        whole.taken.at,
        whole.camera,
        whole.latitude,
        whole.longitude,
        MappingProxyType(whole.fields),
        media_type,
    )
