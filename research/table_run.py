"""Train and test whatever a table still misses, several cells side by side."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from typing import Final

from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.worker.client import children_without_ctrl_c
from research import results
from research.cells import COLUMNS, Cell, remembered, settings_for
from research.data_sets.stored import load
from research.methods import METHODS, MethodSettings
from research.pool_process import end_pool_process_with_parent
from research.results import TestResult

POLL_S: Final = 0.5
STEP: Final = 10
"""Iterations between two messages of a worker."""


@dataclass(frozen=True)
class Assignment:
    """One training on one data set, with the cells that it serves."""

    data: Path
    variant: str
    cells: tuple[Cell, ...]


def missing(
    folders: Sequence[Path],
    runs: Path,
    settings: MethodSettings,
    *,
    methods: Sequence[str] = METHODS,
    columns: Sequence[tuple[int, int]] = COLUMNS,
) -> tuple[Assignment, ...]:
    """The trainings of which a cell has no result yet.

    Column by column, so that a run that is cut off leaves whole columns; PPN, the longest, first.

    Args:
        folders: of data sets.
        runs: folder of checkpoints and results.
        settings: constants.
        methods: rows.
        columns: (ways, shots).
    """
    data = [(folder, load(folder).variant) for folder in folders]
    found = [result for _, variant in data for result in results.read_all(runs, variant)]
    shared: dict[tuple[Path, Path], list[Cell]] = {}
    for ways, shots in columns:
        for folder, variant in data:
            for method in reversed(methods):
                cell = Cell.of(method, ways, shots, settings)
                if not _is_done(cell, variant, found, settings):
                    shared.setdefault((folder, cell.folder(runs, variant)), []).append(cell)
    variants = dict(data)
    return tuple(Assignment(folder, variants[folder], tuple(cells)) for (folder, _), cells in shared.items())


def _is_done(cell: Cell, variant: str, found: Sequence[TestResult], settings: MethodSettings) -> bool:
    """Whether every row of the cell is among the results, from a training with these settings."""
    expected = remembered(cell, settings_for(cell, settings)).items()
    rows = {
        result.row
        for result in found
        if (result.variant, result.ways, result.shots) == (variant, cell.ways, cell.shots)
        and expected <= result.settings.items()
    }
    return rows.issuperset(cell.rows)


def run_missing(
    assignments: Sequence[Assignment],
    runs: Path,
    settings: MethodSettings,
    *,
    workers: int = 1,
    on_result: Callable[[TestResult], None] = lambda _result: None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> None:
    """Train and test cells in processes of their own; a cell that was begun goes on at its checkpoint.

    Args:
        assignments: what to do, in this order.
        runs: folder of checkpoints and results.
        settings: constants.
        workers: processes; the cores are shared out among them.
        on_result: called with every result as it comes.
        on_progress: called with the iterations of all cells together.
        cancel: asks to stop; checkpoints stay.

    Raises:
        InputError: a data set does not suffice, or a folder holds a training with other settings.
        Cancelled: it was asked to stop.
    """
    cancel = cancel or CancelToken()
    context = multiprocessing.get_context("spawn")
    iterations_done: Queue[int] = context.Queue()
    threads = max(1, (os.cpu_count() or 1) // workers)
    meter = ProgressMeter(len(assignments) * settings.training.iterations, on_progress, unit="iterations")
    with ProcessPoolExecutor(workers, context, _prepare_worker, (iterations_done, threads)) as pool:
        waiting: set[Future[tuple[TestResult, ...]]] = set()
        try:
            with children_without_ctrl_c():
                waiting = {pool.submit(_do, assignment, runs, settings) for assignment in assignments}
            while waiting:
                cancel.raise_if_cancelled()
                done, waiting = wait(waiting, POLL_S, FIRST_COMPLETED)
                cancel.raise_if_cancelled()  # a kill of the whole group ends the processes, too: no failure of theirs
                meter.advance(sum(_drain(iterations_done)))
                for result in _results_of(done):
                    on_result(result)
            meter.advance(meter.total - meter.done)  # what the last messages, still on their way, would have reported
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if waiting:  # failed or cancelled: what still runs keeps its last checkpoint
                for process in multiprocessing.active_children():
                    process.terminate()


def _results_of(done: set[Future[tuple[TestResult, ...]]]) -> Iterator[TestResult]:
    for future in done:
        yield from future.result()


def _drain(iterations_done: "Queue[int]") -> Iterator[int]:
    with suppress(Empty):
        while True:
            yield iterations_done.get_nowait()


class _Worker:
    """What a worker process is given at its start."""

    iterations_done: "Queue[int] | None" = None


def _prepare_worker(iterations_done: "Queue[int]", threads: int) -> None:
    end_pool_process_with_parent()
    import torch

    torch.set_num_threads(threads)
    _Worker.iterations_done = iterations_done


def _do(assignment: Assignment, runs: Path, settings: MethodSettings) -> tuple[TestResult, ...]:
    from research.cells import load_cell, test_cell, train_cell

    data, iterations_done = load(assignment.data), _ProgressCounter()
    train_cell(
        data, assignment.cells[0], settings, runs, on_progress=lambda progress: iterations_done.say(progress.done)
    )
    found: list[TestResult] = []
    for cell in assignment.cells:
        found += test_cell(data, cell, settings, load_cell(data, cell, settings, runs))
    for result in found:
        results.write(result, runs)
    iterations_done.say(settings.training.iterations)
    return tuple(found)


class _ProgressCounter:
    """Tells the parent how many iterations were done since it last did."""

    def __init__(self) -> None:
        self._done = 0

    def say(self, done: int) -> None:
        if done - self._done >= STEP and _Worker.iterations_done is not None:
            _Worker.iterations_done.put(done - self._done)
            self._done = done
