"""Progress and cancellation of long work, without Qt."""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import Cancelled

PROGRESS_INTERVAL_S = 0.1
# work that is over sooner needs no estimate, and after less none is worth telling
FIRST_ESTIMATE_S = 2.0
CORRECTION_S = 5.0  # how long it takes at most until a wrong estimate is corrected
LEAST_LEFT_S = 1.0
UNEVEN_ESTIMATE_S = 10.0
# the one half of a run at an even pace takes at most so many times as long as the other
EVEN = 1.5
MARKS = 100
MARKS_NEEDED = 3


BYTES = "bytes"
"""Unit of downloads: displayed as sizes such as `3.1 MB`."""


@dataclass(frozen=True)
class Progress:
    """How far a job is."""

    done: int  # finished units
    total: int  # units in all; 0 while unknown
    unit: str = "images"  # what is counted, in the plural ("images")
    rate_per_s: float = 0.0  # units a second, over this run
    seconds_left: float | None = None  # None until there is an estimate
    note: str = ""  # what happens now, or on which device ("CPU")
    notice: str = ""  # to display once, such as that the GPU failed and the CPU took over


OnProgress = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """Ignore progress."""


class CancelToken:
    """A flag to stop a running job; safe to set from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Stop the job at its next safe point."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout_s: float | None = None) -> None:
        """Block until the job is cancelled, or for some time."""
        self._event.wait(timeout_s)

    def raise_if_cancelled(self) -> None:
        if self._event.is_set():
            raise Cancelled


class TimeLeft:
    """Estimates how long work still takes, once there is enough to go by.

    The pace is that of the later half of the run so far, so that a slow start is soon forgotten; an
    estimate is corrected little by little, so that it runs down smoothly.

    Args:
        units_a_round: work that pauses regularly, to measure or to save, is timed in whole rounds
            of so many units.
    """

    def __init__(self, units_a_round: int = 1) -> None:
        self._round = units_a_round
        self._marks: list[tuple[float, int]] = []  # when so many units were done
        self._estimate: tuple[float, float] | None = None  # when, and how many seconds were left

    def estimate(self, done: int, missing: int, now_s: float) -> float | None:
        self._mark(done, now_s)
        if missing <= 0:
            return 0.0
        if not self._can_tell:
            return None
        last_s, last_done = self._marks[-1]
        pace_s = self._pace_s(self._middle, len(self._marks) - 1)
        # a standstill brings no end nearer
        since_s = min(now_s - last_s, pace_s * max(self._round, done - last_done))
        estimated_s = max(LEAST_LEFT_S, (missing + done - last_done) * pace_s - since_s)
        if self._estimate is not None:
            estimate_s, left_s = self._estimate
            expected_s = left_s - (now_s - estimate_s)
            share = min(1.0, (now_s - estimate_s) / min(CORRECTION_S, estimated_s / 4))
            estimated_s = max(LEAST_LEFT_S, expected_s + (estimated_s - expected_s) * share)
        self._estimate = now_s, estimated_s
        return estimated_s

    @property
    def _can_tell(self) -> bool:
        """Whether there are enough marks for an estimate; more time is needed at an uneven pace."""
        if self._estimate is not None:
            return True
        if len(self._marks) < MARKS_NEEDED:
            return False
        seen_s = self._marks[-1][0] - self._marks[0][0]
        earlier_s, later_s = (
            self._pace_s(0, self._middle),
            self._pace_s(self._middle, len(self._marks) - 1),
        )
        is_even = max(earlier_s, later_s) <= EVEN * min(earlier_s, later_s)
        return seen_s >= (FIRST_ESTIMATE_S if is_even else UNEVEN_ESTIMATE_S)

    @property
    def _middle(self) -> int:
        """Place of the mark before the later half of the run; never the last."""
        middle_s = (self._marks[0][0] + self._marks[-1][0]) / 2
        place = bisect_right(self._marks, middle_s, key=lambda mark: mark[0]) - 1
        return min(max(1, place), len(self._marks) - 2)

    def _pace_s(self, start: int, end: int) -> float:
        (start_s, start_done), (end_s, end_done) = self._marks[start], self._marks[end]
        return (end_s - start_s) / (end_done - start_done)

    def _mark(self, done: int, now_s: float) -> None:
        """Record the time of another finished round, about a hundred times in a run."""
        rounds = done // self._round
        if not rounds or (self._marks and rounds == self._marks[-1][1] // self._round):
            return
        first_s = self._marks[0][0] if self._marks else now_s
        if (
            len(self._marks) >= MARKS_NEEDED
            and now_s - self._marks[-1][0] < (now_s - first_s) / MARKS
        ):
            return
        self._marks.append((now_s, done))


class ProgressMeter:
    """Counts finished units and reports, throttled to one report every `PROGRESS_INTERVAL_S`.

    The first and the last report are never dropped.


    Args:
        unit: what is counted, in the plural.
        already_done: units finished by an earlier run; they count as done but not into the rate.
        units_a_round: of `TimeLeft`.
    """

    def __init__(
        self,
        total: int,
        on_progress: OnProgress,
        *,
        unit: str = "images",
        already_done: int = 0,
        units_a_round: int = 1,
    ) -> None:
        self.total = total
        self.done = already_done
        self.note = ""
        self.notice = ""
        self._unit = unit
        self._on_progress = on_progress
        self._already_done = already_done
        self._time_left = TimeLeft(units_a_round)
        self._started_s = time.monotonic()
        self._reported_s = float("-inf")
        self._report(time.monotonic())

    def advance(self, units: int = 1) -> None:
        """Count `units` more and report when it is time."""
        self.done += units
        now_s = time.monotonic()
        if now_s - self._reported_s >= PROGRESS_INTERVAL_S or (units and self.done == self.total):
            self._report(now_s)

    def skip(self, units: int) -> None:
        """Count units that an earlier run had finished; they do not count into the rate."""
        self._already_done += units
        self.advance(units)

    def pulse(self) -> None:
        """Report when it is time although nothing was finished, to show that slow work lives."""
        self.advance(0)

    def _report(self, now_s: float) -> None:
        self._reported_s = now_s
        elapsed_s = now_s - self._started_s
        worked = self.done - self._already_done
        rate = worked / elapsed_s if elapsed_s > 0 else 0.0
        left_s = (
            self._time_left.estimate(worked, self.total - self.done, now_s) if self.total else None
        )
        self._on_progress(
            Progress(self.done, self.total, self._unit, rate, left_s, self.note, self.notice)
        )


def step_teller(
    steps: Sequence[str], on_progress: OnProgress, cancel: CancelToken | None = None
) -> Callable[[int], None]:
    """Return a function that reports the number of finished steps of a job.

    It raises `Cancelled` before the next step once `cancel` was set.
    """

    def tell(done: int) -> None:
        if done == len(steps):
            on_progress(Progress(done, len(steps), unit="steps"))
            return
        on_progress(Progress(done, len(steps), unit="steps", note=steps[done]))
        if cancel is not None:
            cancel.raise_if_cancelled()

    return tell
