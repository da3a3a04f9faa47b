"""Who publishes networks, and what each of them answers: which networks there are, and one built from its weights.

Everything else of a published network's way is the same for all: described, downloaded, exported, compared, kept.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, final

from engine.backbones.published.facts import TIMM, TORCHVISION, PublishedNetwork
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.training.needed_packages import check_packages

if TYPE_CHECKING:
    from torch import nn


class NetworkPublisher(ABC):
    """A Python package that knows networks with published weights, and where these are."""

    name: ClassVar[str]  # of the package, and the beginning of its sources: "torchvision"
    extra: ClassVar[str]  # what to install of Protoleaf for it

    @property
    def prefix(self) -> str:
        """How a source begins that names one of its networks."""
        return f"{self.name}:"

    @property
    def version(self) -> str:
        """Of the package; empty where it is not installed."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return ""

    @property
    def is_installed(self) -> bool:
        """Whether its list can be read."""
        return find_spec(self.name) is not None

    def check_installed(self) -> None:
        """Refuse where what its networks need is missing.

        Raises:
            ModelError: names what is missing, and what to install.
        """
        what = f"networks of {self.name} need"
        check_packages(("torch", "torchvision", "onnxscript", "safetensors"), what)
        check_packages((self.name,), what, extra=self.extra)

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Its networks, sorted; asks no other computer."""

    @abstractmethod
    def described(
        self,
        names: Sequence[str] | None = None,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> tuple[PublishedNetwork, ...]:
        """Networks, by default all, with every version of their weights, its own choice first; asks no network."""

    @abstractmethod
    def with_input_side(self, facts: PublishedNetwork, input_side: int) -> PublishedNetwork:
        """The same network for images of another side.

        Raises:
            ModelError: it takes none of this side.
        """

    @abstractmethod
    def network(self, facts: PublishedNetwork, weights_file: Path) -> "nn.Module":
        """Build a network without its head from its weights, in evaluation mode.

        Raises:
            ModelError: the file is damaged, holds more than numbers, or does not fit the network.
        """


@final
class Torchvision(NetworkPublisher):
    """The classification networks of torchvision."""

    name = TORCHVISION
    extra = "train"

    def names(self) -> tuple[str, ...]:
        """Its networks."""
        from engine.backbones.published.torchvision_listing import network_names

        return network_names()

    def described(
        self,
        names: Sequence[str] | None = None,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> tuple[PublishedNetwork, ...]:
        """Its networks with their weights; takes seconds."""
        from engine.backbones.published.torchvision_listing import published_networks

        return published_networks(names, on_progress=on_progress, cancel=cancel)

    def with_input_side(self, facts: PublishedNetwork, input_side: int) -> PublishedNetwork:
        """Torchvision's networks keep the side that their weights were made for."""
        raise ModelError(
            "the side of the input cannot be chosen for networks of torchvision",
            expected=f"{facts.input_side} pixels",
            found=f"{input_side} pixels",
            remedy="leave --input-side out, or take a network of timm",
        )

    def network(self, facts: PublishedNetwork, weights_file: Path) -> "nn.Module":
        """Built as torchvision builds it for these weights."""
        from engine.backbones.published.torchvision_weights import load_published

        return load_published(facts, weights_file)


@final
class Timm(NetworkPublisher):
    """The networks of timm, whose weights are on the Hugging Face hub."""

    name = TIMM
    extra = "timm"

    def names(self) -> tuple[str, ...]:
        """Its networks, each with every tag of its weights."""
        from engine.backbones.published.timm_listing import network_names

        return network_names()

    def described(
        self,
        names: Sequence[str] | None = None,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> tuple[PublishedNetwork, ...]:
        """Its networks with their weights."""
        from engine.backbones.published.timm_listing import published_networks

        return published_networks(names, on_progress=on_progress, cancel=cancel)

    def with_input_side(self, facts: PublishedNetwork, input_side: int) -> PublishedNetwork:
        """Position embeddings are interpolated by timm where a network has them."""
        from engine.backbones.published.timm_listing import with_input_side

        return with_input_side(facts, input_side)

    def network(self, facts: PublishedNetwork, weights_file: Path) -> "nn.Module":
        """Built as timm builds it for these weights."""
        from engine.backbones.published.timm_weights import load_published

        return load_published(facts, weights_file)


PUBLISHERS: Final[tuple[NetworkPublisher, ...]] = (Torchvision(), Timm())


def publisher_called(name: str) -> NetworkPublisher:
    """The publisher of this name.

    Raises:
        ModelError: there is none.
    """
    for publisher in PUBLISHERS:
        if publisher.name == name:
            return publisher
    raise ModelError(
        "there is no such source of published networks",
        expected=" or ".join(publisher.name for publisher in PUBLISHERS),
        found=f"“{name}”",
    )


def is_published_source(backbone: str) -> bool:
    """Whether a person named a published network, such as "torchvision:resnet50"."""
    return backbone.startswith(tuple(publisher.prefix for publisher in PUBLISHERS))
