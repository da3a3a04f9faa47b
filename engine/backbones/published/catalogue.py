"""Which networks are published, by whom, and one of them found by its name. Asks no other computer for a list."""

import difflib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from engine.backbones.library import BackboneLibrary
from engine.backbones.published.facts import HUB_PREFIX, TIMM, PublishedNetwork
from engine.backbones.published.publishers import PUBLISHERS, NetworkPublisher, publisher_called
from engine.backbones.published.route import Route
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.new_file import private_folder, write_file

_LIST_FORMAT: Final = 2  # of the file; another one is made anew
_CLOSE_NAMES: Final = 5  # offered for a name that is wrong


@dataclass(frozen=True)
class _KeptList:
    """The file that a publisher's list is kept in, as JSON."""

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

    The first time this loads torch and takes seconds; a list is kept in the cache until its package changes.

    Args:
        publisher: only this one's; empty: all whose packages are installed, torchvision's first.

    Raises:
        ModelError: there is no such publisher, or its package is not installed.
        Cancelled: stopped by the person.
    """
    if publisher:
        return _list_of(publisher_called(publisher), caches, on_progress, cancel)
    torchvision, *others = PUBLISHERS
    chosen = [torchvision, *(each for each in others if each.is_installed)]
    return tuple(network for each in chosen for network in _list_of(each, caches, on_progress, cancel))


def _list_of(
    publisher: NetworkPublisher, caches: CacheFolders, on_progress: OnProgress, cancel: CancelToken | None
) -> tuple[PublishedNetwork, ...]:
    kept = kept_list(caches, publisher)
    if kept is not None:
        return kept
    publisher.check_installed()
    networks = tuple(publisher.networks.published_networks(on_progress=on_progress, cancel=cancel))
    keep_list(caches, publisher, networks)
    return networks


def kept_list(caches: CacheFolders, publisher: NetworkPublisher) -> tuple[PublishedNetwork, ...] | None:
    """Read the list that was made before, without torch; None when there is none for the installed package."""
    try:
        kept = msgspec.json.decode(_list_path(caches, publisher).read_bytes(), type=_KeptList)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return kept.networks if (kept.format, kept.version) == (_LIST_FORMAT, publisher.version) else None


def keep_list(caches: CacheFolders, publisher: NetworkPublisher, networks: tuple[PublishedNetwork, ...]) -> None:
    """Keep a publisher's list until its package changes."""
    with suppress(OSError):  # it is made again the next time
        content = msgspec.json.encode(_KeptList(_LIST_FORMAT, publisher.version, networks))
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
        caches: where lists are kept; without one only this network is described.
        source: such as "torchvision:resnet50", "timm:vit_small_patch14_dinov2.lvd142m", "timm:hf-hub:owner/name" or
            just "resnet50", which is torchvision's.
        weights: name of a version of its weights; by default the publisher's own.

    Raises:
        ModelError: there is no such network or version, naming those that are close; it takes no images of this side;
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
        found = _version_of(publisher, _versions(caches, publisher, name.lower()), name.lower(), weights)
    if input_side is None and found.embedding_width:
        return found
    publisher.check_installed()
    return _at_side(found, input_side or found.input_side)


def _at_side(found: PublishedNetwork, input_side: int) -> PublishedNetwork:
    """The same network for images of another side; torchvision's keep the one that their weights were made for."""
    if not found.takes_other_sides:
        raise ModelError(
            "the side of the input cannot be chosen for networks of torchvision",
            expected="{input_side} pixels",
            found="{side} pixels",
            remedy="leave --input-side out, or take a network of timm",
            input_side=found.input_side,
            side=input_side,
        )
    from engine.backbones.published.timm_networks import with_input_side

    return with_input_side(found, input_side)


def _on_hub(
    caches: CacheFolders, name: str, weights: str | None, route: Route, cancel: CancelToken
) -> PublishedNetwork:
    """What the hub tells of a network; what is in the library already is not asked for again."""
    from engine.backbones.published.hub_network import described_by_hub, plain_facts

    known = plain_facts(name, weights)
    path = caches.root / "published-hub" / f"{known.library_name}.json"
    if known.library_name in BackboneLibrary().names():
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=PublishedNetwork)
    publisher_called(TIMM).check_installed()
    facts = described_by_hub(known, route, cancel)
    with suppress(OSError):  # it is asked for again the next time
        write_file(private_folder(path.parent) / path.name, msgspec.json.encode(facts))
    return facts


def _versions(caches: CacheFolders, publisher: NetworkPublisher, name: str) -> dict[str, PublishedNetwork]:
    """Versions of a network's weights by name, the publisher's own choice first.

    Raises:
        ModelError: it publishes no such network.
    """
    network = name if publisher.name != TIMM else name.partition(".")[0]
    networks = kept_list(caches, publisher)
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
        raise ModelError(
            "{publisher} publishes no such {kind_of}network",
            expected=" or ".join(close) or f"one of {len(names)} names",
            found=f"“{name}”",
            remedy="see them all with `protoleaf backbone list --published --source {publisher}`",
            publisher=publisher.name,
            kind_of="classification " if publisher.name != TIMM else "",
        )
    return versions


def _version_of(
    publisher: NetworkPublisher, versions: dict[str, PublishedNetwork], name: str, weights: str | None
) -> PublishedNetwork:
    named = name.partition(".")[2] if publisher.name == TIMM else ""
    wanted = weights or named or None
    found = next(iter(versions.values())) if wanted is None else versions.get(wanted.lower())
    if found is None:
        known = " or ".join(network.weights for network in versions.values())
        network = next(iter(versions.values())).network
        raise ModelError("{network} has no such weights", expected=known, found=f"“{wanted}”", network=network)
    return found
