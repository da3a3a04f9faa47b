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

    Only with the weights that the publisher itself takes, that may be used commercially, and whose accuracy and
    operations are told. A slower network is only recommended where it is more accurate than the faster ones.
    """
    able = [
        (network.top1, -network.billion_operations, network)
        for network in networks
        if network.top1 is not None
        and network.billion_operations is not None
        and network.is_default
        and network.is_for_commerce
    ]
    chosen: dict[Advice, PublishedNetwork] = {}
    for advice, most in _MOST_OPERATIONS.items():
        within = [each for each in able if -each[1] <= most]
        best = max(within, key=lambda each: each[:2])[2] if within else None
        if best is not None and best not in chosen.values():
            chosen[advice] = best
    return chosen
