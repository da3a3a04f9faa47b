"""What the readers of files with several pictures have in common, and which parts a person wants of a file."""

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.file_parts import FilePart
from engine.images.details_messages import PhotoDetails

EVERY_S: Final = 2.0
"""Seconds between two frames of a video. Chosen: an animal that walks by is in view for three to ten seconds."""
LEAST_S: Final = 0.1
"""Fewest seconds between two frames that a person may choose. Chosen: a few frames of most cameras."""
MOST_S: Final = 86_400.0  # the most: a day
MOST_FRAMES: Final = 30
"""Of one video. Chosen: a clip of a camera trap has a minute at most; of a longer video they are spread evenly."""
MOST_PAGES: Final = 10_000
"""Of one file. Chosen: above the thickest books; each page is an image in the project."""


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


EVERYTHING: Final = PartsWanted()
"""What is wanted where a person chose nothing."""


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
    ) -> NDArray[np.uint8]:
        """The picture that a part is in, upright, (H, W, 3) uint8; a box is not cut out of it.

        Args:
            part: of the whole file, the first picture is meant.
            smallest_side: pixels that the shorter side should have at least, where the file has them.
            longest_side: pixels that the longer side may have at most; goes before `smallest_side`.

        Raises:
            ImageError: there is no such picture, or it is damaged.
        """

    @abstractmethod
    def details(self, part: FilePart) -> PhotoDetails:
        """What the file says of a part."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the reader holds; nothing can be read any more."""
