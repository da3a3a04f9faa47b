"""Add a published network to the library: download, export, compare with torch, store."""

import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import ModelFiles
from engine.backbones.published.catalogue import publisher_called
from engine.backbones.published.download import alone, download
from engine.backbones.published.facts import PublishedNetwork, card_of_published
from engine.backbones.published.route import Route, weights_path
from engine.backbones.published.web_client import RemoteFile, query_file
from engine.config import CacheFolders
from engine.errors import ModelError, NetworkError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.full_disk import disk_full, writing
from engine.model_card import BackboneCard, file_hash
from engine.new_folder import scratch_folder
from engine.texts import either

_STEPS = ("reading the weights", "converting", "comparing with torch", "saving")
_BYTES_PER_NUMBER = 4  # of float32
_IMAGES_AT_ONCE = 2  # for the figure in the card
_SHA256_DIGITS = 64  # in hex
_SHOWN_DIGITS = 16  # more than anybody compares by eye


@dataclass(frozen=True)
class _Weights:
    """Weights on this computer."""

    path: Path  # of the file
    is_ours: bool  # whether it is in the cache, and is deleted when no longer needed
    origin: str  # where it is from and what it was compared with, as a sentence


def _fetched(
    facts: PublishedNetwork,
    place: Path,
    route: Route,
    *,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> _Weights:
    if route.folder is not None:
        return _in_folder(facts, route)
    urls = (facts.url, *facts.other_urls)
    remote: RemoteFile | None = RemoteFile(
        route.address(facts.url), facts.size_bytes, facts.sha256_prefix
    )
    if not facts.sha256_prefix:
        answers = (query_file(route.address(url), route) for url in urls)
        remote = next((answer for answer in answers if answer is not None), None)
    if remote is None:
        raise NetworkError(
            "the weights are no longer available at their address",
            expected=either(map(route.address, urls)),
            remedy="a newer version of timm may find them",
        )
    path = download(
        remote.url,
        place,
        size_bytes=remote.size_bytes,
        sha256_prefix=remote.sha256,
        proxy=route.proxy,
        on_progress=on_progress,
        cancel=cancel,
    )
    return _Weights(path, is_ours=True, origin=_origin(remote))


def _origin(remote: RemoteFile) -> str:
    place, sha256 = urlsplit(remote.url), remote.sha256
    version = f" at {remote.commit[:_SHOWN_DIGITS]}" if remote.commit else ""
    weights = f"Weights: {Path(place.path).name} from {place.hostname}{version}"
    if not sha256:
        return f"{weights}, published without a checksum."
    whole = "SHA-256" if len(sha256) == _SHA256_DIGITS else "first digits of the SHA-256"
    return (
        f"{weights}, {whole} {sha256[:_SHOWN_DIGITS]}{'…' if len(sha256) > _SHOWN_DIGITS else ''}."
    )


def _in_folder(facts: PublishedNetwork, route: Route) -> _Weights:
    """From the mirror's folder; the hub's own cache names its files by their SHA-256."""
    urls = (facts.url, *facts.other_urls)
    path = next(filter(None, map(route.on_disk, urls)), None)
    if path is None:
        raise ModelError(
            "the mirror's folder does not have these weights",
            expected=either(
                urlsplit(url).path.lstrip("/").replace("/resolve/main", "") for url in urls
            ),
            found=str(route.folder),
        )
    named = path.resolve().name
    wanted = facts.sha256_prefix or (
        named if len(named) == _SHA256_DIGITS and named.isalnum() else ""
    )
    found = file_hash(path)
    if not found.startswith(wanted):
        raise ModelError(
            "the mirror's file is not the published one",
            expected=f"SHA-256 {wanted[:_SHOWN_DIGITS]}…",
            found="{hash}… for {path}",
            hash=found[:_SHOWN_DIGITS],
            path=path,
        )
    compared = "as its name says" if wanted else "compared with nothing: no checksum is known"
    origin = f"Weights: {path.name} from a folder, SHA-256 {found[:_SHOWN_DIGITS]}…, {compared}."
    return _Weights(path, is_ours=False, origin=origin)


def add_published(
    facts: PublishedNetwork,
    caches: CacheFolders,
    *,
    route: Route | None = None,
    keep_weights: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ModelFiles:
    """Download a published network's weights, export the network and add it to the library.

    The caller has shown size and licence (`PublishedNetwork.terms`), and the person has agreed.

    Args:
        caches: the weights are there until the export is done; an interrupted download is resumed.
        route: how the weights come; by default from their publisher, through the system's proxy if
            any.
        on_progress: called with bytes while downloading, then steps, named in the note.
        cancel: stops the download at once and the export between its steps.

    Raises:
        UsageError: the proxy's address is invalid, or the mirror is not a folder.
        NetworkError: the weights do not arrive.
        ModelError: the checksum is wrong, or the exported file does not do what the network does.
        StorageError: the disk refuses, nothing is left half-made; or another program adds this
            network now.
        Cancelled: stopped by the user; the partial download stays.
    """
    library, cancel = BackboneLibrary(), cancel or CancelToken()
    if facts.library_name in library.names():
        return library.entry(facts.library_name)
    publisher_called(facts.publisher).check_installed()
    route = route or Route()
    route.check()
    place = weights_path(caches, facts)
    with alone(
        place.with_name(f"{facts.library_name}.adding.lock"), "this network is being added already"
    ):
        if not place.is_file():
            _check_space(facts, place.parent, library.folder, has_download=route.folder is None)
        weights = _fetched(facts, place, route, on_progress=on_progress, cancel=cancel)
        files = _exported(
            facts, weights, place.parent, library, on_progress=on_progress, cancel=cancel
        )
        if weights.is_ours and not keep_weights:
            with suppress(OSError):
                weights.path.unlink()
    return files


def _exported(
    facts: PublishedNetwork,
    weights: _Weights,
    work: Path,
    library: BackboneLibrary,
    *,
    on_progress: OnProgress,
    cancel: CancelToken,
) -> ModelFiles:
    from engine.backbones.published.export import export_published

    tell = step_teller(_STEPS, on_progress, cancel)
    with writing(work, "the network cannot be exported"), scratch_folder(work) as folder:
        tell(0)
        try:
            network = publisher_called(facts.publisher).networks.load_published(facts, weights.path)
        except ModelError:  # the next attempt must not find the same file
            if weights.is_ours:
                weights.path.unlink(missing_ok=True)
            raise
        tell(1)
        path = folder / f"{facts.library_name}.onnx"
        agreement = export_published(
            network, facts, path, on_written=lambda: tell(2), cancel=cancel
        )
        tell(3)
        card = card_of_published(facts, weights_from=weights.origin)
        figures = {
            "largest_difference_from_torch": agreement.largest_difference,
            "images_per_s_one_core": round(_images_per_s(path, card), 2),
        }
        files = library.add(path, replace(card, figures=card.figures | figures))
    tell(len(_STEPS))
    return files


def _images_per_s(path: Path, card: BackboneCard) -> float:
    from engine.backbones.trial import images_per_s
    from engine.runtime.backbone import BackboneSession
    from engine.runtime.providers import CPU_CHOICE

    images = np.zeros((_IMAGES_AT_ONCE, card.input_side, card.input_side, 3), dtype=np.uint8)
    return images_per_s(BackboneSession(path, card, CPU_CHOICE, threads=1), images)


def _check_space(
    facts: PublishedNetwork, cache: Path, library: Path, *, has_download: bool
) -> None:
    """Check before the download that the disk has room for the weights, the export, and its copy.

    An unknown size is checked when the server reports it.
    """
    exported = facts.parameters * _BYTES_PER_NUMBER
    arriving = facts.size_bytes if has_download else 0
    places = [(_existing(cache), arriving + exported), (_existing(library), exported)]
    for place, _ in places:
        disk = place.stat().st_dev
        needed = sum(size for other, size in places if other.stat().st_dev == disk)
        free = shutil.disk_usage(place).free
        if needed > free:
            raise disk_full(place, needed_bytes=needed, free_bytes=free)


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())
