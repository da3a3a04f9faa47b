"""Fits the model in the background, one fit at a time; labelling never blocks on it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.jobs.background_thread import BackgroundThread, ignore
from app.session.runner import Runner, update_of_state
from engine.events import CancelToken

if TYPE_CHECKING:
    from engine.collection.fitting import FirstAnswers, FitInput, FitOutcome

LONGEST_REST_S = 0.25  # a paused fit continues after this time


@final
class RestToken(CancelToken):
    """Cancels a fit, or pauses it before its next block while a key is handled.

    Because of the GIL, a running fit makes painting the next card take three times as long.
    """

    def __init__(self, may_run: threading.Event) -> None:
        super().__init__()
        self._may_run = may_run

    def raise_if_cancelled(self) -> None:
        self._may_run.wait(LONGEST_REST_S)
        super().raise_if_cancelled()


YOUNG_S = 0.25
"""A fit younger than this restarts with the next label, so that the last label of a series is
included after about one fit. Only once in a row: with steady labelling no fit would ever finish."""


@final
class _Run:
    """A fit; while it classifies a large collection, newer inputs are processed between blocks."""

    def __init__(self, may_run: threading.Event, *, is_from_scratch: bool) -> None:
        self.token = RestToken(may_run)
        self.begun_s = time.monotonic()
        self.is_from_scratch = is_from_scratch
        self.answers_in_turn = False  # whether visible images are classified before the others
        self._version = 0  # of the newest input
        self._newer: deque[FitInput] = deque(maxlen=1)

    def begin(self, wanted: FitInput) -> None:
        self._version, self.answers_in_turn = wanted.version, len(wanted.first_rows) > 0

    def offer(self, newer: FitInput) -> None:
        """Queue a newer input for the next gap between blocks; on the GUI thread."""
        if newer.version > self._version and len(newer.first_rows):
            self._version = newer.version
            self._newer.append(newer)

    def next_input(self) -> FitInput | None:
        """Take the queued input; on the thread of fits."""
        return self._newer.pop() if self._newer else None


@final
class Fitting(QObject):
    """Runs one fit at a time on its own thread, while labels are newer than the model.

    In a large collection, visible images are classified first. A label set while the others are
    classified is learned between two blocks, and the visible images are classified again.
    """

    running_changed = Signal(bool)  # whether predictions are being computed
    caught_up = Signal()  # the model includes all labels, or failed to

    def __init__(
        self, runner: Runner, in_view: Callable[[], Sequence[int]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runner = runner
        self._in_view = in_view  # images that are visible, or come up next
        self._run: _Run | None = None
        self._is_behind = False
        self._may_run = threading.Event()
        self._may_run.set()
        self._thread = BackgroundThread("fitting", self)
        # A thread of its own, so that writing to disk does not delay labels.
        self._keeping = BackgroundThread("keeping embeddings", self)

    @property
    def is_running(self) -> bool:
        return self._run is not None

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Pause fits within this context, from their next block on.

        It delays predictions by milliseconds.
        """
        was_running = self._may_run.is_set()
        self._may_run.clear()
        try:
            yield
        finally:
            if was_running:
                self._may_run.set()

    def resting_token(self) -> RestToken:
        """A token for other background computation, which pauses where fits do."""
        return RestToken(self._may_run)

    def keep_up(self, *, is_behind: bool) -> None:
        """Start or restart a fit if labels are newer than the model; called after every update."""
        self._is_behind = is_behind
        run = self._run
        if not is_behind:
            return
        if run is None:
            self._begin()
        elif not run.is_from_scratch and time.monotonic() - run.begun_s < YOUNG_S:
            run.token.cancel()
            self._begin(is_from_scratch=True)
        elif run.answers_in_turn:
            self._ask_input(run.offer)

    def forget(self) -> None:
        """Cancel the running fit: its project was closed."""
        self._is_behind = False
        if self._run is not None:
            self._run.token.cancel()
            self._run = None
            self.running_changed.emit(False)

    def stop(self) -> None:
        """Stop before the program ends; waits for the running fit."""
        self.forget()
        self._thread.stop()
        self._keeping.stop()

    def _begin(self, *, is_from_scratch: bool = False) -> None:
        run = self._run = _Run(self._may_run, is_from_scratch=is_from_scratch)
        if not is_from_scratch:
            self.running_changed.emit(True)

        self._ask_input(
            lambda wanted: self._fit(run, wanted),
            on_failure=lambda: self._end(run, has_failed=True),
        )

    def _ask_input(
        self, on_input: Callable[[FitInput], None], on_failure: Callable[[], None] = ignore
    ) -> None:
        in_view = self._in_view()
        self._runner.ask(
            lambda live: live.fit_input(in_view), on_input, owner=self, on_failure=on_failure
        )

    def _fit(self, run: _Run, wanted: FitInput) -> None:
        if run is not self._run:
            return
        run.begin(wanted)

        def on_first(first: FirstAnswers) -> None:
            self._thread.post(lambda: self._take_first(run, first))

        def work() -> FitOutcome:
            from engine.collection.fitting import run_fit

            return run_fit(wanted, run.token, on_first=on_first, next_input=run.next_input)

        self._thread.ask(
            work, lambda outcome: self._take(run, outcome), lambda line: self._on_failed(run, line)
        )

    def _take_first(self, run: _Run, first: FirstAnswers) -> None:
        if run is self._run:
            self._runner.operate(lambda live: live.adopt_first(first), update_of_state)

    def _take(self, run: _Run, outcome: FitOutcome) -> None:
        if run is self._run:
            self._runner.operate(
                lambda live: live.adopt(outcome), update_of_state, lambda _state: self._end(run)
            )
            self._keeping.submit(outcome.given.keep, self._runner.failed.emit)

    def _on_failed(self, run: _Run, line: str) -> None:
        if run is self._run:
            self._runner.failed.emit(line)
            self._end(run, has_failed=True)

    def _end(self, run: _Run, *, has_failed: bool = False) -> None:
        """End a run, and continue with newer labels; after a failure only after the next change."""
        if run is not self._run:
            return
        self._run = None
        if self._is_behind and not has_failed:
            self._begin()
            return
        self.running_changed.emit(False)
        self.caught_up.emit()
