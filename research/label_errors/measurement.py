"""Measure how well wrong labels are found, by the program and by its peer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.classifier import Space
from engine.everyday.label_errors.labelled import JudgedLabels, centred
from engine.graph.codes import NO_CLASS
from research.label_errors.methods import METHODS, PEERS, RankingTask
from research.label_errors.planted import ErrorKind, PlantedErrors, plant
from research.transfer.embedded import EmbeddedCollection

FIRST = 50  # labels that a user checks
SHARES = (0.01, 0.03, 0.05)


@dataclass(frozen=True)
class Found:
    """Results of one method on a draw; all in [0, 1]."""

    precision: float  # of the first `FIRST`
    recall: float  # in the first `FIRST`
    precision_at_planted: float  # of as many as were planted
    average_precision: float


@dataclass(frozen=True)
class CalledWrong:
    """Labels that the program itself calls wrong in a draw."""

    labels: int
    expected: float  # sum of their probabilities
    hits: int  # that were planted
    proposals: int  # of the hits, with the right class proposed


@dataclass(frozen=True)
class Draw:
    """One draw."""

    share: float
    kind: ErrorKind
    found: Mapping[str, Found]  # by method
    called: CalledWrong


def measure_label_errors(
    embedded: EmbeddedCollection,
    draws: int,
    *,
    shares: Sequence[float] = SHARES,
    with_peer: bool = True,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[Draw, ...]:
    """Plant wrong labels in the images of `train` and find them.

    Raises:
        Cancelled: `cancel` was set.
    """
    stop = cancel or CancelToken()
    meter = ProgressMeter(len(shares) * len(ErrorKind) * draws, on_progress, unit="draws")
    rows = np.flatnonzero(
        embedded.collection.is_train & (embedded.collection.class_ids != NO_CLASS)
    )
    space, found = _space(embedded), []
    for share in shares:
        for kind in ErrorKind:
            for seed in range(draws):
                stop.raise_if_cancelled()
                found.append(_draw(embedded, rows, space, (share, kind, seed), with_peer=with_peer))
                meter.advance()
    return tuple(found)


def _space(embedded: EmbeddedCollection) -> Space | None:
    basis = embedded.basis_of(
        np.arange(len(embedded.embeddings), dtype=np.int64), np.zeros(0, dtype=np.int64)
    )
    return None if basis is None else basis.whitening


def _draw(
    embedded: EmbeddedCollection,
    rows: NDArray[np.int64],
    space: Space | None,
    drawn: tuple[float, ErrorKind, int],
    *,
    with_peer: bool,
) -> Draw:
    share, kind, seed = drawn
    graph, truth = embedded.collection.graph, embedded.collection.class_ids[rows]
    planted = plant(graph, truth, share, kind, seed)
    plain = embedded.shots(rows, truth).embeddings
    vectors = plain if space is None else space.apply(plain)
    task = RankingTask(graph, JudgedLabels(rows, planted.labels, vectors, centred(plain)), plain)
    methods = {**METHODS, **PEERS} if with_peer else METHODS
    found = {name: scored(rank(task), planted.is_wrong) for name, rank in methods.items()}
    return Draw(share, kind, found, _called(task, planted))


def scored(ranks: NDArray[np.float64], is_wrong: NDArray[np.bool_]) -> Found:
    """Figures of a ranking (n,), highest first, against the mask of wrong labels (n,)."""
    hits = is_wrong[np.argsort(-ranks, kind="stable")]
    planted, first = int(hits.sum()), int(hits[:FIRST].sum())
    precisions = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return Found(
        first / min(FIRST, len(hits)),
        first / planted,
        float(hits[:planted].mean()),
        float(precisions[hits].mean()),
    )


def _called(task: RankingTask, planted: PlantedErrors) -> CalledWrong:
    suspects = task.errors.suspects
    is_hit = planted.is_wrong[suspects]
    right = task.errors.proposed[suspects] == planted.truth[suspects]
    expected = float(task.errors.probability[suspects].sum())
    return CalledWrong(len(suspects), expected, int(is_hit.sum()), int((is_hit & right).sum()))
