"""What may be known about a backbone's preprocessing without asking: cards beside the file, notes in it, usage."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.backbones.preprocessing import (
    PREPROCESSING_KEY,
    PRESETS,
    USUAL_PRESET,
    preprocessing_from,
    preprocessing_of,
    preset,
)
from engine.errors import InputError, ModelError
from engine.model_card import card_path, read_card
from engine.regular_file import open_regular

PREPROCESSOR_FILE: Final = "preprocessor_config.json"
FULL: Final = 255.0
_REMEDY: Final = "correct or remove it"
_LARGEST_FILE: Final = 1 << 20
_NOT_SETTINGS: Final = (
    ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, InputError,
)  # fmt: skip
"""What reading and counting raise where something else stands than settings."""


@dataclass(frozen=True)
class Hint:
    """What is known or guessed about preprocessing."""

    values: Mapping[str, Any]  # fields of `Preprocessing` by name; those that nothing is known of are missing
    why: str  # where they come from, in words for a person
    is_declared: bool  # whether somebody said so; False for a guess from what is usual
    # name, description, licence: of the backbone, from its card
    name: str = ""
    description: str = ""
    licence: str = ""


def hint_for(path: Path, notes: Mapping[str, str], producer: str) -> Hint:
    """Find out what can be known about a file's preprocessing, with the notes in it and the program that wrote it.

    Raises:
        ModelError: a card or settings file beside it is there and cannot be used.
    """
    return _from_card(path) or _from_notes(notes) or _from_preprocessor(path) or _usual(path, producer)


def _from_card(path: Path) -> Hint | None:
    beside = card_path(path)
    if not beside.is_file():
        return None
    card = read_card(path)
    try:
        values = vars(preprocessing_of(card))
    except InputError as error:
        found = f"{beside.name}: {error}"
        raise ModelError("the card beside the model cannot be used", found=found, remedy=_REMEDY) from error
    return Hint(values, f"from its card {beside.name}", True, card.name, card.description, card.licence)


def _from_notes(notes: Mapping[str, str]) -> Hint | None:
    try:
        values = vars(preprocessing_from(json.loads(notes[PREPROCESSING_KEY])))
    except _NOT_SETTINGS:  # a guess for want of better; the file itself may be sound
        return None
    return Hint(values, "from the file itself, which this program wrote", True)


def _from_preprocessor(path: Path) -> Hint | None:
    """The settings file that networks on model hubs come with, beside the network or one folder above."""
    for folder in path.absolute().parents[:2]:
        file = folder / PREPROCESSOR_FILE
        if file.is_file():
            return Hint(_preprocessor_values(file), f"from {PREPROCESSOR_FILE} beside it", True)
    return None


def _preprocessor_values(file: Path) -> Mapping[str, Any]:
    try:
        with open_regular(file) as opened:
            values = preprocessor_fields(json.loads(opened.read(_LARGEST_FILE)))
        preprocessing_from(values)
    except (OSError, *_NOT_SETTINGS) as error:
        found = f"{type(error).__name__}: {error}"
        raise ModelError(
            "{file} beside the model cannot be used", found=found, remedy=_REMEDY, file=file.name
        ) from error
    return values


def preprocessor_fields(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Translate a `preprocessor_config.json` into fields of `Preprocessing`.

    Args:
        settings: keys as the format has them: `size` or `crop_size` (a number, `shortest_edge`, or `height` and
            `width`), `image_mean`, `image_std`, `do_rescale`, `rescale_factor`, `do_normalize`, `do_center_crop`,
            `crop_pct`.

    Raises:
        ValueError: a picture would not be square.
        KeyError, TypeError: the settings are not of this format.
    """
    values: dict[str, Any] = {}
    resized = _side(settings.get("size"))
    cropped = _side(settings.get("crop_size")) if settings.get("do_center_crop") else None
    if (side := cropped or resized) is not None:
        values["input_side"] = side
    if cropped is not None and resized is not None and resized > cropped:
        values["resize_share"] = cropped / resized
    elif isinstance(settings.get("crop_pct"), int | float):
        values["resize_share"] = float(settings["crop_pct"])
    scale = FULL * (float(settings.get("rescale_factor", 1 / FULL)) if settings.get("do_rescale", True) else 1.0)
    values["value_scale"] = float(round(scale)) if math.isclose(scale, round(scale), rel_tol=1e-6) else scale
    is_normalised = settings.get("do_normalize", "image_mean" in settings)
    for name, usual in (("mean", 0.0), ("std", 1.0)):
        values[name] = tuple(map(float, settings[f"image_{name}"] if is_normalised else (usual,) * 3))
    return values


def _side(size: Any) -> int | None:
    if size is None or isinstance(size, int):
        return size
    if "shortest_edge" in size:
        return int(size["shortest_edge"])
    if size["height"] != size["width"]:
        raise ValueError(f"pictures of {size['height']} x {size['width']} are not square")
    return int(size["height"])


def _usual(path: Path, producer: str) -> Hint:
    name = path.stem.lower()
    if "clip" in name:
        chosen, reason = "clip", "the file's name says CLIP"
    elif producer.startswith("tf2onnx") or "keras" in producer.lower():
        chosen, reason = "minus-one-to-one", "it comes from TensorFlow, where this is usual"
    elif "caffe" in producer.lower():
        chosen, reason = "caffe", "it comes from Caffe"
    else:
        chosen, reason = USUAL_PRESET, "most published networks use it"
    return Hint(preset(chosen), f"{PRESETS[chosen].title} is a guess: {reason}", False)
