"""Frames of videos by time, exact in any order, or an error."""

import gc
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import psutil
import pytest
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from engine.errors import Cancelled, ImageError, ImageMissingError
from engine.events import CancelToken
from engine.file_parts import FilePart
from engine.images import video_stream, videos
from engine.images.part_reader import PartsWanted
from engine.images.parts_of_file import open_file_parts, parts_of
from tests.support.images import four_corners, stored_turned
from tests.support.videos import FRAMES_PER_S, number_of, numbered, turn, write_video

COUNT = 60


def at(number: int) -> FilePart:
    """The start time of a frame, as stored in a project."""
    return FilePart(seconds=round(number / FRAMES_PER_S, 5))


def packets_decoded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Record the packets given to the decoder."""
    packets: list[object] = []
    frames_of = videos.VideoFrames._frames_of  # noqa: SLF001

    def counted(
        video: videos.VideoFrames, packet: "Packet[VideoStream] | None"
    ) -> list[VideoFrame]:
        packets.append(packet)
        return frames_of(video, packet)

    monkeypatch.setattr(videos.VideoFrames, "_frames_of", counted)
    return packets


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *(
            ("a.mp4", "mpeg4"),
            ("a.mov", "mpeg4"),
            ("a.avi", "mjpeg"),
            ("a.avi", "mpeg4"),
            ("a.m4v", "mpeg4"),
        ),
        *(("a.mkv", "mpeg4"), ("a.mts", "mpeg2video"), ("a.webm", "libvpx-vp9")),
    ],
)
def test_every_frame_is_found_exactly(tmp_path: Path, name: str, codec: str) -> None:
    """In order, backwards and randomly; between two frames the first counts."""
    path = write_video(tmp_path / name, codec, COUNT)
    order = [*range(COUNT), *range(COUNT - 1, -1, -7), *random.Random(1).sample(range(COUNT), 20)]
    with open_file_parts(path) as video:
        assert [number_of(video.rgb(at(number))) for number in order] == order
        between = FilePart(seconds=round(7.9 / FRAMES_PER_S, 5))
        assert number_of(video.rgb(between)) == 7
        assert number_of(video.rgb(FilePart())) == 0


def test_a_frame_asked_for_alone(tmp_path: Path) -> None:
    """It equals one read after others."""
    path = write_video(tmp_path / "a.mp4")
    for number in (0, 11, 12, 13, 59):
        with open_file_parts(path) as video:
            assert number_of(video.rgb(at(number))) == number


def test_frames_in_order_decode_a_video_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one key frame, 30 sequential requests decode each packet once."""
    path = write_video(tmp_path / "a.mp4", key_every=600)
    decoded = packets_decoded(monkeypatch)
    with open_file_parts(path) as video:
        assert [number_of(video.rgb(at(number))) for number in range(0, COUNT, 2)] == list(
            range(0, COUNT, 2)
        )
    assert len(decoded) <= COUNT + 2


def test_what_nothing_needs_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a video of key frames (AVI of camera traps) little more is decoded than requested."""
    path = write_video(tmp_path / "a.avi", "mjpeg", key_every=1)
    decoded = packets_decoded(monkeypatch)
    with open_file_parts(path) as video:
        assert [number_of(video.rgb(at(number))) for number in (0, 15, 30, 45)] == [0, 15, 30, 45]
    assert len(decoded) < 20


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_camera_that_was_turned(tmp_path: Path, orientation: int) -> None:
    """Rotation and mirroring are applied."""
    corners = four_corners(64)
    path = write_video(tmp_path / "a.mp4", pictures=[stored_turned(corners, orientation)] * 3)
    turn(path, orientation)
    with open_file_parts(path) as video:
        pixels = video.rgb(FilePart(seconds=0.0))
        details = video.details(FilePart(seconds=0.0))
    assert pixels.shape == corners.shape
    assert (details.width, details.height) == (128, 64)
    assert np.abs(pixels[16::32, 32::64].astype(int) - corners[16::32, 32::64]).max() <= 12


def test_pixels_that_are_not_square(tmp_path: Path) -> None:
    """The pixel aspect ratio is applied."""
    path = write_video(tmp_path / "a.mp4", pictures=[numbered(3)] * 3, pixel_shape=Fraction(4, 3))
    with open_file_parts(path) as video:
        assert video.rgb(FilePart()).shape == (48, 85, 3)
        assert video.rgb(FilePart(), longest_side=40).shape == (23, 40, 3)


def test_parts_are_a_frame_every_so_many_seconds(tmp_path: Path) -> None:
    """By default every two seconds, up to a maximum number."""
    path = write_video(tmp_path / "a.mp4", pictures=150)
    assert [part.text for part in parts_of(path)] == ["t=0", "t=2", "t=4"]
    assert [part.text for part in parts_of(path, PartsWanted(every_s=2.5))] == ["t=0", "t=2.5"]
    assert [part.seconds for part in parts_of(path, PartsWanted(0.1, most_frames=4))] == [
        0,
        1.25,
        2.5,
        3.75,
    ]


def test_parts_where_the_picture_changes(tmp_path: Path) -> None:
    """An object visible for a second gives frames at its start and end.

    Noise gives none.
    """
    still = np.full((144, 256, 3), 90, dtype=np.uint8)
    noise = np.random.default_rng(1).integers(-8, 8, still.shape)
    animal = still.copy()
    animal[40:70, 100:140] = 200
    empty = np.clip(still + noise, 0, 255).astype(np.uint8)
    path = write_video(
        tmp_path / "a.mp4", pictures=[still] * 15 + [empty] * 15 + [animal] * 30 + [still] * 15
    )
    found = parts_of(path, PartsWanted(at_changes=True))
    with open_file_parts(path) as video:
        shown = [bool(video.rgb(part)[55, 120, 0] > 150) for part in found]
    assert shown == [False, True, False]
    assert len(parts_of(path, PartsWanted(at_changes=True, most_frames=2))) == 2


def test_a_video_that_breaks_off(tmp_path: Path) -> None:
    """Frames before the end can be read.

    The error for others states the duration.
    """
    whole = write_video(tmp_path / "whole.mp4", options={"movflags": "faststart"}, pictures=120)
    path = tmp_path / "a.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    found = parts_of(path, PartsWanted(every_s=0.2))
    assert 5 <= len(found) < 20
    with open_file_parts(path) as video:
        assert [number_of(video.rgb(part)) for part in found] == [
            6 * place for place in range(len(found))
        ]
        with pytest.raises(
            ImageError,
            match=r"breaks off before this time: expected less than \d\.\d+ s, found 3\.9 s",
        ):
            video.rgb(FilePart(seconds=3.9))
        assert number_of(video.rgb(at(9))) == 9


@pytest.mark.parametrize("name", ["a.avi", "a.mkv", "a.mts"])
def test_other_videos_that_break_off(tmp_path: Path, name: str) -> None:
    """Such as files without an index, after a power failure."""
    whole = write_video(tmp_path / name, "mpeg2video" if name == "a.mts" else "mpeg4", 120)
    path = tmp_path / f"cut{whole.suffix}"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with open_file_parts(path) as video:
        assert 5 < len(video.parts(PartsWanted(every_s=0.2))) < 14
        assert [number_of(video.rgb(at(number))) for number in (0, 10, 40, 20)] == [0, 10, 40, 20]
        with pytest.raises(ImageError, match="before this time"):
            video.rgb(at(119))


def test_damage_in_the_middle_costs_what_is_damaged(tmp_path: Path) -> None:
    """Later frames can be read."""
    path = write_video(tmp_path / "a.avi", "mjpeg", COUNT)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 3000] = bytes(3000)
    path.write_bytes(data)
    with open_file_parts(path) as video:
        assert number_of(video.rgb(at(5))) == 5
        assert number_of(video.rgb(at(55))) == 55


def test_a_time_behind_the_end(tmp_path: Path) -> None:
    """The last frame ends with its duration."""
    path = write_video(tmp_path / "a.mp4")
    with open_file_parts(path) as video:
        assert number_of(video.rgb(FilePart(seconds=1.99))) == 59
        for seconds in (2.0, 100.0, 999_999.0):
            with pytest.raises(
                ImageError,
                match=r"the video ends before this time: expected less than 2\.00 s, found",
            ):
                video.rgb(FilePart(seconds=seconds))
        assert number_of(video.rgb(at(30))) == 30


def test_a_file_with_sound_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(
        ImageError, match="the file has no video: expected a video, not sound alone"
    ):
        parts_of(path)


def test_a_codec_that_nothing_reads(tmp_path: Path) -> None:
    """The error names the codec and what to do."""
    path = write_video(tmp_path / "a.avi", "mjpeg", 3)
    path.write_bytes(path.read_bytes().replace(b"MJPG", b"QQQQ"))
    with pytest.raises(ImageError, match=r"stored in a way that cannot be read.*Convert it to MP4"):
        parts_of(path)


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.mp4", b"not a video at all", "this is not a video that can be read: expected MP4, MOV"),
        ("a.mp4", b"\0\0\0\x18ftypisom" + bytes(40), "the video is damaged or incomplete"),
        ("a.avi", b"RIFF\xff\0\0\0AVI LIST" + bytes(40), "the video is damaged or incomplete"),
        ("a.mkv", b"\x1a\x45\xdf\xa3" + bytes(400), "the video is damaged or incomplete"),
        ("a.mov", b"", "the file is empty"),
        # A playlist that names another file, and a URL.
        (
            "a.mp4",
            b"#EXTM3U\n#EXTINF:1,\n/etc/passwd\nhttp://127.0.0.1/a.ts\n",
            "this is not a video that can be read",
        ),
        (
            "a.mkv",
            b"ffconcat version 1.0\nfile /etc/passwd\n",
            "this is not a video that can be read",
        ),
    ],
)
def test_what_is_no_video(tmp_path: Path, name: str, data: bytes, line: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ImageError, match=line):
        parts_of(tmp_path / name)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ImageMissingError):
        parts_of(tmp_path / "gone.mp4")


def test_too_large_and_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages state the limits."""
    path = write_video(tmp_path / "a.avi", "mjpeg", 3)
    data = path.read_bytes()
    frames_at = data.index(b"strh") + 8 + 32  # number of frames in the stream header
    long = tmp_path / "long.avi"
    long.write_bytes(data[:frames_at] + b"\xff\xff\xff\x7f" + data[frames_at + 4 :])
    with pytest.raises(
        ImageError, match="the video is too long: expected at most 24 hours, found 19884"
    ):
        parts_of(long)
    monkeypatch.setattr(video_stream, "MOST_FRAME_PIXELS", 3000)
    with pytest.raises(
        ImageError, match="the video is too large: expected at most 0 megapixels, found 64 x 48"
    ):
        parts_of(path)


def test_a_stop_while_decoding(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4")
    cancel = CancelToken()
    with open_file_parts(path, cancel) as video:
        video.rgb(at(3))
        cancel.cancel()
        with pytest.raises(Cancelled):
            video.rgb(at(50))


@pytest.mark.slow
def test_nothing_is_printed(tmp_path: Path) -> None:
    """FFmpeg's messages on standard error are suppressed."""
    path = write_video(tmp_path / "a.mp4", options={"movflags": "faststart"})
    data = bytearray(path.read_bytes()[:-2000])
    data[-3000:-2000] = bytes(1000)
    path.write_bytes(data)
    script = (
        "import sys; from pathlib import Path; from engine.images.parts_of_file import *\n"
        "with open_file_parts(Path(sys.argv[1])) as video:\n"
        "    [video.rgb(part) for part in video.parts(EVERYTHING)]"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_details_of_frames(tmp_path: Path) -> None:
    """Displayed size, and the time of the frame: start time plus seconds."""
    metadata = {
        "creation_time": "2024-05-01T10:00:58.000000Z",
        "title": "Badger",
        "location": "+52.5-001.25/",
    }
    path = write_video(tmp_path / "a.mp4", metadata=metadata)
    with open_file_parts(path) as video:
        details = video.details(FilePart(seconds=3.5))
    assert (details.width, details.height, details.media_type) == (64, 48, "video/mp4")
    assert details.taken_at is not None
    assert details.taken_at.isoformat() == "2024-05-01T10:01:01+00:00"
    assert dict(details.fields) == {"title": "Badger"}
    assert (details.latitude, details.longitude) == (52.5, -1.25)


def test_the_date_of_an_avi(tmp_path: Path) -> None:
    """Camera traps write it as a chunk, in local time."""
    path = write_video(tmp_path / "a.avi", "mjpeg", 3)
    data = path.read_bytes()
    date = b"Wed May 01 10:00:58 2024\n\0"
    place = data.index(b"JUNK")
    size = int.from_bytes(data[place + 4 : place + 8], "little")
    chunk = b"IDIT" + len(date).to_bytes(4, "little") + date
    rest = b"JUNK" + (size - len(chunk)).to_bytes(4, "little")
    path.write_bytes(data[:place] + chunk + rest + data[place + len(chunk) + 8 :])
    with open_file_parts(path) as video:
        taken_at = video.details(FilePart(seconds=0.0)).taken_at
    assert taken_at is not None
    assert taken_at.isoformat() == "2024-05-01T10:00:58"


@pytest.mark.slow
def test_frames_leave_memory(tmp_path: Path) -> None:
    """Frames are released at once, since the garbage collector does not know their size."""
    path = write_video(
        tmp_path / "a.avi", "mjpeg", [numbered(number, (640, 480)) for number in range(8)]
    )
    process = psutil.Process()
    gc.disable()
    try:
        before = 0
        for number in range(120):
            with open_file_parts(path) as video:
                video.rgb(at(number % 8))
                video.details(at(number % 8))
            before = before or (process.memory_info().rss if number == 20 else 0)
        assert (
            process.memory_info().rss - before < 20 * 1024**2
        )  # all frames would take 45 MB, their pixels 92
    finally:
        gc.enable()
