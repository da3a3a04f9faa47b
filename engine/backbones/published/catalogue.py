"""Publishers of networks, their lists, and lookup by name; lists need no network access."""

import difflib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, final

import msgspec

from engine.backbones.library import BackboneLibrary
from engine.backbones.published.facts import HUB_PREFIX, TIMM, TORCHVISION, PublishedNetwork
from engine.backbones.published.route import Route
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.new_file import private_folder, write_file
from engine.texts import Message, either
from engine.training.needed_packages import check_packages

if TYPE_CHECKING:
    from torch import nn

_LIST_FORMAT = 2  # of the file; another one is recomputed
_CLOSE_NAMES = 5  # suggested for a wrong name


class PublishedNetworks(Protocol):
    """A publisher's module; it loads torch and the publisher's package, and stays offline."""

    def network_names(self) -> tuple[str, ...]:
        """Its networks, sorted."""

    def published_networks(
        self,
        names: Sequence[str] | None = None,
        *,
        on_progress: OnProgress = ignore_progress,
        cancel: CancelToken | None = None,
    ) -> tuple[PublishedNetwork, ...]:
        """Networks, by default all, with every version of their weights, its default first."""

    def load_published(self, facts: PublishedNetwork, weights_file: Path) -> "nn.Module":
        """Build a network without its head from its weights, in evaluation mode.

        Raises:
            ModelError: the file is damaged, holds more than numbers, or does not fit the network.
        """


@final
@dataclass(frozen=True)
class NetworkPublisher:
    """A Python package that lists networks with published weights."""

    name: str  # of the package, and the beginning of its sources: "torchvision"
    extra: str  # of Protoleaf, that installs it

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
        """Refuse, with what to install, where a package that its networks need is missing."""
        what = Message("networks of {name} require", {"name": self.name})
        check_packages(("torch", "torchvision", "onnxscript", "safetensors"), what)
        check_packages((self.name,), what, extra=self.extra)


PUBLISHERS = (NetworkPublisher(TORCHVISION, "train"), NetworkPublisher(TIMM, "timm"))


def publisher_called(name: str) -> NetworkPublisher:
    """The publisher of this name.

    Raises:
        ModelError: there is none.
    """
    found = next((publisher for publisher in PUBLISHERS if publisher.name == name), None)
    if found is None:
        raise ModelError(
            "there is no such source of published networks",
            expected=either(publisher.name for publisher in PUBLISHERS),
            found=f"“{name}”",
        )
    return found


def is_published_source(backbone: str) -> bool:
    """Whether a backbone is the source of a published network, such as "torchvision:resnet50"."""
    return backbone.startswith(tuple(publisher.prefix for publisher in PUBLISHERS))


@dataclass(frozen=True)
class _StoredCatalogue:
    """The file of a publisher's list, as JSON."""

    format: int
    version: str
    networks: tuple[PublishedNetwork, ...]


def list_published(
    caches: CacheFolders,
    *,
    publisher: str = "",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[PublishedNetwork, ...]:
    """List published networks with every version of their weights; asks no other computer.

    The first time this loads torch and takes seconds; a list is cached until its package changes.

    Args:
        publisher: only this one's; empty: all that are installed, torchvision's first.

    Raises:
        ModelError: there is no such publisher, or its package is not installed.
        Cancelled: stopped by the person.
    """
    if publisher:
        return _list_of(publisher_called(publisher), caches, on_progress, cancel)
    torchvision, *others = PUBLISHERS
    chosen = [torchvision, *(each for each in others if each.is_installed)]
    return tuple(
        network for each in chosen for network in _list_of(each, caches, on_progress, cancel)
    )


def _list_of(
    publisher: NetworkPublisher,
    caches: CacheFolders,
    on_progress: OnProgress,
    cancel: CancelToken | None,
) -> tuple[PublishedNetwork, ...]:
    kept = stored_catalogue(caches, publisher)
    if kept is not None:
        return kept
    publisher.check_installed()
    networks = tuple(publisher.networks.published_networks(on_progress=on_progress, cancel=cancel))
    store_catalogue(caches, publisher, networks)
    return networks


def stored_catalogue(
    caches: CacheFolders, publisher: NetworkPublisher
) -> tuple[PublishedNetwork, ...] | None:
    """Read the cached list, without torch; None without one for the installed package."""
    try:
        kept = msgspec.json.decode(
            _list_path(caches, publisher).read_bytes(), type=_StoredCatalogue
        )
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return (
        kept.networks if (kept.format, kept.version) == (_LIST_FORMAT, publisher.version) else None
    )


def store_catalogue(
    caches: CacheFolders, publisher: NetworkPublisher, networks: tuple[PublishedNetwork, ...]
) -> None:
    """Keep a publisher's list in the cache until its package changes."""
    with suppress(OSError):  # it is made again the next time
        content = msgspec.json.encode(_StoredCatalogue(_LIST_FORMAT, publisher.version, networks))
        write_file(private_folder(caches.root) / _list_path(caches, publisher).name, content)


def _list_path(caches: CacheFolders, publisher: NetworkPublisher) -> Path:
    return caches.root / f"published-{publisher.name}.json"


def find_published(
    caches: CacheFolders,
    source: str,
    weights: str | None = None,
    *,
    input_side: int | None = None,
    route: Route | None = None,
    cancel: CancelToken | None = None,
) -> PublishedNetwork:
    """Look a network up; asks no other computer but for a network that only the hub describes.

    Args:
        caches: where lists are cached; without a list only this network is described.
        source: such as "torchvision:resnet50", "timm:vit_small_patch14_dinov2.lvd142m",
            "timm:hf-hub:owner/name" or just "resnet50", which is torchvision's.
        weights: name of a version of its weights; by default the publisher's.

    Raises:
        ModelError: no such network or version, with close names; it takes no images of this side;
            or its publisher's package is not installed.
        NetworkError: the hub cannot be asked.
        UsageError: the route leads nowhere.
        Cancelled: stopped by the person.
    """
    publisher = next((each for each in PUBLISHERS if source.startswith(each.prefix)), PUBLISHERS[0])
    name = source.removeprefix(publisher.prefix).strip()
    if publisher.name == TIMM and name.startswith(HUB_PREFIX):
        found = _on_hub(caches, name, weights, route or Route(), cancel or CancelToken())
    else:
        found = _version_of(
            publisher, _versions(caches, publisher, name.lower()), name.lower(), weights
        )
    if input_side is None and found.embedding_width:
        return found
    publisher.check_installed()
    side = input_side or found.input_side
    if not found.takes_other_sides:
        raise ModelError(
            "the side of the input cannot be chosen for networks of torchvision",
            expected="{input_side} pixels",
            found="{side} pixels",
            remedy="leave --input-side out, or take a network of timm",
            input_side=found.input_side,
            side=side,
        )
    from engine.backbones.published.timm_networks import with_input_side

    return with_input_side(found, side)


def _on_hub(
    caches: CacheFolders, name: str, weights: str | None, route: Route, cancel: CancelToken
) -> PublishedNetwork:
    """A network that only the hub describes; for one in the library the hub is not asked again."""
    from engine.backbones.published.hub_network import described_by_hub, plain_facts

    known = plain_facts(name, weights)
    path = caches.root / "published-hub" / f"{known.library_name}.json"
    if known.library_name in BackboneLibrary().names():
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=PublishedNetwork)
    publisher_called(TIMM).check_installed()
    facts = described_by_hub(known, route, cancel)
    with suppress(OSError):  # the hub is asked again the next time
        write_file(private_folder(path.parent) / path.name, msgspec.json.encode(facts))
    return facts


def _versions(
    caches: CacheFolders, publisher: NetworkPublisher, name: str
) -> dict[str, PublishedNetwork]:
    network = name if publisher.name != TIMM else name.partition(".")[0]
    networks = stored_catalogue(caches, publisher)
    names: tuple[str, ...]
    if networks is None:
        publisher.check_installed()
        names = publisher.networks.network_names()
        is_known = network in {each.partition(".")[0] for each in names}
        networks = publisher.networks.published_networks([network]) if is_known else ()
    else:
        names = tuple(dict.fromkeys(each.full_name for each in networks))
    versions = {each.weights.lower(): each for each in networks if each.network == network}
    if not versions:
        close = difflib.get_close_matches(name, names, _CLOSE_NAMES, cutoff=0.5)
        found = f"“{name}”"
        expected = either(close) or "one of {count:,} names"
        remedy = "see them all with `protoleaf backbone list --published --source {publisher}`"
        what = "{publisher} publishes no such network"
        if publisher.name != TIMM:
            what = "{publisher} publishes no such classification network"
        raise ModelError(
            what,
            expected=expected,
            found=found,
            remedy=remedy,
            publisher=publisher.name,
            count=len(names),
        )
    return versions


def _version_of(
    publisher: NetworkPublisher,
    versions: dict[str, PublishedNetwork],
    name: str,
    weights: str | None,
) -> PublishedNetwork:
    named = name.partition(".")[2] if publisher.name == TIMM else ""
    wanted = weights or named or None
    first = next(iter(versions.values()))
    found = first if wanted is None else versions.get(wanted.lower())
    if found is None:
        known = either(network.weights for network in versions.values())
        raise ModelError(
            "{network} has no such weights",
            expected=known,
            found=f"“{wanted}”",
            network=first.network,
        )
    return found
