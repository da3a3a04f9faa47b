"""Long work in processes of their own, several side by side; stopped work keeps its checkpoints."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing.queues import Queue
from queue import Empty
from typing import Final, TypeVar, final

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.worker.client import children_without_ctrl_c
from research.pool_process import end_pool_process_with_parent

POLL_S: Final = 0.5
STEP: Final = 10
"""Units between two messages of a process."""
T = TypeVar("T")


def run_side_by_side(
    calls: Sequence[Callable[[], T]],
    *,
    units: int,
    workers: int = 1,
    unit: str = "iterations",
    on_result: Callable[[T], None] = lambda _result: None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> None:
    """Run calls in this order in processes of their own.

    Args:
        calls: picklable; each counts what it does by a `ProgressCounter`.
        units: of all calls together.
        workers: processes; the cores are shared out among them.
        unit: name of the units.
        on_result: called with what each call returns, as it comes.
        on_progress: called with the units of all calls together.
        cancel: asks to stop.

    Raises:
        Cancelled: it was asked to stop.
    """
    cancel = cancel or CancelToken()
    context = multiprocessing.get_context("spawn")
    done_units: Queue[int] = context.Queue()
    threads = max(1, (os.cpu_count() or 1) // workers)
    meter = ProgressMeter(units, on_progress, unit=unit)
    with ProcessPoolExecutor(workers, context, _prepare, (done_units, threads)) as pool:
        waiting: set[Future[T]] = set()
        try:
            with children_without_ctrl_c():
                waiting = {pool.submit(call) for call in calls}
            while waiting:
                cancel.raise_if_cancelled()
                done, waiting = wait(waiting, POLL_S, FIRST_COMPLETED)
                cancel.raise_if_cancelled()  # a kill of the whole group ends the processes, too: no failure of theirs
                meter.advance(sum(_drain(done_units)))
                for future in done:
                    on_result(future.result())
            meter.advance(
                meter.total - meter.done
            )  # what the last messages, still on their way, would have reported
        finally:
            if waiting:  # failed or cancelled: what still runs keeps its last checkpoint
                for process in multiprocessing.active_children():
                    process.terminate()
            # The pool's thread may hold the last use of a semaphore: wait for it, so that it is not ended halfway.
            pool.shutdown(cancel_futures=True)


def _drain(done_units: "Queue[int]") -> Iterator[int]:
    with suppress(Empty):
        while True:
            yield done_units.get_nowait()


class _Process:
    """What a process is given at its start."""

    done_units: "Queue[int] | None" = None


def _prepare(done_units: "Queue[int]", threads: int) -> None:
    end_pool_process_with_parent()
    import torch

    torch.set_num_threads(threads)
    _Process.done_units = done_units


@final
class ProgressCounter:
    """Tells the parent how many units were done since it last did."""

    def __init__(self) -> None:
        self._done = 0

    def say(self, done: int) -> None:
        """So many of this call's units are done."""
        if done - self._done >= STEP and _Process.done_units is not None:
            _Process.done_units.put(done - self._done)
            self._done = done
