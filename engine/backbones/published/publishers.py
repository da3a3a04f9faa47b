"""Who publishes networks, and what each of them answers: which networks there are, and one built from its weights.

Everything else of a published network's way is the same for all: described, downloaded, exported, compared, kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, final

from engine.backbones.published.facts import TIMM, TORCHVISION, PublishedNetwork
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.texts import Message
from engine.training.needed_packages import check_packages

if TYPE_CHECKING:
    from torch import nn


class PublishedNetworks(Protocol):
    """What a publisher's module answers; it loads torch and the publisher's package, and asks no other computer."""

    def network_names(self) -> tuple[str, ...]:
        """Its networks, sorted."""

    def published_networks(
        self,
        names: Sequence[str] | None = None,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> tuple[PublishedNetwork, ...]:
        """Networks, by default all, with every version of their weights, its own choice first."""

    def load_published(self, facts: PublishedNetwork, weights_file: Path) -> "nn.Module":
        """Build a network without its head from its weights, in evaluation mode.

        Raises:
            ModelError: the file is damaged, holds more than numbers, or does not fit the network.
        """


@final
@dataclass(frozen=True)
class NetworkPublisher:
    """A Python package that knows networks with published weights, and where these are."""

    name: str  # of the package, and the beginning of its sources: "torchvision"
    extra: str  # what to install of Protoleaf for it

    @property
    def prefix(self) -> str:
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
        return find_spec(self.name) is not None

    @property
    def networks(self) -> PublishedNetworks:
        """Its networks; loading them takes seconds."""
        if self.name == TIMM:
            from engine.backbones.published import timm_networks

            return timm_networks
        from engine.backbones.published import torchvision_networks

        return torchvision_networks

    def check_installed(self) -> None:
        """Refuse where what its networks need is missing.

        Raises:
            ModelError: names what is missing, and what to install.
        """
        what = Message("networks of {name} need", {"name": self.name})
        check_packages(("torch", "torchvision", "onnxscript", "safetensors"), what)
        check_packages((self.name,), what, extra=self.extra)


PUBLISHERS: Final = (NetworkPublisher(TORCHVISION, "train"), NetworkPublisher(TIMM, "timm"))


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
