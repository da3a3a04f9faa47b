"""Train and test whatever a table still misses, several cells side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.events import CancelToken, OnProgress, ignore_progress
from research import results
from research.cells import COLUMNS, Cell, remembered, settings_for
from research.data_sets.stored import load
from research.methods import METHODS, MethodSettings
from research.results import TestResult
from research.side_by_side import ProgressCounter, run_side_by_side


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

    def tell(found: tuple[TestResult, ...]) -> None:
        for result in found:
            on_result(result)

    run_side_by_side(
        [partial(_do, assignment, runs, settings) for assignment in assignments],
        units=len(assignments) * settings.training.iterations,
        workers=workers,
        on_result=tell,
        on_progress=on_progress,
        cancel=cancel,
    )


def _do(assignment: Assignment, runs: Path, settings: MethodSettings) -> tuple[TestResult, ...]:
    from research.cells import load_cell, test_cell, train_cell

    data, iterations_done = load(assignment.data), ProgressCounter()
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
