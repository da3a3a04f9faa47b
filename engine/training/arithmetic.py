"""Device, precision, memory and processes (`torchrun`) of a training, and its batches."""

import ctypes
import math
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed, nn

from engine.arrays import Integers, Pixels
from engine.config import make_folders
from engine.errors import InputError
from engine.training.settings import Augmentation, Precision

# Arguments of glibc's mallopt (malloc.h), and what they are set to: decision 88.
_TRIM_THRESHOLD = -1
_TOP_PADDING = -2
_MAPPED_BLOCKS = -4
_PADDING_BYTES = 64 << 20
_NEVER_TRIM = 2**31 - 1
# Of ImageNet's red, green and blue, in [0, 1]: what torchvision's networks were trained with.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
SMALLEST_AREA = 0.2
"""Smallest share of the image that a resized crop shows; from the authors' code."""
CPU = torch.device("cpu")
ASPECTS = (3 / 4, 4 / 3)
"""Range of aspect ratios (width by height) of a resized crop; torchvision's default, as
published."""


def device_of(requested: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda".

    Raises:
        InputError: "cuda" is not available, or the word is not one of the three.
    """
    if requested not in {"auto", "cpu", "cuda"}:
        raise InputError(
            "there is no such device", expected="auto, cpu or cuda", found=f"“{requested}”"
        )
    if requested == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "CUDA is not available to PyTorch",
            found="no usable GPU",
            remedy="`protoleaf doctor` says what is missing",
        )
    if requested == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    make_folders()
    return torch.device("cuda")


def number_type(precision: Precision, device: torch.device) -> torch.dtype:
    """The dtype for a precision on a device; "auto" takes bfloat16 only where it is native."""
    if precision != "auto":
        return torch.bfloat16 if precision == "bfloat16" else torch.float32
    if device.type == "cuda":
        is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        is_fast = torch.cpu._is_avx512_bf16_supported()  # noqa: SLF001
    return torch.bfloat16 if is_fast else torch.float32


def keep_freed_memory() -> bool:
    """Have glibc keep freed memory for the next iteration; whether it does.

    By default each block of some megabytes is a fresh mapping, whose pages the kernel must clear
    one by one: on two cores that takes up to half of Conv4's time.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (
        AttributeError,
        OSError,
        TypeError,
    ):  # no such function: musl, macOS; no such call: Windows
        return False
    settings = ((_MAPPED_BLOCKS, 0), (_TRIM_THRESHOLD, _NEVER_TRIM), (_TOP_PADDING, _PADDING_BYTES))
    return all([tune(name, value) == 1 for name, value in settings])  # noqa: C419


@final
class Distribution:
    """The process's place among those that `torchrun` started."""

    def __init__(self, device: torch.device, *, rank: int = 0, size: int = 1) -> None:
        self.device = device
        self.rank = rank
        self.size = size
        self._has_joined = False

    @staticmethod
    def of_environment(requested: str) -> "Distribution":
        """Read the variables that `torchrun` sets."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        device = device_of(requested)
        if size == 1:
            return Distribution(device)
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        return Distribution(device, rank=int(os.environ["RANK"]), size=size)

    @property
    def is_shared(self) -> bool:
        return self.size > 1

    def share(self, module: nn.Module) -> Callable[..., Tensor]:
        """The module, with gradients averaged over the processes."""
        if not self.is_shared:
            return module
        # Not every parameter is used in each iteration: without multi-parent classes, not
        # attention.
        return nn.parallel.DistributedDataParallel(module, find_unused_parameters=True)

    def average_statistics(self, module: nn.Module) -> None:
        """Average the running statistics of batch norms over the processes."""
        norms = [
            each
            for each in module.modules()
            if isinstance(each, nn.modules.batchnorm._BatchNorm)  # noqa: SLF001
        ]
        statistics = [
            value
            for each in norms
            for value in (each.running_mean, each.running_var)
            if value is not None
        ]
        if not self.is_shared or not statistics:
            return
        flat = torch.cat([value.detach().ravel() for value in statistics]) / self.size
        distributed.all_reduce(flat)
        for value, mean in zip(
            statistics, torch.split(flat, [value.numel() for value in statistics]), strict=True
        ):
            value.copy_(mean.reshape(value.shape))

    def __enter__(self) -> "Distribution":
        if self.is_shared and not distributed.is_initialized():
            distributed.init_process_group("nccl" if self.device.type == "cuda" else "gloo")
            self._has_joined = True
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._has_joined:  # a group that was there before belongs to someone else
            distributed.destroy_process_group()
            self._has_joined = False


def middle_windows(pixels: Pixels, positions: Integers, side: int) -> Pixels:
    """The middle `side` x `side` window of each image, (B, side, side, 3) uint8."""
    margin = _margin(pixels, side) // 2
    return pixels[positions, margin : margin + side, margin : margin + side]


def augmented_windows(
    pixels: Pixels,
    positions: Integers,
    side: int,
    generator: np.random.Generator,
    *,
    augmentation: Augmentation,
    device: torch.device = CPU,
) -> Tensor:
    """Randomly cropped and flipped images at positions (B,) of pixels (n, S, S, 3) uint8.

    The pixels may be memory-mapped.

    They are (B, 3, side, side) float32 on the device, normalised, channels last in memory.
    """
    if augmentation == "none":
        return normalised(placed(middle_windows(pixels, positions, side), device))
    if augmentation == "resized crop":
        return _resized_crops(normalised(placed(pixels[positions], device)), side, generator)
    return normalised(placed(_shifted_crops(pixels, positions, side, generator), device))


def placed(array: NDArray[Any], device: torch.device) -> Tensor:
    """Copy an array to a device; pixels as bytes, which take a quarter of their size as float32."""
    return torch.from_numpy(array).to(device, non_blocking=True)


def _shifted_crops(
    pixels: Pixels,
    positions: Integers,
    side: int,
    generator: np.random.Generator,
) -> Pixels:
    offsets = generator.integers(0, _margin(pixels, side) + 1, size=(len(positions), 2)).tolist()
    flips = generator.random(len(positions)) < 0.5  # noqa: PLR2004 (heads or tails)
    crops = np.empty((len(positions), side, side, 3), dtype=np.uint8)
    pixels = np.asarray(pixels)  # slicing a memory map as such takes twice as long
    for crop, position, (top, left), flip in zip(
        crops, positions.tolist(), offsets, flips.tolist(), strict=True
    ):
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
    transform = transform.to(images.device, non_blocking=True)
    grid = nn.functional.affine_grid(transform, [count, 3, side, side], align_corners=False)
    crops = nn.functional.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
    return crops.contiguous(memory_format=torch.channels_last)


def normalised(windows: Tensor) -> Tensor:
    """Normalise (B, H, W, 3) uint8 to (B, 3, H, W) float32, channels last, as ImageNet."""
    # Whole rows at once: three channels alone are too short for a processor's vector instructions.
    scale, shift = _scale_and_shift(windows.shape[2], windows.device)
    return (
        torch.addcmul(shift, windows.flatten(2).float(), scale)
        .view(windows.shape)
        .permute(0, 3, 1, 2)
    )


@lru_cache(maxsize=8)
def _scale_and_shift(width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Factor and offset of a row of pixels (width * 3,); cached, as copies to a GPU are slow."""
    with torch.inference_mode(mode=False):
        mean, deviation = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
        scale, shift = (1.0 / (255.0 * deviation)).repeat(width), (-mean / deviation).repeat(width)
        return scale.to(device), shift.to(device)


def _margin(pixels: Pixels, side: int) -> int:
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
