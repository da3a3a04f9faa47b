"""What long work tells its caller: progress, and a way to be stopped. Plain data, no Qt."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.errors import Cancelled

PROGRESS_INTERVAL_S: Final = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a job is.

    Attributes:
        done: finished units.
        total: units in all; 0 while unknown.
        unit: what is counted, in the plural ("images").
        rate_per_s: units a second, over this run.
        seconds_left: estimate; None while unknown.
        note: what happens now, or on which device ("CPU").
        notice: what a person must be told once, such as that the GPU failed and the CPU took over; else empty.
    """

    done: int
    total: int
    unit: str = "images"
    rate_per_s: float = 0.0
    seconds_left: float | None = None
    note: str = ""
    notice: str = ""


OnProgress = Callable[[Progress], None]


def ignore_progress(_progress: Progress) -> None:
    """Be the listener of callers that do not care."""


class CancelToken:
    """A flag that asks a running job to stop; safe to set from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the job to stop at its next safe point."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether the job was asked to stop."""
        return self._event.is_set()

    def wait(self, timeout_s: float | None = None) -> None:
        """Block until the job is asked to stop, or for some time."""
        self._event.wait(timeout_s)

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` when the job was asked to stop."""
        if self._event.is_set():
            raise Cancelled


class ProgressMeter:
    """Counts finished units and reports at most every `PROGRESS_INTERVAL_S`, plus the first and the last.

    Args:
        total: units in all; 0 when unknown.
        on_progress: listener.
        unit: what is counted, in the plural.
        already_done: units finished by an earlier run; they count as done but not into the rate.
    """

    def __init__(self, total: int, on_progress: OnProgress, *, unit: str = "images", already_done: int = 0) -> None:
        self.total = total
        self.done = already_done
        self.note = ""
        self.notice = ""
        self._unit = unit
        self._on_progress = on_progress
        self._already_done = already_done
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
        """Count units that an earlier run had finished: they do not count into the rate."""
        self._already_done += units
        self.advance(units)

    def pulse(self) -> None:
        """Report when it is time although nothing was finished: slow work, too, shows that it lives."""
        self.advance(0)

    def _report(self, now_s: float) -> None:
        self._reported_s = now_s
        elapsed_s = now_s - self._started_s
        rate = (self.done - self._already_done) / elapsed_s if elapsed_s > 0 else 0.0
        left_s = (self.total - self.done) / rate if rate > 0 and self.total else None
        self._on_progress(Progress(self.done, self.total, self._unit, rate, left_s, self.note, self.notice))


def step_teller(
    steps: Sequence[str], on_progress: OnProgress, cancel: CancelToken | None = None
) -> Callable[[int], None]:
    """Reports a job of a few named steps: called with the number that are done; stops before the next when asked to."""

    def tell(done: int) -> None:
        if done == len(steps):
            on_progress(Progress(done, len(steps), unit="steps"))
            return
        on_progress(Progress(done, len(steps), unit="steps", note=steps[done]))
        if cancel is not None:
            cancel.raise_if_cancelled()

    return tell
