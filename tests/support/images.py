"""Image files of every format, generated from a seed."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import Image

ORIENTATION_TAG = 0x0112
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def picture(width: int = 48, height: int = 32, *, seed: int = 0) -> NDArray[np.uint8]:
    """A smooth coloured picture that survives JPEG: (height, width, 3) uint8, by seed."""
    generator = np.random.default_rng(seed)
    coarse = generator.integers(0, 256, (4, 4, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BILINEAR))


def encoded(pixels: NDArray[Any] | Image.Image, kind: str, **options: Any) -> bytes:
    """Encode an image in a Pillow format ("JPEG", "PNG", ...) or "HEIF"."""
    if kind == "HEIF":
        pillow_heif.register_heif_opener()
        if "exif" in options:  # only EXIF bytes set the container's rotation
            options["exif"] = bytes(options["exif"].tobytes())
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def write_jpeg(path: Path, *, seed: int = 0, width: int = 48, height: int = 32) -> Path:
    """Write a small JPEG and return its path."""
    path.write_bytes(encoded(picture(width, height, seed=seed), "JPEG", quality=95))
    return path


def four_corners(side: int = 32) -> NDArray[np.uint8]:
    """Quarters red, green (top), blue and white (bottom), to see the orientation."""
    pixels = np.zeros((side, side * 2, 3), dtype=np.uint8)
    half = side // 2
    pixels[:half, :side] = (255, 0, 0)
    pixels[:half, side:] = (0, 255, 0)
    pixels[half:, :side] = (0, 0, 255)
    pixels[half:, side:] = (255, 255, 255)
    return pixels


def stored_turned(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Pixels as stored with an EXIF orientation, displayed as `pixels`."""
    steps: dict[int, tuple[Image.Transpose, ...]] = {
        1: (),
        2: (Image.Transpose.FLIP_LEFT_RIGHT,),
        3: (Image.Transpose.ROTATE_180,),
        4: (Image.Transpose.FLIP_TOP_BOTTOM,),
        5: (Image.Transpose.TRANSPOSE,),
        6: (Image.Transpose.ROTATE_90,),
        7: (Image.Transpose.TRANSVERSE,),
        8: (Image.Transpose.ROTATE_270,),
    }
    image = Image.fromarray(pixels)
    for step in steps[orientation]:
        image = image.transpose(step)
    return np.asarray(image)


def exif_with_orientation(orientation: int) -> Image.Exif:
    """EXIF block with an orientation only."""
    exif = Image.Exif()
    exif[ORIENTATION_TAG] = orientation
    return exif


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file with its length and checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_declaring(width: int, height: int) -> bytes:
    """A PNG of a few bytes that declares a size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\x00" * 1024)
    return (
        PNG_SIGNATURE
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", body)
        + png_chunk(b"IEND", b"")
    )


def png_of_sixteen_bits(values: NDArray[np.uint16]) -> bytes:
    """Grey PNG of 16 bits per pixel, written chunk by chunk; `values` (H, W)."""
    height, width = values.shape
    header = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)
    rows = b"".join(b"\x00" + row.astype(">u2").tobytes() for row in values)
    return (
        PNG_SIGNATURE
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


def tiff_of_sixteen_bits(
    values: NDArray[np.uint16], *, order: str, planes: int, is_packed: bool
) -> bytes:
    """Colour TIFF of 16 bits, `values` (H, W, 3), as one strip or, with 2 for `planes`, three."""
    height, width, samples = values.shape
    stored = values.astype(f"{order}u2")
    parts = (
        [stored.tobytes()]
        if planes == 1
        else [np.ascontiguousarray(plane).tobytes() for plane in stored.transpose(2, 0, 1)]
    )
    parts = [zlib.compress(part) for part in parts] if is_packed else parts
    ends = np.cumsum([8, *map(len, parts)]).tolist()
    behind = b"".join(parts)
    fields = {
        256: [width],
        257: [height],
        258: [16] * samples,
        259: [8 if is_packed else 1],
        262: [2],
        273: ends[:-1],
        277: [samples],
        278: [height],
        279: [len(part) for part in parts],
        284: [planes],
    }
    entries = b""
    for tag, numbers in fields.items():
        packed = struct.pack(f"{order}{len(numbers)}I", *numbers)
        if len(numbers) > 1:
            place = 8 + len(behind)
            behind += packed
            packed = struct.pack(order + "I", place)
        entries += struct.pack(order + "HHI", tag, 4, len(numbers)) + packed
    start = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8 + len(behind))
    return start + behind + struct.pack(order + "H", len(fields)) + entries + bytes(4)


def jpeg_declaring(width: int, height: int) -> bytes:
    """JPEG whose frame header declares another size than its data has."""
    data = bytearray(encoded(picture(), "JPEG"))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(data)
