"""Large pictures are read in strips, with the same values."""

import io
import struct
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.errors import ImageError
from engine.images import decode, opened_image
from engine.images.decode import decode_rgb, decode_square, read_rgb
from engine.images.pixels import fit_within, rgb_image
from engine.images.read_file import FILES, PIXELS, MemoryBudget
from research.benchmarks.photos import png_of_few_colours
from tests.support.images import (
    PNG_SIGNATURE,
    encoded,
    exif_with_orientation,
    four_corners,
    picture,
    png_chunk,
    stored_turned,
    write_jpeg,
)

WIDTH, HEIGHT = 211, 167  # primes: no strip or block divides them
SIDE = 8


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limit so that thousands of pixels count as large."""
    monkeypatch.setattr("engine.images.opened_image.LARGE_PIXELS", 1000)
    monkeypatch.setattr("engine.images.pixels.STRIP_PIXELS", 4 * WIDTH)


def noisy(mode: str = "RGB", width: int = WIDTH, height: int = HEIGHT) -> Image.Image:
    """A picture with edges and noise, so that a PNG uses every filter."""
    grain = np.random.default_rng(3).integers(-9, 10, (height, width, 3))
    return Image.fromarray((picture(width, height) + grain).clip(0, 255).astype(np.uint8)).convert(
        mode
    )


def png_of(samples: NDArray[Any], colour_type: int) -> bytes:
    """PNG of 16 bits per sample with all five filters; `samples` (H, W, channels) uint16."""
    height, width, channels = samples.shape
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    rows = samples.astype(">u2").tobytes()
    row_bytes = width * channels * 2
    lines = [
        bytes([number % 5]) + rows[number * row_bytes : (number + 1) * row_bytes]
        for number in range(height)
    ]
    body = zlib.compress(b"".join(lines))
    return (
        PNG_SIGNATURE
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", body)
        + png_chunk(b"IEND", b"")
    )


def sixteen_bits(channels: int) -> NDArray[np.uint16]:
    return np.random.default_rng(5).integers(0, 65536, (HEIGHT, WIDTH, channels), dtype=np.uint16)


def tiled_tiff() -> bytes:
    """A tiled TIFF, as of microscopes and scanners: Pillow writes strips only."""
    pixels = np.asarray(noisy())
    tile, across, down = 64, -(-WIDTH // 64), -(-HEIGHT // 64)
    padded = np.zeros((down * tile, across * tile, 3), dtype=np.uint8)
    padded[:HEIGHT, :WIDTH] = pixels
    tiles = [
        zlib.compress(
            padded[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile].tobytes()
        )
        for row in range(down)
        for column in range(across)
    ]
    count = len(tiles)
    behind = 8 + 2 + 12 * 11 + 4
    start = behind + 6 + 8 * count
    offsets = [start + sum(map(len, tiles[:number])) for number in range(count)]
    entries = [
        (256, 3, 1, WIDTH),
        (257, 3, 1, HEIGHT),
        (258, 3, 3, behind),
        (259, 3, 1, 8),
        (262, 3, 1, 2),
        (277, 3, 1, 3),
        (284, 3, 1, 1),
        (322, 3, 1, tile),
        (323, 3, 1, tile),
        (324, 4, count, behind + 6),
        (325, 4, count, behind + 6 + 4 * count),
    ]
    directory = struct.pack("<2sHIH", b"II", 42, 8, len(entries))
    directory += b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    values = struct.pack("<3H", 8, 8, 8) + struct.pack(f"<{count}I", *offsets)
    return directory + values + struct.pack(f"<{count}I", *map(len, tiles)) + b"".join(tiles)


def palette_png(bits: int) -> bytes:
    image = noisy().quantize(2**bits)
    return encoded(image, "PNG", bits=bits, transparency=bytes([0, 128, *[255] * (2**bits - 2)]))


def in_strips_of_their_own() -> dict[str, Callable[[], bytes]]:
    """Formats read in strips, each with a function that writes it."""
    files: dict[str, Callable[[], bytes]] = {
        "PNG 16 bits gray": lambda: png_of(sixteen_bits(1), 0),
        "PNG 16 bits RGB": lambda: png_of(sixteen_bits(3), 2),
        "PNG 16 bits gray and alpha": lambda: png_of(sixteen_bits(2), 4),
        "PNG 16 bits RGBA": lambda: png_of(sixteen_bits(4), 6),
        "PNG in one byte chunks": lambda: _in_small_chunks(encoded(noisy(), "PNG")),
        "tiled TIFF": tiled_tiff,
        "TIFF of 16 bits": lambda: encoded(
            Image.fromarray(sixteen_bits(1)[..., 0]), "TIFF", compression="tiff_lzw"
        ),
        "TIFF of floats": lambda: encoded(noisy("F"), "TIFF"),
        "PGM": lambda: encoded(noisy("L"), "PPM"),
        "PPM": lambda: encoded(noisy(), "PPM"),
        "BMP of a palette": lambda: encoded(noisy("P"), "BMP"),
        "BMP": lambda: encoded(noisy(), "BMP"),
    }
    for mode in ("1", "L", "LA", "RGB", "RGBA"):
        files[f"PNG {mode}"] = lambda mode=mode: encoded(noisy(mode), "PNG")  # type: ignore[misc]
    for bits in (1, 2, 4, 8):
        files[f"PNG palette of {bits} bits"] = lambda bits=bits: palette_png(bits)  # type: ignore[misc]
    for packing in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg", "zstd"):
        files[f"TIFF {packing}"] = lambda packing=packing: encoded(  # type: ignore[misc]
            noisy(), "TIFF", compression=packing, strip_size=4096
        )
    return files


def _in_small_chunks(data: bytes) -> bytes:
    """The compressed rows in chunks of one byte."""
    start = at = data.index(b"IDAT") - 4
    packed = b""
    while data[at + 4 : at + 8] == b"IDAT":
        (length,) = struct.unpack_from(">I", data, at)
        packed += data[at + 8 : at + 8 + length]
        at += length + 12
    return (
        data[:start]
        + b"".join(png_chunk(b"IDAT", bytes([byte])) for byte in packed)
        + png_chunk(b"IEND", b"")
    )


FILES_IN_STRIPS = in_strips_of_their_own()


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("kind", sorted(FILES_IN_STRIPS))
def test_strips_have_the_values_of_the_whole(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the network's input, thumbnails and views."""
    data = FILES_IN_STRIPS[kind]()
    with monkeypatch.context() as patched:
        patched.setattr(opened_image, "_whole", _never)
        found = [
            decode_square(data, SIDE),
            decode_square(data, SIDE, 0.8),
            decode_rgb(data, longest_side=50),
        ]
    monkeypatch.setattr(opened_image, "_strips_of_file", lambda *_arguments: None)
    whole = [
        decode_square(data, SIDE),
        decode_square(data, SIDE, 0.8),
        decode_rgb(data, longest_side=50),
    ]
    for in_strips, at_once in zip(found, whole, strict=True):
        np.testing.assert_array_equal(in_strips, at_once)
    assert found[2].shape[1] >= 50


def _never(*_arguments: object) -> None:
    raise AssertionError("the whole picture was decoded")


@pytest.mark.parametrize(
    "kind", [*sorted(FILES_IN_STRIPS), "GIF", "WEBP", "AVIF", "interlaced PNG"]
)
def test_reduced_pictures_look_like_the_whole(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduction changes values slightly."""
    if kind == "interlaced PNG":
        data = encoded(noisy(), "PNG", interlace=1)
    else:
        data = FILES_IN_STRIPS[kind]() if kind in FILES_IN_STRIPS else encoded(noisy(), kind)
    plain = decode_square(data, SIDE).astype(int)
    plain_thumbnail = fit_within(decode_rgb(data), 24).astype(int)
    monkeypatch.setattr("engine.images.opened_image.LARGE_PIXELS", 1000)
    monkeypatch.setattr("engine.images.pixels.STRIP_PIXELS", 4 * WIDTH)
    assert np.abs(decode_square(data, SIDE) - plain).max() <= 12
    thumbnail = fit_within(decode_rgb(data, longest_side=48), 24).astype(int)
    assert thumbnail.shape == plain_thumbnail.shape
    assert np.abs(thumbnail - plain_thumbnail).mean() <= 12


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["PNG", "PNG with a late block", "TIFF", "WEBP"])
def test_large_turned_pictures_stand_upright(kind: str, orientation: int) -> None:
    """Also if the EXIF block follows the pixels, and where Pillow would rotate a whole picture."""
    corners = four_corners(64)[:, 32:96]
    exif = exif_with_orientation(orientation)
    data = encoded(
        stored_turned(corners, orientation), kind.split(maxsplit=1)[0], exif=exif, lossless=True
    )
    if kind == "PNG with a late block":
        block = png_chunk(b"eXIf", exif.tobytes()[6:])
        data = data.replace(block, b"")
        data = data[:-12] + block + data[-12:]
    for found in (decode_square(data, 8), decode_rgb(data, longest_side=16)):
        quarter = found.shape[0] // 4
        centres = found[quarter :: 2 * quarter, quarter :: 2 * quarter].astype(int)
        assert np.abs(centres - corners[16::32, 16::32]).max() <= 40, kind


@pytest.mark.slow
@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("kind", sorted(FILES_IN_STRIPS))
def test_damage_is_an_image_error(kind: str) -> None:
    """A truncated file is refused; changed bytes give pixels or an ImageError."""
    data = FILES_IN_STRIPS[kind]()
    with pytest.raises(ImageError, match=r"damaged|not an image"):
        decode_square(data[: len(data) // 2], SIDE)
    generator = np.random.default_rng(11)
    for _attempt in range(25):
        rotten = np.frombuffer(data, dtype=np.uint8).copy()
        rotten[generator.integers(0, len(rotten), 6)] = generator.integers(0, 256, 6)
        try:
            found = decode_square(rotten.tobytes(), SIDE)
        except ImageError:
            continue
        assert found.shape == (SIDE, SIDE, 3)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(5000, 5000), (300, 80_000), (80_000, 300)])
def test_a_large_png_takes_little_memory(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 megapixels (100 MB in Pillow) and long strips are read in parts."""
    data = png_of_few_colours(*size)
    monkeypatch.setattr(opened_image, "_whole", _never)
    tracemalloc.start()
    try:
        assert decode_square(data, 64).shape == (64, 64, 3)
        assert max(decode_rgb(data, longest_side=64).shape) >= 64
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64_000_000


@pytest.mark.slow
def test_a_view_of_a_large_picture_is_reduced() -> None:
    """The longer side is at least as requested, and little more.

    A small picture is unchanged.
    """
    data = png_of_few_colours(5000, 4000)
    assert decode_rgb(data, longest_side=1200).shape == (1000, 1250, 3)
    assert decode_rgb(encoded(picture(48, 32), "PNG"), longest_side=40).shape == (32, 48, 3)
    assert (
        600 <= max(decode_rgb(encoded(picture(1600, 1200), "JPEG"), longest_side=600).shape) < 900
    )


def test_what_is_decoded_at_once_is_bound_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Concurrent decoding stays within a memory budget."""
    budget = MemoryBudget(100_000)
    monkeypatch.setattr("engine.images.opened_image.PIXELS", budget)
    monkeypatch.setattr("engine.images.decode.PIXELS", budget)
    held: list[tuple[int, int]] = []
    inside = [0]
    lock = threading.Lock()
    plain = rgb_image

    def watched(image: Image.Image) -> Image.Image:
        with lock:
            inside[0] += 1
            held.append((budget.held_bytes, inside[0]))
        done = plain(image)
        with lock:
            inside[0] -= 1
        return done

    monkeypatch.setattr(opened_image, "rgb_image", watched)
    files = [encoded(picture(width, 100), "PNG") for width in (40, 80, 120, 160, 400)] * 4
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: decode_square(data, SIDE), files))
    assert len(held) == len(files)
    assert min(held_bytes for held_bytes, _count in held) > 0
    assert all(held_bytes <= 100_000 or count == 1 for held_bytes, count in held)
    assert max(held_bytes for held_bytes, _count in held) == 4 * 400 * 100
    assert budget.held_bytes == 0


def test_a_budget_lets_in_what_fits() -> None:
    """Small requests are admitted at once; others wait, the largest until it is alone."""
    budget = MemoryBudget(10)
    seen: list[int] = []

    def hold(size_bytes: int) -> None:
        with budget.holding(size_bytes):
            seen.append(budget.held_bytes)

    threads = [threading.Thread(target=hold, args=(size,)) for size in (50, 2)]
    with budget.holding(5):
        with ThreadPoolExecutor(1) as other:
            other.submit(hold, 4).result(10)
        threads[0].start()
        threads[1].start()
        assert 50 not in seen
    for thread in threads:
        thread.join(10)
    assert seen[0] == 9
    assert 50 in seen[1:]  # 52 or 55 would not be alone
    assert budget.held_bytes == 0


def test_files_count_while_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's bytes count from reading to decoding."""
    path = write_jpeg(tmp_path / "a.jpg")
    held: list[int] = []
    for name in ("read_file", "decode_rgb"):
        plain = getattr(decode, name)

        def watched(*arguments: Any, plain: Any = plain, **options: Any) -> Any:
            held.append(FILES.held_bytes)
            return plain(*arguments, **options)

        monkeypatch.setattr(decode, name, watched)
    read_rgb(path)
    assert held == [path.stat().st_size] * 2
    assert (FILES.held_bytes, PIXELS.held_bytes) == (0, 0)


def bmp_of_nothing(width: int, height: int) -> bytes:
    """A BMP that ends after its header."""
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + 4, 0, 0, 54) + header + bytes(4)


@pytest.mark.parametrize("size", [(1, 268_435_457), (20_000, 20_000)])
def test_a_picture_that_is_declared_and_not_there_takes_no_memory(size: tuple[int, int]) -> None:
    """A short file with a large declared size is refused before allocation."""
    with pytest.raises(ImageError, match="ends early"):
        decode_rgb(bmp_of_nothing(*size))


def test_a_tiff_that_tells_of_one_pixel_of_millions_takes_no_memory() -> None:
    """Also a TIFF whose strips cover hardly any of its pixels."""
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "TIFF")
    content = bytearray(file.getvalue())
    place = content.find(struct.pack("<HHII", 257, 4, 1, 4))
    assert place > 0, "the tag of the height"
    content[place + 8 : place + 12] = struct.pack("<I", 100_000_000)
    with pytest.raises(ImageError, match="ends early"):
        decode_rgb(bytes(content))
