"""The two bundled backbones that a new project chooses between: an accurate one and a fast one."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from engine.backbones.model_files import MODELS, model_files
from engine.config import assets_folder
from engine.model_card import BackboneCard
from engine.worker.protocol import Request


class BackboneChoice(StrEnum):
    """What a person chooses by."""

    ACCURATE = "accurate"
    FAST = "fast"


DEFAULT: Final = BackboneChoice.FAST
"""What new projects get unless a person says otherwise."""


@dataclass(frozen=True)
class OfferedBackbone:
    """A bundled backbone as it is offered for a new project.

    Attributes:
        choice: what it is offered as.
        name: by which the engine finds it.
        card: known before its file is there.
        file: the network; None until it was made ready on this computer.
        preparation: what a worker is asked to make it ready; None where nothing has to be done.
        times_the_work: of the fast one, for one image; 0 where nobody knows.
    """

    choice: BackboneChoice
    name: str
    card: BackboneCard
    file: Path | None
    preparation: Request[Any] | None = None
    times_the_work: float = 1.0

    @property
    def is_ready(self) -> bool:
        """Whether its file is there."""
        return self.file is not None


def offered_backbones() -> tuple[OfferedBackbone, ...]:
    """What a new project can be made with, the accurate one first where it can be had on this computer."""
    files = model_files(assets_folder() / MODELS / "leafnet.onnx")
    return (OfferedBackbone(BackboneChoice.FAST, files.name, files.card, files.backbone),)


def is_chosen_elsewhere() -> bool:
    """Whether `PROTOLEAF_BACKBONE` says what new projects get: then nobody is asked, and nothing is offered."""
    return bool(os.environ.get("PROTOLEAF_BACKBONE"))


def chosen_among(offered: Sequence[OfferedBackbone], choice: str) -> OfferedBackbone:
    """The one that a person chose before, or the program's own choice where it is not offered."""
    found = next((one for one in offered if one.choice == choice), None)
    return found or next((one for one in offered if one.choice is DEFAULT), offered[0])
