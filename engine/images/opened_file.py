"""An open image file, document or video: its content hash, metadata, and decoders."""

from contextlib import ExitStack
from pathlib import Path
from typing import Self, final

from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.files import PhotoDetails, open_regular
from engine.images.decode import ImageDecoder
from engine.images.media_kinds import is_document, is_video
from engine.images.multi_page import page_data
from engine.images.part_reader import PartReader
from engine.images.parts_of_file import open_file_parts
from engine.images.photo_details import details_in
from engine.images.read_file import FILES, file_hash, file_size, read_file, refusals
from engine.images.readers import SNIFFED_BYTES
from engine.images.reduced_photo import photo_hash, reduced_from

LEAST_SIDE = 512
"""Least pixels of the shorter side of a rendered page: no view of a page needs more."""
MOST_SIDE = 4096
"""The same at most, for the smallest boxes. Chosen: a page has letters, and no detail beyond."""


@final
class OpenedFile:
    """A file whose pictures are decoded one after the other; not safe with threads.

    A file is read whole, but a video never is.

    Args:
        part: one of those that are wanted: without a requested time a file is not a video.

    Raises:
        ImageError: the file cannot be read.
    """

    def __init__(self, path: Path, part: FilePart) -> None:
        self._held = ExitStack()
        self._path = path
        self._reader: PartReader | None = None
        # of the picture that was wanted last
        self._decoders: dict[tuple[FilePart, int], ImageDecoder] = {}
        # of the picture that was wanted last
        self._details: dict[FilePart, PhotoDetails | None] = {}
        self._data = b""
        try:
            if part.seconds is None or not _is_video(path):
                self._held.enter_context(FILES.holding(file_size(path)))
                self._data = read_file(path)
                self.content_hash = photo_hash(self._data)
            else:
                with refusals():
                    self.content_hash = file_hash(path)
        except BaseException:
            self._held.close()
            raise
        self._is_document = is_document(self._data[:SNIFFED_BYTES])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._held.close()

    def decoder(self, part: FilePart, side: int) -> ImageDecoder:
        """What decodes the picture that a part is in.

        Args:
            side: pixels that are wanted of the part, if it is a box, or of the whole picture.

        Raises:
            ImageError: there is no such picture.
        """
        picture = part.picture
        drawn_side = _drawn_side(part, side) if self._is_document else 0
        key = picture, drawn_side
        if key not in self._decoders:
            self._decoders = {key: self._new_decoder(picture, drawn_side)}
        return self._decoders[key]

    def _new_decoder(self, picture: FilePart, drawn_side: int) -> ImageDecoder:
        if picture.seconds is not None or self._is_document:
            pixels = self._opened_reader().rgb(picture, smallest_side=drawn_side or None)
            return ImageDecoder.of_pixels(pixels)
        return ImageDecoder(
            self._data if picture.page is None else page_data(self._data, picture.page)
        )

    def details(self, part: FilePart) -> PhotoDetails | None:
        """Metadata for the picture of a part, read once for all its boxes; None if unreadable."""
        if part.picture not in self._details:
            self._details = {part.picture: self._read_details(part.picture)}
        return self._details[part.picture]

    def _read_details(self, picture: FilePart) -> PhotoDetails | None:
        if reduced_from(self._data) is not None:
            return None
        if picture.seconds is None and not self._is_document:
            return details_in(self._data)
        try:
            return self._opened_reader().details(picture)
        except ImageError:
            return None

    def _opened_reader(self) -> PartReader:
        if self._reader is None:
            self._reader = self._held.enter_context(open_file_parts(self._path))
        return self._reader


def _is_video(path: Path) -> bool:
    with refusals(), open_regular(path) as file:
        return is_video(file.read(SNIFFED_BYTES))


def _drawn_side(part: FilePart, side: int) -> int:
    """Pixels of the shorter side of a page, for a part of it; few sizes, for reuse."""
    needed = side if part.box is None else side / max(part.box.width, part.box.height)
    drawn = LEAST_SIDE
    while drawn < min(needed, MOST_SIDE):
        drawn *= 2
    return drawn
