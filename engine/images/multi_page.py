"""Pages of image files: of a TIFF, and of the MPO in which stereo cameras put two JPEGs.

A page becomes the bytes of a file with it as the first picture, so it is decoded as any image.
Copies of the same picture with fewer pixels, such as previews and pyramids, are not pages.
"""

import io
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple, final

from PIL.ExifTags import Base

from engine.arrays import Pixels
from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.files import PhotoDetails, open_regular
from engine.images.decode import ImageDecoder
from engine.images.image_header import (
    ByteOrder,
    byte_order,
    entries,
    jpeg_frame,
    multi_picture_index,
)
from engine.images.part_reader import MOST_PAGES, PartReader, PartsWanted
from engine.images.photo_details import details_in
from engine.images.raw_photo import raw_kind
from engine.images.read_file import read_file, refusals

_TIFF = (b"II*\x00", b"MM\x00*")  # BigTIFF is not read
_JPEG = b"\xff\xd8"
_FIRST_AT = 4  # offset of the first directory in a TIFF
_POINTER_BYTES = 4  # of the place of a directory
_ENTRY_BYTES = 12  # of one entry of a directory
_HEAD_BYTES = 65_536  # first bytes that tell a RAW photo, and the index of an MPO. Chosen.
# From TIFF 6.0.
_SUBFILE = 255  # the older tag of what a picture is for
_TILE_WIDTH = 322  # the tag that pictures in tiles have
_REDUCED_OR_MASK = 1 | 4  # bits of a smaller copy, and of a transparency mask
_OLD_REDUCED = 2  # value of the older tag
# From CIPA DC-007.
_ENTRIES_TAG = 0xB002  # what lists the pictures
_PICTURE = "IIIHH"  # what it is for, bytes, place, two others that belong to it
_TYPE_BITS = 0xFF0000  # of what a picture is for
_MULTI_FRAME = 0x020000  # of a panorama, of a stereo picture, or from several angles


class _Directory(NamedTuple):
    """One picture of a TIFF."""

    at: int
    size: tuple[int, int]
    is_flagged: bool  # as a smaller copy, or as a mask
    is_tiled: bool

    def is_level_of(self, first: "_Directory") -> bool:
        """Whether it is an unflagged pyramid level: tiled, a half, quarter ... of the first."""
        if not self.is_tiled or not all(self.size):
            return False
        times = round(first.size[0] / self.size[0])
        is_power = times > 1 and times & (times - 1) == 0
        return is_power and all(
            abs(whole - part * times) <= times
            for whole, part in zip(first.size, self.size, strict=True)
        )


def tiff_pages(file: BinaryIO) -> list[int]:
    """Offsets of the pages of a TIFF, at most one more than `MOST_PAGES`; none of another file."""
    head = _head(file, _TIFF)
    if not head or raw_kind(head):
        return []
    first: _Directory | None = None
    pages: list[int] = []
    for directory in _directories(file, byte_order(head)):
        first = first or directory
        if not directory.is_flagged and not directory.is_level_of(first):
            pages.append(directory.at)
        if len(pages) > MOST_PAGES:
            break
    return pages


def _head(file: BinaryIO, signatures: tuple[bytes, ...]) -> bytes:
    """The start of a file that begins with one of some signatures; of another, nothing."""
    file.seek(0)
    beginning = file.read(len(signatures[0]))
    return (
        beginning + file.read(_HEAD_BYTES - len(beginning))
        if beginning.startswith(signatures)
        else b""
    )


def _directories(file: BinaryIO, order: ByteOrder) -> Iterator[_Directory]:
    """All in the chain from the first one on; a chain that closes or breaks off ends there."""
    seen: set[int] = set()
    file.seek(_FIRST_AT)
    at = int.from_bytes(file.read(_POINTER_BYTES), order)
    while at and at not in seen and len(seen) <= 2 * MOST_PAGES:
        seen.add(at)
        file.seek(at)
        count = file.read(2)
        if len(count) < 2:  # noqa: PLR2004 (bytes of a count)
            return
        directory = count + file.read(_ENTRY_BYTES * int.from_bytes(count, order))
        yield _directory(at, {entry.tag: entry.value for entry in entries(directory, 0, order)})
        at = int.from_bytes(file.read(_POINTER_BYTES), order)


def _directory(at: int, tags: Mapping[int, int]) -> _Directory:
    is_flagged = (
        bool(tags.get(Base.NewSubfileType, 0) & _REDUCED_OR_MASK)
        or tags.get(_SUBFILE) == _OLD_REDUCED
    )
    size = tags.get(Base.ImageWidth, 0), tags.get(Base.ImageLength, 0)
    return _Directory(at, size, is_flagged, _TILE_WIDTH in tags)


def mpo_pictures(file: BinaryIO) -> list[tuple[int, int]]:
    """Offsets and bytes of the full pictures of an MPO; none of another file."""
    head = _head(file, (_JPEG,))
    first = jpeg_frame(head)
    index = multi_picture_index(head)
    if first is None or index is None:
        return []
    at, block = index
    found = []
    for attributes, size_bytes, place in _listed(block):
        file.seek(at + place if place else 0)
        frame = first if not place else jpeg_frame(file.read(_HEAD_BYTES))
        is_full = frame is not None and (frame.width, frame.height) == (first.width, first.height)
        if not place or (is_full and attributes & _TYPE_BITS == _MULTI_FRAME):
            found.append((at + place if place else 0, size_bytes))
    return found


def _listed(block: bytes) -> Iterator[tuple[int, int, int]]:
    order = byte_order(block)
    for entry in entries(block, int.from_bytes(block[4:8], order), order):
        if entry.tag == _ENTRIES_TAG:
            listed = block[entry.value : entry.value + entry.length]
            layout = struct.Struct(("<" if order == "little" else ">") + _PICTURE)
            for start in range(0, len(listed) - layout.size + 1, layout.size):
                yield layout.unpack_from(listed, start)[:3]


def page_data(data: bytes, page: int) -> bytes:
    """The bytes of an image file whose first picture is a page, from 1 on, of this one.

    Raises:
        ImageError: there is no such page.
    """
    file = io.BytesIO(data)
    directories = tiff_pages(file)
    pictures = [] if directories else mpo_pictures(file)
    count = max(1, len(directories), len(pictures))
    if not 1 <= page <= count:
        raise no_such_page(page, count)
    if page == 1 and not directories:
        return data
    if directories:
        pointer = directories[page - 1].to_bytes(_POINTER_BYTES, byte_order(data))
        return b"".join((data[:_FIRST_AT], pointer, memoryview(data)[_FIRST_AT + _POINTER_BYTES :]))
    at, size_bytes = pictures[page - 1]
    return data[at : at + size_bytes]


def no_such_page(page: int, count: int) -> ImageError:
    """The error for a page that a file does not have."""
    return ImageError(
        "the file has no such page",
        expected="a page from 1 to {count}",
        found=str(page),
        count=count,
    )


def too_many_pages(found: str = "") -> ImageError:
    """The error for a file of more pages than become images."""
    return ImageError(
        "the file has too many pages",
        expected="at most {most}",
        found=found,
        remedy="split it into several files",
        most=MOST_PAGES,
    )


@final
class ImagePages(PartReader):
    """An image file of any kind, with one page or several."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data = b""  # of the whole file, from the first picture on

    def parts(self, wanted: PartsWanted) -> list[FilePart]:  # noqa: ARG002 (all pages are wanted)
        """Only headers are read."""
        with refusals(), open_regular(self._path) as file:
            count = len(tiff_pages(file) or mpo_pictures(file))
        if count > MOST_PAGES:
            raise too_many_pages()
        return [FilePart(page=page) for page in range(1, count + 1)] if count > 1 else [FilePart()]

    def rgb(
        self, part: FilePart, *, smallest_side: int | None = None, longest_side: int | None = None
    ) -> Pixels:
        decoder = ImageDecoder(self._page(part))
        return (
            decoder.within(longest_side)
            if longest_side
            else decoder.rgb(smallest_side=smallest_side)
        )

    def details(self, part: FilePart) -> PhotoDetails:
        return details_in(self._page(part))

    def close(self) -> None:
        self._data = b""

    def _page(self, part: FilePart) -> bytes:
        self._data = self._data or read_file(self._path)
        return page_data(self._data, part.page or 1)
