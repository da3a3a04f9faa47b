"""Measure engine and peers on the same draws: accuracy, mistake distance, calibration, time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.scores import calibration_error
from engine.new_folder import scratch_folder
from engine.report.mistakes import GraphDistance
from research.peers.predictions import (
    PeerError,
    PeerPredictions,
    export_draw,
    predict_by_peer,
    predict_ours,
)
from research.peers.run_peer import PEERS
from research.transfer.collection import TransferCollection
from research.transfer.draws import ShotDraw, Situation, draw
from research.transfer.embedded import EmbeddedCollection
from research.transfer.parts import scored
from research.transfer.results import TOP1, Figures

MISTAKE_DISTANCE = "mistake_distance"
CALIBRATION = "calibration_error"
SECONDS = "seconds"


@dataclass(frozen=True)
class EngineMethod:
    """The everyday model with or without unlabelled images and the category graph."""

    title: str
    is_transductive: bool
    has_graph: bool


OURS: Mapping[str, EngineMethod] = {
    "everyday": EngineMethod("everyday model", is_transductive=True, has_graph=True),
    "everyday-flat": EngineMethod("everyday model, flat", is_transductive=True, has_graph=False),
    "everyday-without-collection": EngineMethod(
        "everyday model, stage off", is_transductive=False, has_graph=True
    ),
    "everyday-without-collection-flat": EngineMethod(
        "everyday model, stage off, flat", is_transductive=False, has_graph=False
    ),
}
METHODS = (*OURS, *PEERS)


@dataclass(frozen=True)
class PeerPlan:
    """Options of a measurement.

    Attributes:
        shots: of each leaf, one table each.
        draws: in each of which every method gets the same shots.
        methods: names in `METHODS`.
        is_elsewhere: whether labels are of `train` and the images to classify are those of `val`
            alone.
        limit_s: seconds that a peer may take for a draw.
    """

    shots: tuple[int, ...] = (1, 5)
    draws: int = 5
    methods: tuple[str, ...] = METHODS
    is_elsewhere: bool = False
    limit_s: float = 900

    @property
    def needs_environment(self) -> bool:
        """Whether a method is of another library."""
        return any(method in PEERS for method in self.methods)


@dataclass(frozen=True)
class PeerResult:
    """Result of a method.

    Attributes:
        method: name in `METHODS`.
        shots: of each leaf.
        draws: figures of each draw; empty where the method failed.
        failure: why it failed, empty where it did not.
    """

    method: str
    shots: int
    draws: tuple[Figures, ...]
    failure: str = ""

    def values(self, name: str) -> tuple[float, ...]:
        """A figure of each draw; NaN where it is not defined."""
        return tuple(figures[name] for figures in self.draws)


def check_methods(methods: Sequence[str]) -> None:
    """Check that every method exists.

    Raises:
        UsageError: one does not.
    """
    for name in methods:
        if name not in METHODS:
            raise UsageError("there is no such method", expected=", ".join(METHODS), found=name)


def measure_peers(
    embedded: EmbeddedCollection,
    plan: PeerPlan,
    python: Path,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[PeerResult, ...]:
    """Measure every method on every draw of the plan; a failed one does not stop the others.

    Args:
        embedded: the collection.
        plan: what to measure.
        python: of the peers' environment; not used where all methods are the engine's.
        on_progress: called with draws of methods.
        cancel: stops at once.

    Raises:
        Cancelled: `cancel` was set.
    """
    token, collection = cancel or CancelToken(), embedded.collection
    situations = [
        Situation(has_coarse_labels=False, shots=shots, is_elsewhere=plan.is_elsewhere)
        for shots in plan.shots
    ]
    draws = [
        draw(collection, situation, seed) for situation in situations for seed in range(plan.draws)
    ]
    meter = ProgressMeter(len(draws) * len(plan.methods), on_progress, unit="draws")
    results = []
    with scratch_folder() as folder:
        files = [folder / f"{number}.npz" for number in range(len(draws))]
        for drawn, file in zip(draws, files, strict=True):
            export_draw(embedded, drawn, file)
        for method in plan.methods:
            token.raise_if_cancelled()
            figures: list[Figures] = []
            failure = ""
            try:
                if method in OURS:
                    found = _by_engine(OURS[method], embedded, draws)
                else:
                    leaves = collection.leaf_ids
                    found = predict_by_peer(
                        python, method, files, leaves, limit_s=plan.limit_s, cancel=token
                    )
                figures += map(partial(score, collection), draws, found)
            except PeerError as error:
                failure = str(error)
            for number, shots in enumerate(plan.shots):
                some = figures[number * plan.draws : (number + 1) * plan.draws]
                results.append(PeerResult(method, shots, tuple(some), failure))
            meter.advance(len(draws))
    return tuple(results)


def _by_engine(
    method: EngineMethod, embedded: EmbeddedCollection, draws: Sequence[ShotDraw]
) -> list[PeerPredictions]:
    return [
        predict_ours(
            embedded, drawn, with_collection=method.is_transductive, with_graph=method.has_graph
        )
        for drawn in draws
    ]


def score(collection: TransferCollection, drawn: ShotDraw, found: PeerPredictions) -> Figures:
    """Figures of the unlabelled images of known leaf.

    Returns:
        `top1`, `calibration_error` of the scores (15 bins), `seconds`, and `mistake_distance`: the
        height of the lowest common ancestor of true and predicted leaf, mean over wrong
        predictions; NaN without any.
    """
    rows = scored(collection, drawn)
    places = np.searchsorted(drawn.unlabelled, rows)
    answers, given = collection.class_ids[rows], found.class_ids[places]
    is_right = given == answers
    measure = GraphDistance(collection.graph)
    pairs, counts = np.unique(np.stack([answers, given])[:, ~is_right], axis=1, return_counts=True)
    heights = [measure.between(true, predicted)[1] for true, predicted in pairs.T.tolist()]
    return {
        TOP1: float(is_right.mean()),
        MISTAKE_DISTANCE: float(np.average(heights, weights=counts)) if heights else math.nan,
        CALIBRATION: calibration_error(found.scores[places].astype(np.float32), is_right),
        SECONDS: found.seconds,
    }
