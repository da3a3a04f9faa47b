"""Versions of the program and of the libraries that its results depend on."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from engine import __version__

RUNTIME_PACKAGES = ("onnxruntime-gpu", "onnxruntime", "onnxruntime-directml")
PACKAGES = (
    *RUNTIME_PACKAGES,
    "torch",
    "torchvision",
    "PySide6-Essentials",
    "numpy",
    "pillow",
    "simplejpeg",
    "pypdfium2",
    "av",
    "networkx",
)


def versions() -> dict[str, str]:
    """Versions by name, of what is installed."""
    found = {"protoleaf": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
