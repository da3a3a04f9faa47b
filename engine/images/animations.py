"""Frames of animated GIFs, WebPs and PNGs, which Pillow composes from the first one on."""

import io
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate, islice
from pathlib import Path
from typing import final

import numpy as np
from PIL import Image

from engine.arrays import Pixels
from engine.errors import ImageError
from engine.events import CancelToken
from engine.file_parts import FilePart
from engine.files import PhotoDetails
from engine.images.colour_profile import in_srgb, profile_of
from engine.images.frame_choice import SAME_S, SAMPLED_S, SMALL, changes, evenly
from engine.images.frame_times import animation_frames
from engine.images.image_header import image_orientation, upright
from engine.images.part_reader import (
    MOST_FRAME_PIXELS,
    MOST_SECONDS,
    PartReader,
    PartsWanted,
    too_large,
    too_late,
    too_long,
    too_many_frames,
)
from engine.images.photo_details import details_in
from engine.images.pillow_errors import pillow_errors
from engine.images.pixels import fit_within, rgb_image
from engine.images.read_file import PIXELS, read_file
from engine.images.taken_time import real_time

MOST_FRAMES = 10_000
"""Of one file. Chosen: a quarter of an hour at ten frames a second; each needs all before it."""
_FORMATS = ("GIF", "WEBP", "PNG")
# of the picture, the one before, what is put between, and the result, as Pillow holds them
_PIXEL_BYTES = 24


@final
class AnimationFrames(PartReader):
    """An open animation: its file is in memory, and the pixels of one frame."""

    def __init__(self, path: Path, cancel: CancelToken | None = None) -> None:
        self._cancel = cancel or CancelToken()
        self._data = read_file(path)
        self._image: Image.Image | None = None  # at the frame that was read last
        self._read = 0  # its number
        self._details: PhotoDetails | None = None  # of the file
        frames = list(islice(animation_frames(io.BytesIO(self._data)), MOST_FRAMES + 1))
        if not frames:  # it was another file a moment ago
            raise ImageError("the image is damaged or incomplete")
        self._ends = list(accumulate(frame.seconds for frame in frames))
        self._size = max(frame.width for frame in frames), max(frame.height for frame in frames)

    def parts(self, wanted: PartsWanted) -> list[FilePart]:
        """The unchanged file where one frame alone is wanted, so that it is exported as is."""
        if len(self._ends) > MOST_FRAMES:
            raise too_many_frames()
        if self._ends[-1] > MOST_SECONDS:
            raise too_long(self._ends[-1])
        self._pixels(0)  # a damaged file is one image that fails, and not many
        if wanted.at_changes:
            times = changes(self._small_pictures(), wanted.most_frames)
        else:
            times = evenly(self._ends[-1], wanted.every_s, wanted.most_frames)
        first = {
            self._number(seconds): seconds for seconds in reversed(times)
        }  # a frame may be shown for long
        if len(first) == 1:
            return [FilePart()]
        return [FilePart(seconds=first[number]) for number in sorted(first)]

    def rgb(
        self,
        part: FilePart,
        *,
        smallest_side: int | None = None,  # noqa: ARG002 (frames have full size by default)
        longest_side: int | None = None,
    ) -> Pixels:
        """The frame that is shown at the time of a part."""
        pixels = self._pixels(self._number(part.seconds or 0.0))
        return fit_within(pixels, longest_side) if longest_side else np.ascontiguousarray(pixels)

    def details(self, part: FilePart) -> PhotoDetails:
        """A frame was taken at the time of the file and its own seconds."""
        details = self._details = self._details or details_in(self._data)
        if details.taken_at is None or not part.seconds:
            return details
        return replace(
            details, taken_at=real_time(details.taken_at + timedelta(seconds=part.seconds))
        )

    def close(self) -> None:
        self._image = None
        self._data = b""

    def _number(self, seconds: float) -> int:
        """The frame that is shown at a time, from 0 on."""
        if seconds >= self._ends[-1]:
            raise too_late(seconds, self._ends[-1])
        return min(bisect_right(self._ends, seconds + SAME_S), len(self._ends) - 1)

    def _pixels(self, number: int) -> Pixels:
        """A frame (H, W, 3) uint8, upright."""
        width, height = self._size
        if width * height > MOST_FRAME_PIXELS:
            raise too_large(width, height, MOST_FRAME_PIXELS)
        if number >= MOST_FRAMES:
            raise too_many_frames()
        # WORKAROUND: to seek back the file is opened again. Pillow's PNG reader does not reset all
        # state
        # when it seeks back (Pillow 13.0), and then reports damage. Can go when it resets it.
        image = self._image if number >= self._read else None
        self._image, self._read = None, number  # one that fails is left in the midst of a frame
        with pillow_errors(self._data), PIXELS.holding(width * height * _PIXEL_BYTES):
            image = image or Image.open(io.BytesIO(self._data), formats=_FORMATS)
            self._go_to(image, number)
            pixels = in_srgb(np.asarray(rgb_image(image)), profile_of(image))
            orientation = image_orientation(image)
        self._image = image
        return upright(pixels, orientation)

    def _go_to(self, image: Image.Image, number: int) -> None:
        """Have Pillow decode the frames up to one, each on top of the one before."""
        # of a PNG whose still picture is not a frame
        place = number + int(getattr(image, "default_image", False))
        image.load()
        for each in range(image.tell() + 1, place + 1):
            self._cancel.raise_if_cancelled()
            image.seek(each)
            image.load()

    def _small_pictures(self) -> Iterator[tuple[float, Pixels]]:
        """Seconds and thumbnails of frames that are at least `SAMPLED_S` apart, from the start."""
        following = 0.0
        for number, begin in enumerate([0.0, *self._ends[:-1]]):
            if begin + SAME_S >= following:
                following = begin + SAMPLED_S
                grey = Image.fromarray(self._pixels(number)).convert("L")
                yield begin, np.asarray(grey.resize(SMALL, Image.Resampling.BOX))
