"""Pages of PDF documents, drawn by PDFium at the size that is needed."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import final

import numpy as np
import pypdfium2
from pypdfium2 import raw

from engine.arrays import Pixels
from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.files import PhotoDetails
from engine.images.decode import MAX_PIXELS
from engine.images.found_details import clean, clean_description, present
from engine.images.multi_page import no_such_page, too_many_pages
from engine.images.part_reader import MOST_PAGES, PartReader, PartsWanted
from engine.images.read_file import PIXELS, read_file

_POINTS_PER_INCH = 72  # of PDF's units (ISO 32000)
_DOTS_PER_INCH = 200
"""Of a page without a requested size. Chosen: A4 has 1654 x 2339 pixels, and is legible."""
_CHANNELS = 3  # red, green and blue
_WHITE = (255, 255, 255, 255)  # the ground of a page
_FIELDS = {"title": "Title", "creator": "Author", "description": "Subject"}
_PDFIUM = threading.Lock()
"""Held in every call: PDFium has state that all documents of a process share."""


@final
class DocumentPages(PartReader):
    """An open PDF document; its file is in memory, the pixels of one page at most."""

    def __init__(self, path: Path) -> None:
        data = read_file(path)
        with _pdfium():
            # WORKAROUND: an empty document leaves the previous error. Can go when PDFium sets one.
            raw.FPDF_LoadDocument(b"", None)
            self._document = pypdfium2.PdfDocument(data)
            self.page_count = len(self._document)

    def parts(self, wanted: PartsWanted) -> list[FilePart]:  # noqa: ARG002 (all pages are wanted)
        if self.page_count > MOST_PAGES:
            raise too_many_pages(str(self.page_count))
        return [FilePart(page=page) for page in range(1, self.page_count + 1)]

    def rgb(
        self, part: FilePart, *, smallest_side: int | None = None, longest_side: int | None = None
    ) -> Pixels:
        with self._open_page(part) as page:
            width, height = _pixel_size(page.get_size(), smallest_side, longest_side)
            with PIXELS.holding(2 * width * height * _CHANNELS):
                return _drawn(page, width, height)

    def details(self, part: FilePart) -> PhotoDetails:
        """The title of the document; the size is that of `rgb` where none is requested."""
        with self._open_page(part) as page:
            width, height = _pixel_size(page.get_size(), None, None)
            texts = {name: self._document.get_metadata_value(key) for name, key in _FIELDS.items()}
        fields = {
            name: clean_description(text) if name == "description" else clean(text)
            for name, text in texts.items()
        }
        return PhotoDetails(
            width, height, fields=MappingProxyType(present(fields)), media_type="application/pdf"
        )

    def close(self) -> None:
        with _PDFIUM:
            self._document.close()

    @contextmanager
    def _open_page(self, part: FilePart) -> Iterator[pypdfium2.PdfPage]:
        number = part.page or 1
        if not 1 <= number <= self.page_count:
            raise no_such_page(number, self.page_count)
        with _pdfium(number):
            page = self._document[number - 1]
            try:
                yield page
            finally:
                page.close()


@contextmanager
def _pdfium(page: int = 0) -> Iterator[None]:
    """The right to call PDFium, whose errors become an `ImageError`."""
    with _PDFIUM:
        try:
            yield
        except pypdfium2.PdfiumError as error:
            raise _refusal(error, page) from error
        except MemoryError as error:
            raise ImageError("there is not enough memory for this image") from error


def _refusal(error: pypdfium2.PdfiumError, page: int) -> ImageError:
    if page:
        return ImageError("page {page} of the document is damaged", found=str(error), page=page)
    if error.err_code in {raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY}:
        return ImageError(
            "the document is encrypted",
            expected="a PDF that opens without a password",
            remedy="open it in another program and save it without a password",
        )
    remedy = "open it in another program and save it again"
    if error.err_code == raw.FPDF_ERR_FILE:
        return ImageError("the document has no pages", remedy=remedy)
    return ImageError("the document is damaged or incomplete", found=str(error), remedy=remedy)


def _pixel_size(
    points: tuple[float, float], smallest_side: int | None, longest_side: int | None
) -> tuple[int, int]:
    """Width and height of a page in pixels, `MAX_PIXELS` at most."""
    width, height = points
    if not (math.isfinite(width) and math.isfinite(height) and width > 0 and height > 0):
        raise ImageError("the page has no size", found=f"{width:g} x {height:g}")
    scale = _DOTS_PER_INCH / _POINTS_PER_INCH
    if longest_side:
        scale = longest_side / max(width, height)
    elif smallest_side:
        scale = smallest_side / min(width, height)
    scale = min(scale, math.sqrt(MAX_PIXELS / (width * height)))
    sides = [max(1, round(side * scale)) for side in (width, height)]
    longest = MAX_PIXELS // min(sides)  # a page that is a line
    return min(sides[0], longest), min(sides[1], longest)


def _drawn(page: pypdfium2.PdfPage, width: int, height: int) -> Pixels:
    """A page on white ground; PDFium turns it upright."""
    bitmap = pypdfium2.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGR, rev_byteorder=True)
    try:
        bitmap.fill_rect(_WHITE, 0, 0, width, height)
        flags = raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER
        raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
        return np.array(bitmap.to_numpy(), order="C")
    finally:
        bitmap.close()
