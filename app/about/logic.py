"""Origin and licence of the weights that ship with the program; without Qt."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from engine.backbones.choices import BackboneChoice, offered_backbones
from engine.config import notice_path


@dataclass(frozen=True)
class WeightsCredit:
    """Where a bundled backbone's weights come from.

    Attributes:
        choice: what it is offered as.
        name: in the library.
        origin: what it was trained on, and by whom.
        licence: of the weights.
    """

    choice: BackboneChoice
    name: str
    origin: str
    licence: str


@dataclass(frozen=True)
class Credits:
    """What the program owes to others.

    Attributes:
        weights: of the bundled backbones.
        notice: the file NOTICE; empty where it does not lie beside the program.
    """

    weights: Sequence[WeightsCredit]
    notice: str = ""


def read_credits() -> Credits:
    """Read cards and notice from the disk."""
    notice = ""
    with suppress(OSError, UnicodeDecodeError):
        notice = notice_path().read_text(encoding="utf-8").strip()
    weights = [
        WeightsCredit(one.choice, one.name, one.card.training_data, one.card.licence) for one in offered_backbones()
    ]
    return Credits(weights, notice)
