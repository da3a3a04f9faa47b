"""Frames of animated GIF, WebP and PNG files by time."""

import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PIL.ExifTags import IFD, Base
from PIL.GifImagePlugin import GifImageFile

from engine.errors import Cancelled, ImageError
from engine.events import CancelToken
from engine.file_parts import FilePart
from engine.images import animations
from engine.images.decode import read_rgb
from engine.images.multi_page import ImagePages
from engine.images.part_reader import EVERYTHING, PartReader, PartsWanted
from engine.images.parts_of_file import open_file_parts, parts_of
from tests.support.animations import SUFFIXES, frame, write_animation
from tests.support.images import exif_with_orientation, four_corners, png_chunk, stored_turned

every_kind = pytest.mark.parametrize("suffix", SUFFIXES)


def texts(path: Path, wanted: PartsWanted = EVERYTHING) -> list[str]:
    return [part.text for part in parts_of(path, wanted)]


def shows(opened: PartReader, seconds: float, number: int) -> bool:
    """Whether a frame is shown at a time."""
    return np.array_equal(opened.rgb(FilePart(seconds=seconds)), frame(number))


def change_durations(path: Path, share: int, of: int) -> None:
    """Set the durations of all frames of a PNG to fractions of a second."""
    data = bytearray(path.read_bytes())
    at = data.find(b"fcTL")
    while at >= 0:
        content = data[at + 4 : at + 24] + struct.pack(">HH", share, of) + data[at + 28 : at + 30]
        data[at - 4 : at + 34] = png_chunk(b"fcTL", bytes(content))
        at = data.find(b"fcTL", at + 4)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        *((".gif", {"disposal": disposal}) for disposal in range(3)),
        *((".png", {}), (".png", {"disposal": 1}), (".png", {"blend": 1}), (".webp", {})),
    ],
)
def test_every_frame_is_found_exactly(tmp_path: Path, suffix: str, options: dict[str, Any]) -> None:
    """In order, backwards and randomly; between two frames the first counts."""
    path = write_animation(tmp_path / f"a{suffix}", [100] * 20, **options)
    order = [*range(20), *range(19, -1, -3), *random.Random(1).sample(range(20), 8)]
    with open_file_parts(path) as opened:
        assert all(shows(opened, number / 10, number) for number in order)
        assert shows(opened, 0.79, 7)
        assert np.array_equal(opened.rgb(FilePart()), read_rgb(path))
        assert opened.rgb(FilePart(seconds=1.0), longest_side=32).shape == (24, 32, 3)


@every_kind
def test_parts_are_frames_as_of_a_video(tmp_path: Path, suffix: str) -> None:
    """By default one every two seconds, at most 30."""
    path = write_animation(tmp_path / f"a{suffix}", [200] * 25)
    assert texts(path) == ["t=0", "t=2", "t=4"]
    assert texts(path, PartsWanted(every_s=2.5)) == ["t=0", "t=2.5"]
    assert texts(path, PartsWanted(0.1, most_frames=4)) == ["t=0", "t=1.25", "t=2.5", "t=3.75"]


@every_kind
def test_one_frame_alone_is_the_file(tmp_path: Path, suffix: str) -> None:
    """A still picture, and an animation with one frame requested, are plain images."""
    Image.fromarray(frame(0)).save(tmp_path / f"still{suffix}")
    short = write_animation(tmp_path / f"short{suffix}", [100] * 5)
    assert texts(tmp_path / f"still{suffix}") == texts(short) == [""]
    assert texts(short, PartsWanted(every_s=0.2)) == ["t=0", "t=0.2", "t=0.4"]
    with open_file_parts(tmp_path / f"still{suffix}") as opened:
        assert isinstance(opened, ImagePages)


@every_kind
def test_a_frame_that_is_shown_for_long_is_one_image(tmp_path: Path, suffix: str) -> None:
    """A long frame, as in a slide show, is one image."""
    path = write_animation(tmp_path / f"a{suffix}", [9000, 5000, 7000])
    assert texts(path) == ["t=0", "t=10", "t=14"]
    with open_file_parts(path) as opened:
        assert all(
            shows(opened, seconds, number) for number, seconds in enumerate([0.0, 10.0, 14.0])
        )


@every_kind
def test_parts_where_the_picture_changes(tmp_path: Path, suffix: str) -> None:
    """A short appearance gives frames.

    Without changes the file is one image.
    """
    still, animal = frame(0), frame(0)
    animal[20:40, 30:50] = 200
    pictures = [*[still] * 2, *[animal] * 3, *[still] * 2]
    for number, each in enumerate(pictures):  # Pillow merges equal frames
        pictures[number] = each.copy()
        pictures[number][-1, number] += 9
    path = write_animation(tmp_path / f"a{suffix}", [300] * 7, pictures)
    assert texts(path, PartsWanted(at_changes=True)) == ["t=0", "t=0.6", "t=1.5"]
    calm = write_animation(tmp_path / f"calm{suffix}", [300] * 2, pictures[:2])
    assert texts(calm, PartsWanted(at_changes=True)) == [""]


@every_kind
def test_frames_without_a_duration(tmp_path: Path, suffix: str) -> None:
    """They last a tenth of a second, as in browsers."""
    path = write_animation(tmp_path / f"a{suffix}", [0] * 25)
    assert texts(path) == ["t=0", "t=2"]
    with open_file_parts(path) as opened:
        assert shows(opened, 2.0, 20)


def test_durations_that_are_no_milliseconds(tmp_path: Path) -> None:
    """Times are rounded to decimals, for example of a thirtieth of a second."""
    path = write_animation(tmp_path / "a.png", [33] * 40)
    change_durations(path, 1, 30)
    with open_file_parts(path) as opened:
        assert all(shows(opened, round(number / 30, 3), number) for number in range(40))
    write_animation(path, [33] * 2)
    change_durations(path, 20_003, 20_000)  # a time shortly before the end is in the last frame
    assert texts(path) == ["t=0", "t=2"]


def test_a_still_picture_that_is_no_frame(tmp_path: Path) -> None:
    """A PNG may have a fallback picture for programs without animation."""
    pictures = [four_corners(32), *map(frame, range(3))]
    pictures[0] = np.vstack([pictures[0], pictures[0][:16]])
    path = write_animation(tmp_path / "a.png", [2000] * 3, pictures, default_image=True)
    assert texts(path) == ["t=0", "t=2", "t=4"]
    with open_file_parts(path) as opened:
        assert [shows(opened, 2.0 * number, number) for number in (0, 1, 2, 0)] == [True] * 4
    assert np.array_equal(read_rgb(path), pictures[0])


@pytest.mark.parametrize("suffix", [".gif", ".png"])
def test_an_animation_that_breaks_off(tmp_path: Path, suffix: str) -> None:
    """Complete frames are read, an incomplete one has an error."""
    path = write_animation(tmp_path / f"a{suffix}", [500] * 40)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found = parts_of(path)
    assert 2 < len(found) < 8
    with open_file_parts(path) as opened:
        assert all(
            shows(opened, part.seconds or 0.0, 4 * number) for number, part in enumerate(found)
        )
        with pytest.raises(
            ImageError,
            match=r"the video ends before this time: expected less than \d+\.\d+ s, found",
        ):
            opened.rgb(FilePart(seconds=19.0))
        assert shows(opened, 1.0, 2)


def test_a_webp_that_breaks_off(tmp_path: Path) -> None:
    """A truncated WebP cannot be opened: it is one failed image."""
    path = write_animation(tmp_path / "a.webp", [2000] * 10)
    path.write_bytes(path.read_bytes()[:-9])
    assert texts(path) == [""]
    with pytest.raises(ImageError, match="the image is damaged or incomplete"):
        read_rgb(path)


def test_damage_from_the_start_is_one_line(tmp_path: Path) -> None:
    path = write_animation(tmp_path / "a.png", [2000] * 10)
    data = path.read_bytes()
    at = data.index(b"IDAT") + 4
    path.write_bytes(data[:at] + bytes(20) + data[at + 20 :])
    with pytest.raises(ImageError, match="the image is damaged or incomplete"):
        parts_of(path)


@every_kind
def test_any_damage(tmp_path: Path, suffix: str) -> None:
    """Truncated or with changed bytes: pixels or an `ImageError`.

    And other frames can be read after it.
    """
    generator = np.random.default_rng(3)
    data = write_animation(tmp_path / f"whole{suffix}", [300] * 8).read_bytes()
    path = tmp_path / f"a{suffix}"
    for _ in range(60):
        damaged = bytearray(data)
        for place in generator.integers(0, len(data), 3):
            damaged[place] = generator.integers(256)
        path.write_bytes(damaged[: generator.integers(len(data) // 2, len(data) + 1)])
        with suppress(ImageError), open_file_parts(path) as opened:
            parts = opened.parts(PartsWanted(every_s=0.3))
            for part in [*parts, parts[0]]:
                with suppress(ImageError):
                    assert opened.rgb(part).shape[2] == 3


def test_a_frame_that_reaches_far_beyond_a_gif(tmp_path: Path) -> None:
    """It is refused before allocation.

    The file is one image, which shows its first frame.
    """
    path = write_animation(tmp_path / "a.gif", [2000] * 3)
    data = bytearray(path.read_bytes())
    at = data.index(b"\x2c", data.index(b"\x2c") + 10)
    data[at + 5 : at + 9] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(
        ImageError, match="the video is too large: expected at most 40 megapixels, found 655"
    ):
        parts_of(path)
    assert np.array_equal(read_rgb(path), frame(0))


def test_too_many_and_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = write_animation(tmp_path / "long.png", [60_000] * 3)
    change_durations(long, 60_000, 1)
    with pytest.raises(
        ImageError, match="the video is too long: expected at most 24 hours, found 50"
    ):
        parts_of(long)
    monkeypatch.setattr(animations, "MOST_FRAMES", 4)
    path = write_animation(tmp_path / "a.gif", [2000] * 6)
    with pytest.raises(ImageError, match="the video has too many frames before this one"):
        parts_of(path)


def test_a_time_behind_the_end(tmp_path: Path) -> None:
    """The last frame ends with its duration."""
    with open_file_parts(write_animation(tmp_path / "a.gif", [500] * 4)) as opened:
        assert shows(opened, 1.99, 3)
        with pytest.raises(
            ImageError,
            match=r"the video ends before this time: expected less than 2\.00 s, found 2 s",
        ):
            opened.rgb(FilePart(seconds=2.0))


def test_a_stop_while_decoding(tmp_path: Path) -> None:
    cancel = CancelToken()
    with open_file_parts(write_animation(tmp_path / "a.gif", [500] * 9), cancel) as opened:
        assert shows(opened, 0.5, 1)
        cancel.cancel()
        with pytest.raises(Cancelled):
            opened.rgb(FilePart(seconds=4.0))


def test_transparency_and_turned_pictures(tmp_path: Path) -> None:
    """Transparent pixels are white, and the orientation applies to all frames."""
    clear = Image.new("RGBA", (20, 10), (0, 0, 0, 0))
    dot = clear.copy()
    dot.paste((200, 0, 0, 255), (0, 0, 5, 5))
    exif = exif_with_orientation(6)
    clear.save(
        tmp_path / "a.webp",
        save_all=True,
        append_images=[dot],
        duration=2000,
        lossless=True,
        exif=exif,
    )
    with open_file_parts(tmp_path / "a.webp") as opened:
        expected = np.full((10, 20, 3), 255, np.uint8)
        assert np.array_equal(opened.rgb(FilePart(seconds=0.0)), np.rot90(expected, -1))
        expected[:5, :5] = (200, 0, 0)
        assert np.array_equal(opened.rgb(FilePart(seconds=2.0)), np.rot90(expected, -1))
    corners = Image.fromarray(stored_turned(four_corners(), 6))
    corners.save(
        tmp_path / "a.png",
        save_all=True,
        append_images=[corners.rotate(180)],
        duration=2000,
        exif=exif,
    )
    with open_file_parts(tmp_path / "a.png") as opened:
        assert np.array_equal(opened.rgb(FilePart(seconds=0.0)), four_corners())


def test_details_of_frames(tmp_path: Path) -> None:
    """Size, format, and the time of the frame."""
    exif = Image.Exif()
    exif.get_ifd(IFD.Exif)[Base.DateTimeOriginal] = "2024:05:01 10:00:58"
    path = write_animation(tmp_path / "a.webp", [2000] * 3, exif=exif)
    with open_file_parts(path) as opened:
        details = [opened.details(part) for part in (FilePart(), FilePart(seconds=4.0))]
    assert [(each.width, each.height, each.media_type) for each in details] == [
        (64, 48, "image/webp")
    ] * 2
    assert [str(each.taken_at) for each in details] == [
        "2024-05-01 10:00:58",
        "2024-05-01 10:01:02",
    ]


def test_frames_in_order_are_put_together_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sequential requests compose each frame once."""
    frames: list[int] = []
    seek = GifImageFile.seek

    def counted(image: GifImageFile, number: int) -> None:
        frames.append(number)
        seek(image, number)

    monkeypatch.setattr(GifImageFile, "seek", counted)
    with open_file_parts(write_animation(tmp_path / "a.gif", [100] * 20)) as opened:
        assert all(shows(opened, number / 10, number) for number in range(0, 20, 3))
    assert frames == list(range(1, 19))
