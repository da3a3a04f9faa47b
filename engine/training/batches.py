"""From stored pixels to the tensors that a backbone is trained on."""

import math
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import InputError
from engine.training.settings import Augmentation

# Of ImageNet's red, green and blue, in [0, 1]: what torchvision's networks were trained with.
IMAGENET_MEAN: Final = (0.485, 0.456, 0.406)
IMAGENET_STD: Final = (0.229, 0.224, 0.225)
SMALLEST_AREA: Final = 0.2
"""Smallest share of the image that a resized crop shows; from the authors' code."""
ASPECTS: Final = (3 / 4, 4 / 3)
"""Narrowest and widest resized crop, width by height; torchvision's default, as in the authors' code."""


def middle_windows(pixels: NDArray[np.uint8], positions: NDArray[np.int64], side: int) -> NDArray[np.uint8]:
    """The middle `side` x `side` window of each image, (B, side, side, 3) uint8."""
    margin = _margin(pixels, side) // 2
    return pixels[positions, margin : margin + side, margin : margin + side]


def augmented_windows(
    pixels: NDArray[np.uint8],
    positions: NDArray[np.int64],
    side: int,
    generator: np.random.Generator,
    *,
    augmentation: Augmentation,
) -> Tensor:
    """Randomly cut and flipped images, (B, 3, side, side) float32, normalised, channels last in memory.

    Args:
        pixels: (n, S, S, 3) uint8, may be memory-mapped.
        positions: (B,) int64 in [0, n).
        side: at most S.
    """
    if augmentation == "none":
        return normalised(torch.from_numpy(middle_windows(pixels, positions, side)))
    if augmentation == "resized crop":
        return _resized_crops(normalised(torch.from_numpy(pixels[positions])), side, generator)
    return normalised(torch.from_numpy(_shifted_crops(pixels, positions, side, generator)))


def _shifted_crops(
    pixels: NDArray[np.uint8], positions: NDArray[np.int64], side: int, generator: np.random.Generator
) -> NDArray[np.uint8]:
    offsets = generator.integers(0, _margin(pixels, side) + 1, size=(len(positions), 2)).tolist()
    flips = generator.random(len(positions)) < 0.5  # noqa: PLR2004 (heads or tails)
    crops = np.empty((len(positions), side, side, 3), dtype=np.uint8)
    pixels = np.asarray(pixels)  # slicing a memory map as such takes twice as long
    for crop, position, (top, left), flip in zip(crops, positions.tolist(), offsets, flips.tolist(), strict=True):
        window = pixels[position, top : top + side, left : left + side]
        crop[...] = window[:, ::-1] if flip else window
    return crops


def _resized_crops(images: Tensor, side: int, generator: np.random.Generator) -> Tensor:
    count = len(images)

    def uniform(low: float, high: float) -> Tensor:
        return torch.from_numpy(generator.uniform(low, high, count)).float()

    area = uniform(SMALLEST_AREA, 1.0)
    aspect = uniform(math.log(ASPECTS[0]), math.log(ASPECTS[1])).exp()
    width, height = (area * aspect).sqrt().clamp(max=1.0), (area / aspect).sqrt().clamp(max=1.0)
    transform = torch.zeros(count, 2, 3)
    transform[:, 0, 0] = width * uniform(-1.0, 1.0).sign()
    transform[:, 1, 1] = height
    transform[:, 0, 2] = uniform(-1.0, 1.0) * (1 - width)
    transform[:, 1, 2] = uniform(-1.0, 1.0) * (1 - height)
    grid = nn.functional.affine_grid(transform, [count, 3, side, side], align_corners=False)
    crops = nn.functional.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
    return crops.contiguous(memory_format=torch.channels_last)


def normalised(windows: Tensor) -> Tensor:
    """(B, H, W, 3) uint8 to (B, 3, H, W) float32 with ImageNet's mean and deviation; channels stay last in memory."""
    mean, deviation = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
    # Whole rows at once: three channels alone are too short for a processor's vector instructions.
    width = windows.shape[2]
    scale, shift = (1.0 / (255.0 * deviation)).repeat(width), (-mean / deviation).repeat(width)
    return torch.addcmul(shift, windows.flatten(2).float(), scale).view(windows.shape).permute(0, 3, 1, 2)


def _margin(pixels: NDArray[np.uint8], side: int) -> int:
    stored = int(pixels.shape[1])
    if side > stored:
        raise InputError(
            "the stored images are smaller than the side to train at",
            expected="at most {stored} px",
            found="{side} px",
            remedy="build the data set with a larger side, or train at a smaller one",
            stored=stored,
            side=side,
        )
    return stored - side
