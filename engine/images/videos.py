"""Frames of videos: the one of each time, exactly.

A video is decoded forwards, so that frames in ascending order decode it at most once. It seeks
back, and forwards over unneeded frames: to the last key frame before the requested time.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import NamedTuple, final

import av
import numpy as np
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from engine.arrays import Pixels
from engine.errors import ImageError, ImageUnreachableError, reason_of
from engine.events import CancelToken
from engine.file_parts import FilePart
from engine.files import PhotoDetails, open_regular
from engine.images.frame_choice import SAME_S, SAMPLED_S, changes, evenly
from engine.images.part_reader import (
    MOST_SECONDS,
    PartReader,
    PartsWanted,
    too_late,
    too_long,
    too_many_frames,
)
from engine.images.pixels import fit_within
from engine.images.read_file import PIXELS, refusals
from engine.images.video_details import video_details
from engine.images.video_stream import (
    FrameGeometry,
    as_image_errors,
    open_container,
    picture_stream,
    rgb_of,
    small_picture,
)

# of a file that is read for its duration. Chosen: half a second from a disk.
_SCANNED_BYTES = 64 * 1024**2
# decoded for one that is wanted. Chosen: nine hours at 30 frames a second
_MOST_FRAMES = 1_000_000
_JUMP_S = 10.0  # it seeks over more, without an index. Chosen: usual distance of key frames
_WORTHWHILE = 8  # least frames that a seek skips: it restarts the decoder. Chosen.
# from which a jump that came out too late is tried again; doubled each time. Chosen.
_STEP_BACK_S = 2.0


class _Timed(NamedTuple):
    """A decoded frame, and when it is shown: in units of the stream's time base."""

    frame: VideoFrame
    at: int


@final
class VideoFrames(PartReader):
    """An open video: in memory are one frame, the next one, and what the decoder refers to."""

    def __init__(self, path: Path, cancel: CancelToken | None = None) -> None:
        self._cancel = cancel or CancelToken()
        self._current: _Timed | None = None
        self._next: _Timed | None = None
        self._frames: Iterator[_Timed] = iter(())
        self._read_at = 0  # time of the last packet that was read, as an index is ordered
        with refusals():
            self._file = open_regular(path)
        try:
            self._container = open_container(self._file)
            self._stream = picture_stream(self._container)
            self._unit_s = self._stream.time_base or Fraction(1, 1000)
            self._go_on()
            first = self._first()
        except BaseException:
            self._frames = iter(())
            self._file.close()
            raise
        self._first_at = first.at
        self._geometry = FrameGeometry.of(first.frame, self._stream.sample_aspect_ratio)
        self._size = self._geometry.size(first.frame)

    @property
    def frame_s(self) -> float:
        """Seconds from one frame to the next, on average."""
        rate = self._stream.average_rate or self._stream.guessed_rate
        return float(1 / rate) if rate else 0.0

    def duration_s(self) -> float:
        """Seconds of the frames, from the index of the file; else as claimed by its header.

        Raises:
            ImageError: the header claims more than `MOST_SECONDS`.
        """
        units = self._stream.duration
        claimed = (
            float(units * self._unit_s) if units else (self._container.duration or 0) / av.time_base
        )
        if claimed > MOST_SECONDS:
            raise too_long(claimed)
        index = self._stream.index_entries
        size_bytes = os.fstat(self._file.fileno()).st_size
        whole = len(index)
        while whole and index[whole - 1].pos + index[whole - 1].size > size_bytes:
            whole -= 1
        if whole < len(index):
            return (
                float(max(index[whole - 1].timestamp, 0) * self._unit_s) + self.frame_s
                if whole
                else self.frame_s
            )
        if claimed and (units or size_bytes > _SCANNED_BYTES):
            return claimed
        return self._scanned_s()  # Matroska claims the same where half of the file is missing

    def parts(self, wanted: PartsWanted) -> list[FilePart]:
        if wanted.at_changes:
            times = changes(self._small_pictures(), wanted.most_frames)
        else:
            times = evenly(self.duration_s(), wanted.every_s, wanted.most_frames)
        return [FilePart(seconds=seconds) for seconds in times]

    def rgb(
        self,
        part: FilePart,
        *,
        smallest_side: int | None = None,  # noqa: ARG002 (frames have full size by default)
        longest_side: int | None = None,
    ) -> Pixels:
        """The frame that is shown at the time of a part."""
        frame = self._frame_at(part.seconds or 0.0)
        width, height = self._geometry.size(frame)
        with PIXELS.holding(2 * 3 * width * height), as_image_errors():
            pixels = rgb_of(frame, self._geometry)
            return (
                fit_within(pixels, longest_side) if longest_side else np.ascontiguousarray(pixels)
            )

    def details(self, part: FilePart) -> PhotoDetails:
        metadata = {**self._stream.metadata, **self._container.metadata}
        return video_details(metadata, self._size, part.seconds or 0.0, self._container.format.name)

    def close(self) -> None:
        self._current = self._next = None
        self._frames = iter(())  # it refers to this video, which would stay in memory with it
        with suppress(av.FFmpegError):
            self._container.close()
        self._file.close()

    def _first(self) -> _Timed:
        if self._current is None:
            raise ImageError(
                "the video has no frame that can be decoded",
                remedy="copy the file again from the camera's card",
            )
        return self._current

    def _frame_at(self, seconds: float) -> VideoFrame:
        """The last frame that begins at a time or before."""
        wanted = self._first_at + math.floor((seconds + SAME_S) / self._unit_s)
        if self._is_jump(wanted):
            self._jump(wanted)
        for number in count():
            if self._next is None or self._next.at > wanted:
                break
            if number >= _MOST_FRAMES:
                raise too_many_frames()
            self._current, self._next = self._next, next(self._frames, None)
        if self._current is None or (self._next is None and wanted >= self._end_of(self._current)):
            raise self._too_late(seconds)
        return self._current.frame

    def _is_jump(self, wanted: int) -> bool:
        """Whether a jump is needed, back, or saves work: over a key frame that is not read yet."""
        if self._current is None or wanted < self._current.at:
            return True
        if self._next is None:
            return False
        index = self._stream.index_entries
        if len(index) and index[len(index) - 1].timestamp >= wanted:
            key_frame = index.search_timestamp(wanted, backward=True)
            return key_frame - index.search_timestamp(self._read_at, any_frame=True) > _WORTHWHILE
        return float((wanted - self._next.at) * self._unit_s) > _JUMP_S

    def _jump(self, wanted: int) -> None:
        """Go on from the last key frame before a time, or from the start."""
        back = 0
        while wanted - back > self._first_at:
            with suppress(av.FFmpegError):
                self._container.seek(wanted - back, stream=self._stream)
                self._go_on(from_key_frame=True)
                if self._current is not None and self._current.at <= wanted:
                    return
            back = max(2 * back, round(_STEP_BACK_S / self._unit_s))
        self._restart()

    def _restart(self) -> None:
        """Open it again: no container promises that a jump to the start arrives there."""
        with suppress(av.FFmpegError):
            self._container.close()
        self._container = open_container(self._file)
        self._stream = picture_stream(self._container)
        self._go_on()

    def _go_on(self, *, from_key_frame: bool = False) -> None:
        self._read_at = self._stream.start_time or 0
        self._frames = self._decoded(from_key_frame=from_key_frame)
        self._current = next(self._frames, None)
        self._next = next(self._frames, None)

    def _decoded(self, *, from_key_frame: bool) -> Iterator[_Timed]:
        """Frames in display order; damaged ones are skipped."""
        at, step = 0, max(1, round(self.frame_s / self._unit_s))
        is_waiting = from_key_frame
        for packet in self._packets():
            for frame in self._frames_of(packet):
                at = at + step if frame.pts is None else frame.pts
                is_waiting = is_waiting and not frame.key_frame
                if not is_waiting:
                    yield _Timed(frame, at)

    def _packets(self) -> Iterator["Packet[VideoStream] | None"]:
        """Complete packets up to the end of the file, or to damage without an end; then None."""
        packets = self._container.demux(self._stream)
        while True:
            self._cancel.raise_if_cancelled()
            try:
                packet = next(packets, None)
            except (av.FFmpegError, IndexError):
                # WORKAROUND: at the end PyAV may request a later stream that is not listed.
                packet = None
            except OSError as error:
                raise ImageUnreachableError(
                    "the file cannot be read", found=reason_of(error)
                ) from error
            if packet is None:
                yield None
                return
            if packet.dts is not None:
                self._read_at = packet.dts
            if not packet.is_corrupt:
                yield packet

    def _frames_of(self, packet: "Packet[VideoStream] | None") -> list[VideoFrame]:
        """What the decoder makes of a packet, or has left at the end; nothing of a damaged one."""
        with suppress(av.FFmpegError):
            return self._stream.codec_context.decode(packet)
        return []

    def _small_pictures(self) -> Iterator[tuple[float, Pixels]]:
        """Seconds and thumbnails of frames that are at least `SAMPLED_S` apart, from the start."""
        self._restart()
        following = 0.0
        while self._current is not None:
            frame, at = self._current
            if at >= following:
                following = at + SAMPLED_S / self._unit_s
                with as_image_errors():
                    small = small_picture(frame)
                yield float((at - self._first_at) * self._unit_s), small
            self._current, self._next = self._next, next(self._frames, None)

    def _scanned_s(self) -> float:
        """Seconds of a video without a duration in its header: all is read, nothing decoded."""
        self._restart()
        last = max(
            (packet.pts for packet in self._packets() if packet and packet.pts is not None),
            default=0,
        )
        self._restart()
        return float((last - self._first_at) * self._unit_s) + self.frame_s

    def _end_of(self, timed: _Timed) -> int:
        return timed.at + max(timed.frame.duration or 0, round(self.frame_s / self._unit_s), 1)

    def _too_late(self, seconds: float) -> ImageError:
        end_at = self._first_at if self._current is None else self._end_of(self._current)
        breaks_off = (self._stream.duration or 0) * self._unit_s > seconds
        return too_late(
            seconds, float((end_at - self._first_at) * self._unit_s), breaks_off=breaks_off
        )
