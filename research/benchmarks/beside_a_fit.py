"""What labels and questions cost an open project while fits run on another thread, and how long others then wait."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from typing import Final, TypeVar

import numpy as np

from engine.collection.fitting import FirstAnswers, FitInput, run_fit
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.new_folder import scratch_folder
from research.benchmarks.synthetic import synthetic_project

T = TypeVar("T")

ROUNDS: Final = 8
"""Labels, and fits, that are timed. Chosen: medians hold still, and it takes 15 s."""
IN_VIEW: Final = 60
"""Images on the screen, which are classified first in a large collection."""
GUESSES: Final = 10
"""Images that are asked about in one call."""
NAP_S: Final = 0.001
"""A thread that sleeps so long again and again stands for a window that has little to do."""


@dataclass(frozen=True)
class BesideFigures:
    """Milliseconds and seconds; medians over rounds unless said otherwise.

    Attributes:
        first_s: from a label until images in view have new predictions, laying out and taking over included.
        second_s: the same of a label that comes while the rest is still classified for the one before.
        all_s: from a label until all images have new predictions, the second label in between included.
        take_ms: taking one label into account, without writing it to disk.
        input_ms: laying out what the next fit needs.
        adopt_ms: taking a fit's outcome over.
        guess_ms: label, classes and reasons of one image, of `GUESSES` that are asked about at once.
        waits_ms, longest_wait_ms: how much longer than requested a thread sleeps beside a fit, at the 99th
            percentile and at the longest; without a fit it is `idle_waits_ms`.
        stop_ms: from asking a fit to stop until it has, the longest.
    """

    images: int
    first_s: float
    second_s: float
    all_s: float
    take_ms: float
    input_ms: float
    adopt_ms: float
    guess_ms: float
    idle_waits_ms: float
    waits_ms: float
    longest_wait_ms: float
    stop_ms: float
    limit_first_s: float = 1
    limit_all_s: float = 12
    limit_take_ms: float = 5
    limit_input_ms: float = 20
    limit_guess_ms: float = 2
    limit_waits_ms: float = 10
    limit_longest_wait_ms: float = 40
    limit_stop_ms: float = 100


def measure_beside_a_fit(images: int = 100_000, *, rounds: int = ROUNDS) -> BesideFigures:
    """Label image after image in a synthetic project, and fit after each."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        with closing(LiveCollection.open(synthetic_project(folder / "large", caches, images), caches)) as live:
            live.load()
            return _measured(live, rounds)


@dataclass(frozen=True)
class _Round:
    """Seconds of one round; see `BesideFigures`."""

    first_s: float
    second_s: float
    all_s: float
    take_s: float
    input_s: float
    adopt_s: float
    guess_s: float


def _measured(live: LiveCollection, rounds: int) -> BesideFigures:
    unlabelled_first = np.argsort(live.state.label_class != NO_CLASS, kind="stable")
    chosen = live.state.image_ids[unlabelled_first].tolist()
    idle_ms: list[float] = []
    beside_ms: list[float] = []
    with _naps(idle_ms):
        threading.Event().wait(1)
    taken = []
    for turn in range(rounds):
        with _naps(beside_ms):
            taken.append(_round(live, chosen[2 * turn : 2 * turn + 2], chosen[-IN_VIEW * (turn + 1) :][:IN_VIEW]))
    stops = [_stopped_ms(live.fit_input(), after_s=0.05 + 0.1 * turn) for turn in range(rounds)]
    median = _Round(*(statistics.median(column) for column in zip(*map(astuple, taken), strict=True)))
    return BesideFigures(
        len(live.state.image_ids), median.first_s, median.second_s, median.all_s,
        1000 * median.take_s, 1000 * median.input_s, 1000 * median.adopt_s, 1000 * median.guess_s / GUESSES,
        float(np.percentile(idle_ms, 99)), float(np.percentile(beside_ms, 99)), max(beside_ms), max(stops),
    )  # fmt: skip


def _round(live: LiveCollection, labelled: list[int], in_view: list[int]) -> _Round:
    """Label two images, the second one as soon as images in view are answered; both must be in the end."""
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
    assert all(live.state.label_class[live.state.position(image_id)] != NO_CLASS for image_id in given)
    return _Round(first_s, second_s, all_s, take_s, input_s, adopt_s, guess_s)


def _label(live: LiveCollection, image_id: int) -> float:
    """Seconds that taking a label into account takes, without writing it to disk."""
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
    """Meanwhile a thread sleeps again and again, and notes how much longer it took."""
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


def _stopped_ms(wanted: FitInput, after_s: float) -> float:
    """How long a fit goes on after it was asked to stop; 0 where it was done before."""
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
        return (time.perf_counter() - asked_s[0]) * 1000
    finally:
        timer.cancel()
        timer.join()
    return 0.0
