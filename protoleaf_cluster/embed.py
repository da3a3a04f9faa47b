"""Distributed embedding of sources into a data set; interrupted runs are resumed.

Plan, backbone and manifest of a data set are published together, before any shard.
"""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.backbones.model_files import ModelFiles
from engine.bundle.export import place_backbone
from engine.dataset.described_folder import DESCRIPTION, SHARDS
from engine.dataset.manifest import BACKBONE_FILE, Manifest, read_manifest, write_manifest
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.images.find_images import FoundImages
from engine.model_card import write_card
from engine.new_folder import Placing, check_is_free, new_folder, place_file
from engine.runtime.eight_bit import IDENTITY_DIGITS, companion_of, eight_bit_path
from engine.texts import Message, enumerated
from protoleaf_cluster.embed_shard import EmbedShards
from protoleaf_cluster.plan import ShardPlan, write_plan
from protoleaf_cluster.run import HERE, ClusterRun, Places, do_all, one_run
from protoleaf_cluster.sources import absolute, each_piece

SHARD_IMAGES = 10_000
"""Default number of images per shard. Chosen: minutes for one core, 10,000 files for 1e8 images."""


def embed_sources(
    sources: Sequence[str],
    folder: Path,
    model: ModelFiles,
    *,
    shard_images: int | None = None,
    places: Places = HERE,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[ClusterRun, FoundImages]:
    """Embed all images of the sources; unreadable ones become rows with the error.

    Args:
        sources: folders, lists of paths, tar files, Parquet tables, images, addresses of object
            stores.
        folder: of the data set; every node sees it at this path.

    Returns:
        the run, and what was found besides images if this run listed the sources.

    Raises:
        InputError: the folder has other content, or a data set of other sources or another
            backbone.
        StorageError, NetworkError: a source or the cluster does not answer, or the disk is full.
        ModelError: the backbone fails.
        Cancelled: finished shards are kept.
    """
    token, folder = cancel or CancelToken(), folder.absolute()
    manifest, found = begin(folder, absolute(sources), model, shard_images, token)
    with one_run(folder):
        run = do_all(
            EmbedShards(folder),
            folder,
            manifest.shard_count,
            ShardPlan(folder).images,
            places,
            on_progress=on_progress,
            cancel=token,
        )
        write_manifest(folder, replace(manifest, shards=run.facts))
    return run, found


def begin(
    folder: Path,
    sources: tuple[str, ...],
    model: ModelFiles,
    shard_images: int | None,
    cancel: CancelToken,
) -> tuple[Manifest, FoundImages]:
    """Create a data set, or resume an existing one.

    Args:
        sources: absolute paths or addresses.
        model: the backbone.
        shard_images: of each shard; None: those of an existing data set, else `SHARD_IMAGES`.

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
        asked = replace(
            manifest,
            sources=sources,
            card=model.card,
            backbone_hash=model.backbone_hash,
            identity=model.embedding_identity,
            shard_images=shard_images or manifest.shard_images,
        )
        _refuse_other(manifest, asked)
        return manifest, found
    check_is_free(folder.absolute())
    shard_images = shard_images or SHARD_IMAGES
    with new_folder(folder) as draft:
        pieces = each_piece(sources, shard_images, found, cancel=cancel)
        shards, _images = write_plan(draft, pieces, shard_images, cancel)
        if not shards:
            raise InputError(
                "there is no image",
                found=enumerated(sources),
                remedy="name images, or folders of them",
            )
        place_backbone(model.backbone, draft / BACKBONE_FILE)
        write_card(draft / BACKBONE_FILE, model.card)
        companion = companion_of(model.backbone)
        if companion is not None:
            place_file(companion, eight_bit_path(draft / BACKBONE_FILE), Placing.COPY)
        (draft / SHARDS).mkdir()
        manifest = Manifest(
            uuid.uuid4().hex,
            model.backbone_hash,
            model.card,
            sources,
            shard_images,
            shards,
            identity=model.embedding_identity,
        )
        write_manifest(draft, manifest)
    return manifest, found


def _refuse_other(manifest: Manifest, asked: Manifest) -> None:
    """Raise `InputError` if an existing data set was created with other parameters."""
    parts = (Message("sources"), Message("backbone"), Message("images a shard"))
    for part, begun, wanted in zip(parts, _parameters(manifest), _parameters(asked), strict=True):
        if begun != wanted:
            raise InputError(
                "the data set was started with another value: its {part} cannot change",
                expected=begun,
                found=wanted,
                remedy="name the same, or choose a new folder",
                part=part,
            )


def _parameters(manifest: Manifest) -> tuple[str, str, str]:
    """Sources, backbone and shard size for display."""
    return (
        ", ".join(manifest.sources),
        named(manifest.card.name, manifest.identity or manifest.backbone_hash),
        f"{manifest.shard_images:,}",
    )


def named(backbone: str, identity: str) -> str:
    """Display name of a backbone, with its hash (or its companion's) to tell namesakes apart."""
    return f"{backbone} ({identity[: 2 * IDENTITY_DIGITS]})"
