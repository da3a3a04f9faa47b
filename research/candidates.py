"""Candidates for the bundled backbone: shape, objective and recipe of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor, nn

from engine.errors import UsageError
from research.leaf_net import LEAF_NET_WIDTHS, LastStage, LeafNet
from research.pretraining import PretrainingSettings

Head = Literal["last", "all"]
_STAGES = "stages."


@dataclass(frozen=True)
class Candidate:
    """A candidate: how it is built and trained.

    Attributes:
        widths, blocks, stem_width: of `LeafNet`.
        head: whether it is trained by a classifier on the last stage or on all.
        settings: the recipe.
        start: the candidate whose weights it starts from; empty for random weights.
    """

    widths: tuple[int, ...] = LEAF_NET_WIDTHS
    blocks: tuple[int, ...] = (2, 2, 2, 2)
    stem_width: int = 32
    head: Head = "all"
    settings: PretrainingSettings = field(default_factory=PretrainingSettings)
    start: str = ""

    def network(self) -> LeafNet:
        """The network with random weights."""
        return LeafNet(self.widths, self.blocks, stem_width=self.stem_width)

    def trained_part(self, network: LeafNet) -> LastStage | LeafNet:
        """The part of the network that the classifier is trained on."""
        return LastStage(network, self.widths[-1]) if self.head == "last" else network


_REFINING = PretrainingSettings(stages=((3, 48), (3, 64)), learning_rate=0.05)

CANDIDATES: Mapping[str, Candidate] = {
    "deep": Candidate(head="last"),
    "short": Candidate(blocks=(1, 1, 2, 1), settings=_REFINING, start="deep"),
    "short-ancestors": Candidate(
        blocks=(1, 1, 2, 1),
        settings=PretrainingSettings(
            stages=_REFINING.stages, learning_rate=0.05, ancestor_weight=0.5
        ),
        start="deep",
    ),
    "slim": Candidate(
        widths=(32, 80, 160, 320),
        blocks=(1, 2, 2, 1),
        settings=PretrainingSettings(stages=((4, 40), (4, 48), (4, 64))),
    ),
}
"""`deep` was bundled before; docs/decisions compares the others with it."""


def candidate(name: str) -> Candidate:
    """Look up a candidate by name.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in CANDIDATES:
        raise UsageError("there is no such candidate", expected=", ".join(CANDIDATES), found=name)
    return CANDIDATES[name]


def take_over(network: LeafNet, weights: Mapping[str, Tensor], blocks: tuple[int, ...]) -> None:
    """Copy the first blocks of each stage of a deeper network of equal widths.

    Args:
        network: changed in place.
        weights: state dict of the deeper network.
        blocks: numbers of blocks of its stages.
    """
    stem = network.stage_ends[0] - _counts(network)[0]
    kept: list[int] = list(range(stem))
    start = stem
    for count, had in zip(_counts(network), blocks, strict=True):
        kept += range(start, start + count)
        start += had
    place_of = {str(old): str(new) for new, old in enumerate(kept)}
    state = {}
    for name, values in weights.items():
        old, _, rest = name.removeprefix(_STAGES).partition(".")
        if old in place_of:
            state[f"{_STAGES}{place_of[old]}.{rest}"] = values
    network.load_state_dict(state)


def _counts(network: LeafNet) -> list[int]:
    """Number of blocks of each stage."""
    first = next(place for place, layer in enumerate(network.stages) if not _is_stem(layer))
    return [
        end - start
        for start, end in zip((first, *network.stage_ends), network.stage_ends, strict=False)
    ]


def _is_stem(layer: nn.Module) -> bool:
    return isinstance(layer, nn.Conv2d | nn.BatchNorm2d | nn.ReLU)
