"""Batched classification of one shard by the layers of an exported model after the embedding."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa

from engine.arrays import Flags, Integers
from engine.bundle.batch_answers import BatchAnswers, answers_of
from engine.bundle.classes_file import NAME, ExportedClasses, read_classes
from engine.dataset.described_folder import ShardFacts
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.manifest import read_manifest
from engine.dataset.opened import DataSet
from engine.dataset.shard_files import new_shard
from engine.embedding.views import unit_length
from engine.errors import InputError
from engine.everyday.classifier import EMBEDDING
from engine.files import read_regular
from engine.graph.codes import NO_CLASS
from engine.runtime.sessions import open_session, run_session
from protoleaf_cluster.predictions import (
    prediction_schema,
    prediction_shards,
    read_predictions_manifest,
)
from protoleaf_cluster.shard_work import DoShard, FinishedShard, Resources, finished

CLASSIFIER = "behind_embedding.onnx"


@dataclass(frozen=True)
class ClassifyShards:
    """Classification of the shards of a data set; both folders are visible to every node."""

    data_set: Path
    predictions: Path  # contains the classifier and its classes

    def open(self, _resources: Resources) -> DoShard:
        """Open the classifier; raises `ModelError`, `InputError` or `FormatError`."""
        for folder in (self.data_set, self.predictions):
            if not folder.is_dir():
                raise InputError(
                    "a node of the cluster cannot access a folder",
                    expected="the same folder on every node, such as one of a shared disk",
                    found=str(folder),
                )
        return ShardClassifier(self.data_set, self.predictions)


@final
class ShardClassifier:
    """Callable that classifies shards of one data set."""

    def __init__(self, data_set: Path, predictions: Path) -> None:
        manifest = read_predictions_manifest(predictions)
        self._data_set = DataSet(data_set, read_manifest(data_set))
        self._shards = prediction_shards(predictions, manifest)
        self._model = manifest.model
        source = predictions / NAME
        self._contents = read_classes(read_regular(source).decode(), source=str(source))
        self._session = open_session(predictions / CLASSIFIER)
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, number: int) -> FinishedShard:
        """Classify a shard, unless valid predictions exist.

        Raises:
            StorageError: the shard of the data set is missing, or the disk is full or unavailable.
            FormatError: the shard of the data set is damaged.
            ModelError: the model fails.
        """
        done = finished(self._shards, number)
        if done is not None:
            return done
        with new_shard(self._shards, number) as shard:
            count, failed = 0, 0
            for rows in self._data_set.each_rows(number):
                shard.add(self._predicted(rows))
                count += len(rows)
                failed += int((~rows.has_embedding).sum())
            shard.facts = ShardFacts(count, failed)
        return FinishedShard(number, shard.facts, is_new=True)

    def _predicted(self, rows: EmbeddedRows) -> pa.RecordBatch:
        embeddings = unit_length(rows.embeddings.astype(np.float32))
        found = run_session(self._session, {EMBEDDING: embeddings}, self._outputs)
        answers = answers_of(self._contents, dict(zip(self._outputs, found, strict=True)))
        return _batch(rows, answers, self._contents, self._model)


def _batch(
    rows: EmbeddedRows, answers: BatchAnswers, contents: ExportedClasses, model: str
) -> pa.RecordBatch:
    """Predictions as an Arrow record batch; null for images without an embedding."""
    none, no_safe = ~rows.has_embedding, ~rows.has_embedding | (answers.safe_ids == NO_CLASS)
    columns: dict[str, Any] = {
        "content_hash": pa.array(
            rows.content_hashes, prediction_schema().field("content_hash").type
        ),
        "path": pa.array(rows.paths, pa.string()),
        "class_id": pa.array(answers.class_ids, mask=none),
        "class_name": _names(answers.class_ids, none, contents),
        "score": pa.array(answers.scores, mask=none),
        "safe_class_id": pa.array(answers.safe_ids, mask=no_safe),
        "safe_class_name": _names(answers.safe_ids, no_safe, contents),
        "safe_score": pa.array(answers.safe_scores, mask=no_safe),
        "is_unknown": pa.array(answers.is_unknown, mask=none),
        "model": pa.repeat(pa.scalar(model), len(rows)),
    }
    return pa.record_batch(list(columns.values()), schema=prediction_schema())


def _names(class_ids: Integers, is_left_out: Flags, contents: ExportedClasses) -> pa.Array:
    """Names of classes as an Arrow array; null where left out."""
    names = {
        each: contents.graph.name(each) for each in np.unique(class_ids[~is_left_out]).tolist()
    }
    return pa.array(
        [
            None if out else names[each]
            for each, out in zip(class_ids.tolist(), is_left_out.tolist(), strict=True)
        ],
        pa.string(),
    )
