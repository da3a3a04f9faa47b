"""Distributed embedding of sources into a data set; interrupted runs are resumed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.backbones.model_files import ModelFiles
from engine.dataset.manifest import write_manifest
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.images.find_images import FoundImages
from protoleaf_cluster.begun import WantedDataSet, begin, one_run, planned_images
from protoleaf_cluster.embed_shard import EmbedShards
from protoleaf_cluster.run import HERE, Places, do_all
from protoleaf_cluster.sources import absolute


@dataclass(frozen=True)
class EmbeddedDataSet:
    """Summary of a run."""

    images: int  # rows of the data set
    failed: int  # of these, rows without an embedding
    shards: int
    new_shards: int  # computed by this run
    seconds: float  # excludes the start of the cluster
    images_per_s: float  # of the shards of this run
    computed_on: tuple[str, ...]  # device names
    found: FoundImages  # unreadable folders and skipped files, if this run listed the sources


def embed_sources(
    sources: Sequence[str],
    folder: Path,
    model: ModelFiles,
    *,
    shard_images: int | None = None,
    places: Places = HERE,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> EmbeddedDataSet:
    """Embed all images of the sources; unreadable ones become rows with the error.

    Args:
        sources: folders, lists of paths, tar files, Parquet tables, images, addresses of object
            stores.
        folder: of the data set; every node sees it at this path.

    Raises:
        InputError: the folder has other content, or a data set of other sources or another
            backbone.
        StorageError, NetworkError: a source or the cluster does not answer, or the disk is full.
        ModelError: the backbone fails.
        Cancelled: finished shards are kept.
    """
    token, folder = cancel or CancelToken(), folder.absolute()
    manifest, found = begin(folder, WantedDataSet(absolute(sources), model, shard_images), token)
    with one_run(folder):
        done = do_all(
            EmbedShards(folder),
            folder,
            manifest.shard_count,
            planned_images(folder),
            places,
            on_progress=on_progress,
            cancel=token,
        )
        whole = replace(manifest, shards=done.facts)
        write_manifest(folder, whole)
    return EmbeddedDataSet(
        whole.rows,
        whole.failed,
        len(done.shards),
        done.new_shards,
        done.seconds,
        done.new_rows_per_s,
        tuple(sorted({facts.computed_on for facts in done.facts})),
        found,
    )
