"""What labels and questions cost an open project while fits run on another thread, and how long others then wait."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import numpy as np

from engine.collection.fitting import FitInput, run_fit
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
GUESSES: Final = 10
"""Images that are asked about in one call."""
NAP_S: Final = 0.001
"""A thread that sleeps so long again and again stands for a window that has little to do."""


@dataclass(frozen=True)
class BesideFigures:
    """Milliseconds; medians over rounds unless said otherwise.

    Attributes:
        take_ms: taking one label into account, without writing it to disk.
        input_ms: laying out what the next fit needs.
        adopt_ms: taking a fit's outcome over.
        guess_ms: label, classes and reasons of one image, of `GUESSES` that are asked about at once.
        waits_ms, longest_wait_ms: how much longer than requested a thread sleeps beside a fit, at the 99th
            percentile and at the longest; without a fit it is `idle_waits_ms`.
        stop_ms: from asking a fit to stop until it has, the longest.
    """

    images: int
    take_ms: float
    input_ms: float
    adopt_ms: float
    guess_ms: float
    idle_waits_ms: float
    waits_ms: float
    longest_wait_ms: float
    stop_ms: float
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


def _measured(live: LiveCollection, rounds: int) -> BesideFigures:
    unlabelled_first = np.argsort(live.state.label_class != NO_CLASS, kind="stable")
    chosen = live.state.image_ids[unlabelled_first].tolist()
    times: list[list[float]] = []
    idle_ms: list[float] = []
    beside_ms: list[float] = []
    with _naps(idle_ms):
        threading.Event().wait(1)
    for turn in range(rounds):
        image_id = chosen[turn]
        best_class = int(live.state.best_class[live.state.position(image_id)])
        change = live.project.labels.set([image_id], best_class)
        take_ms, _ = _timed(partial(live.take, change))
        input_ms, wanted = _timed(live.fit_input)
        with _naps(beside_ms):
            outcome = run_fit(wanted)
        adopt_ms, _ = _timed(partial(live.adopt, outcome))
        asked = chosen[rounds + turn * GUESSES :][:GUESSES]
        guess_ms, _ = _timed(partial(live.guesses, asked))
        times.append([take_ms, input_ms, adopt_ms, guess_ms / GUESSES])
    stops = [_stopped_ms(live.fit_input(), after_s=0.05 + 0.1 * turn) for turn in range(rounds)]
    take_ms, input_ms, adopt_ms, guess_ms = (statistics.median(column) for column in zip(*times, strict=True))
    return BesideFigures(
        len(live.state.image_ids), take_ms, input_ms, adopt_ms, guess_ms,
        float(np.percentile(idle_ms, 99)), float(np.percentile(beside_ms, 99)), max(beside_ms), max(stops),
    )  # fmt: skip


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    started_s = time.perf_counter()
    result = work()
    return (time.perf_counter() - started_s) * 1000, result


@contextmanager
def _naps(overslept_ms: list[float]) -> Iterator[None]:
    """Meanwhile a thread sleeps again and again, and notes how much longer it took."""
    is_over = threading.Event()

    def nap() -> None:
        while not is_over.is_set():
            asleep_ms, _ = _timed(lambda: is_over.wait(NAP_S))
            overslept_ms.append(asleep_ms - NAP_S * 1000)

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
