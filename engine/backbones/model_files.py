"""The files of one backbone: the network, its card, and the exported equations that fit its width."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.backbones.converted.facts import CONVERTED, converted_backbones, converted_path
from engine.config import BACKBONE_VARIABLE, assets_folder
from engine.errors import ModelError
from engine.model_card import BackboneCard, card_path, file_hash, read_card

MODELS: Final = "models"
FAST: Final = "leafnet"
ACCURATE: Final = "efficientnet-lite2"
DEFAULT: Final = ACCURATE
"""What a new project gets unless the person says otherwise: decision 46 has the figures."""
WORDS: Final[Mapping[str, str]] = {"accurate": ACCURATE, "fast": FAST}
"""What people may say instead of a bundled backbone's name."""
WIDTH_AGNOSTIC: Final = "cosine.propagation.onnx"
"""Propagation without parameters, for backbones whose propagation nobody has trained."""


@dataclass(frozen=True)
class ModelFiles:
    """A backbone with its card, and the exported equations that fit its width."""

    name: str
    backbone: Path
    backbone_hash: str
    card: BackboneCard
    propagation: Path
    propagation_hash: str

    @property
    def is_bundled(self) -> bool:
        """Whether the backbone ships with the program, or is made on this computer from weights that do."""
        return any(map(self.backbone.is_relative_to, (assets_folder(), converted_backbones())))

    @property
    def has_own_propagation(self) -> bool:
        return self.propagation != width_agnostic_propagation()


def default_backbone() -> str:
    """Name of the backbone of a new project: what `PROTOLEAF_BACKBONE` says, or `DEFAULT`."""
    return backbone_of_word(os.environ.get(BACKBONE_VARIABLE) or DEFAULT)


def backbone_of_word(word: str) -> str:
    """The backbone that a person means by "accurate" or "fast"; any other name is that name."""
    return WORDS.get(word, word)


def bundled_backbones() -> tuple[str, ...]:
    """Names of the backbones that come with the program, also of those that are still to be made from their weights."""
    shipped = {path.stem for path in _shipped("").parent.glob("*.onnx") if card_path(path).exists()}
    return tuple(sorted(shipped | set(CONVERTED)))


def bundled_card(name: str) -> BackboneCard:
    """Card of a bundled backbone, whether it is made already or not.

    Raises:
        ModelError: the card is missing or unreadable.
    """
    return read_card(CONVERTED[name].model if name in CONVERTED else _shipped(name))


def bundled_path(name: str) -> Path | None:
    """Where the bundled backbone of this name lies; None while it is still to be made. Nothing is made here."""
    return converted_path(name) if name in CONVERTED else _shipped(name)


def is_converted(name: str) -> bool:
    """Whether a bundled backbone can be used at once."""
    return bundled_path(name) is not None


def _shipped(name: str) -> Path:
    return assets_folder() / MODELS / f"{name}.onnx"


def width_agnostic_propagation() -> Path:
    """The propagation file that fits embeddings of any width."""
    return assets_folder() / MODELS / WIDTH_AGNOSTIC


def model_files(path: Path) -> ModelFiles:
    """Gather what lies beside a backbone file: `x.card.json`, and when it was trained `x.propagation.onnx`.

    Raises:
        ModelError: the file or its card is missing or unreadable.
    """
    try:
        return _gathered(path, _written_at(path), _written_at(card_path(path)), _written_at(own_propagation(path)))
    except OSError as error:
        raise ModelError("the backbone cannot be read", found=f"{path}: {error.strerror}") from error


def own_propagation(path: Path) -> Path:
    """Where the propagation that was trained for a backbone file lies, if there is one."""
    return path.with_suffix(".propagation.onnx")


def _written_at(path: Path) -> int:
    """Time of last change in nanoseconds, 0 where there is no file: what was gathered is kept until it changes."""
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=16)
def _gathered(path: Path, _backbone_ns: int, _card_ns: int, _propagation_ns: int) -> ModelFiles:
    card = read_card(path)
    own = own_propagation(path)
    propagation = own if own.is_file() else width_agnostic_propagation()
    return ModelFiles(card.name, path, file_hash(path), card, propagation, file_hash(propagation))
