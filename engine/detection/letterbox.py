"""A picture in a detector's input: scaled as a whole, in the middle of a grey ground."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from engine.arrays import Floats, Pixels
from engine.errors import InputError
from engine.file_parts import BoundingBox
from engine.images.pixels import REDUCING_GAP

GREY = 114
"""Of the ground, as YOLO's detectors are trained with."""


@dataclass(frozen=True)
class Letterbox:
    """Position of a picture in a detector's input.

    Attributes:
        size: width and height of the input.
        picture: of the picture in it.
        left, top: its first column and row.
    """

    size: tuple[int, int]
    picture: tuple[int, int]
    left: int
    top: int

    @classmethod
    def of(cls, picture: tuple[int, int], size: tuple[int, int], stride: int = 0) -> "Letterbox":
        """The letterbox of a picture of this width and height.

        Args:
            size: width and height of the input; with a stride, the largest.
            stride: sides of the input are the least multiples of it that hold the picture; 0 where
                its size is fixed. Of 1, the network scales pictures itself: small ones are not
                enlarged.
        """
        (width, height), (wide, high) = picture, size
        scale = min(wide / width, high / height)
        if stride == 1:
            scale = min(1.0, scale)
        scaled = min(wide, max(1, round(width * scale))), min(high, max(1, round(height * scale)))
        if stride:
            wide, high = (-(-side // stride) * stride for side in scaled)
        return cls((wide, high), scaled, (wide - scaled[0]) // 2, (high - scaled[1]) // 2)

    def filled(self, pixels: Pixels) -> Pixels:
        """The input (height, width, 3) uint8 with a picture (H, W, 3) in it."""
        scaled = pixels
        if pixels.shape[:2] != self.picture[::-1]:
            image = Image.fromarray(pixels)
            scaled = np.asarray(
                image.resize(self.picture, Image.Resampling.BILINEAR, reducing_gap=REDUCING_GAP)
            )
        if self.picture == self.size:
            return np.ascontiguousarray(scaled)
        filled = np.full((*self.size[::-1], 3), GREY, dtype=np.uint8)
        filled[self.top : self.top + self.picture[1], self.left : self.left + self.picture[0]] = (
            scaled
        )
        return filled

    def box(self, edges: Floats) -> BoundingBox | None:
        """Convert a box from pixels of the input to shares of the picture; None outside of it.

        Args:
            edges: (4,) left, top, right and lower edge.
        """
        left, top, right, bottom = map(float, edges)
        try:
            return BoundingBox.of_pixels(
                left - self.left, top - self.top, right - left, bottom - top, self.picture
            )
        except InputError:
            return None
