"""How images are prepared for a backbone that a person adds: an ONNX file does not contain it."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from engine.errors import InputError, UsageError
from engine.model_card import BackboneCard
from engine.texts import enumerated

SMALLEST_SIDE = 8
LARGEST_SIDE = 1024
SMALLEST_SHARE = 0.1
USUAL_SIDE = 224
PREPROCESSING_KEY = "protoleaf.preprocessing"
"""Of the entry that the program writes into a network's file when it is added."""
UNIT_TEMPERATURE = 0.1
"""A suitable prior for embeddings of length 1; for others it grows with their squared length."""

Colour = tuple[float, float, float]
_COLOURS = 3
_SEPARATORS = re.compile(r"[\s,;\[\]()]+")


@dataclass(frozen=True)
class Preset:
    """A usual way to turn brightness into numbers."""

    title: str  # as used where networks are published
    # mean, std: of red, green and blue, in units of `value_scale`
    mean: Colour
    std: Colour
    value_scale: float = 1.0  # value of full brightness
    channel_order: str = "rgb"  # "rgb" or "bgr"


PRESETS: Mapping[str, Preset] = {
    "imagenet": Preset("ImageNet mean and std", (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "minus-one-to-one": Preset("-1 to 1", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "zero-to-one": Preset("0 to 1", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    "zero-to-255": Preset("0 to 255", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 255.0),
    "caffe": Preset(
        "0 to 255, BGR, mean subtracted (Caffe)",
        (123.68, 116.779, 103.939),
        (1.0, 1.0, 1.0),
        255.0,
        "bgr",
    ),
    "clip": Preset(
        "CLIP mean and std",
        (0.48145466, 0.4578275, 0.40821073),
        (0.26862954, 0.26130258, 0.27577711),
    ),
}
USUAL_PRESET = "imagenet"


@dataclass(frozen=True)
class Preprocessing:
    """All preprocessing that determines an embedding; see `BackboneCard` for the fields.

    Raises:
        InputError: a field is out of its range.
    """

    input_side: int = USUAL_SIDE
    mean: Colour = PRESETS[USUAL_PRESET].mean
    std: Colour = PRESETS[USUAL_PRESET].std
    resize_share: float = 1.0
    layout: str = "nchw"
    value_scale: float = 1.0
    channel_order: str = "rgb"
    output: str = ""
    pooling: str = "none"
    unit_length: bool = True

    def __post_init__(self) -> None:
        """Refuse invalid settings, with a text for the person who chose them."""
        if (
            not isinstance(self.input_side, int)
            or not SMALLEST_SIDE <= self.input_side <= LARGEST_SIDE
        ):
            raise InputError(
                "the input side cannot be used",
                expected="{least} to {most} pixels",
                found=str(self.input_side),
                least=SMALLEST_SIDE,
                most=LARGEST_SIDE,
            )
        if not SMALLEST_SHARE <= self.resize_share <= 1:
            raise InputError(
                "the resize share cannot be used",
                expected="{least} to 1",
                found=str(self.resize_share),
                least=SMALLEST_SHARE,
            )
        try:
            self.card("backbone", width=1)
        except (ValueError, TypeError) as error:
            raise InputError("the preprocessing cannot be used", found=str(error)) from error

    def card(
        self, name: str, *, width: int, description: str = "", command: str = ""
    ) -> BackboneCard:
        """Card of a backbone with this preprocessing, and embeddings of this width."""
        return BackboneCard(
            name=name,
            embedding_width=width,
            temperature=UNIT_TEMPERATURE if self.unit_length else 1.0,
            description=description,
            command=command,
            **vars(self),
        )


FIELDS = tuple(field.name for field in fields(Preprocessing))
"""Names of the fields, in the order of the stamp."""


def preprocessing_of(card: BackboneCard) -> Preprocessing:
    """Preprocessing of a card.

    Raises:
        InputError: a field is out of the range that is supported for added backbones.
    """
    return Preprocessing(**{name: getattr(card, name) for name in FIELDS})


def preprocessing_from(values: Mapping[str, Any]) -> Preprocessing:
    """Read preprocessing from plain data, such as JSON; missing fields have their usual values.

    Raises:
        InputError: a field is unknown or out of its range.
    """
    if unknown := sorted(set(values) - set(FIELDS)):
        raise InputError(
            "there is no such preprocessing", expected=enumerated(FIELDS), found=enumerated(unknown)
        )
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    try:
        return Preprocessing(**given)
    except (TypeError, ValueError) as error:
        raise InputError("the preprocessing cannot be used", found=str(error)) from error


def stamp_of(card: BackboneCard) -> bytes:
    """Bytes to append to an ONNX file that record the card's preprocessing.

    Protocol buffers may be concatenated: a model with nothing but an entry of `metadata_props` adds
    that entry, and gigabytes of weights need not be read.
    """
    from onnx import ModelProto, StringStringEntryProto

    value = json.dumps({name: getattr(card, name) for name in FIELDS})
    entry = StringStringEntryProto(key=PREPROCESSING_KEY, value=value)
    return ModelProto(metadata_props=[entry]).SerializeToString()


def preset(name: str) -> Mapping[str, Any]:
    """Fields of `Preprocessing` that a preset decides.

    Raises:
        UsageError: there is no preset of this name.
    """
    if name not in PRESETS:
        raise UsageError("there is no such preset", expected=enumerated(PRESETS), found=name)
    return {field: value for field, value in vars(PRESETS[name]).items() if field != "title"}


def preset_name(preprocessing: Preprocessing) -> str:
    """Name of the preset that preprocessing follows, empty where it follows none."""
    values = vars(preprocessing)
    return next(
        (
            name
            for name in PRESETS
            if all(values[key] == value for key, value in preset(name).items())
        ),
        "",
    )


def three_numbers(text: str) -> Colour:
    """Parse `0.485, 0.456, 0.406` with any separators; a single number is used for all three.

    Raises:
        ValueError: there are not three finite numbers.
    """
    values = [float(part) for part in _SEPARATORS.split(text) if part]
    if len(values) == 1:
        values *= _COLOURS
    if len(values) != _COLOURS or not all(map(math.isfinite, values)):
        raise ValueError(f"expected three numbers, found {text!r}")
    return values[0], values[1], values[2]


def numbers_text(values: Sequence[float]) -> str:
    """`0.485, 0.456, 0.406`: short, and parsed as the same numbers."""
    return ", ".join(
        f"{value:g}" if float(f"{value:g}") == value else repr(float(value)) for value in values
    )
