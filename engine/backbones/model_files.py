"""The files of one backbone: the network, its card, and the exported equations that fit its width."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.config import assets_folder
from engine.errors import ModelError
from engine.model_card import BackboneCard, card_path, file_hash, read_card

MODELS: Final = "models"
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
        """Whether the backbone ships with the program."""
        return self.backbone.is_relative_to(assets_folder())

    @property
    def has_own_propagation(self) -> bool:
        """Whether the propagation was trained for this backbone."""
        return self.propagation != width_agnostic_propagation()


def bundled_backbones() -> tuple[str, ...]:
    """Names of the backbones that ship with the program."""
    return tuple(sorted(path.stem for path in bundled_path("").parent.glob("*.onnx") if card_path(path).exists()))


def bundled_path(name: str) -> Path:
    """Where the bundled backbone of this name lies."""
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
