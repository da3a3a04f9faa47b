"""Decodes an image file to upright RGB pixels. Every failure becomes an `ImageError`.

There are two decoders. Nearly all photos are JPEGs: libjpeg-turbo decodes them directly to the
required scale, without holding the interpreter lock. Everything else, and every JPEG that it
refuses, goes through Pillow, which also has the last word on whether a file is damaged.
"""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypeVar, final

import numpy as np
import simplejpeg
from PIL import Image, ImageFile

from engine.arrays import Pixels
from engine.errors import ImageError
from engine.file_parts import BoundingBox
from engine.files import size_text
from engine.images.colour_profile import in_srgb, profile_of
from engine.images.image_header import (
    divisor_for,
    held_bytes,
    is_header_bounded,
    jpeg_orientation,
    jpeg_profile,
    upright,
)
from engine.images.kinds import PILLOW_FORMATS, heif_formats, is_heif
from engine.images.opened_image import LARGE_PIXELS, Choose, WantedPart, reading
from engine.images.pillow_errors import pillow_errors
from engine.images.pixels import (
    REDUCING_GAP,
    Box,
    Part,
    box_square,
    centre_box,
    fit_within,
    held_factor,
    square_in_box,
    square_of,
)
from engine.images.raw_photo import Least, Preview, raw_kind, raw_preview
from engine.images.read_file import FILES, PIXELS, file_size, read_file

MAX_PIXELS = 500_000_000
"""Larger ones are refused. Chosen: above the 484 megapixels of decision 110, below 2 GB of RGB."""
_AS_THE_FILE_SAYS = 0  # instead of an EXIF orientation
_TURNED = 6  # an EXIF orientation that swaps width and height
_MOST_KEPT_BYTES = 100 * 1024**2
"""Larger scales of a JPEG are decoded again for each box. Chosen: fits with all cores in use."""
_JPEG_SIGNATURE = b"\xff\xd8\xff"
_TURBO_COLOURS = frozenset({"YCbCr", "Gray", "RGB"})
# have row offsets in their header
_UNPACKED_OFTEN = frozenset({"BMP", "DIB", "PPM", "TIFF"})

# Pillow's own limit warns long before ours and raises at another size; ours is checked after the
# header.
Image.MAX_IMAGE_PIXELS = None

T = TypeVar("T")


def read_rgb(
    path: Path, *, smallest_side: int | None = None, longest_side: int | None = None
) -> Pixels:
    """Read and decode an image file: (H, W, 3) uint8, upright, the first frame of an animation.

    Args:
        smallest_side, longest_side: pixels that the shorter or longer side should still have; let a
            JPEG, and any large picture, be decoded at a reduced scale.

    Raises:
        ImageError: the file is missing, no image, damaged, or declares more than `MAX_PIXELS`.
    """
    with FILES.holding(file_size(path)):
        return decode_rgb(read_file(path), smallest_side=smallest_side, longest_side=longest_side)


def decode_rgb(
    data: bytes, *, smallest_side: int | None = None, longest_side: int | None = None
) -> Pixels:
    """Decode the bytes of an image file; see `read_rgb`."""
    return ImageDecoder(data).rgb(smallest_side=smallest_side, longest_side=longest_side)


def decode_square(data: bytes, side: int, resize_share: float = 1.0) -> Pixels:
    """Decode the bytes of an image file to a square; see `ImageDecoder.square`."""
    return ImageDecoder(data).square(side, resize_share)


@dataclass(frozen=True)
class _Size:
    """A size to decode to.

    Attributes:
        least: width and height that a JPEG must still have where it is decoded at a reduced scale.
        choose: the part of any other picture that is needed, and by how much it may be reduced.
        of_jpeg: makes it of a decoded JPEG (H, W, 3 or 4), as stored, with this orientation.
        of_part: makes it of any other picture, with this orientation.
        is_square: a square; else the whole picture.
    """

    least: Least
    choose: Choose
    of_jpeg: Callable[[Pixels, int], Pixels]
    of_part: Callable[[WantedPart, int], Pixels]
    is_square: bool


@final
class ImageDecoder:
    """Decodes an image file to several sizes, each scale of a JPEG once.

    Most other files are decoded once as a whole.

    Squares come first: their decoded pixels are cached for all other sizes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        # of a JPEG, (H, W, 4) as stored, by divisor
        self._scales: dict[int, Pixels] = {}
        self._own_tags: tuple[int, bytes] | None = None  # orientation and colour profile of a JPEG
        # of another picture, with its colour profile
        self._whole: tuple[WantedPart, bytes] | None = None

    @classmethod
    def of_pixels(cls, pixels: Pixels) -> Self:
        """A decoder of an upright picture (H, W, 3) uint8 that is decoded already."""
        decoder = cls(b"")
        height, width = pixels.shape[:2]
        decoder._whole = (
            WantedPart(Image.fromarray(pixels), Part(0, 0, width, height), 1, (width, height), 1),
            b"",
        )
        return decoder

    def rgb(self, *, smallest_side: int | None = None, longest_side: int | None = None) -> Pixels:
        """(H, W, 3) uint8; see `read_rgb`."""
        return self._decode(_whole(lambda pixels: pixels[..., :3], smallest_side, longest_side))

    def within(self, longest_side: int) -> Pixels:
        """The picture (H, W, 3) uint8, scaled by `fit_within`; raises as `read_rgb`."""
        return np.ascontiguousarray(
            self._decode(
                _whole(lambda pixels: fit_within(pixels, longest_side), None, longest_side)
            )
        )

    def shown(self, longest_side: int, box: BoundingBox | None = None) -> Pixels:
        """The displayed image, (H, W, 3) uint8: `within`, or the square around a box."""
        return self.within(longest_side) if box is None else self.square(longest_side, box=box)

    def square(
        self, side: int, resize_share: float = 1.0, box: BoundingBox | None = None
    ) -> Pixels:
        """The network's square input, (side, side, 3) uint8 RGB: `square` of `rgb`, in fewer steps.

        A JPEG is decoded to the four bytes a pixel that Pillow resizes in place, and every picture
        is turned upright after downscaling. Of rotated pictures, and of large ones that are reduced
        in strips, values may differ by rounding from resizing after turning. Raises as `read_rgb`.

        Args:
            box: whose surroundings the square shows, see `box_square`; None for the centre of the
                picture.
        """

        def region(width: int, height: int, orientation: int) -> Box:
            if box is not None:
                return box_square(box, width, height, orientation)
            return centre_box(width, height, resize_share)

        def least(width: int, height: int) -> tuple[int, int]:
            if box is None:
                return (round(side / resize_share),) * 2
            as_shown, turned = (region(width, height, orientation) for orientation in (1, _TURNED))
            # which of them, the header tells later
            shown = min(as_shown[2] - as_shown[0], turned[2] - turned[0])
            scale = min(1.0, side / shown)
            return math.ceil(width * scale), math.ceil(height * scale)

        def choose(width: int, height: int, orientation: int) -> tuple[Part, int]:
            left, top, right, bottom = region(width, height, orientation)
            factor = held_factor((right - left) / (side * REDUCING_GAP), width)
            return Part(int(left), int(top), math.ceil(right), math.ceil(bottom)), factor

        def of_jpeg(pixels: Pixels, orientation: int) -> Pixels:
            height, width = pixels.shape[:2]
            return square_of(pixels, region(width, height, orientation), side)

        def of_part(wanted: WantedPart, orientation: int) -> Pixels:
            return _square_of_part(wanted, region(*wanted.size, orientation), side)

        return self._decode(_Size(least, choose, of_jpeg, of_part, is_square=True))

    def _decode(self, size: _Size) -> Pixels:
        try:
            shown = _shown(self._data, size.least)
            pixels = self._decode_jpeg(shown.data, size)
            if pixels is None:
                return self._decode_with_pillow(shown, size)
            stored_orientation, profile = self._jpeg_tags(shown.data)
            orientation = shown.orientation or stored_orientation
            return upright(in_srgb(size.of_jpeg(pixels, orientation), profile), orientation)
        except MemoryError as error:
            raise ImageError("there is not enough memory for this image") from error

    def _decode_jpeg(self, data: bytes, size: _Size) -> Pixels | None:
        """Decode with libjpeg-turbo, as stored; None for Pillow: no JPEG, CMYK, damage."""
        if not data.startswith(_JPEG_SIGNATURE):
            return None
        is_own = data is self._data  # not one of the previews of a RAW photo
        try:
            height, width, colours, _sampling = simplejpeg.decode_jpeg_header(data)
            _refuse_bomb(width, height)
            if colours not in _TURBO_COLOURS:
                return None
            divisor = divisor_for((width, height), size.least(width, height))
            if is_own and divisor in self._scales:
                return self._scales[divisor]
            channels: Literal["rgb", "rgbx"] = "rgbx" if size.is_square else "rgb"
            with PIXELS.holding(held_bytes(data, (width, height), divisor, len(channels))):
                pixels: Pixels = simplejpeg.decode_jpeg(
                    data, channels, min_height=-(-height // divisor), min_width=-(-width // divisor)
                )
        except ValueError:
            return None
        if is_own and size.is_square and pixels.nbytes <= _MOST_KEPT_BYTES:
            self._scales[divisor] = pixels
        return pixels

    def _jpeg_tags(self, data: bytes) -> tuple[int, bytes]:
        """Orientation and colour profile of a JPEG; those of the file itself are read once."""
        if data is not self._data:
            return jpeg_orientation(data), jpeg_profile(data)
        if self._own_tags is None:
            self._own_tags = jpeg_orientation(data), jpeg_profile(data)
        return self._own_tags

    def _decode_with_pillow(self, shown: Preview, size: _Size) -> Pixels:
        is_own = shown.data is self._data

        def finish(wanted: WantedPart, profile: bytes) -> Pixels:
            orientation = shown.orientation or wanted.orientation
            return upright(in_srgb(size.of_part(wanted, orientation), profile), orientation)

        def choose(width: int, height: int, orientation: int) -> tuple[Part, int]:
            return size.choose(width, height, shown.orientation or orientation)

        def pixels_of(image: Image.Image) -> Pixels:
            with reading(image, shown.data, choose, as_array=not size.is_square) as wanted:
                if is_own and image.format != "JPEG" and image.width * image.height < LARGE_PIXELS:
                    self._whole = wanted, profile_of(image)  # a JPEG may have been reduced
                return finish(wanted, profile_of(image))

        if is_own and self._whole is not None:
            return finish(*self._whole)
        return _decode_with_pillow(shown.data, size.least, pixels_of)


def _whole(
    finish: Callable[[Pixels], Pixels],
    smallest_side: int | None,
    longest_side: int | None,
) -> _Size:
    """All of a picture, with at least so many pixels along a side."""

    def least(width: int, height: int) -> tuple[int, int]:
        if longest_side:
            scale = min(1.0, longest_side / max(width, height))
            return max(1, round(width * scale)), max(1, round(height * scale))
        return smallest_side or 0, smallest_side or 0

    def choose(width: int, height: int, _orientation: int) -> tuple[Part, int]:
        if longest_side:
            return Part(0, 0, width, height), held_factor(max(width, height) / longest_side, width)
        factor = min(width, height) / (smallest_side * REDUCING_GAP) if smallest_side else 1
        return Part(0, 0, width, height), held_factor(factor, width)

    def of_part(wanted: WantedPart, _orientation: int) -> Pixels:
        return finish(np.asarray(wanted.image))

    return _Size(
        least, choose, lambda pixels, _orientation: finish(pixels), of_part, is_square=False
    )


def _shown(data: bytes, least: Least) -> Preview:
    """The preview of a RAW photo, else the file itself with its own orientation."""
    kind = "" if data.startswith(_JPEG_SIGNATURE) else raw_kind(data)
    return raw_preview(data, kind, least) if kind else Preview(data, _AS_THE_FILE_SAYS)


def _square_of_part(wanted: WantedPart, square: Box, side: int) -> Pixels:
    """A square of the whole picture, cut out of a part of it."""
    left, top, right, bottom = square
    part, factor = wanted.part, wanted.factor
    box = ((left - part.left) / factor, (top - part.top) / factor)
    return square_in_box(
        wanted.image, (*box, (right - part.left) / factor, (bottom - part.top) / factor), side
    )


def _decode_with_pillow(data: bytes, least: Least, decode: Callable[[Image.Image], T]) -> T:
    file = io.BytesIO(data)
    if not is_header_bounded(file):
        raise ImageError(
            "the image's header has more parts than a photo's",
            remedy="save it again, and add the new file",
        )
    with (
        pillow_errors(data),
        Image.open(
            file, formats=PILLOW_FORMATS + (heif_formats() if is_heif(data) else ())
        ) as image,
    ):
        _refuse_bomb(*image.size)
        _refuse_empty(image, len(data))
        if image.format == "JPEG" and any(size := least(*image.size)):
            image.draft(None, size)
        return decode(image)


def _refuse_empty(image: Image.Image, size_bytes: int) -> None:
    """Refuse a large picture whose file is far too small for it, before memory is allocated."""
    pixels = image.width * image.height
    if (
        pixels < LARGE_PIXELS
        or image.format not in _UNPACKED_OFTEN
        or not isinstance(image, ImageFile.ImageFile)
    ):
        return
    places = [tile.extents or (0, 0, *image.size) for tile in image.tile]
    covered = sum((right - left) * (bottom - top) for left, top, right, bottom in places)
    is_unpacked = all(tile.codec_name == "raw" for tile in image.tile)
    if covered < pixels or (is_unpacked and size_bytes * 8 < pixels):  # a pixel has a bit at least
        raise ImageError(
            "the image is damaged or incomplete",
            expected="{width} x {height} pixels",
            found="a file of {size} that ends early",
            width=image.width,
            height=image.height,
            size=size_text(size_bytes),
        )


def _refuse_bomb(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            "the image is too large",
            expected="at most {limit} megapixels",
            found=f"{width} x {height}",
            remedy="scale it down first",
            limit=MAX_PIXELS // 1000000,
        )
