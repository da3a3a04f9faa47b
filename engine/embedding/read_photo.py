"""Reads an image file once, and makes all that is wanted of it: pixels, hashes, thumbnail and details."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_messages import PhotoRead, WantedPixels
from engine.embedding.views import views_of_image
from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
from engine.file_parts import BoundingBox, file_part
from engine.files import FoundFile
from engine.images.decode import ImageDecoder, decode_square
from engine.images.fingerprint import SIDE, fingerprint, perceptual_hash
from engine.images.photo_details import details_in
from engine.images.read_file import FILES, content_hash, read_file
from engine.images.thumbnail_cache import encode_thumbnail
from engine.model_card import BackboneCard

NOTHING: Final = content_hash(b"")  # identity of what is no readable file, such as an empty one

Pixels = NDArray[np.uint8]
IsKnown = Callable[[bytes], bool]
"""Whether a content, by its hash, needs no pixels."""


@final
class PhotoReader:
    """Reads images one after the other; those of one file that follow one another share what was read and decoded.

    A context manager: it holds the last file until it ends.

    Args:
        is_known: what is known is not decoded.
    """

    def __init__(self, wanted: WantedPixels, is_known: IsKnown) -> None:
        self._wanted = wanted
        self._is_known = is_known
        self._held = ExitStack()  # memory of the file that was read last
        self._file: FoundFile | None = None
        self._read = PhotoRead(FoundFile(Path(), -1, -1))
        self._decoder = ImageDecoder(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._held.close()

    def read(self, request: EmbedRequest, pixels: Pixels) -> PhotoRead:
        """Read, hash and decode one image.

        Args:
            pixels: (views, side, side, 3), written where it is a sound image that is not known.
        """
        self._open(state_of(request))
        read = self._read
        if read.content_hash is None or self._is_known(request.content(read.content_hash)):
            return read
        box = file_part(request.part).box
        try:
            wanted = self._wanted
            pixels[:] = views_of_image(self._decoder, wanted.side, wanted.resize_share, wanted.views, box)
            read = _with_thumbnail(read, self._decoder, wanted.thumbnail_side, box)
        except ImageError as error:
            return replace(read, failure=error.message)
        picture = perceptual_hash(Image.fromarray(pixels[0]).convert("L"))
        return replace(read, has_pixels=True, picture=picture)

    def _open(self, file: FoundFile) -> None:
        """Read a file, unless it was the last one."""
        if file == self._file:
            return
        self._held.close()
        self._file, self._decoder = file, ImageDecoder(b"")
        self._held.enter_context(FILES.holding(max(0, file.size_bytes)))
        try:
            data = read_file(file.path)
        except ImageError as error:
            away = isinstance(error, ImageUnreachableError)
            is_missing = isinstance(error, ImageMissingError)
            self._read = PhotoRead(file, failure=error.message, is_missing=is_missing, is_unreachable=away)
            return
        self._read = PhotoRead(file, content_hash(data), details=details_in(data))
        self._decoder = ImageDecoder(data)


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
