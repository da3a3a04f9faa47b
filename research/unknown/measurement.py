"""Measure detection of images of no known class, in drawn collections and in sessions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from research.transfer.embedded import EmbeddedCollection
from research.unknown.detectors import DETECTORS, Seen
from research.unknown.open_set import KNOWN, Labelled, drawn, drawn_with_far, session

FALSE_RATES = (0.02, 0.05)
"""Shares of false unknowns at which detection rates are reported."""
SESSION_STEPS = 6
"""Steps of a fine and a coarse session."""


@dataclass(frozen=True)
class OpenSetOutcome:
    """Results of scores and of the program's threshold in one situation.

    Attributes:
        name: of the situation.
        auroc: by detector, in [0, 1].
        found: by detector, share of strangers found at each of `FALSE_RATES`.
        false_unknown: share of images of known classes that the program calls unknown.
        found_unknown: share of strangers that the program calls unknown.
    """

    name: str
    auroc: Mapping[str, float]
    found: Mapping[str, tuple[float, ...]]
    false_unknown: float
    found_unknown: float


def measure_unknown(
    embedded: EmbeddedCollection,
    far: EmbeddedCollection | None,
    shots: Sequence[int],
    draws: int,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[OpenSetOutcome, ...]:
    """Measure all situations, each `draws` times.

    Args:
        embedded: the collection.
        far: another collection, of far strangers; None for none.
        shots: of a class, in drawn collections.
        draws: at least 1.
        on_progress: listener.
        cancel: stops between two situations.

    Raises:
        Cancelled: `cancel` was set.
    """
    count = len(shots) * (1 if far is None else 2) + SESSION_STEPS
    meter = ProgressMeter(count * draws, on_progress, unit="situations")
    outcomes = []
    for seed in range(draws):
        for labelled in _situations(embedded, far, shots, seed):
            (cancel or CancelToken()).raise_if_cancelled()
            outcomes.append(measured(labelled))
            meter.advance()
    return tuple(outcomes)


def _situations(
    embedded: EmbeddedCollection, far: EmbeddedCollection | None, shots: Sequence[int], seed: int
) -> Iterator[Labelled]:
    for count in shots:
        yield drawn(embedded, count, seed)
    if far is not None:
        for count in shots:
            yield drawn_with_far(embedded, far, count, seed)
    yield from session(embedded, seed, is_coarse=False)
    yield from session(embedded, seed, is_coarse=True)


def measured(labelled: Labelled) -> OpenSetOutcome:
    """Fit, score all unlabelled images, and compare those of known classes with strangers."""
    seen = Seen.of(labelled)
    is_scored = np.ones(len(seen.images), dtype=bool)
    is_scored[labelled.rows] = False
    is_known = is_scored & (labelled.open_set.kinds == KNOWN)
    is_stranger = is_scored & ~is_known
    auroc, found = {}, {}
    for name, detector in DETECTORS.items():
        novelty = detector.score(seen)
        known, strangers = novelty[is_known], novelty[is_stranger]
        auroc[name] = area_under_curve(known, strangers)
        found[name] = tuple(
            _share(strangers > np.quantile(known, 1 - rate)) for rate in FALSE_RATES
        )
    is_unknown = seen.fitted.is_unknown(seen.scores)
    return OpenSetOutcome(
        labelled.name, auroc, found, _share(is_unknown[is_known]), _share(is_unknown[is_stranger])
    )


def _share(is_so: NDArray[np.bool_]) -> float:
    """Share; NaN of no images, as a small collection may have no strangers left."""
    return float(is_so.mean()) if len(is_so) else np.nan


def area_under_curve(known: NDArray[np.float32], strangers: NDArray[np.float32]) -> float:
    """Probability that a stranger's novelty exceeds a known image's; ties count half (AUROC)."""
    order = np.sort(known)
    below = np.searchsorted(order, strangers, side="left") + np.searchsorted(
        order, strangers, side="right"
    )
    return float(below.mean() / (2 * len(known))) if len(strangers) else np.nan
