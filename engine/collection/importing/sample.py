"""Choose some images of a data set to label: at random, or those whose labels would teach most."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from engine.dataset.embedded_rows import EmbeddedRows, joined
from engine.dataset.opened import DataSet
from engine.dataset.random_rows import check_count, draw_rows
from engine.embedding.views import unit_length
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ProgressMeter
from engine.everyday.blocks import stopped_by
from engine.everyday.in_use import teach_first_unlabelled

CANDIDATES: Final = 20_000
"""Images drawn at random that teach-first chooses among. Chosen: as many as the whitening is learned from."""


class SampleBy(StrEnum):
    """How images are chosen."""

    TEACH_FIRST = (
        "teach-first"  # those that represent most of `CANDIDATES` images, best first (decision 83)
    )
    RANDOM = "random"  # all with the same probability, in the data set's order


@dataclass(frozen=True)
class Sample:
    """Some images of a data set."""

    count: int
    by: SampleBy = SampleBy.TEACH_FIRST
    seed: int = 0  # of what is drawn at random


def sampled_rows(
    data_set: DataSet, sample: Sample, on_progress: OnProgress, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    """Rows of the chosen images, all with an embedding.

    Raises:
        InputError: the data set has fewer images with an embedding, or teach-first chooses among fewer.
        StorageError, FormatError: while reading, as `DataSet.each_rows`.
        Cancelled: while reading.
    """
    check_count(data_set, sample.count)
    drawn = sample.count
    if sample.by is SampleBy.TEACH_FIRST:
        _check_choice(sample.count)
        drawn = min(CANDIDATES, data_set.manifest.rows - data_set.manifest.failed)
    meter = ProgressMeter(drawn, on_progress, unit="images")
    parts = each_watched(draw_rows(data_set, drawn, seed=sample.seed), meter, cancel)
    return parts if sample.by is SampleBy.RANDOM else _those_to_teach(parts, sample.count, cancel)


def _check_choice(count: int) -> None:
    if count > CANDIDATES:
        raise InputError(
            "teach-first cannot choose so many images",
            expected="at most {most}, among which it chooses",
            found="{count}",
            remedy="name fewer, or draw them with --by random",
            most=f"{CANDIDATES:,}",
            count=f"{count:,}",
        )


def each_watched(
    parts: Iterator[EmbeddedRows], meter: ProgressMeter, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    """The same parts, counted as they are used; raises `Cancelled` between them."""
    for rows in parts:
        cancel.raise_if_cancelled()
        yield rows
        meter.advance(len(rows))


def _those_to_teach(
    parts: Iterator[EmbeddedRows], count: int, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    candidates = joined(list(parts))
    with stopped_by(cancel):
        order = teach_first_unlabelled(unit_length(candidates.embeddings.astype(np.float32)))
    yield candidates.take(order[:count])
