"""Predictions of a data set: a folder of shards, one for each of the data set's, row for row."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from engine.dataset.described_folder import (
    FolderKind,
    ShardFacts,
    damaged_description,
    facts_as_data,
    facts_of,
    read_description,
    write_description,
)
from engine.dataset.shard_files import ShardSet
from engine.images.read_file import HASH_BYTES
from engine.texts import Message, marked

PREDICTED = FolderKind(
    "protoleaf predictions",
    1,
    Message("a folder of predictions"),
    marked("make one with `protoleaf classify DATASET --model BUNDLE --out PREDICTIONS`"),
)
"""The kind of folder, in version 1."""
AGAIN = marked("run the same `protoleaf classify` again: it makes what is missing or damaged")


@dataclass(frozen=True)
class PredictionsManifest:
    """The description of a folder of predictions."""

    predictions_id: str  # random; every shard carries it
    data_set_id: str  # of the data set
    data_set: str  # its folder when the predictions were begun
    model: str  # name of the exported model
    model_hash: str  # SHA-256 of its `classes.json`, hex, which holds that of `classifier.onnx`
    setting: str  # classifier
    shard_count: int  # as of the data set
    shards: tuple[ShardFacts, ...] = ()  # of each, once all are there

    @property
    def is_whole(self) -> bool:
        """Whether a run has finished, with every shard there."""
        return len(self.shards) == self.shard_count


def prediction_shards(folder: Path, manifest: PredictionsManifest) -> ShardSet:
    """The shards of predictions, whole or not."""
    return ShardSet(folder, manifest.predictions_id, prediction_schema(), AGAIN)


def prediction_schema() -> pa.Schema:
    """The columns; classes are null for images without an embedding, and where unknown."""
    return pa.schema(
        [
            pa.field("content_hash", pa.binary(HASH_BYTES)),
            pa.field("path", pa.string(), nullable=False),
            pa.field("class_id", pa.int64()),
            pa.field("class_name", pa.string()),
            pa.field("score", pa.float32()),
            pa.field("safe_class_id", pa.int64()),
            pa.field("safe_class_name", pa.string()),
            pa.field("safe_score", pa.float32()),
            pa.field("is_unknown", pa.bool_()),
            pa.field("model", pa.string(), nullable=False),
        ]
    )


def write_predictions_manifest(folder: Path, manifest: PredictionsManifest) -> None:
    """Write or replace the manifest; raises `StorageError` where the disk refuses."""
    fields = {**vars(manifest), "shards": facts_as_data(manifest.shards)}
    write_description(folder, PREDICTED, fields)


def read_predictions_manifest(folder: Path) -> PredictionsManifest:
    """Read the manifest of predictions.

    Raises:
        InputError: the folder holds something else.
        FormatError: it was made by a newer program, or its manifest is damaged.
    """
    fields = read_description(folder, PREDICTED)
    try:
        return PredictionsManifest(
            str(fields["predictions_id"]),
            str(fields["data_set_id"]),
            str(fields["data_set"]),
            str(fields["model"]),
            str(fields["model_hash"]),
            str(fields["setting"]),
            int(fields["shard_count"]),
            facts_of(fields["shards"]),
        )
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise damaged_description(folder, PREDICTED, error) from error
