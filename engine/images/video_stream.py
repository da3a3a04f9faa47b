"""The picture stream of a video file, opened by FFmpeg (PyAV), and upright pixels of its frames."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import BinaryIO, NamedTuple, Self

import av
import numpy as np
from av.container import InputContainer
from av.sidedata.sidedata import SideData
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation
from av.video.stream import VideoStream

from engine.arrays import Pixels
from engine.errors import ImageError, ImageUnreachableError, reason_of
from engine.images.frame_choice import SMALL
from engine.images.image_header import UPRIGHT, upright
from engine.images.media_kinds import video_container
from engine.images.part_reader import MOST_FRAME_PIXELS, too_large
from engine.images.readers import SNIFFED_BYTES

_OPTIONS = {
    "probesize": str(16 * 1024**2),  # bytes read at most to learn what a stream is. Chosen.
    "analyzeduration": "10000000",  # microseconds of it. Chosen.
    "protocol_whitelist": "none",  # what a file names is never opened: no other file, no address
}
_TINY = (8, 8)  # width and height of a copy of which only the side data count
_UNSPECIFIED = 2  # AVCOL_SPC_UNSPECIFIED
_HIGH_DEFINITION = 720  # rows from which on undeclared colours are BT.709, as in players
_SIDEWAYS = 5  # from this orientation on, rows are columns
_ORIENTATIONS = {
    (1, 0, 0, 1): 1,
    (-1, 0, 0, 1): 2,
    (-1, 0, 0, -1): 3,
    (1, 0, 0, -1): 4,
    (0, 1, 1, 0): 5,
    (0, 1, -1, 0): 6,
    (0, -1, -1, 0): 7,
    (0, -1, 1, 0): 8,
}
"""EXIF orientation by the signs of a display matrix: directions of right and down when shown."""
_MOST_STRETCHED = 4  # pixels that are longer are an error of the file. Chosen.


def open_container(file: BinaryIO) -> InputContainer:
    """A video's container, by the first bytes of the file; raises `ImageError`."""
    file.seek(0)
    name = video_container(file.read(SNIFFED_BYTES))
    if not name:
        raise ImageError(
            "this is not a video that can be read",
            expected="MP4, MOV, M4V, AVI, MKV, WebM or MTS",
            remedy="convert it to MP4 with another program",
        )
    file.seek(0)
    with as_image_errors():
        return av.open(
            file, "r", format=name, container_options=_OPTIONS, metadata_errors="replace"
        )


def picture_stream(container: InputContainer) -> VideoStream:
    """The stream to decode, ready for it.

    Raises:
        ImageError: there is none, nothing here decodes it, or its frames are too large.
    """
    stream = container.streams.best("video")
    if not isinstance(stream, VideoStream) or stream.disposition & Disposition.attached_pic:
        raise ImageError(
            "the file has no video", expected="a video, not sound alone", remedy="leave it out"
        )
    context = stream.codec_context
    if context is None:
        raise ImageError(
            "the video is stored in a way that cannot be read",
            expected="such as H.264, H.265, VP9, AV1, MPEG-4 or Motion JPEG",
            remedy="convert it to MP4 with another program, and add that",
        )
    if context.width * context.height > MOST_FRAME_PIXELS:
        raise too_large(context.width, context.height, MOST_FRAME_PIXELS)
    context.options = {"max_pixels": str(MOST_FRAME_PIXELS)}  # a later frame may claim another size
    context.thread_count = 1  # several files are read at once
    return stream


@contextmanager
def as_image_errors() -> Iterator[None]:
    """Convert errors of FFmpeg to an `ImageError`."""
    try:
        yield
    except av.FFmpegError as error:
        raise ImageError(
            "the video is damaged or incomplete",
            found=str(error.strerror or type(error).__name__),
            remedy="copy the file again from the camera's card",
        ) from error
    except OSError as error:
        raise ImageUnreachableError("the file cannot be read", found=reason_of(error)) from error
    except MemoryError as error:
        raise ImageError("there is not enough memory for this image") from error


class FrameGeometry(NamedTuple):
    """How frames of a video are shown.

    Attributes:
        pixel_shape: width of a stored pixel by its height.
        orientation: as of EXIF.
    """

    pixel_shape: Fraction = Fraction(1)
    orientation: int = UPRIGHT

    @classmethod
    def of(cls, frame: VideoFrame, pixel_shape: Fraction | None) -> Self:
        """Geometry of a frame and its stream; an absurd pixel aspect is ignored.

        WORKAROUND: a tiny copy is used. A frame and the accessed list of its side data refer to
            each other, and take megabytes until garbage collection. Can go when PyAV's list does
            not hold the frame.
        """
        shape = pixel_shape or cls().pixel_shape
        if not 1 / _MOST_STRETCHED <= shape <= _MOST_STRETCHED:
            shape = cls().pixel_shape
        return cls(shape, _orientation(frame.reformat(*_TINY, format="gray", threads=1)))

    def size(self, frame: VideoFrame) -> tuple[int, int]:
        """Width and height of the upright picture."""
        width, height = self.width(frame), frame.height
        return (height, width) if self.orientation >= _SIDEWAYS else (width, height)

    def width(self, frame: VideoFrame) -> int:
        """Of the picture as stored, all of its pixels square."""
        return max(1, round(frame.width * self.pixel_shape))


def rgb_of(frame: VideoFrame, geometry: FrameGeometry) -> Pixels:
    """Upright pixels (H, W, 3) uint8, all square."""
    is_unspecified = frame.colorspace == _UNSPECIFIED
    matrix = Colorspace.ITU709 if is_unspecified and frame.height >= _HIGH_DEFINITION else None
    picture = frame.reformat(
        width=geometry.width(frame),
        format="rgb24",
        src_colorspace=matrix,
        dst_color_range=ColorRange.JPEG,
        threads=1,  # several files are read at once
    )
    return upright(_eight_bit(picture), geometry.orientation)


def small_picture(frame: VideoFrame) -> Pixels:
    """The frame as stored, gray, (18, 32) uint8, each value the mean of its cell."""
    return _eight_bit(
        frame.reformat(*SMALL, format="gray", interpolation=Interpolation.AREA, threads=1)
    )


def _eight_bit(frame: VideoFrame) -> Pixels:
    """Values of a frame in a format of eight bits."""
    return np.asarray(frame.to_ndarray(), dtype=np.uint8)


def _orientation(frame: VideoFrame) -> int:
    """As of EXIF; 1 for a matrix that turns by no right angle."""
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if not isinstance(matrix, SideData):
        return UPRIGHT
    signs = np.sign(np.frombuffer(bytes(matrix), np.int32))
    return _ORIENTATIONS.get((int(signs[0]), int(signs[1]), int(signs[3]), int(signs[4])), UPRIGHT)
