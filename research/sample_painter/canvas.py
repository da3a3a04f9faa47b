"""The transparent layer of a subject: filled outlines with relief and contact shadows.

Masks are supersampled fourfold, so edges are smooth. Colours are sRGB shares in 0..1; the y axis
points down, as in pictures.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

MASK_SUPERSAMPLING = 4

Floats = NDArray[np.floating[Any]]  # float32 wherever pixels are stored
Outline = NDArray[np.float32]  # (points, 2): x, y


@dataclass(frozen=True)
class Place:
    """Position of a shape: affine map from its own coordinates to those of its parent.

    `x' = xx x + xy y + x0` and `y' = yx x + yy y + y0`.
    """

    xx: float = 1.0
    xy: float = 0.0
    yx: float = 0.0
    yy: float = 1.0
    x0: float = 0.0
    y0: float = 0.0

    def of(self, inner: "Place") -> "Place":
        """The map that first applies `inner`, then this one."""
        return Place(
            self.xx * inner.xx + self.xy * inner.yx,
            self.xx * inner.xy + self.xy * inner.yy,
            self.yx * inner.xx + self.yy * inner.yx,
            self.yx * inner.xy + self.yy * inner.yy,
            self.xx * inner.x0 + self.xy * inner.y0 + self.x0,
            self.yx * inner.x0 + self.yy * inner.y0 + self.y0,
        )

    def points(self, outline: Outline) -> Outline:
        """Map points (n, 2) from the shape's own coordinates to the sheet's."""
        x, y = outline[:, 0], outline[:, 1]
        mapped = np.stack(
            (self.xx * x + self.xy * y + self.x0, self.yx * x + self.yy * y + self.y0),
            axis=1,
            dtype=np.float32,
        )
        return np.asarray(mapped, np.float32)

    def local(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Map coordinates of the sheet back to the shape's own."""
        area = self.xx * self.yy - self.xy * self.yx
        x, y = x - np.float32(self.x0), y - np.float32(self.y0)
        u = np.float32(self.yy / area) * x - np.float32(self.xy / area) * y
        v = np.float32(self.xx / area) * y - np.float32(self.yx / area) * x
        return u, v

    def local_direction(self, x: float, y: float) -> tuple[float, float]:
        """Map a direction of the sheet to a unit vector in the shape's own coordinates."""
        area = self.xx * self.yy - self.xy * self.yx
        u, v = (self.yy * x - self.xy * y) / area, (self.xx * y - self.yx * x) / area
        length = math.hypot(u, v)
        return u / length, v / length

    @property
    def scale(self) -> float:
        """Length of a unit of the shape on the sheet, averaged over directions."""
        return math.sqrt(abs(self.xx * self.yy - self.xy * self.yx))


def place(
    x: float = 0.0, y: float = 0.0, *, turn: float = 0.0, scale: float = 1.0, stretch: float = 1.0
) -> Place:
    """Affine map by position, angle and scale.

    Args:
        x: of the shape's origin.
        y: of the shape's origin.
        turn: clockwise angle in degrees.
        scale: size along the shape's x axis.
        stretch: size along the shape's y axis, relative to `scale`; negative mirrors it.
    """
    cosine, sine = math.cos(math.radians(turn)) * scale, math.sin(math.radians(turn)) * scale
    return Place(cosine, -sine * stretch, sine, cosine * stretch, x, y)


HERE = Place()


@dataclass(frozen=True)
class Patch:
    """The pixels that a shape covers, as flat arrays of equal length, for its paint.

    Attributes:
        u: pixels' x in the shape's own coordinates.
        v: pixels' y in the shape's own coordinates.
        depth: about 0.5 at the outline, 1 well inside.
        light: unit vector the light travels along, in the shape's own coordinates.
        place: the shape's own coordinates to pixels, for masks inside the shape.
        rows: pixel rows on the sheet.
        columns: pixel columns on the sheet.
    """

    u: Floats
    v: Floats
    depth: Floats
    light: tuple[float, float]
    place: Place
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    def inside(self, outlines: Sequence[Outline], *, soften_by: float = 0.0) -> Floats:
        """Coverage of each pixel by further outlines: spots, veins, bands.

        Args:
            outlines: each (points, 2) in the shape's own coordinates.
            soften_by: blur radius in the shape's own units.
        """
        top, left = int(self.rows.min()), int(self.columns.min())
        box = (left, top, int(self.columns.max()) + 1, int(self.rows.max()) + 1)
        cover = coverage([self.place.points(outline) for outline in outlines], box)
        if soften_by:
            cover = soften(cover, soften_by * self.place.scale)
        return cover[self.rows - top, self.columns - left]


Paint = Callable[[Patch], Floats]  # returns colours (pixels, 3)


class Canvas:
    """A transparent layer with premultiplied alpha, on which shapes are filled in order.

    Args:
        width: of the photograph, in pixels.
        height: of the photograph, in pixels.
        pose: the subject's unit coordinates (about -1..1) to the photograph's pixels.
        light: unit vector along which the light travels over the picture.
    """

    def __init__(self, width: int, height: int, pose: Place, light: tuple[float, float]) -> None:
        self.light = light
        self._pose = pose
        self._colour = np.zeros((height, width, 3), np.float32)
        self._alpha = np.zeros((height, width), np.float32)

    def fill(
        self,
        outlines: Sequence[Outline],
        paint: Paint,
        where: Place = HERE,
        *,
        relief: float = 0.2,
        roundness: float = 0.08,
        shadow: float = 0.0,
        opacity: float = 1.0,
    ) -> None:
        """Fill the union of outlines with a paint.

        Args:
            outlines: each (points, 2) in the shape's own coordinates.
            paint: colours of the covered pixels.
            where: position of the shape in the subject.
            relief: how strongly the rim catches the light; 0 is flat.
            roundness: width of the rim in the shape's own units.
            shadow: darkness of the shadow on layers below, 0..1.
            opacity: 1 hides layers below.
        """
        target = self._pose.of(where)
        rim_pixels = max(roundness * target.scale, 1.5)
        corners = [target.points(outline) for outline in outlines]
        box = self._box_around(corners, margin=2 * rim_pixels + 2)
        if box is None:
            return
        cover = coverage(corners, box)
        depth, slope = _relief(cover, rim_pixels, self.light)
        if shadow:
            self._darken(box, cover, strength=shadow, reach=max(rim_pixels, 3.0))
        covered = np.flatnonzero(cover)
        if not covered.size:
            return
        rows, columns = np.divmod(covered, cover.shape[1])
        u, v = target.local(
            (columns + box[0] + 0.5).astype(np.float32), (rows + box[1] + 0.5).astype(np.float32)
        )
        patch = Patch(
            u,
            v,
            depth.take(covered),
            target.local_direction(*self.light),
            target,
            rows + box[1],
            columns + box[0],
        )
        colours = np.clip(paint(patch) * (1 + relief * slope.take(covered))[:, None], 0, 1)
        self._lay(patch.rows, patch.columns, colours, cover.take(covered) * np.float32(opacity))

    def developed(self) -> tuple[Floats, Floats]:
        """Premultiplied colours (height, width, 3) and alpha (height, width), both in 0..1."""
        return self._colour, self._alpha

    def _box_around(
        self, corners: Sequence[Outline], margin: float
    ) -> tuple[int, int, int, int] | None:
        """Left, top, right, bottom of the affected pixels; None for a shape outside the sheet."""
        low = np.min([points.min(axis=0) for points in corners], axis=0) - margin
        high = np.max([points.max(axis=0) for points in corners], axis=0) + margin
        height, width = self._alpha.shape
        left, top = max(math.floor(low[0]), 0), max(math.floor(low[1]), 0)
        right, bottom = min(math.ceil(high[0]), width), min(math.ceil(high[1]), height)
        return (left, top, right, bottom) if right > left and bottom > top else None

    def _darken(
        self, box: tuple[int, int, int, int], cover: Floats, *, strength: float, reach: float
    ) -> None:
        """Draw the soft shadow of a shape on earlier ones."""
        left, top, right, bottom = box
        shift = (round(self.light[1] * reach * 0.5), round(self.light[0] * reach * 0.5))
        shade = shifted(soften(cover, reach), *shift)
        self._colour[top:bottom, left:right] *= (1 - np.float32(strength) * shade)[:, :, None]

    def _lay(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], colours: Floats, alpha: Floats
    ) -> None:
        rest = 1 - alpha
        at = rows * self._alpha.shape[1] + columns  # one flat index is much faster than two
        colour_below, alpha_below = self._colour.reshape(-1, 3), self._alpha.reshape(-1)
        colour_below[at] = colour_below[at] * rest[:, None] + colours * alpha[:, None]
        alpha_below[at] = alpha_below[at] * rest + alpha


def coverage(corners: Sequence[Outline], box: tuple[int, int, int, int]) -> Floats:
    """Coverage of each pixel of a box by the union of outlines.

    Args:
        corners: outlines in pixels.
        box: left, top, right, bottom in pixels.

    Returns:
        Shares (bottom - top, right - left) in 0..1.
    """
    left, top, right, bottom = box
    fine = Image.new(
        "L", ((right - left) * MASK_SUPERSAMPLING, (bottom - top) * MASK_SUPERSAMPLING)
    )
    pen = ImageDraw.Draw(fine)
    for points in corners:
        finer = (points - np.array((left, top), np.float32)) * MASK_SUPERSAMPLING
        pen.polygon(finer.ravel().tolist(), fill=255)
    return np.asarray(fine.reduce(MASK_SUPERSAMPLING), np.float32) / 255


def soften(field: Floats, radius: float) -> Floats:
    """Blur cheaply: downscale by the radius and upscale smoothly."""
    height, width = field.shape
    small = (max(round(width / radius), 1), max(round(height / radius), 1))
    shrunk = Image.fromarray(field).resize(small, Image.Resampling.BILINEAR)
    return np.clip(np.asarray(shrunk.resize((width, height), Image.Resampling.BILINEAR)), 0, 1)


def shifted(field: Floats, down: int, right: int) -> Floats:
    """Shift a field; edges are replicated, so that no shadow enters at the other side."""
    height, width = field.shape
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    return np.asarray(field[rows[:, None], columns], np.float32)


def _relief(cover: Floats, radius: float, light: tuple[float, float]) -> tuple[Floats, Floats]:
    """Depth below the rim, and how much each pixel faces the light (-1..1)."""
    height, width = cover.shape
    small = (max(round(width / radius), 2), max(round(height / radius), 2))
    shrunk = Image.fromarray(cover).resize(small, Image.Resampling.BILINEAR)
    down, right = np.gradient(np.asarray(shrunk))
    lean = (right * light[0] + down * light[1]).astype(np.float32) * 2
    depth = np.asarray(shrunk.resize((width, height), Image.Resampling.BILINEAR))
    slope = np.asarray(Image.fromarray(lean).resize((width, height), Image.Resampling.BILINEAR))
    return np.clip(depth, 0, 1), np.clip(slope, -1, 1)
