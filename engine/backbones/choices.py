"""The two bundled backbones that a new project chooses between: an accurate one and a fast one."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from engine.backbones.converted.facts import CONVERTED
from engine.backbones.messages import ConvertBackbone
from engine.backbones.model_files import WORDS, bundled_card, bundled_path, default_backbone
from engine.config import BACKBONE_VARIABLE
from engine.model_card import BackboneCard
from engine.worker.protocol import Request

TIMES_THE_WORK: Final = "times_the_work"
"""Figure of a card: how many times as long as the fast backbone it takes for an image, measured elsewhere."""


class BackboneChoice(StrEnum):
    """What a person chooses by."""

    ACCURATE = "accurate"
    FAST = "fast"


@dataclass(frozen=True)
class OfferedBackbone:
    """A bundled backbone as it is offered for a new project."""

    choice: BackboneChoice  # what it is offered as
    name: str  # by which the engine finds it
    card: BackboneCard  # known before its file is there
    file: Path | None  # the network; None until it was made ready on this computer
    # What a worker is asked to make it ready; None where nothing has to be done
    preparation: Request[Any] | None = None
    times_the_work: float = 1.0  # of the fast one, for one image; 0 where nobody knows

    @property
    def is_ready(self) -> bool:
        return self.file is not None


def offered_backbones() -> tuple[OfferedBackbone, ...]:
    """The bundled backbones that can be had on this computer, the accurate one first."""
    return tuple(_offered(choice) for choice in BackboneChoice if _can_be_had(WORDS[choice]))


def choice_of(name: str) -> str:
    """What a bundled backbone is offered as; "" for any other."""
    return next((word for word, each in WORDS.items() if each == name), "")


def preparation_of(name: str) -> Request[Any] | None:
    """What a worker is asked to make a bundled backbone ready; None where it is, or where nothing can make it so."""
    is_due = name in CONVERTED and bundled_path(name) is None and _can_be_had(name)
    return ConvertBackbone(name) if is_due else None


def is_chosen_elsewhere() -> bool:
    """Whether `PROTOLEAF_BACKBONE` says what new projects get: then nobody is asked, and nothing is offered."""
    return bool(os.environ.get(BACKBONE_VARIABLE))


def chosen_among(offered: Sequence[OfferedBackbone], choice: str) -> OfferedBackbone:
    """The one that a person chose before, or the program's own choice where it is not offered."""
    found = next((one for one in offered if one.choice == choice), None)
    return found or next((one for one in offered if one.name == default_backbone()), offered[0])


def _offered(choice: BackboneChoice) -> OfferedBackbone:
    name = WORDS[choice]
    card, file = bundled_card(name), bundled_path(name)
    times = 1.0 if choice is BackboneChoice.FAST else card.figures.get(TIMES_THE_WORK, 0.0)
    return OfferedBackbone(choice, name, card, file, preparation_of(name), times)


def _can_be_had(name: str) -> bool:
    """Whether its file is there, or the package that it is made from."""
    if bundled_path(name) is not None:
        return True
    source = CONVERTED[name]
    try:
        return version(source.package) == source.version
    except PackageNotFoundError:
        return False
