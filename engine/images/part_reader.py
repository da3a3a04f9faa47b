"""Interface of readers of files with several pictures, and options for their parts."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from engine.arrays import Pixels
from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.files import PhotoDetails

EVERY_S = 2.0
"""Seconds between two frames of a video. Chosen: a passing animal is visible for three to ten."""
LEAST_S = 0.1
"""Least configurable seconds between two frames. Chosen: a few frames of most cameras."""
MOST_S = 86_400.0  # the most: a day
MOST_FRAMES = 30
"""Of one video. Chosen: a trap clip has a minute at most; of a longer one they are spread."""
MOST_PAGES = 10_000
"""Of one file. Chosen: above the thickest books; each page is an image in the project."""
MOST_SECONDS = 86_400
"""Of a video. Chosen: a day; a header that claims more is damaged, or the file is a recorder's."""
MOST_FRAME_PIXELS = 40_000_000
"""Of a video. Chosen: above 8K, the most of cameras; decoders hold up to seventeen frames."""


class PartsWanted(NamedTuple):
    """Which parts of a file become images.

    Attributes:
        every_s: seconds between two frames of a video.
        most_frames: of one video; where there are more, they are spread evenly.
        at_changes: frames where the picture changes, instead of one every so many seconds.
    """

    every_s: float = EVERY_S
    most_frames: int = MOST_FRAMES
    at_changes: bool = False


EVERYTHING = PartsWanted()
"""Default options."""


class PartReader(ABC):
    """A file that stays open while its parts are read; not safe with threads."""

    @abstractmethod
    def parts(self, wanted: PartsWanted) -> list[FilePart]:
        """The parts that become images, in order; the whole file alone where it has none.

        Raises:
            ImageError: the file has no picture, or too many.
        """

    @abstractmethod
    def rgb(
        self, part: FilePart, *, smallest_side: int | None = None, longest_side: int | None = None
    ) -> Pixels:
        """The picture that a part is in, upright, (H, W, 3) uint8; a box is not cut out of it.

        Args:
            part: of the whole file, the first picture is meant.
            smallest_side: least pixels of the shorter side, where the file has them.
            longest_side: pixels that the longer side may have at most; goes before `smallest_side`.

        Raises:
            ImageError: there is no such picture, or it is damaged.
        """

    @abstractmethod
    def details(self, part: FilePart) -> PhotoDetails:
        """Metadata of a part."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the reader holds; nothing can be read any more."""


def too_large(width: int, height: int, most: int) -> ImageError:
    """The error for a video whose frames have more than so many pixels."""
    return ImageError(
        "the video is too large",
        expected="at most {limit} megapixels",
        found=f"{width} x {height}",
        remedy="scale it down first",
        limit=most // 1_000_000,
    )


def too_long(seconds: float) -> ImageError:
    """The error for a video that claims more than `MOST_SECONDS`."""
    return ImageError(
        "the video is too long",
        expected="at most {most} hours",
        found=f"{seconds / 3600:.0f}",
        remedy="cut it into shorter ones",
        most=MOST_SECONDS // 3600,
    )


def too_many_frames() -> ImageError:
    """The error for a video of which more frames would be decoded than anybody waits for."""
    return ImageError(
        "the video has too many frames before this one", remedy="cut it into shorter ones"
    )


def too_late(seconds: float, end_s: float, *, breaks_off: bool = False) -> ImageError:
    """The error for a time at which a video has no frame; it may break off before it ends."""
    return ImageError(
        "the video breaks off before this time"
        if breaks_off
        else "the video ends before this time",
        expected="less than {end} s",
        found=f"{seconds:g} s",
        remedy="copy the file again from the camera's card" if breaks_off else "",
        end=f"{end_s:.2f}",
    )
