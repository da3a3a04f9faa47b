"""Generated photos for benchmarks, with sizes, grain and bytes like those of real ones."""

import io
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.new_file import output_file
from research.sample_painter.catalogue import KINDS as CATALOGUE
from research.sample_painter.photo import photograph

EDGE_NOISE = 64
"""Grain is cropped from a larger field, at offsets of up to so many pixels."""


MOST_DRAWN = 12
"""Distinct drawings, which take long; further pictures differ by their grain."""


@dataclass(frozen=True)
class PhotoKind:
    """Photos of one kind.

    Attributes:
        width, height: in pixels.
        grain: standard deviation of the noise, of 255.
        quality: of the JPEG.
        pictures: number of distinct pictures.
        copies: files of each picture, with different trailing bytes and so different content
            hashes.
    """

    width: int
    height: int
    grain: float
    quality: int
    pictures: int
    copies: int


KINDS: Mapping[str, PhotoKind] = {
    # As on web pages and in data sets.
    "small": PhotoKind(500, 375, grain=4, quality=85, pictures=60, copies=8),
    "large": PhotoKind(4032, 3024, grain=7, quality=90, pictures=8, copies=24),  # as of phones
}


def draw_photos(folder: Path, kind: PhotoKind) -> list[Path]:
    """Write photos of a kind as JPEG files, each with different content; the same each time.

    Args:
        folder: created if missing.
        kind: which photos.

    Returns:
        The files, `pictures * copies` of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = draw_pictures(min(kind.pictures, MOST_DRAWN))
    generator = np.random.default_rng(0)
    field = generator.normal(
        0, kind.grain, (kind.height + EDGE_NOISE, kind.width + EDGE_NOISE, 3)
    ).astype(np.float32)
    paths = []
    for number in range(kind.pictures):
        top, left = generator.integers(0, EDGE_NOISE, 2)
        grain = field[top : top + kind.height, left : left + kind.width]
        data = _photo_bytes(drawn[number % len(drawn)], kind, grain)
        for copy in range(kind.copies):
            path = folder / f"{number:04d}-{copy}.jpg"
            with output_file(path, durable=False) as file:
                file.write(data + copy.to_bytes(4, "little"))
            paths.append(path)
    return paths


def draw_pictures(count: int) -> list[Image.Image]:
    """Draw pictures of plants and insects of about 320 x 320 pixels; the same each time."""
    generator = np.random.default_rng(0)
    kinds = [CATALOGUE[number % len(CATALOGUE)] for number in range(count)]
    return [photograph(kind.draw, kind.scene, generator) for kind in kinds]


def _photo_bytes(drawn: Image.Image, kind: PhotoKind, grain: NDArray[np.float32]) -> bytes:
    scaled = drawn.resize((kind.width, kind.height), Image.Resampling.BICUBIC)
    pixels = (np.asarray(scaled, dtype=np.float32) + grain).clip(0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=kind.quality)
    return buffer.getvalue()


def png_of_few_colours(width: int, height: int) -> bytes:
    """PNG of red, green, blue and white stripes of any size; large ones compress to a few MB."""
    stripes = np.repeat(
        np.array([0xFF0000, 0x00FF00, 0x0000FF, 0xFFFFFF], dtype=">u4"), -(-width // 4)
    )[:width]
    row = b"\x00" + stripes.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    packer = zlib.compressobj(1)
    body = b"".join(packer.compress(row) for _row in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", body)
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
