"""Reads an image file once, and makes all that is wanted of it: pixels, hashes, thumbnail and details."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Self, final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_messages import PhotoRead, WantedPixels
from engine.embedding.views import views_of_image
from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
from engine.file_parts import BoundingBox, FilePart, file_part
from engine.files import FoundFile
from engine.images.decode import ImageDecoder, decode_square
from engine.images.fingerprint import SIDE, fingerprint, perceptual_hash
from engine.images.opened_file import OpenedFile
from engine.images.read_file import content_hash
from engine.images.thumbnail_cache import encode_thumbnail
from engine.model_card import BackboneCard

NOTHING: Final = content_hash(b"")  # identity of what is no readable file, such as an empty one

Pixels = NDArray[np.uint8]
IsKnown = Callable[[bytes], bool]
"""Whether a content, by its hash, needs no pixels."""


@final
class PictureReader:
    """Reads images one after the other; those of one file that follow one another share what was read and decoded.

    A context manager: it holds the last file until it ends.

    Args:
        is_known: what is known is not decoded.
    """

    def __init__(self, wanted: WantedPixels, is_known: IsKnown) -> None:
        self._wanted = wanted
        self._is_known = is_known
        self._file: FoundFile | None = None
        self._opened: OpenedFile | None = None
        self._error: ImageError | None = None  # why the last file could not be read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._close()

    def read(self, request: EmbedRequest, pixels: Pixels) -> PhotoRead:
        """Read, hash and decode one image.

        Args:
            pixels: (views, side, side, 3), written where it is a sound image that is not known.
        """
        file, part = state_of(request), file_part(request.part)
        try:
            opened = self._open(file, part)
        except ImageError as error:
            away = isinstance(error, ImageUnreachableError)
            is_missing = isinstance(error, ImageMissingError)
            return PhotoRead(file, failure=error.message, is_missing=is_missing, is_unreachable=away)
        read = PhotoRead(file, opened.content_hash, details=opened.details(part))
        if self._is_known(request.content(opened.content_hash)):
            return read
        wanted = self._wanted
        try:
            image = opened.decoder(part, max(wanted.side, wanted.thumbnail_side))
            pixels[:] = views_of_image(image, wanted.side, wanted.resize_share, wanted.views, part.box)
            read = _with_thumbnail(read, image, wanted.thumbnail_side, part.box)
        except ImageError as error:
            return replace(read, failure=error.message)
        picture = perceptual_hash(Image.fromarray(pixels[0]).convert("L"))
        return replace(read, has_pixels=True, picture=picture)

    def _open(self, file: FoundFile, part: FilePart) -> OpenedFile:
        """The file, which stays open until another one is wanted; raises as `OpenedFile`."""
        if file != self._file:
            self._close()
            self._file = file
            try:
                self._opened = OpenedFile(file.path, part)
            except ImageError as error:
                self._error = error
        if self._opened is None:
            raise self._error or ImageError("the file cannot be read")
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._file = self._opened = self._error = None


def _with_thumbnail(read: PhotoRead, image: ImageDecoder, side: int, box: BoundingBox | None) -> PhotoRead:
    """With thumbnail and fingerprint, unless `side` is 0."""
    if not side:
        return read
    small = image.shown(SIDE, box)
    seen = small if side == SIDE else image.shown(side, box)
    return replace(read, fingerprint=fingerprint(small), thumbnail=encode_thumbnail(seen))


def state_of(request: EmbedRequest) -> FoundFile:
    """The file as it is now."""
    return FoundFile.at(request.path) or FoundFile(request.path, -1, -1)  # reading it says in words what is wrong


def network_input(data: bytes, card: BackboneCard) -> NDArray[np.uint8]:
    """Decode an image file's bytes to what the backbone takes, (side, side, 3) uint8 RGB.

    Raises:
        ImageError: the bytes are no sound image.
    """
    return decode_square(data, card.input_side, card.resize_share)
