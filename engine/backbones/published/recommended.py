"""Three of the published networks to choose among first, by what is published of them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the window shows first
    from engine.backbones.published.facts import PublishedNetwork


class Advice(StrEnum):
    """What a network is recommended for."""

    FAST = "fast"
    BALANCED = "balanced"
    BEST = "best"


_MOST_OPERATIONS: Final[Mapping[Advice, float]] = {Advice.FAST: 0.5, Advice.BALANCED: 5.0, Advice.BEST: inf}
"""In billions for one image: on one processor core tens of images a second, some images a second, any time it takes."""


def recommended(networks: "Iterable[PublishedNetwork]") -> "dict[Advice, PublishedNetwork]":
    """Choose the most accurate network for each purpose, the fastest first.

    Only with the weights that torchvision itself takes, and that may be used commercially. A slower network is only
    recommended where it is more accurate than the faster ones.
    """
    able = [network for network in networks if network.is_default and network.is_for_commerce]
    chosen: dict[Advice, PublishedNetwork] = {}
    for advice, most in _MOST_OPERATIONS.items():
        within = [network for network in able if network.billion_operations <= most]
        best = max(within, key=lambda network: (network.top1, -network.billion_operations), default=None)
        if best is not None and best not in chosen.values():
            chosen[advice] = best
    return chosen
