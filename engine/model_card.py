"""The card beside every model file: all that inference must know, and where the weights come from."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ModelError


@dataclass(frozen=True)
class BackboneCard:
    """What inference must know of a backbone file.

    Attributes:
        name: short name that people choose it by.
        input_side: side of the square input in pixels.
        mean, std: per-channel normalisation of RGB values in [0, 1].
        embedding_width: length of the output vector.
        resize_share: the image's short side is resized to `input_side / resize_share` and the centre is kept.
        temperature: prior for the classifier's temperature, from the training collection's held-out classes.
        shrinkage: prior for lambda, n / (n + shrinkage) for n shots (Eq. 6), from held-out classes.
        shrinkage_guessed: the same where the parents are guessed (the PPN setting).
        description, training_data, licence, command: words for people.
        figures: measured figures by name.
    """

    name: str
    input_side: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    embedding_width: int
    resize_share: float = 1.0
    temperature: float = 1.0
    shrinkage: float = 1.0
    shrinkage_guessed: float = 0.2
    description: str = ""
    training_data: str = ""
    licence: str = ""
    command: str = ""
    figures: dict[str, float] = field(default_factory=dict)


def card_path(model: Path) -> Path:
    """Path of the card that belongs to a model file: `x.onnx` has `x.card.json`."""
    return model.with_suffix(".card.json")


def write_card(model: Path, card: BackboneCard) -> None:
    """Write the card beside its model file."""
    card_path(model).write_text(card_text(card), encoding="utf-8")


def card_text(card: BackboneCard) -> str:
    """A card as JSON."""
    return json.dumps(asdict(card), indent=2) + "\n"


def read_card(model: Path) -> BackboneCard:
    """Read the card beside a model file.

    Raises:
        ModelError: the card is missing, is not JSON, or lacks a field.
    """
    path = card_path(model)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError("the model has no card", expected=str(path), found=error.strerror or "nothing") from error
    except UnicodeDecodeError as error:
        raise _unreadable(str(path), error) from error
    return card_of(text, source=str(path))


def card_of(text: str, *, source: str) -> BackboneCard:
    """Read a card from the JSON that `card_text` makes.

    Args:
        text: the JSON.
        source: where it comes from, for the error.

    Raises:
        ModelError: it is not JSON or lacks a field.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        fields["mean"], fields["std"] = tuple(fields["mean"]), tuple(fields["std"])
        return BackboneCard(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(source, error) from error


def _unreadable(source: str, error: Exception) -> ModelError:
    return ModelError("the model's card cannot be read", found=f"{source}: {error}")


def file_hash(path: Path) -> str:
    """SHA-256 of a file as hex; the identity of a model file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
