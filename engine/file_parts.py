"""Parts of image files: a bounding box, a page of a document, a moment of a video.

A part is written as a media fragment (W3C Media Fragments URI 1.0, and `page` as for PDF):
`page=3`, `t=12.5`, `xywh=percent:25,10,50,30`, several joined by "&". The whole file is "".
"""

import math
import re
from pathlib import Path
from typing import NamedTuple, Self

from blake3 import blake3

from engine.errors import InputError

WHOLE = ""
"""The part of a file that is all of it."""
MOST_BOXES = 1_000
"""Of one file. Chosen: above the objects of any image that can be reviewed."""
LONGEST_PART = 200  # characters
_HASH_BYTES = 16
_DECIMALS = 5
"""Of percent: a hundredth of a pixel on a side of 100,000 pixels."""
_NUMBER = r"\d{1,7}(?:\.\d{1,5})?"
_FORM = re.compile(
    rf"(?:page=(?P<page>[1-9]\d{{0,5}}))?"
    rf"(?:(?:^|&)t=(?P<t>{_NUMBER}))?"
    rf"(?:(?:^|&)xywh=percent:(?P<box>{_NUMBER}(?:,{_NUMBER}){{3}}))?"
    rf"(?:(?:^|&)thing=(?P<thing>[1-9]\d{{0,3}}))?"
)
_WITHIN_PICTURE = re.compile(r"&?(?:xywh|thing)=.*")


class BoundingBox(NamedTuple):
    """A rectangle in an upright picture, relative to its width and height: 0..1."""

    left: float
    top: float
    width: float
    height: float

    @classmethod
    def of(cls, left: float, top: float, width: float, height: float) -> Self:
        """A box cut off at the edges of the picture.

        Raises:
            InputError: a value is not finite, or nothing of the box is in the picture.
        """
        values = left, top, width, height
        if not all(map(math.isfinite, values)) or width <= 0 or height <= 0:
            raise _no_box(values, "four finite numbers, with a width and a height above 0")
        right, bottom = _rounded(min(left + width, 1.0)), _rounded(min(top + height, 1.0))
        left, top = _rounded(max(left, 0.0)), _rounded(max(top, 0.0))
        box = cls(left, top, _rounded(right - left), _rounded(bottom - top))
        if box.width <= 0 or box.height <= 0:
            raise _no_box(values, "a box that lies in the picture")
        return box

    @classmethod
    def of_pixels(
        cls, left: float, top: float, width: float, height: float, size: tuple[int, int]
    ) -> Self:
        """A box in pixels of a picture of this width and height; raises as `of`."""
        picture_width, picture_height = size
        if picture_width <= 0 or picture_height <= 0:
            raise _no_box((left, top, width, height), "the width and the height of the picture")
        return cls.of(
            left / picture_width,
            top / picture_height,
            width / picture_width,
            height / picture_height,
        )

    def in_pixels(self, size: tuple[int, int]) -> tuple[float, float, float, float]:
        """Left, top, width and height in pixels of a picture of this width and height."""
        width, height = size
        return self.left * width, self.top * height, self.width * width, self.height * height

    def overlap(self, other: "BoundingBox") -> float:
        """Intersection over union with another box, 0..1."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        if width <= 0 or height <= 0:
            return 0.0
        common = width * height
        return common / (self.width * self.height + other.width * other.height - common)

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height


class FilePart(NamedTuple):
    """What of a file is one image.

    Attributes:
        page: from 1 on; None where the file has no pages, or all of them are meant.
        seconds: from the start of a video; None for other files.
        box: None for the whole picture.
        thing: number of a further object in the picture that has no box, from 2 on; None for the
            first.
    """

    page: int | None = None
    seconds: float | None = None
    box: BoundingBox | None = None
    thing: int | None = None

    @property
    def text(self) -> str:
        """As projects store it; "" for the whole file."""
        texts = (
            "" if self.page is None else f"page={self.page}",
            "" if self.seconds is None else f"t={_number(self.seconds)}",
            ""
            if self.box is None
            else f"xywh=percent:{','.join(_number(each * 100) for each in self.box)}",
            "" if self.thing is None else f"thing={self.thing}",
        )
        return "&".join(filter(None, texts))

    @property
    def picture(self) -> "FilePart":
        """The picture that the part is in: a whole image, page or frame."""
        return FilePart(self.page, self.seconds)


class ImageSource(NamedTuple):
    """Where the pixels of an image come from."""

    path: Path
    part: str = WHOLE  # text of a `FilePart`


def file_part(text: str) -> FilePart:
    """The part that a text names.

    Raises:
        InputError: it names none.
    """
    found = _FORM.fullmatch(text) if len(text) <= LONGEST_PART else None
    if found is None:
        raise InputError(
            '"{part}" names no part of an image',
            expected="such as page=3, t=12.5 or xywh=percent:25,10,50,30",
            part=text[:LONGEST_PART],
        )
    page, seconds, box, thing = found.group("page", "t", "box", "thing")
    return FilePart(
        int(page) if page else None,
        float(seconds) if seconds else None,
        BoundingBox.of(*(float(each) / 100 for each in box.split(","))) if box else None,
        int(thing) if thing else None,
    )


def is_within_picture(part: str) -> bool:
    """Whether a part is a box or a further object in a picture; else it is a whole picture."""
    return "xywh" in part or "thing" in part


def picture_part(part: str) -> str:
    """The whole picture, page or frame of a part, as `FilePart.picture`, without parsing it."""
    return _WITHIN_PICTURE.sub("", part)


def part_content(file_content: bytes, part: str) -> bytes:
    """Content hash, 16 bytes, of a part of a file; that of the whole file is the file's own."""
    if not part:
        return file_content
    return blake3(file_content + part.encode()).digest(length=_HASH_BYTES)


WHOLE_FILE = FilePart()


def _rounded(share: float) -> float:
    return round(share * 100, _DECIMALS) / 100


def _number(value: float) -> str:
    return f"{value:.{_DECIMALS}f}".rstrip("0").rstrip(".")


def _no_box(values: tuple[float, ...], expected: str) -> InputError:
    return InputError(
        "this is not a bounding box",
        expected=expected,
        found=", ".join(f"{each:g}" for each in values),
        remedy="correct it where it was written",
    )
