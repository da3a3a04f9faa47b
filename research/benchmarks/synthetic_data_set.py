"""Large synthetic data sets for benchmarks, written by the functions of the cluster."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.backbones.model_files import ModelFiles
from engine.dataset.described_folder import SHARDS, ShardFacts
from engine.dataset.embedded_rows import EMBEDDED, EmbeddedRows, to_arrow
from engine.dataset.manifest import Manifest, write_manifest
from engine.dataset.opened import DataSet, shards_of
from engine.dataset.shard_files import GROUP_ROWS, new_shard
from engine.embedding.cache import to_halves
from engine.images.read_file import content_hash
from research.benchmarks.synthetic import class_centres, embeddings_around, synthetic_embeddings

_SHARD_ROWS = 10_000

Floats = NDArray[np.float32]
DrawEmbeddings = Callable[[int], Floats]
"""Draw a number of embeddings (n, d) float32 of length 1."""


def write_synthetic(folder: Path, rows: int, model: ModelFiles) -> DataSet:
    """Write a data set of `rows` rows; each row group has the same embeddings."""
    drawn = synthetic_embeddings(GROUP_ROWS, model.card.embedding_width).embeddings
    return _write(folder, rows, model, lambda count: drawn[:count])


def write_clustered(
    folder: Path, rows: int, model: ModelFiles, *, seed: int = 0
) -> tuple[DataSet, NDArray[np.int64]]:
    """Write a data set of `rows` rows, with embeddings around the centres of 200 classes.

    Returns:
        The data set, and the class of each row (rows,) int64 in [0, 200).
    """
    generator = np.random.default_rng(seed)
    centres, classes = class_centres(generator, model.card.embedding_width), []

    def draw(count: int) -> Floats:
        drawn = embeddings_around(centres, count, generator)
        classes.append(drawn.classes)
        return drawn.embeddings

    return _write(folder, rows, model, draw), np.concatenate(classes)


def _write(folder: Path, rows: int, model: ModelFiles, draw: DrawEmbeddings) -> DataSet:
    (folder / SHARDS).mkdir(parents=True)
    count = -(-rows // _SHARD_ROWS)
    manifest = Manifest(
        f"{rows}",
        model.backbone_hash,
        model.card,
        ("synthetic",),
        _SHARD_ROWS,
        count,
        identity=model.embedding_identity,
    )
    shards, facts = shards_of(folder, manifest), []
    for number in range(count):
        in_shard = min(_SHARD_ROWS, rows - number * _SHARD_ROWS)
        with new_shard(shards, number) as shard:
            for start in range(0, in_shard, GROUP_ROWS):
                places = range(start, min(start + GROUP_ROWS, in_shard))
                names = [str(folder / f"{number:07d}.tar" / f"{place:05d}.jpg") for place in places]
                shard.add(to_arrow(_rows(names, draw(len(names)))))
            shard.facts = ShardFacts(in_shard, 0, "nothing")
        facts.append(shard.facts)
    write_manifest(folder, replace(manifest, shards=tuple(facts)))
    return DataSet.open(folder)


def _rows(names: list[str], embeddings: Floats) -> EmbeddedRows:
    """Rows of images in archives, without local pictures."""
    count = len(names)
    return EmbeddedRows(
        [content_hash(name.encode()) for name in names],
        names,
        [1] * count,
        to_halves(embeddings),
        np.ones(count, dtype=np.bool_),
        [EMBEDDED] * count,
        [None] * count,
    )
