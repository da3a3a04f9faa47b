"""Model cards: what inference needs of a model file, and the origin of its weights."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ModelError, found_at
from engine.files import open_regular, read_regular
from engine.new_file import ORDINARY_FILE, write_file

LAYOUTS = ("nchw", "nhwc")
CHANNEL_ORDERS = ("rgb", "bgr", "grey")
POOLINGS = ("none", "mean", "first")
CHANNELS = 3
_LARGEST_CARD = 10_000_000  # Bytes; ours have some thousands


@dataclass(frozen=True)
class BackboneCard:
    """What inference needs of a backbone file."""

    name: str  # short name, to select it
    input_side: int  # side of the square input in pixels
    # mean, std: normalisation of red, green and blue (in this order, whatever the network's is), in
    # units of
    # `value_scale`; a grey network takes the first of each
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    embedding_width: int  # length of the output vector
    # the image's short side is resized to `input_side / resize_share`, and the centre is cropped
    resize_share: float = 1.0
    # prior of the classifier's temperature, from held-out classes of the training collection
    temperature: float = 1.0
    # prior for lambda, n / (n + shrinkage) for n shots (Eq. 6), from held-out classes.
    shrinkage: float = 1.0
    shrinkage_guessed: float = 0.2  # the same where the parents are guessed (the PPN setting)
    # description, training_data, licence, command: texts for display
    description: str = ""
    training_data: str = ""
    licence: str = ""
    command: str = ""
    figures: dict[str, float] = field(default_factory=dict)  # measured figures by name
    # "nchw" or "nhwc": order of batch, channels, height and width in the input, and in a pooled map
    layout: str = "nchw"
    value_scale: float = 1.0  # value of full brightness before mean and std: 1.0 or 255.0
    channel_order: str = "rgb"  # "rgb", "bgr", or "grey" for a network with one channel
    output: str = ""  # name of the output to take; empty: the only one
    # for an output (B, d); "mean" over the places of a map or the tokens; "first" token
    pooling: str = "none"
    unit_length: bool = False  # whether embeddings are scaled to length 1 after the network

    def __post_init__(self) -> None:
        """Refuse invalid values: cards are written by users.

        Raises:
            ValueError: a field is out of its range.
        """
        for name, choices in (
            ("layout", LAYOUTS),
            ("channel_order", CHANNEL_ORDERS),
            ("pooling", POOLINGS),
        ):
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name} must be {' or '.join(choices)}, not {value!r}")
        if not (
            len(self.mean) == len(self.std) == CHANNELS
            and all(map(_is_number, (*self.mean, *self.std)))
        ):
            raise ValueError("mean and std must be three numbers each")
        if min(self.std) <= 0 or not (_is_number(self.value_scale) and self.value_scale > 0):
            raise ValueError("std and value_scale must be above 0")
        if not 0 < self.resize_share <= 1:
            raise ValueError(f"resize_share must be above 0 and at most 1, not {self.resize_share}")
        if not (_is_count(self.input_side) and _is_count(self.embedding_width)):
            raise ValueError("input_side and embedding_width must be whole numbers of at least 1")
        for name in ("temperature", "shrinkage", "shrinkage_guessed"):
            if not (_is_number(value := getattr(self, name)) and value >= 0):
                raise ValueError(f"{name} must be a number of at least 0, not {value!r}")
        _check_words(self)

    @property
    def channels(self) -> int:
        return 1 if self.channel_order == "grey" else CHANNELS


def _check_words(card: BackboneCard) -> None:
    for name in ("name", "description", "training_data", "licence", "command", "output"):
        if not isinstance(getattr(card, name), str):
            raise ValueError(f"{name} must be a text")  # noqa: TRY004 (what is wrong is the card)
    if not isinstance(card.unit_length, bool):
        raise ValueError("unit_length must be true or false")  # noqa: TRY004
    if not (
        isinstance(card.figures, dict)
        and all(isinstance(each, int | float) for each in card.figures.values())
    ):
        raise ValueError("figures must be numbers by name")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def card_path(model: Path) -> Path:
    """Path of a model file's card: `x.onnx` has `x.card.json`."""
    return model.with_suffix(".card.json")


def write_card(model: Path, card: BackboneCard) -> None:
    """Write the card of a model file."""
    write_file(card_path(model), card_text(card), mode=ORDINARY_FILE)


def card_text(card: BackboneCard) -> str:
    """A card as JSON."""
    return json.dumps(asdict(card), indent=2) + "\n"


def read_card(model: Path) -> BackboneCard:
    """Read the card of a model file.

    Raises:
        ModelError: the card is missing, is not JSON, or lacks a field.
    """
    path = card_path(model)
    try:
        text = read_regular(path, at_most=_LARGEST_CARD).decode()
    except OSError as error:
        raise ModelError(
            "the model has no card", expected=str(path), found=error.strerror or "nothing"
        ) from error
    except UnicodeDecodeError as error:
        raise _unreadable(str(path), error) from error
    return card_of(text, source=str(path))


def card_of(text: str, *, source: str) -> BackboneCard:
    """Read a card from the JSON that `card_text` makes; `source` names it in the error.

    Raises:
        ModelError: it is not JSON or lacks a field.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        fields["mean"], fields["std"] = tuple(fields["mean"]), tuple(fields["std"])
        return BackboneCard(**fields)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise _unreadable(source, error) from error


def _unreadable(source: str, error: Exception) -> ModelError:
    return ModelError("the model's card cannot be read", found=found_at(source, error))


def file_hash(path: Path) -> str:
    """SHA-256 of a file as hex; the identity of a model file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
