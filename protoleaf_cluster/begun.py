"""Creation of a data set: plan, backbone and manifest are published together, before any shard."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from engine.backbones.model_files import ModelFiles
from engine.bundle.export import place_backbone
from engine.dataset.described_folder import DESCRIPTION, SHARDS
from engine.dataset.manifest import BACKBONE_FILE, Manifest, read_manifest, write_manifest
from engine.errors import InputError
from engine.events import CancelToken
from engine.images.find_images import FoundImages
from engine.model_card import write_card
from engine.new_file import clear_abandoned_drafts
from engine.new_folder import Placing, check_is_free, new_folder, place_file
from engine.runtime.eight_bit import IDENTITY_DIGITS, companion_of, eight_bit_path
from engine.texts import Message, enumerated
from protoleaf_cluster.plan import ShardPlan, write_plan
from protoleaf_cluster.sources import each_piece

SHARD_IMAGES: Final = 10_000
"""Default number of images per shard. Chosen: minutes for one core, 10,000 files for 1e8 images."""
_LOCK: Final = ".protoleaf-lock"


@dataclass(frozen=True)
class WantedDataSet:
    """Sources, backbone and shard size of a requested data set."""

    sources: tuple[str, ...]  # absolute paths or addresses
    model: ModelFiles  # the backbone
    shard_images: int | None = None  # None: that of an existing data set, else `SHARD_IMAGES`


def begin(folder: Path, wanted: WantedDataSet, cancel: CancelToken) -> tuple[Manifest, FoundImages]:
    """Create a data set, or resume an existing one.

    Returns:
        Its manifest, and what was found besides images while the sources were listed; empty when
        a data set is resumed.

    Raises:
        InputError: the folder has other content, or a data set of other sources or another
            backbone; or the sources have no image.
        StorageError, NetworkError: a source cannot be listed, or a write failed.
        Cancelled: an unfinished data set was removed.
    """
    found = FoundImages()
    if (folder / DESCRIPTION).exists():
        manifest = read_manifest(folder)
        _refuse_other(manifest, wanted)
        return manifest, found
    check_is_free(folder.absolute())
    with new_folder(folder) as draft:
        manifest = _write(draft, wanted, found, cancel)
    return manifest, found


def _write(draft: Path, wanted: WantedDataSet, found: FoundImages, cancel: CancelToken) -> Manifest:
    shard_images = wanted.shard_images or SHARD_IMAGES
    pieces = each_piece(wanted.sources, shard_images, found, cancel=cancel)
    totals = write_plan(draft, pieces, shard_images, cancel)
    if not totals.shards:
        raise InputError(
            "there is no image",
            found=enumerated(wanted.sources),
            remedy="name images, or folders of them",
        )
    place_backbone(wanted.model.backbone, draft / BACKBONE_FILE)
    write_card(draft / BACKBONE_FILE, wanted.model.card)
    companion = companion_of(wanted.model.backbone)
    if companion is not None:
        place_file(companion, eight_bit_path(draft / BACKBONE_FILE), Placing.COPY)
    (draft / SHARDS).mkdir()
    manifest = Manifest(
        uuid.uuid4().hex,
        wanted.model.backbone_hash,
        wanted.model.card,
        wanted.sources,
        shard_images,
        totals.shards,
        identity=wanted.model.embedding_identity,
    )
    write_manifest(draft, manifest)
    return manifest


def _refuse_other(manifest: Manifest, wanted: WantedDataSet) -> None:
    """Raise `InputError` if an existing data set was created with other parameters."""
    model = wanted.model
    pairs = (
        (Message("sources"), ", ".join(manifest.sources), ", ".join(wanted.sources)),
        (
            Message("backbone"),
            named(manifest.card.name, manifest.identity or manifest.backbone_hash),
            named(model.card.name, model.embedding_identity),
        ),
        (
            Message("images a shard"),
            f"{manifest.shard_images:,}",
            f"{wanted.shard_images or manifest.shard_images:,}",
        ),
    )
    for part, begun, asked in pairs:
        if begun != asked:
            raise InputError(
                "the data set was started with another value: its {part} cannot change",
                expected=begun,
                found=asked,
                remedy="name the same, or choose a new folder",
                part=part,
            )


def named(backbone: str, identity: str) -> str:
    """Display name of a backbone, with its hash (or its companion's) to tell namesakes apart."""
    return f"{backbone} ({identity[: 2 * IDENTITY_DIGITS]})"


@contextmanager
def one_run(folder: Path) -> Iterator[None]:
    """Lock a folder for one run and remove drafts of killed runs; raises `InputError` if locked."""
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            "another run is writing to this folder",
            found=str(folder),
            remedy="wait for it, or stop it",
        ) from error
    try:
        _clear_drafts(folder)
        yield
    finally:
        _clear_drafts(folder)  # of killed workers
        lock.release()


def _clear_drafts(folder: Path) -> None:
    for each in (folder, folder / SHARDS):
        clear_abandoned_drafts(each)


def planned_images(folder: Path) -> int | None:
    """Number of images in the plan; None if unknown before reading. Raises `FormatError`."""
    return ShardPlan(folder).totals.images
