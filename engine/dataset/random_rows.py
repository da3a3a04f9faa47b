"""Images of a data set drawn at random, shard by shard, in the memory of one batch of rows."""

from collections.abc import Iterator

import numpy as np

from engine.dataset.embedded_rows import EmbeddedRows, from_arrow, has_embedding_in
from engine.dataset.opened import AGAIN, DataSet
from engine.dataset.shard_files import each_batch
from engine.errors import FormatError, InputError

_MOST_IMAGES = 10**9  # numpy draws from fewer than this (`multivariate_hypergeometric`)


def draw_rows(data_set: DataSet, count: int, *, seed: int = 0) -> Iterator[EmbeddedRows]:
    """Draw images with an embedding uniformly, without replacement.

    How many each shard contributes is drawn first, so shards without any are not read.

    Args:
        count: images to draw.
        seed: the same data set, count and seed give the same images.

    Returns:
        The drawn rows in the data set's order: one item for each batch that is read, perhaps
        without rows.

    Raises:
        InputError: as `check_count`.
        StorageError, FormatError: while reading, as `DataSet.each_rows`.
    """
    check_count(data_set, count)
    return _drawn(data_set, count, np.random.default_rng(seed))


def _drawn(data_set: DataSet, count: int, generator: np.random.Generator) -> Iterator[EmbeddedRows]:
    counts = [facts.rows - facts.failed for facts in data_set.manifest.shards]
    shares = generator.multivariate_hypergeometric(counts, count, method="marginals")
    for number in np.flatnonzero(shares).tolist():
        is_drawn = np.zeros(counts[number], dtype=bool)  # of the shard's images with an embedding
        is_drawn[generator.choice(counts[number], shares[number], replace=False, shuffle=False)] = (
            True
        )
        start = 0
        for batch in each_batch(data_set.shards, number):
            ready = np.flatnonzero(has_embedding_in(batch))
            yield from_arrow(
                batch.take(ready[np.flatnonzero(is_drawn[start : start + len(ready)])])
            )
            start += len(ready)
        if start != counts[number]:
            raise _other_count(data_set, number, counts[number], start)


def check_count(data_set: DataSet, count: int) -> None:
    """Refuse to draw so many images of a data set.

    Raises:
        InputError: there are fewer with an embedding, or a billion.
    """
    most = data_set.manifest.rows - data_set.manifest.failed
    if not 1 <= count <= most:
        raise InputError(
            "that many images cannot be drawn from the data set",
            expected="from 1 to {most}, the number of its images with an embedding",
            found="{count}",
            remedy=(
                "name another number, or take all with `protoleaf new PROJECT --data-set DATASET`"
            ),
            most=f"{most:,}",
            count=f"{count:,}",
        )
    if most >= _MOST_IMAGES:
        raise InputError(
            "images cannot be drawn from so large a data set",
            expected="fewer than {most} with an embedding",
            found="{found_images} in {folder}",
            remedy="embed part of the sources into a separate data set",
            most=f"{_MOST_IMAGES:,}",
            found_images=f"{most:,}",
            folder=data_set.folder,
        )


def _other_count(data_set: DataSet, number: int, expected: int, found: int) -> FormatError:
    return FormatError(
        "a shard is not as the manifest describes it",
        expected="{expected_images} with an embedding",
        found="{found_images} in {path}",
        remedy=AGAIN,
        expected_images=f"{expected:,}",
        found_images=f"{found:,}",
        path=data_set.shards.path(number),
    )
