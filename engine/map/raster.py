"""Rasterisation of a map with NumPy: discs for some 100,000 points, a density for more."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats

Pixels = NDArray[np.uint32]  # (H, W) 0xAARRGGBB, alpha premultiplied

DENSITY_SIDE = 1024  # cells along the side of a density
FAINTEST = 0.35  # opacity of a cell with one image; the fullest is opaque


@dataclass(frozen=True)
class View:
    """The visible part of the plane."""

    x: float  # of the centre
    y: float
    scale: float  # pixels per unit of the plane
    width: int  # pixels
    height: int


@lru_cache(maxsize=64)
def _disc(radius: float) -> tuple[tuple[int, int], ...]:
    """Offsets (row, column) of the pixels of a disc."""
    reach, most = int(radius + 0.5), (radius + 0.25) ** 2
    steps = range(-reach, reach + 1)
    return tuple(
        (down, right) for down in steps for right in steps if down * down + right * right <= most
    )


@dataclass(frozen=True)
class Layer:
    """Points of one size; later ones are drawn over earlier ones."""

    places: Floats  # (n, 2)
    colours: Pixels  # (n,) opaque
    radius: float  # pixels


def draw_layers(layers: Sequence[Layer], view: View, ground: int = 0) -> Pixels:
    """Draw layers as an image (height, width), which may be a non-contiguous view.

    Args:
        ground: background colour; transparent by default.
    """
    margin = max((int(layer.radius + 0.5) for layer in layers), default=0)
    across, down = view.width + 2 * margin, view.height + 2 * margin
    canvas = np.full(across * down, ground, dtype=np.uint32)
    for layer in layers:
        at, colours = _cells(layer, view, across, down, margin)
        for below, right in _disc(layer.radius):
            canvas[at + (below * across + right)] = colours
    return canvas.reshape(down, across)[margin : down - margin, margin : across - margin]


def _cells(
    layer: Layer, view: View, across: int, down: int, margin: int
) -> tuple[NDArray[np.int32], Pixels]:
    """Flat canvas indices and colours of the visible points of a layer."""
    scale, places, colours = np.float32(view.scale), layer.places, layer.colours
    column = (places[:, 0] - np.float32(view.x - (view.width / 2 + margin) / view.scale)) * scale
    row = (places[:, 1] - np.float32(view.y - (view.height / 2 + margin) / view.scale)) * scale
    is_seen = (
        (column >= margin) & (column < across - margin) & (row >= margin) & (row < down - margin)
    )
    if not is_seen.all():
        chosen = np.flatnonzero(is_seen)
        column, row, colours = column[chosen], row[chosen], colours[chosen]
    return row.astype(np.int32) * across + column.astype(np.int32), colours


def draw_points(
    places: Floats, colours: Pixels, view: View, radius: float, ground: int = 0
) -> Pixels:
    """Draw one layer; see `draw_layers`."""
    return draw_layers((Layer(places, colours, radius),), view, ground)


def draw_smooth(
    places: Floats, colours: Pixels, view: View, radius: float, ground: int = 0
) -> Pixels:
    """Draw points with antialiasing, by supersampling 2 x 2."""
    twice = View(view.x, view.y, 2 * view.scale, 2 * view.width, 2 * view.height)
    large = draw_points(places, colours, twice, 2 * radius, ground)
    rows = _mean(large[0::2], large[1::2])
    return _mean(rows[:, 0::2], rows[:, 1::2])


def _mean(one: Pixels, other: Pixels) -> Pixels:
    """Mean of two images, of all four channels at once."""
    return (one & other) + (((one ^ other) & np.uint32(0xFEFEFEFE)) >> np.uint32(1))


@dataclass(frozen=True)
class Density:
    """Density of images with their mean colours: a square image of the map, on a log scale."""

    pixels: Pixels  # (side, side), premultiplied
    left: float  # of the plane
    top: float
    unit: float  # of the plane, per cell

    @classmethod
    def of(cls, places: Floats, colours: Pixels, side: int = DENSITY_SIDE) -> "Density":
        """Density of points (n, 2) with colours (n,)."""
        if not len(places):
            return cls(np.zeros((side, side), dtype=np.uint32), 0.0, 0.0, 1.0)
        low, high = places.min(axis=0), places.max(axis=0)
        unit = max(float((high - low).max()), 1e-6) * 1.001 / side
        cell = ((places - low) / np.float32(unit)).astype(np.int32)
        at = cell[:, 1] * side + cell[:, 0]
        counts = np.bincount(at, minlength=side * side).astype(np.float32)
        full = max(float(np.percentile(counts[counts > 0], 99)), 2.0)
        opacity = np.minimum(
            FAINTEST + (1 - FAINTEST) * np.log(np.maximum(counts, 1)) / np.log(full), 1.0
        )
        opacity[counts == 0] = 0
        pixels = np.rint(opacity * 255).astype(np.uint32) << 24
        for shift in (16, 8, 0):
            sums = np.bincount(
                at, weights=(colours >> shift & 0xFF).astype(np.float32), minlength=side * side
            )
            pixels |= np.rint(sums / np.maximum(counts, 1) * opacity).astype(np.uint32) << shift
        return cls(pixels.reshape(side, side), float(low[0]), float(low[1]), unit)
