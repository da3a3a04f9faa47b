"""Small data sets, embedded in this process by the functions of cluster workers."""

import io
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from engine.backbones.model_files import ModelFiles
from engine.collection.models import find_model
from engine.dataset.described_folder import SHARDS, ShardFacts
from engine.dataset.embedded_rows import EmbeddedRows, to_arrow
from engine.dataset.manifest import Manifest, read_manifest, write_manifest
from engine.dataset.opened import DataSet, shards_of
from engine.dataset.shard_files import new_shard
from engine.events import CancelToken
from engine.images.read_file import HASH_BYTES
from protoleaf_cluster.embed import begin
from protoleaf_cluster.embed_shard import EmbedShards
from protoleaf_cluster.shard_work import Resources
from protoleaf_cluster.sources import absolute


def begun(
    sources: Iterable[Path | str],
    folder: Path,
    *,
    shard_images: int = 5,
    model: ModelFiles | None = None,
) -> Manifest:
    """A data set with plan, backbone and manifest, without shards."""
    named = absolute([str(each) for each in sources])
    return begin(folder, named, model or find_model("leafnet"), shard_images, CancelToken())[0]


def embedded(sources: Iterable[Path | str], folder: Path, *, shard_images: int = 5) -> DataSet:
    """A complete data set, made in this process."""
    begun(sources, folder, shard_images=shard_images)
    return finish(folder)


def finish(folder: Path) -> DataSet:
    """Make the missing shards of a data set in this process."""
    manifest = read_manifest(folder)
    do = EmbedShards(folder).open(Resources())
    facts = tuple(do(number).facts for number in range(manifest.shard_count))
    write_manifest(folder, replace(manifest, shards=facts))
    return DataSet.open(folder)


def rows_of(data_set: DataSet) -> dict[str, tuple[bytes | None, int | None, bytes | None, str]]:
    """Hash, size, embedding's bytes and status by path, which must be unique."""
    found: dict[str, tuple[bytes | None, int | None, bytes | None, str]] = {}
    for number in range(data_set.manifest.shard_count):
        for rows in data_set.each_rows(number):
            for place, path in enumerate(rows.paths):
                assert path not in found
                vector = rows.embeddings[place].tobytes() if rows.has_embedding[place] else None
                found[path] = (
                    rows.content_hashes[place],
                    rows.sizes_bytes[place],
                    vector,
                    rows.statuses[place],
                )
    return found


def some_rows(count: int, width: int, *, seed: int = 0) -> EmbeddedRows:
    """Rows of random embeddings; every seventh has none."""
    generator = np.random.default_rng(seed)
    has = np.arange(count) % 7 != 6
    embeddings = np.where(has[:, None], generator.standard_normal((count, width)), 0).astype(
        np.float16
    )
    return EmbeddedRows(
        [generator.bytes(HASH_BYTES) if each else None for each in has],
        [f"photos/{seed}-{number}.jpg" for number in range(count)],
        [number if each else None for number, each in enumerate(has)],
        embeddings,
        has,
        ["embedded" if each else "the-file-is-empty" for each in has],
        [None if each else "the file is empty" for each in has],
    )


def write_data_set(folder: Path, shards: Sequence[EmbeddedRows]) -> DataSet:
    """A data set of these shards, with the manifest of the fast backbone."""
    (folder / SHARDS).mkdir(parents=True)
    model = find_model("leafnet")
    card = replace(model.card, embedding_width=shards[0].embeddings.shape[1])
    manifest = Manifest(
        "made",
        model.backbone_hash,
        card,
        ("nowhere",),
        1_000,
        len(shards),
        identity=model.embedding_identity,
    )
    facts = tuple(ShardFacts(len(rows), int((~rows.has_embedding).sum())) for rows in shards)
    for number, rows in enumerate(shards):
        with new_shard(shards_of(folder, manifest), number) as shard:
            shard.add(to_arrow(rows))
            shard.facts = facts[number]
    write_manifest(folder, replace(manifest, shards=facts))
    return DataSet.open(folder)


def write_tar(path: Path, members: Mapping[str, bytes]) -> Path:
    """A tar file in WebDataset's layout."""
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            facts = tarfile.TarInfo(name)
            facts.size = len(data)
            archive.addfile(facts, io.BytesIO(data))
    return path


def write_table(path: Path, images: Mapping[str, bytes], *, group_rows: int = 2) -> Path:
    """A Parquet table of images and names."""
    table = pa.table(
        {"key": list(images), "bytes": list(images.values()), "label": [0] * len(images)}
    )
    pq.write_table(table, path, row_group_size=group_rows)
    return path
