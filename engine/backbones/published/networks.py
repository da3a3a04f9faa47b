"""A published network's way into the library: downloaded, exported, compared with torch, kept; whoever publishes it.

Nothing here asks the network but `add_published`, and that only for the weights whose size and licence were told.
"""

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from engine.backbones.library import BackboneLibrary
from engine.backbones.model_files import ModelFiles
from engine.backbones.published.facts import PublishedNetwork, card_of_published
from engine.backbones.published.fetching import Fetched, fetch_weights, weights_path
from engine.backbones.published.part_file import alone
from engine.backbones.published.publishers import publisher_called
from engine.backbones.published.route import Route
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress, step_teller
from engine.full_disk import disk_full, writing
from engine.model_card import BackboneCard
from engine.scratch_folder import scratch_folder

_STEPS: Final = ("reading the weights", "converting", "comparing with torch", "saving")
_BYTES_PER_NUMBER: Final = 4  # of float32
_IMAGES_AT_ONCE: Final = 2  # for the figure in the card


def add_published(
    facts: PublishedNetwork,
    caches: CacheFolders,
    *,
    library: BackboneLibrary | None = None,
    route: Route | None = None,
    keep_weights: bool = False,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ModelFiles:
    """Download a published network's weights, export the network and keep it in the library.

    Who calls this has told the person the size and the licence (`PublishedNetwork.terms`) and was told to go on.

    Args:
        caches: the weights lie there until the export is done; a broken download goes on from there.
        route: how the weights come; by default from their publisher, through the system's proxy if any.
        on_progress: called with bytes while downloading, then steps, with what is done in the note.
        cancel: stops the download at once and the export between its steps.

    Returns:
        The backbone in the library; what is there already is not downloaded again.

    Raises:
        UsageError: the proxy's address is none, or the mirror no folder.
        NetworkError: the weights do not arrive.
        ModelError: the checksum is wrong, or the exported file does not do what the network does.
        StorageError: the disk refuses, nothing is left half-made; or another program adds this network now.
        Cancelled: stopped by the person; what was downloaded is kept.
    """
    library, cancel = library or BackboneLibrary(), cancel or CancelToken()
    if facts.library_name in library.names():
        return library.entry(facts.library_name)
    publisher_called(facts.publisher).check_installed()
    route = route or Route()
    route.check()
    place = weights_path(caches, facts)
    with alone(place.with_name(f"{facts.library_name}.adding.lock"), "this network is being added already"):
        if not place.is_file():
            _check_room(facts, place.parent, library.folder, has_download=route.folder is None)
        weights = fetch_weights(facts, caches, route, on_progress=on_progress, cancel=cancel)
        files = _exported(facts, weights, place.parent, library, on_progress=on_progress, cancel=cancel)
        if weights.is_ours and not keep_weights:
            with suppress(OSError):
                weights.path.unlink()
    return files


def _exported(
    facts: PublishedNetwork,
    weights: Fetched,
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
        except ModelError:  # asking for it again must not find the same file
            if weights.is_ours:
                weights.path.unlink(missing_ok=True)
            raise
        tell(1)
        path = folder / f"{facts.library_name}.onnx"
        agreement = export_published(network, facts, path, on_written=lambda: tell(2), cancel=cancel)
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
    """Images a second on one core, opened as projects open it."""
    from engine.backbones.onnx_files.trying import images_per_s
    from engine.runtime.backbone import BackboneSession
    from engine.runtime.providers import CPU_CHOICE

    images = np.zeros((_IMAGES_AT_ONCE, card.input_side, card.input_side, 3), dtype=np.uint8)
    return images_per_s(BackboneSession(path, card, CPU_CHOICE, threads=1), images)


def _check_room(facts: PublishedNetwork, cache: Path, library: Path, *, has_download: bool) -> None:
    """Refuse before the download what the disk has no room for: the weights, the export, and its copy to keep.

    What is not known of a network before its download is checked when its server tells the size.

    Raises:
        StorageError: with what is needed and what is free.
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
    """The folder, or the nearest above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())
