"""The picture stream of a video file, opened by FFmpeg (PyAV) from the open file alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from engine.errors import ImageError, ImageUnreachableError, reason_of
from engine.images.media_kinds import video_container
from engine.images.part_reader import MOST_FRAME_PIXELS, too_large
from engine.images.readers import SNIFFED_BYTES

_OPTIONS: Final = {
    "probesize": str(16 * 1024**2),  # bytes read at most to learn what a stream is. Chosen.
    "analyzeduration": "10000000",  # microseconds of it. Chosen.
    "protocol_whitelist": "none",  # what a file names is never opened: no other file, no address
}


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
