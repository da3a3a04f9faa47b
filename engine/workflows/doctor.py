"""What this computer offers: versions, execution providers, and why the GPU is or is not used."""

import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from engine import __version__
from engine.config import CacheFolders
from engine.inference.providers import ProviderReport, choose_providers, probe_providers
from engine.workflows.models import bundled_backbones

PACKAGES: Final = ("onnxruntime-gpu", "onnxruntime", "torch", "PySide6-Essentials", "numpy", "pillow", "networkx")


@dataclass(frozen=True)
class Diagnosis:
    """The outcome.

    Attributes:
        versions: by name.
        providers: each really tried and timed.
        device: what embedding would run on.
        reason: why, in words.
        backbones: names of the bundled ones.
        cache_folder: where caches lie.
    """

    versions: dict[str, str]
    providers: tuple[ProviderReport, ...]
    device: str
    reason: str
    backbones: tuple[str, ...]
    cache_folder: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def examine(caches: CacheFolders) -> Diagnosis:
    """Look at this computer; makes real sessions, so it takes a moment."""
    choice = choose_providers("auto")
    return Diagnosis(
        {"protoleaf": __version__, "Python": platform.python_version(), **_packages()},
        probe_providers(), choice.device_name, choice.reason, bundled_backbones(), str(caches.root),
    )  # fmt: skip


def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
