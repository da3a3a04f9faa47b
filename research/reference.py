"""Machine-independent verdicts: each figure relative to reference work timed in turn with it."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from threadpoolctl import threadpool_limits

from engine.events import OnProgress, ProgressMeter, ignore_progress
from engine.priority import lower_thread_priority

FEWEST_IMAGES = 100_000  # of a pass: the fixed cost of a fit hardly counts then
CLASSES = 200
WIDTH = 384  # of an embedding of the bundled backbone
DRAWN = 20_480  # embeddings in memory, 31 MB, that a pass iterates over repeatedly
BLOCK_ROWS = 1_024
AROUND = 5  # passes before a window is open, and after: during its fits they would be slower
BUDGET_S = 40.0
"""Further rounds begin within this time, so that a command ends within two minutes."""


@dataclass(frozen=True)
class JudgedFigure:
    """A figure and its reference.

    Attributes:
        name: of the figure.
        figure: a percentile over the run.
        unit: of the figure and of its reference.
        against: name of the reference; empty for a figure without one.
        reference: the same percentile of it.
        limit: largest ratio of both.
    """

    name: str
    figure: float
    unit: str
    against: str = ""
    reference: float | None = None
    limit: float | None = None

    @property
    def ratio(self) -> float | None:
        """The figure over its reference."""
        return None if self.reference is None else self.figure / self.reference

    @property
    def is_kept(self) -> bool:
        """Whether the ratio is within its limit, if it has one."""
        return self.ratio is None or self.limit is None or self.ratio <= self.limit

    @property
    def line(self) -> str:
        """A line for a terminal."""
        figure = f"{self.name:32} {_amount(self.figure, self.unit):>12}"
        if self.reference is None:
            return figure
        beside = f"{self.ratio:8.3g} x {_amount(self.reference, self.unit)} of {self.against}"
        return f"{figure} {beside} (limit {self.limit:g}{'' if self.is_kept else ', MISSED'})"

    def fields(self) -> dict[str, Any]:
        """Fields for JSON."""
        return {**asdict(self), "ratio": self.ratio, "is_kept": self.is_kept}


def _amount(figure: float, unit: str) -> str:
    if unit == "s" and figure < 0.1:  # noqa: PLR2004 (small ones are read more easily in milliseconds)
        return f"{1000 * figure:.2f} ms"
    return f"{figure:.2f} {unit}"


def shown(
    name: str, figures: Sequence[float], unit: str = "s", *, percentile: float = 50
) -> JudgedFigure:
    """A figure without a limit."""
    return JudgedFigure(name, float(np.percentile(figures, percentile)), unit)


def judged(
    name: str,
    figures: Sequence[float],
    references: Sequence[float],
    limit: float,
    *,
    against: str,
    unit: str = "s",
    percentile: float = 50,
) -> JudgedFigure:
    """A figure over its reference: a percentile, by default the median, of interleaved timings."""
    figure, reference = (float(np.percentile(each, percentile)) for each in (figures, references))
    return JudgedFigure(name, figure, unit, against, reference, limit)


NUMPY = "a numpy pass"
KEY = "100 bare cards and a commit"
CARDS = "10 bare cards"


@final
class NumpyPass:
    """Softmax(embeddings @ weights) in float32 and argmax for each image: minimal classification.

    In blocks of `BLOCK_ROWS` rows on one thread, so that the number of cores does not matter.

    Args:
        images: of the collection; the pass is over `FEWEST_IMAGES` at least.
    """

    def __init__(self, images: int) -> None:
        generator = np.random.default_rng(0)
        self._embeddings = generator.standard_normal((DRAWN, WIDTH), dtype=np.float32)
        self._weights = generator.standard_normal((WIDTH, CLASSES), dtype=np.float32)
        self._scores = np.empty((BLOCK_ROWS, CLASSES), dtype=np.float32)
        self.starts = [start % DRAWN for start in range(0, max(images, FEWEST_IMAGES), BLOCK_ROWS)]

    def time_s(self) -> float:
        """Seconds of one pass: mean of this thread and of a thread with the priority of fits."""
        with ThreadPoolExecutor(1, initializer=lower_thread_priority) as pool:
            return (self._once_s() + pool.submit(self._once_s).result()) / 2

    def _once_s(self) -> float:
        scores, started_s = self._scores, time.perf_counter()
        with threadpool_limits(1):
            for start in self.starts:
                np.matmul(self._embeddings[start : start + BLOCK_ROWS], self._weights, out=scores)
                scores -= scores.max(axis=1, keepdims=True)
                np.exp(scores, out=scores)
                scores /= scores.sum(axis=1, keepdims=True)
                scores.argmax(axis=1)
        return time.perf_counter() - started_s

    @contextmanager
    def around(self) -> Iterator[list[float]]:
        """Seconds of passes before the body of this context, and of as many after it."""
        passes_s = [self.time_s() for _ in range(AROUND)]
        yield passes_s
        passes_s += [self.time_s() for _ in range(AROUND)]


def within_budget(rounds: int, on_progress: OnProgress = ignore_progress) -> Iterator[int]:
    """Numbers of rounds, at least one, as many as begin within `BUDGET_S`."""
    meter, end_s = ProgressMeter(rounds, on_progress, unit="rounds"), time.monotonic() + BUDGET_S
    for number in range(rounds):
        yield number
        meter.advance()
        if time.monotonic() > end_s:
            return
