"""Generated videos: the colour of each frame is its number."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.stream import VideoStream
from numpy.typing import NDArray

FRAMES_PER_S = 30
_LEVELS = 16  # of red and of green: 256 colours
_MATRICES = {
    1: (1, 0, 0, 1),
    2: (-1, 0, 0, 1),
    3: (-1, 0, 0, -1),
    4: (1, 0, 0, -1),
    5: (0, 1, 1, 0),
    6: (0, 1, -1, 0),
    7: (0, -1, -1, 0),
    8: (0, -1, 1, 0),
}


def numbered(number: int, size: tuple[int, int] = (64, 48)) -> NDArray[np.uint8]:
    """A frame of one colour, (height, width, 3) uint8."""
    colour = ((number % _LEVELS) * 16 + 8, (number // _LEVELS) * 16 + 8, 128)
    return np.full((size[1], size[0], 3), colour, dtype=np.uint8)


def number_of(pixels: NDArray[np.uint8]) -> int:
    """The number of a frame's colour."""
    red, green = (round((float(pixels[..., channel].mean()) - 8) / 16) for channel in (0, 1))
    return red + green * _LEVELS


def write_video(
    path: Path,
    codec: str = "mpeg4",
    pictures: list[NDArray[np.uint8]] | int = 60,
    *,
    key_every: int = 12,
    metadata: dict[str, str] | None = None,
    pixel_shape: Fraction | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """Write a video of 30 frames per second from pictures, or a number of numbered frames."""
    frames = (
        [numbered(number) for number in range(pictures)] if isinstance(pictures, int) else pictures
    )
    container_format = "mpegts" if path.suffix == ".mts" else None
    with av.open(str(path), "w", format=container_format, options=options or {}) as container:
        container.metadata.update(metadata or {})
        at_cuts = (
            {"sc_threshold": "1000000000"} if codec.startswith("mpeg") else {}
        )  # no further key frames
        stream = container.add_stream(codec, rate=FRAMES_PER_S, options=at_cuts)
        assert isinstance(stream, VideoStream)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.bit_rate = 4_000_000
        stream.codec_context.gop_size = key_every
        stream.codec_context.max_b_frames = 0 if codec == "mjpeg" else 2
        if pixel_shape is not None:
            stream.codec_context.sample_aspect_ratio = pixel_shape
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def turn(path: Path, orientation: int) -> None:
    """Set the rotation of an MP4, as an EXIF orientation."""
    data = path.read_bytes()
    at = (
        data.index(b"tkhd") + 4 + 40
    )  # ISO 14496-12: after version, times, number, length, layer and volume
    a, b, c, d = (value << 16 for value in _MATRICES[orientation])
    matrix = b"".join(
        value.to_bytes(4, "big", signed=True) for value in (a, b, 0, c, d, 0, 0, 0, 1 << 30)
    )
    path.write_bytes(data[:at] + matrix + data[at + len(matrix) :])
