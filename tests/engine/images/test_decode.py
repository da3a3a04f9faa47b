import os
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import ImageError
from engine.images import decode as decode_module
from engine.images.decode import decode_rgb, read_rgb
from tests.support.images import (
    ORIENTATION_TAG,
    encoded,
    exif_with_orientation,
    four_corners,
    jpeg_declaring,
    picture,
    png_declaring,
    png_of_sixteen_bits,
    stored_turned,
    tiff_of_sixteen_bits,
    write_jpeg,
)


@pytest.mark.parametrize(
    ("kind", "tolerance"),
    [
        ("JPEG", 16),
        ("PNG", 0),
        ("BMP", 0),
        ("TIFF", 0),
        ("PPM", 0),
        ("WEBP", 24),
        ("AVIF", 24),
        ("HEIF", 24),
    ],
)
def test_every_format_gives_its_pixels(kind: str, tolerance: int) -> None:
    """Equal to the written pixels, within the loss of the format."""
    pixels = picture()
    options = {"quality": 95} if kind in {"JPEG", "WEBP", "AVIF", "HEIF"} else {}
    decoded = decode_rgb(encoded(pixels, kind, **options))
    assert decoded.shape == pixels.shape
    assert decoded.dtype == np.uint8
    assert np.abs(decoded.astype(int) - pixels).max() <= tolerance


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP", "AVIF", "HEIF"])
def test_orientation_is_applied(kind: str, orientation: int) -> None:
    """All EXIF orientations."""
    corners = four_corners()
    data = encoded(
        stored_turned(corners, orientation),
        kind,
        exif=exif_with_orientation(orientation),
        quality=95,
    )
    decoded = decode_rgb(data)
    assert decoded.shape == corners.shape
    centres = decoded[8::16, 16::32].astype(int)
    assert np.abs(centres - corners[8::16, 16::32]).max() <= 8


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("fill", [b"", b"\xff\xff"])
@pytest.mark.parametrize("kind", ["H", "I"])
def test_orientation_as_other_programs_write_it(order: str, fill: bytes, kind: str) -> None:
    """Both byte orders, 16 and 32 bits, and fill bytes before the block, as in Pillow."""
    value = struct.pack(order + kind, 6).ljust(4, b"\x00")
    entry = struct.pack(order + "HHI", ORIENTATION_TAG, {"H": 3, "I": 4}[kind], 1) + value
    start = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HIH", 42, 8, 1)
    block = b"Exif\x00\x00" + start + entry + bytes(4)
    plain = encoded(stored_turned(four_corners(), 6), "JPEG", quality=95)
    data = plain[:2] + fill + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + plain[2:]
    decoded = decode_rgb(data)
    assert decoded.shape == four_corners().shape
    assert np.abs(decoded[8::16, 16::32].astype(int) - four_corners()[8::16, 16::32]).max() <= 8


def test_senseless_orientation_is_ignored() -> None:
    """An orientation of 9 and an invalid EXIF block are ignored."""
    for block in (
        exif_with_orientation(9).tobytes(),
        b"Exif\x00\x00rubbish",
        b"Exif\x00\x00II*\x00\xff\xff\xff\xff",
    ):
        assert decode_rgb(encoded(picture(), "JPEG", exif=block)).shape == (32, 48, 3)


def test_jpeg_is_decoded_at_a_scale_that_covers_the_wanted_side() -> None:
    """A JPEG of 1600 x 1200 for a side of 128 is decoded at a small scale, at least that size."""
    decoded = decode_rgb(encoded(picture(1600, 1200), "JPEG"), smallest_side=128)
    assert 128 <= min(decoded.shape[:2]) < 300


def test_small_jpeg_is_not_enlarged() -> None:
    """A JPEG smaller than the wanted side keeps its size."""
    assert decode_rgb(encoded(picture(40, 20), "JPEG"), smallest_side=128).shape == (20, 40, 3)


@pytest.mark.parametrize("smallest_side", [None, 64])
def test_cmyk_jpeg_keeps_its_colours(smallest_side: int | None) -> None:
    """A CMYK JPEG shows the colours it was made from, at full and at reduced scale."""
    red = np.full((256, 256, 3), (200, 30, 30), dtype=np.uint8)
    data = encoded(Image.fromarray(red).convert("CMYK"), "JPEG", quality=95)
    decoded = decode_rgb(data, smallest_side=smallest_side)
    assert min(decoded.shape[:2]) >= (smallest_side or 256)
    assert np.abs(decoded.astype(int) - (200, 30, 30)).max() <= 8


def test_gray_jpeg_becomes_rgb() -> None:
    """Grey JPEGs have three equal channels."""
    decoded = decode_rgb(encoded(Image.fromarray(picture()).convert("L"), "JPEG"))
    assert decoded.shape == (32, 48, 3)
    assert np.array_equal(decoded[..., 0], decoded[..., 2])


def test_palette_with_transparency_lies_on_white() -> None:
    """Transparent palette entries are white, the others their colour."""
    image = Image.new("P", (4, 4), 0)
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putpixel((1, 1), 1)
    decoded = decode_rgb(encoded(image, "PNG", transparency=bytes([0, 255])))
    assert tuple(decoded[0, 0]) == (255, 255, 255)
    assert tuple(decoded[1, 1]) == (200, 100, 50)


def test_gray_with_alpha_lies_on_white() -> None:
    """Half transparent black becomes middle grey."""
    image = Image.new("LA", (4, 4), (0, 128))
    assert tuple(decode_rgb(encoded(image, "PNG"))[0, 0]) == (127, 127, 127)


def test_alpha_lies_on_white() -> None:
    """A fully transparent pixel is white whatever its colour."""
    image = Image.new("RGBA", (4, 4), (9, 9, 9, 0))
    assert tuple(decode_rgb(encoded(image, "WEBP", lossless=True))[0, 0]) == (255, 255, 255)


def test_sixteen_bits_are_scaled_not_cut() -> None:
    """Values 0, middle and maximum become 0, 128 and 255."""
    values = np.array([[0, 32896, 65535]], dtype=np.uint16)
    assert decode_rgb(png_of_sixteen_bits(values))[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize(
    ("largest", "middle"), [(255, 128), (1023, 512), (4095, 2048), (16_383, 8192), (60_000, 32_896)]
)
def test_the_bits_that_are_used_are_shown(largest: int, middle: int) -> None:
    """Data with 12 of 16 bits, as of microscopes, is scaled by its range."""
    values = np.array([[0, middle, largest]], dtype=np.uint16)
    shown = decode_rgb(encoded(values, "TIFF"))[0, :, 0].tolist()
    assert shown[0] == 0
    assert 126 <= shown[1] <= 130
    assert shown[2] == (255 if largest < 60_000 else 233)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("is_packed", [False, True])
def test_colour_tiff_of_sixteen_bits(order: str, planes: int, is_packed: bool) -> None:
    """16-bit colour is scaled, in every layout."""
    values = np.zeros((4, 6, 3), dtype=np.uint16)
    values[...] = (0, 32_896, 65_535)
    data = tiff_of_sixteen_bits(values, order=order, planes=planes, is_packed=is_packed)
    assert decode_rgb(data)[2, 3].tolist() == [0, 128, 255]


def test_float_tiff_is_scaled() -> None:
    """Floats between 0 and 1 are scaled to the full range."""
    values = np.array([[0.0, 0.5, 1.0]], dtype=np.float32)
    assert decode_rgb(encoded(values, "TIFF"))[0, :, 1].tolist() == [0, 128, 255]


def test_animation_shows_its_first_frame() -> None:
    """An animated GIF shows its first frame."""
    frames = [Image.new("RGB", (8, 8), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert tuple(decode_rgb(data)[0, 0]) == (255, 0, 0)


@pytest.mark.parametrize(
    "name", ["照片.jpg", "صورة.jpg", "🦜🍃.jpg", "ü" * 125 + "x.jpg", "a b%20'\";.jpg"]
)
def test_names_in_any_script(tmp_path: Path, name: str) -> None:
    """Any script, up to 255 bytes."""
    assert read_rgb(write_jpeg(tmp_path / name)).shape == (32, 48, 3)


def test_undecodable_name(tmp_path: Path) -> None:
    """A name that is not UTF-8, where the file system permits it."""
    try:
        path = write_jpeg(tmp_path / os.fsdecode(b"caf\xe9.jpg"))
    except OSError:
        pytest.skip("this file system refuses such names")
    assert read_rgb(path).shape == (32, 48, 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"This is a letter, not a photo.\n", "found text"),
        ("Fünf Möwen".encode(), "found text"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"\x00" * 5000, "zeros"),
        (b"%PDF-1.7 \x00\xff", "PDF"),
        (b"\x00\x00\x00\x18ftypqt  " + b"\x00" * 20, "found a video"),
        (
            os.urandom(8).join([b"\x01\xfe"] * 40),
            r"unknown content\. The kinds that are read: JPEG, PNG, TIFF, HEIC, .* RAW photos",
        ),
        (b"II*\x00" + b"\xff" * 40, "a TIFF image that is damaged, or stored in a way"),
        (b"\xff\xd8\xff", "not an image"),
    ],
)
def test_what_is_no_image_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    """The message names the actual format of a file named .jpg."""
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=words):
        read_rgb(path)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP", "BMP", "GIF", "AVIF", "HEIF"])
def test_truncated_file_is_refused(kind: str) -> None:
    """A truncated file is an error, not half a picture."""
    data = encoded(picture(256, 256), kind)
    with pytest.raises(ImageError, match=r"damaged|not an image"):
        decode_rgb(data[: len(data) // 2])


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """Both are image errors that say so."""
    with pytest.raises(ImageError, match="not there"):
        read_rgb(tmp_path / "gone.jpg")
    with pytest.raises(ImageError, match="folder"):
        read_rgb(tmp_path)


def test_file_below_a_file(tmp_path: Path) -> None:
    """A path below a file is an error."""
    with pytest.raises(ImageError, match=r"cannot be read|not there"):
        read_rgb(write_jpeg(tmp_path / "a.jpg") / "b.jpg")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe is refused without opening it."""
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(ImageError, match="pipe"):
        read_rgb(tmp_path / "pipe.jpg")


@pytest.mark.parametrize("data", [png_declaring(50_000, 50_000), jpeg_declaring(60_000, 60_000)])
def test_bomb_is_refused_before_it_is_decoded(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gigapixels are refused by the header."""

    def never(*_arguments: object, **_options: object) -> None:
        pytest.fail("pixels were decoded")

    monkeypatch.setattr(decode_module, "reading", never)
    monkeypatch.setattr("simplejpeg.decode_jpeg", never)
    with pytest.raises(ImageError, match="too large"):
        decode_rgb(data)


@pytest.mark.slow
def test_large_but_allowed_size_draws_no_warning() -> None:
    """Sizes between Pillow's limit and ours raise no warning."""
    with pytest.raises(ImageError, match="damaged"):
        decode_rgb(png_declaring(20_000, 6_000))


def test_lack_of_memory_is_the_files_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """MemoryError is a failure of that image."""

    def no_memory(*_arguments: object, **_options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("simplejpeg.decode_jpeg", no_memory)
    with pytest.raises(ImageError, match="memory"):
        decode_rgb(encoded(picture(), "JPEG"))


@pytest.mark.parametrize(
    "kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP", "AVIF", "HEIF", "PPM", "JPEG2000"]
)
def test_damaged_bytes_give_pixels_or_an_image_error(kind: str) -> None:
    """Damaged bytes give pixels or an ImageError, without warnings."""
    generator = np.random.default_rng(7)
    sound = np.frombuffer(encoded(picture(64, 64), kind), dtype=np.uint8)
    for _attempt in range(60):
        rotten = sound.copy()
        places = generator.integers(0, len(rotten), generator.integers(1, 12))
        rotten[places] = generator.integers(0, 256, len(places))
        try:
            pixels = decode_rgb(rotten.tobytes())
        except ImageError:
            continue
        assert pixels.shape[2] == 3


def test_many_threads_leave_the_warning_filters_alone() -> None:
    """Pillow's warnings are suppressed on threads without changing the filters."""
    import warnings

    image = Image.new("P", (64, 64), 0)
    image.putpalette([10, 20, 30] * 2)
    data = encoded(image, "PNG", transparency=bytes([0, 255]))
    before = list(warnings.filters)
    failures: list[BaseException] = []

    def decode_often() -> None:
        try:
            for _time in range(50):
                decode_rgb(data)
        except BaseException as error:  # noqa: BLE001  # carried to the test's thread
            failures.append(error)

    threads = [threading.Thread(target=decode_often) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert list(warnings.filters) == before


ODD_TIFFS = {
    "a wrong count": lambda data: data.replace(
        struct.pack("<HHI", 284, 3, 1), struct.pack("<HHI", 284, 3, 7)
    ),
    "bytes that are no code": lambda data: data[:20] + b"\xff\xff\xff" + data[23:],
}


@pytest.mark.parametrize("kind", sorted(ODD_TIFFS))
@pytest.mark.parametrize("packing", ["tiff_lzw", "tiff_adobe_deflate", "jpeg"])
def test_libtiff_prints_nothing(kind: str, packing: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Messages of libtiff on standard error are suppressed.

    The file is read or refused.
    """
    data = ODD_TIFFS[kind](encoded(picture(200, 150), "TIFF", compression=packing))
    with suppress(ImageError):
        assert decode_rgb(data).shape == (150, 200, 3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_pillow_logs_nothing_on_the_screen(tmp_path: Path) -> None:
    """Pillow's log messages are not printed without logging configuration."""
    entry = struct.pack("<HHII", 277, 3, 1, 3)
    data = encoded(picture(), "TIFF")
    assert entry in data
    path = tmp_path / "odd.tif"
    path.write_bytes(data.replace(entry, struct.pack("<HHII", 277, 3, 1, 5120)))
    program = (
        "import sys, pathlib\n"
        "from engine.images.decode import read_rgb\n"
        "from engine.errors import ImageError\n"
        "try:\n    read_rgb(pathlib.Path(sys.argv[1]))\n"
        "except ImageError:\n    print('refused')\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("refused\n", "")
