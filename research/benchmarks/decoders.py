"""Decoders of other libraries at reduced scale, for comparison with the program's own."""

import io
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import simplejpeg
from numpy.typing import NDArray
from PIL import Image

from engine.images.kinds import heif_reader
from engine.images.raw_photo import raw_kind, raw_preview

Decoder = Callable[[bytes, int], NDArray[np.uint8]]
"""Decode the bytes of an image file to (H, W, 3) uint8, given the minimum shorter side."""


def pillow_draft(data: bytes, side: int) -> NDArray[np.uint8]:
    """Decode by Pillow; a JPEG at the smallest sufficient scale of 1, 1/2, 1/4 and 1/8."""
    with Image.open(io.BytesIO(data)) as image:
        image.draft("RGB", (side, side))
        return np.asarray(image.convert("RGB"))


def simplejpeg_scaled(data: bytes, side: int) -> NDArray[np.uint8]:
    """Decode by simplejpeg (libjpeg-turbo) at the smallest sufficient eighth, else by Pillow."""
    try:
        pixels: NDArray[np.uint8] = simplejpeg.decode_jpeg(data, min_height=side, min_width=side)
    except ValueError:
        return pillow_draft(data, side)
    return pixels


DECODERS: Mapping[str, Decoder] = {"Pillow": pillow_draft, "simplejpeg": simplejpeg_scaled}


def measure_decoders(paths: Sequence[Path], side: int, *, workers: int) -> dict[str, float]:
    """Images a second that each decoder reads and decodes at reduced scale, without resizing.

    Args:
        paths: sound image files.
        side: that the shorter side must still have.
        workers: threads that share the files.

    Returns:
        Rate by the decoder's name.
    """
    return {name: _rate(decoder, paths, side, workers) for name, decoder in DECODERS.items()}


def _rate(decoder: Decoder, paths: Sequence[Path], side: int, workers: int) -> float:
    heif_reader()  # Pillow opens HEIC with it
    started_s = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for _pixels in pool.map(lambda path: decoder(_picture(path), side).shape, paths):
            pass
    return len(paths) / (time.perf_counter() - started_s)


def _picture(path: Path) -> bytes:
    """The file, or the largest preview of a RAW photo, which these libraries do not extract."""
    data = path.read_bytes()
    kind = raw_kind(data)
    return raw_preview(data, kind, lambda _width, _height: (0, 0)).data if kind else data
