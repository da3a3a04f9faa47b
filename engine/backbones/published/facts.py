"""Published facts about a network, before any of it is downloaded. Plain data, without torch."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

from engine.backbones.preprocessing import UNIT_TEMPERATURE
from engine.backbones.published.titles import Advice, network_title
from engine.files import size_text
from engine.model_card import BackboneCard

TORCHVISION = "torchvision"
TIMM = "timm"
HUB_PREFIX = "hf-hub:"
"""Prefix of a network without an entry in timm, which is described by the hub itself."""
FOR_RESEARCH = ": not for commercial use"  # how a licence ends that forbids it
NON_COMMERCIAL = f"CC-BY-NC 4.0{FOR_RESEARCH}"
UNNAMED = "none named"  # how the text of a missing licence begins
LONGEST_LIBRARY_NAME = 64  # characters
_PATCH = re.compile(r"patch(\d+)")
_HASH_DIGITS = 8  # enough to distinguish names with the same beginning
NOT_KNOWN = f"{UNNAMED} for the weights; see the network's page on the hub"
_RESEARCH: Mapping[str, str] = {
    "cc-by-nc-4.0": NON_COMMERCIAL,
    "cc-by-nc-sa-4.0": f"CC-BY-NC-SA 4.0{FOR_RESEARCH}",
    "cc-by-nc-nd-4.0": f"CC-BY-NC-ND 4.0{FOR_RESEARCH}",
    "fair-noncommercial-research-license": f"FAIR Noncommercial Research License{FOR_RESEARCH}",
    "apple-amlr": f"Apple Machine Learning Research Model License{FOR_RESEARCH}",
}
_USUAL: Mapping[str, str] = {
    "apache-2.0": "Apache 2.0",
    "mit": "MIT",
    "bsd-3-clause": "BSD-3-Clause",
    "cc-by-4.0": "CC-BY 4.0",
    "cc0-1.0": "CC0 1.0",
}
_MOST_OPERATIONS: Mapping[Advice, float] = {
    Advice.FAST: 0.5,
    Advice.BALANCED: 5.0,
    Advice.BEST: inf,
}
"""In billions for one image: on one core tens of images a second, some a second, any time."""
_NOBODYS = frozenset({"", "unknown", "other", "none"})


@dataclass(frozen=True)
class PublishedNetwork:
    """A network of torchvision or timm with one version of its published weights."""

    # The publisher's name, such as "resnet50"; "hf-hub:owner/name" where only the hub describes it
    network: str
    # Name of the version, such as "IMAGENET1K_V2"; of a network on the hub its revision
    weights: str
    is_default: bool  # whether the publisher takes this version when none is named
    url: str  # address of the weights
    # First digits of the SHA-256 of the weights, in hex; empty: only the server knows it
    sha256_prefix: str
    # Of the weights: rounded by torchvision, counted from the parameters for timm; 0 if unknown
    size_bytes: int
    parameters: int  # numbers in the network, its head included; 0 where they were not counted
    # top1, top5: accuracy on the validation images of ImageNet-1k, in percent; None where unknown
    top1: float | None
    top5: float | None
    billion_operations: float | None  # multiply-adds for one image, in billions; None where unknown
    input_side: int  # side of the square input in pixels
    resize_side: int  # the short side an image is resized to before its centre is cut out
    interpolation: str  # how the publisher resizes; Protoleaf always resizes bilinearly
    # mean, std: normalisation of red, green and blue in [0, 1]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    # Length of the embedding; 0 where it is known only once the network is built
    embedding_width: int
    licence: str  # of the weights, in words
    licence_url: str  # address of the licence
    recipe_url: str  # how the weights were trained
    publisher: str = TORCHVISION  # "torchvision" or "timm"
    other_urls: tuple[str, ...] = ()  # tried in turn where there is nothing at `url`
    has_chosen_side: bool = False  # whether a person chose `input_side` instead of the usual one
    # Whether the publisher resizes without keeping an image's proportions
    is_squashed: bool = False
    settings: str = ""  # JSON from which timm builds a network that it has no entry for; else empty

    @property
    def full_name(self) -> str:
        """The publisher's name, with that of the weights where it joins both, as timm does."""
        if self.publisher == TORCHVISION:
            return self.network
        return (
            f"{self.network}{'@' if self.is_on_hub_only else '.'}{self.weights}"
            if self.weights
            else self.network
        )

    @property
    def is_on_hub_only(self) -> bool:
        return self.network.startswith(HUB_PREFIX)

    @property
    def source(self) -> str:
        """The name to add it by, such as "torchvision:resnet50"."""
        return f"{self.publisher}:{self.full_name}"

    @property
    def title(self) -> str:
        """A readable name, such as "ResNet-50 (V2)"; timm's own names are readable."""
        if self.publisher == TORCHVISION:
            return network_title(self.network, self.weights)
        return self.full_name.removeprefix(HUB_PREFIX)

    @property
    def described(self) -> str:
        """The network with its weights, in the middle of a sentence."""
        both = f"{self.network} with weights {self.weights}" if self.weights else self.network
        return both.removeprefix(HUB_PREFIX)

    @property
    def is_for_commerce(self) -> bool:
        return not self.licence.endswith(FOR_RESEARCH)

    @property
    def is_unlicensed(self) -> bool:
        """Whether no licence is named for the weights."""
        return self.licence.startswith(UNNAMED)

    @property
    def words(self) -> str:
        """The text of a search: names, weights and licence, in lower case."""
        return f"{self.title} {self.source} {self.weights} {self.licence}".casefold()

    @property
    def library_name(self) -> str:
        is_versioned = self.publisher == TORCHVISION
        name = (
            f"{self.network}-{self.weights.lower()}"
            if is_versioned
            else self.full_name.removeprefix(HUB_PREFIX)
        )
        side = f"-{self.input_side}px" if self.has_chosen_side else ""
        return short_enough(re.sub(r"[^A-Za-z0-9._-]", "-", f"{self.publisher}-{name}{side}"))

    @property
    def resize_share(self) -> float:
        """Share of an image's short side that the input shows; at most 1."""
        return min(1.0, self.input_side / self.resize_side)

    @property
    def size_text(self) -> str:
        if not self.size_bytes:
            return "of unknown size"
        return (
            size_text(self.size_bytes)
            if self.sha256_prefix
            else f"about {size_text(self.size_bytes)}"
        )

    @property
    def terms(self) -> str:
        """Size and licence, as shown before a download."""
        return f"{self.size_text}; licence: {self.licence} ({self.licence_url})"

    @property
    def takes_other_sides(self) -> bool:
        """Whether it can be built for images of another side than its weights are for."""
        return self.publisher == TIMM

    @property
    def patch(self) -> int:
        """Side of its patches by its name; the input's is a multiple of it. 0: unknown."""
        found = _PATCH.search(self.network)
        return int(found[1]) if found else 0

    def at_side(self, input_side: int) -> "PublishedNetwork":
        """The network for another input side; whether it accepts it is known when it is built."""
        if input_side == self.input_side:
            return self
        resize_side = round(input_side / self.resize_share)
        return replace(self, input_side=input_side, resize_side=resize_side, has_chosen_side=True)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with some of the properties."""
        return asdict(self) | {
            "source": self.source,
            "library_name": self.library_name,
            "file_size_mb": round(self.size_bytes / 1e6, 1),
        }


def short_enough(name: str) -> str:
    """The name, or its beginning with digits of its hash where it is too long for the library."""
    if len(name) <= LONGEST_LIBRARY_NAME:
        return name
    digits = hashlib.sha256(name.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{name[: LONGEST_LIBRARY_NAME - _HASH_DIGITS - 1]}-{digits}"


def card_of_published(facts: PublishedNetwork, *, weights_from: str = "") -> BackboneCard:
    """The card of a published network, with the origin of downloaded weights."""
    figures = {
        "imagenet_top1_percent": facts.top1,
        "imagenet_top5_percent": facts.top5,
        "parameters": float(facts.parameters) or None,
    }
    return BackboneCard(
        name=facts.library_name,
        input_side=facts.input_side,
        mean=facts.mean,
        std=facts.std,
        embedding_width=facts.embedding_width,
        resize_share=facts.resize_share,
        description=f"{facts.network.removeprefix(HUB_PREFIX)} of {facts.publisher} with weights "
        f"{facts.weights}, without its head. Images are resized bilinearly{_otherwise(facts)}; "
        "embeddings are scaled to length 1. "
        f"{weights_from}".strip(),
        training_data=f"See {facts.recipe_url}",
        licence=f"{facts.licence} ({facts.licence_url})",
        command=_command(facts),
        figures={name: value for name, value in figures.items() if value is not None},
        temperature=UNIT_TEMPERATURE,
        unit_length=True,
    )


def _otherwise(facts: PublishedNetwork) -> str:
    kinds = [] if facts.interpolation == "bilinear" else [facts.interpolation]
    if facts.is_squashed:
        kinds.append("to a square, whatever their proportions,")
    return f" ({' and '.join(kinds)} while it was trained)" if kinds else ""


def _command(facts: PublishedNetwork) -> str:
    weights = f" --weights {facts.weights}" if facts.publisher == TORCHVISION else ""
    side = f" --input-side {facts.input_side}" if facts.has_chosen_side else ""
    return f"protoleaf backbone add {facts.source}{weights}{side}"


def licence_in_words(short: str | None) -> str:
    """Display text of a hub's licence: `Apache 2.0`; `CC-BY-NC 4.0: not for commercial use`."""
    name = (short or "").strip().lower()
    if name in _NOBODYS:
        return NOT_KNOWN
    return (
        _RESEARCH.get(name)
        or _USUAL.get(name)
        or f"{name}; its own terms, see the network's page on the hub"
    )


def recommended(networks: Iterable[PublishedNetwork]) -> dict[Advice, PublishedNetwork]:
    """Choose the most accurate network for each purpose, the fastest first.

    Only with the weights that the publisher itself takes, that may be used commercially, and whose
    accuracy and operations are published. A slower network is only recommended where it is more
    accurate than the faster ones.
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
