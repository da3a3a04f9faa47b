"""Reads an image file once, and makes all that is wanted of it: pixels, hashes, thumbnail and details."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_messages import PhotoRead, WantedPixels
from engine.embedding.views import views_of_image
from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
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


def read_photo(request: EmbedRequest, wanted: WantedPixels, is_known: IsKnown, pixels: Pixels) -> PhotoRead:
    """Read, hash and decode one file.

    Args:
        is_known: what is known is not decoded.
        pixels: (views, side, side, 3), written where the file is a sound image that is not known.
    """
    file = state_of(request)
    with FILES.holding(max(0, file.size_bytes)):
        try:
            data = read_file(request.path)
        except ImageError as error:
            away = isinstance(error, ImageUnreachableError)
            return PhotoRead(
                file, failure=error.message, is_missing=isinstance(error, ImageMissingError), is_unreachable=away
            )
        key = content_hash(data)
        read = PhotoRead(file, key, details=details_in(data))
        if is_known(key):
            return read
        image = ImageDecoder(data)
        try:
            pixels[:] = views_of_image(image, wanted.side, wanted.resize_share, wanted.views)
            read = _with_thumbnail(read, image, wanted.thumbnail_side)
        except ImageError as error:
            return replace(read, failure=error.message)
    picture = perceptual_hash(Image.fromarray(pixels[0]).convert("L"))
    return replace(read, has_pixels=True, picture=picture)


def _with_thumbnail(read: PhotoRead, image: ImageDecoder, side: int) -> PhotoRead:
    """With thumbnail and fingerprint, unless `side` is 0."""
    if not side:
        return read
    small = image.within(SIDE)
    shown = small if side == SIDE else image.within(side)
    return replace(read, fingerprint=fingerprint(small), thumbnail=encode_thumbnail(shown))


def state_of(request: EmbedRequest) -> FoundFile:
    """The file as it is now."""
    return FoundFile.at(request.path) or FoundFile(request.path, -1, -1)  # reading it says in words what is wrong


def network_input(data: bytes, card: BackboneCard) -> NDArray[np.uint8]:
    """Decode an image file's bytes to what the backbone takes, (side, side, 3) uint8 RGB.

    Raises:
        ImageError: the bytes are no sound image.
    """
    return decode_square(data, card.input_side, card.resize_share)
