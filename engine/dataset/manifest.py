"""The manifest of a data set: the backbone, the sources, and the shards."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.credentials import without_credentials
from engine.dataset.described_folder import (
    FolderKind,
    ShardFacts,
    damaged_description,
    facts_as_data,
    facts_of,
    is_of_kind,
    read_description,
    write_description,
)
from engine.files import is_embedding_identity, is_sha256
from engine.model_card import BackboneCard
from engine.texts import Message, marked

DATA_SET = FolderKind(
    "protoleaf data set",
    1,
    Message("a data set"),
    marked("make one with `protoleaf embed SOURCE... --out DATASET --backbone B`"),
)
BACKBONE_FILE = "backbone.onnx"
"""A copy of the backbone in the data set, next to its card."""
MOST_SHARDS = 10_000_000
PLAN_FILE = "plan.parquet"  # which images belong to which shard


@dataclass(frozen=True)
class Manifest:
    """The description of a data set."""

    data_set_id: str  # random; every shard carries it
    backbone_hash: str  # SHA-256 of the backbone's file, hex
    card: BackboneCard  # of the backbone: name, embedding width, and preprocessing
    sources: tuple[str, ...]  # as they were named, absolute
    shard_images: int  # images of a shard, at most; an archive is one shard
    shard_count: int  # of the plan
    shards: tuple[ShardFacts, ...] = ()  # of each, once all are there
    identity: str = ""  # of the embeddings; "" where an older program left it open

    @property
    def is_whole(self) -> bool:
        """Whether a run has finished, with every shard there."""
        return len(self.shards) == self.shard_count

    @property
    def rows(self) -> int:
        return sum(facts.rows for facts in self.shards)

    @property
    def failed(self) -> int:
        return sum(facts.failed for facts in self.shards)


def is_data_set(folder: Path) -> bool:
    """Whether a folder's manifest is that of a data set, complete or not."""
    return is_of_kind(folder, DATA_SET)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write or replace the manifest; raises `StorageError` where the disk refuses."""
    write_description(folder, DATA_SET, manifest_fields(manifest))


def manifest_fields(manifest: Manifest) -> dict[str, Any]:
    """The manifest as JSON data."""
    return {
        "data_set_id": manifest.data_set_id,
        "backbone": {"sha256": manifest.backbone_hash, **asdict(manifest.card)},
        "embeddings": manifest.identity,
        "sources": list(map(without_credentials, manifest.sources)),
        "shard_images": manifest.shard_images,
        "shard_count": manifest.shard_count,
        "rows": manifest.rows if manifest.is_whole else None,
        "failed": manifest.failed if manifest.is_whole else None,
        "shards": facts_as_data(manifest.shards),
    }


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a data set.

    Raises:
        InputError: the folder is not a data set.
        FormatError: it was made by a newer program, or its manifest is damaged.
    """
    fields = read_description(folder, DATA_SET)
    try:
        return _manifest_of(fields)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise damaged_description(folder, DATA_SET, error) from error


def _manifest_of(fields: Mapping[str, Any]) -> Manifest:
    backbone = dict(fields["backbone"])
    backbone_hash = str(backbone.pop("sha256"))
    backbone["mean"], backbone["std"] = tuple(backbone["mean"]), tuple(backbone["std"])
    manifest = Manifest(
        str(fields["data_set_id"]),
        backbone_hash,
        BackboneCard(**backbone),
        tuple(without_credentials(str(each)) for each in fields["sources"]),
        int(fields["shard_images"]),
        int(fields["shard_count"]),
        facts_of(fields["shards"]),
        str(fields.get("embeddings", "")),
    )
    if manifest.identity and not is_embedding_identity(manifest.identity):
        raise ValueError(
            f"the identity of the embeddings is not a hash: {manifest.identity[:80]!r}"
        )
    if not is_sha256(backbone_hash):
        raise ValueError(f"the backbone's hash is not a SHA-256: {backbone_hash[:80]!r}")
    if not (manifest.shard_images >= 1 and 0 <= manifest.shard_count <= MOST_SHARDS):
        raise ValueError(f"{manifest.shard_count} shards of {manifest.shard_images} images")
    if len(manifest.shards) not in {0, manifest.shard_count}:
        raise ValueError(f"{len(manifest.shards)} of {manifest.shard_count} shards are described")
    if not all(0 <= facts.failed <= facts.rows for facts in manifest.shards):
        raise ValueError("a shard has fewer images than failed ones")
    return manifest
