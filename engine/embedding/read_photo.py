"""Reads an image file once, and gives all that is wanted of it: pixels, content hash, fingerprint and details."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.embedding.messages import EmbedRequest
from engine.embedding.photo_messages import PhotoRead, WantedPixels
from engine.embedding.views import views_of_side
from engine.errors import ImageError, ImageMissingError, ImageUnreachableError
from engine.files import FoundFile
from engine.images.decode import decode_square
from engine.images.fingerprint import perceptual_hash
from engine.images.photo_details import details_in
from engine.images.read_file import FILES, content_hash, read_file
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
        key, details = content_hash(data), None if wanted.views > 1 else details_in(data)
        if is_known(key):
            return PhotoRead(file, key, details=details)
        try:
            pixels[:] = views_of_side(data, wanted.side, wanted.resize_share, wanted.views)
        except ImageError as error:
            return PhotoRead(file, key, failure=error.message, details=details)
    picture = 0 if wanted.views > 1 else perceptual_hash(Image.fromarray(pixels[0]).convert("L"))
    return PhotoRead(file, key, has_pixels=True, details=details, picture=picture)


def state_of(request: EmbedRequest) -> FoundFile:
    """The file as it is now."""
    return FoundFile.at(request.path) or FoundFile(request.path, -1, -1)  # reading it says in words what is wrong


def network_input(data: bytes, card: BackboneCard) -> NDArray[np.uint8]:
    """Decode an image file's bytes to what the backbone takes, (side, side, 3) uint8 RGB.

    Raises:
        ImageError: the bytes are no sound image.
    """
    return decode_square(data, card.input_side, card.resize_share)
