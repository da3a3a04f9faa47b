"""What a detector takes: which of its inputs are the pictures, of what size, and which values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from engine.arrays import Pixels
from engine.backbones.messages import TensorFacts
from engine.detection.messages import DetectorInput
from engine.detection.output_forms import QUERIES, QUERIES_WITH_NOTHING, OutputForm, Size
from engine.errors import ModelError
from engine.runtime.backbone_input import INPUT_TYPES, Preparation
from engine.texts import enumerated

TYPES: Mapping[str, DTypeLike] = {**INPUT_TYPES, "tensor(uint8)": np.uint8}
USUAL_SIDE = 640  # of YOLO's detectors
_SIDES_BY_STRIDE = {64: 1280}  # of YOLOv5's with four grids, MegaDetector among them
_TORCHVISION_SIDE = 1333  # longest side that its detectors reduce pictures to
_STRIDE = 32  # of detectors that name none
_LEAST_STRIDE = 4  # pixels
_LARGEST_SIDE = 4096  # pixels
_CHANNELS = 3
_BATCH_RANK = 4  # axes of an input for several pictures
_LEAST_TRIAL = 256  # pixels of a side of a trial's picture
_TRIAL_CELLS = 4  # multiples of the stride in it
_MASK = "pixel_mask"  # position of a picture in the input; of DETR
_SIZES = frozenset({"orig_target_sizes", "orig_size", "target_sizes"})
"""Width and height that boxes are scaled to; of RT-DETR."""
_IMAGENET: Mapping[str, Any] = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
_DETS = "dets"  # output of RF-DETR


def picture_input(
    inputs: Sequence[TensorFacts], notes: Mapping[str, str], side: int = 0
) -> DetectorInput:
    """The input that takes pictures.

    Args:
        notes: the file's metadata.
        side: longest side where any size will do; 0 for that of the metadata, or the usual.

    Raises:
        ModelError: there is none, or one more that is not known.
    """
    pictures = [
        each
        for each in inputs
        if each.kind in TYPES and len(each.shape) in {_BATCH_RANK - 1, _BATCH_RANK}
    ]
    others = tuple(each.name for each in inputs if each.name == _MASK or each.name in _SIZES)
    found = enumerated(f"{each.name}: {each.kind} {each.shape}" for each in inputs)
    if len(pictures) != 1 or len(pictures) + len(others) != len(inputs):
        raise ModelError(
            "the model's inputs are not those of a detector",
            expected="one for pictures",
            found=found,
        )
    picture = pictures[0]
    batch = picture.shape[0] if len(picture.shape) == _BATCH_RANK else 1
    if isinstance(batch, int) and batch != 1:
        raise ModelError(
            "the model takes only batches of one size",
            expected="any number of images, or 1",
            found=found,
            remedy="export it with a dynamic batch axis",
        )
    layout, sides = _layout(picture.shape[-3:], found)
    is_whole = len(picture.shape) < _BATCH_RANK
    input_of = DetectorInput(
        picture.name,
        picture.kind,
        "chw" if is_whole and layout == "nchw" else layout,
        (0, 0),
        takes_batches=not isinstance(batch, int) and not is_whole,
        others=others,
        mask=_mask_size(inputs),
    )
    high, wide = sides
    if isinstance(high, int) and isinstance(wide, int):
        return replace(input_of, size=_checked((wide, high)))
    stride = 1 if is_whole else _whole_number(notes.get("stride", ""), usual=_STRIDE)
    usual = _TORCHVISION_SIDE if is_whole else _SIDES_BY_STRIDE.get(stride, USUAL_SIDE)
    longest = side or _whole_number(notes.get("imgsz", ""), usual=usual)
    return replace(input_of, size=_checked((longest, longest)), stride=stride)


def _mask_size(inputs: Sequence[TensorFacts]) -> Size:
    """Width and height of the mask, where exports fixed them."""
    sides = next((each.shape[-2:] for each in inputs if each.name == _MASK), ())
    fixed = [side for side in sides if isinstance(side, int)]
    return (fixed[1], fixed[0]) if len(fixed) == 2 else (0, 0)  # noqa: PLR2004 (height and width)


def _layout(axes: Sequence[Any], found: str) -> tuple[str, tuple[Any, Any]]:
    """Layout, height and width."""
    if axes[0] == _CHANNELS or (not isinstance(axes[0], int) and axes[2] != _CHANNELS):
        return "nchw", (axes[1], axes[2])
    if axes[2] == _CHANNELS:
        return "nhwc", (axes[0], axes[1])
    raise ModelError("the model's input is not an image", expected="3 channels", found=found)


def _checked(size: Size) -> Size:
    if not 1 <= min(size) <= max(size) <= _LARGEST_SIDE:
        raise ModelError(
            "the model's input side cannot be used",
            expected="{least} to {most} pixels",
            found="{width} x {height}",
            least=1,
            most=_LARGEST_SIDE,
            width=size[0],
            height=size[1],
        )
    return size


def _whole_number(text: str, *, usual: int) -> int:
    """The largest side or stride in a text such as `32` or `[640, 640]`, else `usual`."""
    numbers = [
        int(part) for part in text[:100].strip("[]() ").split(",") if part.strip().isdecimal()
    ]
    return max((each for each in numbers if _LEAST_STRIDE <= each <= _LARGEST_SIDE), default=usual)


def with_values(takes: DetectorInput, form: OutputForm, value_scale: float = 0.0) -> DetectorInput:
    """The input with the value range of a form's detectors; an explicit scale takes precedence."""
    is_normalised = form.kind == QUERIES_WITH_NOTHING or (
        form.kind == QUERIES and _DETS in form.outputs
    )
    normalised = replace(takes, **_IMAGENET) if is_normalised else takes
    return replace(normalised, value_scale=value_scale) if value_scale else normalised


def trial_size(takes: DetectorInput) -> Size:
    """Of a picture that shows whether a detector works: small, where any size will do."""
    if not takes.stride:
        return takes.size
    side = min(max(takes.size), max(_LEAST_TRIAL, _TRIAL_CELLS * takes.stride))
    return side, side


def fed(takes: DetectorInput, canvases: Pixels) -> dict[str, NDArray[Any]]:
    """The inputs for canvases (n, height, width, 3) uint8 RGB."""
    count, height, width, _ = canvases.shape
    kind = TYPES[takes.kind]
    if kind == np.uint8:
        prepared = (
            canvases
            if takes.layout == "nhwc"
            else np.ascontiguousarray(canvases.transpose(0, 3, 1, 2))
        )
    else:
        prepared = Preparation(takes).prepare(canvases).astype(kind, copy=False)
    found: dict[str, NDArray[Any]] = {
        takes.name: prepared[0] if takes.layout == "chw" else prepared
    }
    for name in takes.others:
        if name == _MASK:
            wide, high = takes.mask if all(takes.mask) else (width, height)
            found[name] = np.ones((count, high, wide), dtype=np.int64)
        else:
            found[name] = np.tile(np.array([width, height], dtype=np.int64), (count, 1))
    return found
