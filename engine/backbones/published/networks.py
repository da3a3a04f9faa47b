"""Torchvision's published networks as backbones: list them, download one, export it, keep it in the library.

Nothing here asks the network but `add_published`, and that only for the one file whose size and licence were told.
"""

import difflib
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import numpy as np

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import ModelFiles
from engine.backbones.published.facts import SOURCE_PREFIX, PublishedNetwork, card_of_published
from engine.backbones.published.part_file import alone
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.full_disk import disk_full, writing
from engine.model_card import BackboneCard
from engine.new_file import private_folder, write_file
from engine.scratch_folder import scratch_folder
from engine.training.needed_packages import check_packages

PACKAGES: Final = ("torch", "torchvision", "onnxscript")
LIST_NAME: Final = "published-networks.json"
_LIST_FORMAT: Final = 1
_STEPS: Final = ("reading the weights", "converting", "comparing with torch", "saving")
_BYTES_PER_NUMBER: Final = 4
_CLOSE_NAMES: Final = 5
_IMAGES_AT_ONCE: Final = 2


@dataclass(frozen=True)
class _KeptList:
    """The file that the list is kept in, as JSON."""

    format: int
    torchvision: str
    networks: tuple[PublishedNetwork, ...]


def list_published(
    caches: CacheFolders, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None
) -> tuple[PublishedNetwork, ...]:
    """List torchvision's networks with every version of their weights; asks no network.

    The first time this loads torch and takes seconds; the list is kept in the cache until torchvision changes.

    Raises:
        ModelError: torchvision is not installed.
        Cancelled: stopped by the person.
    """
    kept = kept_list(caches)
    if kept is not None:
        return kept
    check_packages(PACKAGES, "published networks need")
    from engine.backbones.published.listing import published_networks

    networks = tuple(published_networks(on_progress=on_progress, cancel=cancel))
    _keep_list(caches, networks)
    return networks


def kept_list(caches: CacheFolders) -> tuple[PublishedNetwork, ...] | None:
    """Read the list that was made before, without torch; None when there is none for the installed torchvision."""
    try:
        kept = msgspec.json.decode((caches.root / LIST_NAME).read_bytes(), type=_KeptList)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return kept.networks if (kept.format, kept.torchvision) == (_LIST_FORMAT, _torchvision_version()) else None


def _keep_list(caches: CacheFolders, networks: tuple[PublishedNetwork, ...]) -> None:
    with suppress(OSError):  # it is made again the next time
        content = msgspec.json.encode(_KeptList(_LIST_FORMAT, _torchvision_version(), networks))
        write_file(private_folder(caches.root) / LIST_NAME, content)


def _torchvision_version() -> str:
    try:
        return version("torchvision")
    except PackageNotFoundError:
        return ""


def find_published(caches: CacheFolders, source: str, weights: str | None = None) -> PublishedNetwork:
    """Look a network up; asks no network.

    Args:
        caches: where the list is kept; without one only this network is described.
        source: such as "torchvision:resnet50", or just "resnet50".
        weights: name of a version of its weights; by default torchvision's own.

    Raises:
        ModelError: there is no such network or version, naming those that are close; or torchvision is not installed.
    """
    name = source.removeprefix(SOURCE_PREFIX).strip().lower()
    networks = kept_list(caches)
    if networks is None:
        check_packages(PACKAGES, "published networks need")
        from engine.backbones.published.listing import network_names, published_networks

        names = network_names()
        networks = published_networks([name]) if name in names else ()
    else:
        names = tuple(dict.fromkeys(network.network for network in networks))
    versions = {network.weights.lower(): network for network in networks if network.network == name}
    if not versions:
        close = difflib.get_close_matches(name, names, _CLOSE_NAMES, cutoff=0.5)
        raise ModelError(
            "torchvision publishes no such classification network",
            expected=" or ".join(close) or f"one of {len(names)} names",
            found=f"“{name}”",
            remedy="see them all with `protoleaf backbone list --published`",
        )
    found = next(iter(versions.values())) if weights is None else versions.get(weights.lower())
    if found is None:
        known = " or ".join(network.weights for network in versions.values())
        raise ModelError(f"{name} has no such weights", expected=known, found=f"“{weights}”")
    return found


def is_published_source(backbone: str) -> bool:
    """Whether a person named a published network, such as "torchvision:resnet50"."""
    return backbone.startswith(SOURCE_PREFIX)


def add_published(
    facts: PublishedNetwork,
    caches: CacheFolders,
    *,
    library: BackboneLibrary | None = None,
    proxy: str = "",
    keep_weights: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ModelFiles:
    """Download a published network's weights, export the network and keep it in the library.

    Who calls this has told the person the size and the licence (`PublishedNetwork.terms`) and was told to go on.

    Args:
        facts: which network.
        caches: the weights lie there until the export is done; a broken download goes on from there.
        library: where the backbone is kept; by default the user's.
        proxy: address of a proxy; empty: what the environment or the system says.
        keep_weights: leave the weights in the cache.
        on_progress: told bytes while downloading, then steps, with what is done in the note.
        cancel: stops the download at once and the export between its steps.

    Returns:
        The backbone in the library; what is there already is not downloaded again.

    Raises:
        UsageError: the proxy's address is none.
        NetworkError: the weights do not arrive.
        ModelError: the checksum is wrong, or the exported file does not do what the network does.
        StorageError: the disk refuses, nothing is left half-made; or another program adds this network now.
        Cancelled: stopped by the person; what was downloaded is kept.
    """
    library, cancel = library or BackboneLibrary(), cancel or CancelToken()
    if facts.library_name in library.names():
        return library.entry(facts.library_name)
    check_packages(PACKAGES, "published networks need")
    from engine.backbones.published.download import download

    weights = weights_path(caches, facts)
    with alone(weights.with_name(f"{facts.library_name}.adding.lock"), "this network is being added already"):
        if not weights.is_file():
            _check_room(facts, weights.parent, library.folder)
        download(
            facts.url,
            weights,
            size_bytes=facts.size_bytes,
            sha256_prefix=facts.sha256_prefix,
            proxy=proxy,
            on_progress=on_progress,
            cancel=cancel,
        )
        files = _exported(facts, weights, library, on_progress=on_progress, cancel=cancel)
        if not keep_weights:
            with suppress(OSError):
                weights.unlink()
    return files


def weights_path(caches: CacheFolders, facts: PublishedNetwork) -> Path:
    """Where the weights of a network lie while they are needed."""
    return caches.root / "downloads" / Path(urlsplit(facts.url).path).name


def _exported(
    facts: PublishedNetwork, weights: Path, library: BackboneLibrary, *, on_progress: OnProgress, cancel: CancelToken
) -> ModelFiles:
    from engine.backbones.published.export import export_published
    from engine.backbones.published.weights import load_published

    tell = step_teller(_STEPS, on_progress, cancel)
    with writing(weights.parent, "the network cannot be exported"), scratch_folder(weights.parent) as folder:
        tell(0)
        try:
            network = load_published(facts, weights)
        except ModelError:  # asking for it again must not find the same file
            weights.unlink(missing_ok=True)
            raise
        tell(1)
        path = folder / f"{facts.library_name}.onnx"
        agreement = export_published(network, facts, path, on_written=lambda: tell(2), cancel=cancel)
        tell(3)
        card = card_of_published(facts)
        figures = {
            "largest_difference_from_torch": agreement.largest_difference,
            "images_per_s_one_core": round(_images_per_s(path, card), 2),
        }
        files = library.add(path, replace(card, figures=card.figures | figures))
    tell(len(_STEPS))
    return files


def _images_per_s(path: Path, card: BackboneCard) -> float:
    """Images a second on one core, opened as projects open it."""
    from engine.backbones.onnx_files.trying import images_per_s
    from engine.runtime.backbone import BackboneSession
    from engine.runtime.providers import CPU_CHOICE

    images = np.zeros((_IMAGES_AT_ONCE, card.input_side, card.input_side, 3), dtype=np.uint8)
    return images_per_s(BackboneSession(path, card, CPU_CHOICE, threads=1), images)


def _check_room(facts: PublishedNetwork, cache: Path, library: Path) -> None:
    """Refuse before the download what the disk has no room for: the weights, the export, and its copy to keep.

    Raises:
        StorageError: with what is needed and what is free.
    """
    exported = facts.parameters * _BYTES_PER_NUMBER
    places = [(_existing(cache), facts.size_bytes + exported), (_existing(library), exported)]
    for place, _ in places:
        disk = place.stat().st_dev
        needed = sum(size for other, size in places if other.stat().st_dev == disk)
        free = shutil.disk_usage(place).free
        if needed > free:
            raise disk_full(place, needed_bytes=needed, free_bytes=free)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())
