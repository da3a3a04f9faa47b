"""Latency of labels and queries of an open project while fits run on another thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from engine.collection.fitting import FirstAnswers, FitInput, run_fit
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.errors import Cancelled
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.new_folder import scratch_folder
from research.benchmarks.synthetic import synthetic_project
from research.reference import NUMPY, JudgedFigure, NumpyPass, judged, shown, within_budget

T = TypeVar("T")

ROUNDS = 8
"""Labels, and fits, that are timed. Chosen: medians are stable, and it takes 15 s."""
IN_VIEW = 60
"""Images on the screen, which are classified first in a large collection."""
GUESSES = 10
"""Images whose guesses are requested in one call."""
NAP_S = 0.001
"""Sleep of a thread that stands in for an idle window."""
IDLE_S = 0.5
LIMIT_LABEL = 7
LIMIT_ALL = 12
LIMIT_TAKE = 0.015
LIMIT_LAID_OUT = 0.015
LIMIT_ADOPTED = 0.04
LIMIT_GUESS = 0.006
LIMIT_STOP = 0.3
LIMIT_WAITS = 60
_NO_FIT = "the same without a fit"


@dataclass(frozen=True)
class BesideFigures:
    """Measured figures, medians over rounds unless named otherwise.

    Attributes:
        images: of the project.
        rows: from a label until images in view have new predictions, preparation and update
            included; the same for a label set while the rest is still classified for the previous
            one; until all images have new predictions, with a second label in between; update of
            the state by one label, without writing it to disk; preparation of the next fit; update
            of the state by the result of a fit; label, classes and reasons of one image, of
            `GUESSES` requested at once; oversleep of a thread during a fit, over the same without
            one; from a request to stop a fit until it has stopped.
    """

    images: int
    rows: tuple[JudgedFigure, ...]


def measure_beside_a_fit(
    images: int = 100_000, *, rounds: int = ROUNDS, on_progress: OnProgress = ignore_progress
) -> BesideFigures:
    """Label one image after another in a synthetic project, and fit after each."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        with closing(
            LiveCollection.open(synthetic_project(folder / "large", caches, images), caches)
        ) as live:
            live.load()
            return BesideFigures(images, _measured(live, rounds, on_progress))


@dataclass(frozen=True)
class _Round:
    """Seconds of one round, in the order of `BesideFigures`."""

    first_s: float
    second_s: float
    all_s: float
    take_s: float
    input_s: float
    adopt_s: float
    guess_s: float


def _measured(
    live: LiveCollection, rounds: int, on_progress: OnProgress
) -> tuple[JudgedFigure, ...]:
    unlabelled_first = np.argsort(live.state.label_class != NO_CLASS, kind="stable")
    chosen = live.state.image_ids[unlabelled_first].tolist()
    idle_ms, beside_ms, stops_s, passes_s = (
        list[float](),
        list[float](),
        list[float](),
        list[float](),
    )
    numpy_pass, taken = NumpyPass(len(chosen)), list[_Round]()
    for turn in within_budget(rounds, on_progress):
        with _naps(idle_ms):
            threading.Event().wait(IDLE_S)
        with _naps(beside_ms):
            taken.append(
                _round(
                    live, chosen[2 * turn : 2 * turn + 2], chosen[-IN_VIEW * (turn + 1) :][:IN_VIEW]
                )
            )
        _label(live, chosen[2 * rounds + turn])
        stops_s.append(_stopped_s(live.fit_input(), after_s=0.05 + 0.1 * turn))
        passes_s.append(numpy_pass.time_s())
    first, second, every, take, laid_out, adopted, guesses = zip(*map(astuple, taken), strict=True)
    over_pass = partial(judged, references=passes_s, against=NUMPY)
    return (
        over_pass("one label more, images in view", first, limit=LIMIT_LABEL),
        over_pass("another while the rest follows", second, limit=LIMIT_LABEL),
        over_pass("all images, both labels", every, limit=LIMIT_ALL),
        over_pass("taking a label", take, limit=LIMIT_TAKE),
        over_pass("laying out a fit", laid_out, limit=LIMIT_LAID_OUT),
        over_pass("taking its outcome over", adopted, limit=LIMIT_ADOPTED),
        over_pass("guessing, an image", [each / GUESSES for each in guesses], limit=LIMIT_GUESS),
        judged(
            "other threads wait, 99%",
            beside_ms,
            idle_ms,
            LIMIT_WAITS,
            against=_NO_FIT,
            unit="ms",
            percentile=99,
        ),
        shown("other threads wait, longest", beside_ms, "ms", percentile=100),
        over_pass("a fit stops, longest", stops_s, limit=LIMIT_STOP, percentile=100),
    )


def _round(live: LiveCollection, labelled: list[int], in_view: list[int]) -> _Round:
    """Label two images, the second once images in view are predicted; wait for all predictions."""
    answered_s: list[float] = []
    newer: list[FitInput] = []
    second_at_s: list[float] = []

    def on_first(first: FirstAnswers) -> None:
        live.adopt_first(first)
        answered_s.append(time.perf_counter())
        if len(answered_s) == 1:
            second_at_s.append(time.perf_counter())
            _label(live, labelled[1])
            newer.append(live.fit_input(in_view))

    begun_s = time.perf_counter()
    take_s = _label(live, labelled[0])
    input_s, wanted = _timed(partial(live.fit_input, in_view))
    outcome = run_fit(wanted, on_first=on_first, next_input=lambda: newer.pop() if newer else None)
    adopt_s, _ = _timed(partial(live.adopt, outcome))
    all_s = time.perf_counter() - begun_s
    first_s = answered_s[0] - begun_s if answered_s else all_s
    second_s = answered_s[1] - second_at_s[0] if len(answered_s) > 1 else all_s
    guess_s, _ = _timed(partial(live.guesses, in_view[:GUESSES]))
    given = labelled if second_at_s else labelled[:1]
    assert all(
        live.state.label_class[live.state.position(image_id)] != NO_CLASS for image_id in given
    )
    return _Round(first_s, second_s, all_s, take_s, input_s, adopt_s, guess_s)


def _label(live: LiveCollection, image_id: int) -> float:
    """Seconds to update the state for a label, without writing it to disk."""
    best_class = int(live.state.best_class[live.state.position(image_id)])
    change = live.project.labels.set([image_id], best_class)
    return _timed(partial(live.take, change))[0]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and the result."""
    started_s = time.perf_counter()
    result = work()
    return time.perf_counter() - started_s, result


@contextmanager
def _naps(overslept_ms: list[float]) -> Iterator[None]:
    """Record how much longer than requested a thread sleeps within this context."""
    is_over = threading.Event()

    def nap() -> None:
        while not is_over.is_set():
            asleep_s, _ = _timed(lambda: is_over.wait(NAP_S))
            overslept_ms.append(1000 * (asleep_s - NAP_S))

    thread = threading.Thread(target=nap)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _stopped_s(wanted: FitInput, after_s: float) -> float:
    """Seconds that a fit runs on after a request to stop; 0 where it had ended before."""
    cancel = CancelToken()
    asked_s: list[float] = []

    def ask() -> None:
        asked_s.append(time.perf_counter())
        cancel.cancel()

    timer = threading.Timer(after_s, ask)
    timer.start()
    try:
        run_fit(wanted, cancel)
    except Cancelled:
        return time.perf_counter() - asked_s[0]
    finally:
        timer.cancel()
        timer.join()
    return 0.0
