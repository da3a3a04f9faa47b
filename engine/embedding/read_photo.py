"""Reading of an image file, once for all its results: pixels, hashes, thumbnail and metadata."""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, final

from PIL import Image

from engine.arrays import Pixels
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

NOTHING = content_hash(b"")  # identity of unreadable files, such as empty ones

Missing = Callable[[Sequence[bytes]], Container[bytes]]
"""Which of some contents, by their hashes, need pixels."""


@final
class FilePixelReader:
    """Reads the images of one file one after the other; they share what was read and decoded.

    A context manager: the file is open until it ends.

    Args:
        requests: all that are to be read of the file.
        missing: called once for all images; cached contents are not decoded.
    """

    def __init__(
        self, requests: Sequence[EmbedRequest], wanted: WantedPixels, missing: Missing
    ) -> None:
        self._requests = requests
        self._wanted = wanted
        self._missing = missing
        self._file = state_of(requests[0].path)  # before it is read
        self._opened: OpenedFile | ImageError = ImageError("the file cannot be read")
        self._to_decode: Container[bytes] = ()  # contents
        self._hashes: dict[FilePart, int] = {}  # perceptual hash of each picture

    def __enter__(self) -> Self:
        try:
            opened = OpenedFile(self._file.path, file_part(self._requests[0].part))
        except ImageError as error:
            self._opened = error
        else:
            self._opened = opened
            self._to_decode = self._missing(
                [request.content(opened.content_hash) for request in self._requests]
            )
        return self

    def __exit__(self, *_error: object) -> None:
        if isinstance(self._opened, OpenedFile):
            self._opened.close()

    def read(self, request: EmbedRequest, pixels: Pixels) -> PhotoRead:
        """Read, hash and decode one of the images.

        Args:
            pixels: (views, side, side, 3), written where it is a sound image that needs them.
        """
        opened, part = self._opened, file_part(request.part)
        if isinstance(opened, ImageError):
            away = isinstance(opened, ImageUnreachableError)
            is_missing = isinstance(opened, ImageMissingError)
            return PhotoRead(
                self._file, failure=opened.message, is_missing=is_missing, is_unreachable=away
            )
        read = PhotoRead(self._file, opened.content_hash, details=opened.details(part))
        if request.content(opened.content_hash) not in self._to_decode:
            return read
        wanted = self._wanted
        try:
            image = opened.decoder(part, max(wanted.side, wanted.thumbnail_side))
            pixels[:] = views_of_image(
                image, wanted.side, wanted.resize_share, wanted.views, part.box
            )
            read = _with_thumbnail(read, image, wanted.thumbnail_side, part.box)
            picture_hash = self._hash_of_picture(part, image, pixels[0])
        except ImageError as error:
            return replace(read, failure=error.message)
        return replace(read, has_pixels=True, picture_hash=picture_hash)

    def _hash_of_picture(self, part: FilePart, image: ImageDecoder, pixels: Pixels) -> int:
        """The perceptual hash of the picture that a part is in, made once for all its boxes.

        Args:
            pixels: (side, side, 3) of the part.
        """
        if part.picture not in self._hashes:
            wanted = self._wanted
            whole = pixels if part.box is None else image.square(wanted.side, wanted.resize_share)
            self._hashes[part.picture] = perceptual_hash(Image.fromarray(whole).convert("L"))
        return self._hashes[part.picture]


def _with_thumbnail(
    read: PhotoRead, image: ImageDecoder, side: int, box: BoundingBox | None
) -> PhotoRead:
    """With thumbnail and fingerprint, unless `side` is 0."""
    if not side:
        return read
    small = image.shown(SIDE, box)
    seen = small if side == SIDE else image.shown(side, box)
    return replace(read, fingerprint=fingerprint(small), thumbnail=encode_thumbnail(seen))


def state_of(path: Path) -> FoundFile:
    """The current state of a file."""
    return FoundFile.at(path) or FoundFile(path, -1, -1)  # reading it reports the error


def network_input(data: bytes, card: BackboneCard) -> Pixels:
    """Decode an image file's bytes to what the backbone takes, (side, side, 3) uint8 RGB.

    Raises:
        ImageError: the bytes are not a valid image.
    """
    return decode_square(data, card.input_side, card.resize_share)
