"""Fits the model in the background, one fit at a time; labels never wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread
from app.session.runner import Runner, news_of_state
from engine.errors import Cancelled
from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.collection.fitting import FitInput, FitOutcome

LONGEST_REST_S: Final = 0.25  # a paused fit goes on after this time


@final
class RestToken(CancelToken):
    """Cancels a fit, and pauses it before its next block while a key is handled.

    Python runs one thread at a time: beside a running fit, painting the next card takes three times as long.
    """

    def __init__(self, may_run: threading.Event) -> None:
        super().__init__()
        self._may_run = may_run

    def raise_if_cancelled(self) -> None:
        self._may_run.wait(LONGEST_REST_S)
        super().raise_if_cancelled()


YOUNG_S: Final = 0.25
"""A fit younger than this restarts with the next label, so that the last label of a series waits for hardly more than
one fit. Once in a row, or steady labelling would never see a prediction."""


@dataclass(frozen=True, eq=False)
class _Run:
    token: RestToken
    begun_s: float
    is_anew: bool


@final
class Fitting(QObject):
    """Runs one fit at a time on a thread of its own, while labels are newer than the model."""

    running_changed = Signal(bool)  # whether predictions are being computed
    caught_up = Signal()  # the model knows all labels, or failed to learn them

    def __init__(self, runner: Runner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._run: _Run | None = None
        self._is_behind = False
        self._may_run = threading.Event()
        self._may_run.set()
        self._thread = BackgroundThread("fitting", self)

    @property
    def is_running(self) -> bool:
        return self._run is not None

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Pause fits within this context, from their next block on; it delays predictions by milliseconds."""
        was_running = self._may_run.is_set()
        self._may_run.clear()
        try:
            yield
        finally:
            if was_running:
                self._may_run.set()

    def resting_token(self) -> RestToken:
        """For other computation in the background: it pauses where fits do."""
        return RestToken(self._may_run)

    def keep_up(self, *, is_behind: bool) -> None:
        """Called after every update with whether labels are newer than the model."""
        self._is_behind = is_behind
        run = self._run
        if not is_behind:
            return
        if run is None:
            self._begin()
        elif not run.is_anew and time.monotonic() - run.begun_s < YOUNG_S:
            run.token.cancel()
            self._begin(is_anew=True)

    def forget(self) -> None:
        """Cancel the running fit: its project was left."""
        self._is_behind = False
        if self._run is not None:
            self._run.token.cancel()
            self._run = None
            self.running_changed.emit(False)

    def stop(self) -> None:
        """Stop before the program ends; waits for the running fit."""
        self.forget()
        self._thread.stop()

    def _begin(self, *, is_anew: bool = False) -> None:
        run = self._run = _Run(RestToken(self._may_run), time.monotonic(), is_anew)
        if not is_anew:
            self.running_changed.emit(True)

        self._runner.ask(
            lambda live: live.fit_input(),
            lambda wanted: self._fit(run, wanted),
            owner=self,
            on_failure=lambda: self._end(run, has_failed=True),
        )

    def _fit(self, run: _Run, wanted: FitInput) -> None:
        if run is not self._run:
            return

        def work() -> None:
            from engine.collection.fitting import run_fit

            try:
                outcome = run_fit(wanted, run.token)
            except Cancelled:
                return  # its project was left, or another run has begun
            self._thread.post(lambda: self._take(run, outcome))
            wanted.keep()

        self._thread.submit(work, lambda line: self._on_failed(run, line))

    def _take(self, run: _Run, outcome: FitOutcome) -> None:
        if run is self._run:
            self._runner.operate(lambda live: live.adopt(outcome), news_of_state, lambda _state: self._end(run))

    def _on_failed(self, run: _Run, line: str) -> None:
        if run is self._run:
            self._runner.failed.emit(line)
            self._end(run, has_failed=True)

    def _end(self, run: _Run, *, has_failed: bool = False) -> None:
        """Continue with newer labels; after a failure wait for the next change."""
        if run is not self._run:
            return
        self._run = None
        if self._is_behind and not has_failed:
            self._begin()
            return
        self.running_changed.emit(False)
        self.caught_up.emit()
