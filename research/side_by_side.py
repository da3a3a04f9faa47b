"""Long computations in parallel processes; checkpoints survive a cancellation."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from multiprocessing.queues import Queue
from queue import Empty
from typing import TypeVar, final

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.worker.client import children_without_ctrl_c
from research.pool_process import end_pool_process_with_parent

POLL_S = 0.5
STEP = 10
"""Units between two progress messages of a process."""
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
    """Run calls, in this order, in processes of their own.

    Args:
        calls: picklable; each reports progress to a `ProgressCounter`.
        units: of all calls together.
        workers: processes; the cores are divided among them.
        unit: name of the units.
        on_result: called with the result of each call, in order of completion.
        on_progress: called with the units of all calls together.
        cancel: asks to stop.

    Raises:
        Cancelled: `cancel` was set.
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
                # Killing the process group ends workers, too; this is no failure of theirs.
                cancel.raise_if_cancelled()
                meter.advance(sum(_drain(done_units)))
                for future in done:
                    on_result(future.result())
            # Units of the last messages, which are still in transit.
            meter.advance(meter.total - meter.done)
        finally:
            if waiting:  # failed or cancelled: running calls keep their last checkpoints
                for process in multiprocessing.active_children():
                    process.terminate()
            # The pool's thread may hold the last use of a semaphore: join it, so that it is not
            # ended halfway.
            pool.shutdown(cancel_futures=True)


def _drain(done_units: "Queue[int]") -> Iterator[int]:
    with suppress(Empty):
        while True:
            yield done_units.get_nowait()


class _Process:
    """Globals of a pool process, set at its start."""

    done_units: "Queue[int] | None" = None


def _prepare(done_units: "Queue[int]", threads: int) -> None:
    end_pool_process_with_parent()
    import torch

    torch.set_num_threads(threads)
    _Process.done_units = done_units


@final
class ProgressCounter:
    """Report the units done since the last report to the parent."""

    def __init__(self) -> None:
        self._done = 0

    def print_result(self, done: int) -> None:
        """Set the number of units done by this call."""
        if done - self._done >= STEP and _Process.done_units is not None:
            _Process.done_units.put(done - self._done)
            self._done = done
