"""Train and test the cells of the grid without a result; resume from checkpoints."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path

import networkx as nx
import numpy as np

from engine.collection.training.settings import Chosen
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.training.loop import Objective, embedder
from engine.training.training_set import Positions
from research.cells import load_cell, remembered, settings_for, train_cell
from research.data_sets.stored import FewShotData
from research.grid import result as results
from research.grid.cell import GridCell
from research.grid.result import ColumnResult, GridResult, TriedChoice
from research.grid.rows import Predict, row_names, rows_of
from research.methods import HEADS, MethodSettings, with_chosen
from research.results import Setting
from research.side_by_side import ProgressCounter, run_side_by_side
from research.testing.bench import Bench, test_images, validation_images
from research.testing.tasks import TASK_COUNT, TASK_SEED, Tasks, draw_tasks
from research.testing.views import views_embedder

Steps = Mapping[int, Mapping[int, int]]
ITERATIONS = 2000
"""Iterations of a level-wise training. Chosen: some minutes on one core."""
AT_EQUAL_TIME: Mapping[str, Mapping[int, float]] = {
    "prototypical-net": {1: 1.5, 5: 2.1},
    "gnn": {1: 2.6, 5: 1.1},
    "gnn-star": {1: 5.4, 5: 1.75},
    "closer-look": {1: 3.1, 5: 3.1},
    "closer-look-star": {1: 1.7, 5: 1.7},
}
"""Iterations of a method in about the time of one of PPN, by shots.

Measured at 32 px on one core; the processor time is in each result. Closer Look's training serves
both.
"""
VALIDATION_TASKS = 200
COMMON: Chosen = {
    "side": 32,
    "point_interval": 250,
    "coarse_lambda": 0.5,
    "fresh_share": 0.5,
    "refresh_epochs": 1,
    "buffer_images": 20,
    "queries": 2,
    "coarse_shots": 2,
    "episode_queries": 5,
    "edge_width": 32,
    "batch_size": 64,
    "coarse_batch_size": 16,
}
BY_SHOTS: Mapping[int, Chosen] = {
    1: {"training_ways": 20, "coarse_images": 4, "queries_per_class": 5},
    5: {"training_ways": 10, "coarse_images": 7, "queries_per_class": 2},
}
NONE = frozenset[str]()


def settings_of(cell: GridCell, chosen: Chosen) -> MethodSettings:
    """Settings of a cell's training, with equal computing time for each method.

    Iterations are those of a level-wise method; chosen values come last.
    """
    found = with_chosen(
        MethodSettings(), {**COMMON, **BY_SHOTS[cell.shots], "iterations": ITERATIONS, **chosen}
    )
    factors = AT_EQUAL_TIME.get(cell.method.removesuffix(HEADS))
    iterations = round(found.training.iterations * (factors[cell.shots] if factors else 1.0))
    return replace(found, training=replace(found.training, iterations=iterations, seed=cell.seed))


def missing(
    cells: Sequence[GridCell], folder: Path, chosen: Chosen, left_out: frozenset[str] = NONE
) -> tuple[GridCell, ...]:
    """Cells without a stored result of these settings with all rows but those left out."""
    return tuple(
        cell for cell in cells if not _is_done(cell, folder / f"{cell.name}.json", chosen, left_out)
    )


def _is_done(cell: GridCell, path: Path, chosen: Chosen, left_out: frozenset[str]) -> bool:
    if not path.exists():
        return False
    found = results.read(path)
    has_rows = all(
        row_names(cell.method) - left_out <= column.rows.keys() for column in found.columns.values()
    )
    return has_rows and found.settings == _remembered(cell, settings_of(cell, chosen))


def _remembered(cell: GridCell, settings: MethodSettings) -> Mapping[str, Setting]:
    trained = cell.training_cell(settings)
    return remembered(trained, settings_for(trained, settings))


def run_grid(
    cells: Sequence[GridCell],
    runs: Path,
    folder: Path,
    chosen: Chosen,
    left_out: frozenset[str] = NONE,
    *,
    workers: int = 1,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> None:
    """Train and test cells, each in a process of its own; each result is written at once.

    Args:
        cells: in this order.
        runs: folder of checkpoints.
        folder: of results.
        chosen: settings, by name, in place of the usual ones.
        left_out: rows that are not tested; a later run tests them on the same trained networks.
        workers: processes.
        on_progress: called with the iterations of all cells together.
        cancel: asks to stop.

    Raises:
        InputError: a data set is too small, or a folder holds a training with other settings.
        Cancelled: `cancel` was set.
    """
    run_side_by_side(
        [partial(do_cell, cell, runs, folder, chosen, left_out) for cell in cells],
        units=sum(settings_of(cell, chosen).training.iterations for cell in cells),
        workers=workers,
        on_progress=on_progress,
        cancel=cancel,
    )


def do_cell(
    cell: GridCell, runs: Path, folder: Path, chosen: Chosen, left_out: frozenset[str] = NONE
) -> GridResult:
    """Train a cell, test it in all rows but those left out, and write its result."""
    settings, data, counter = settings_of(cell, chosen), cell.open(), ProgressCounter()
    below, begun_at = cell.runs_below(runs), list[int]()
    start_s = time.process_time()

    def print_result(done: int) -> None:
        if not begun_at:
            begun_at.append(done)
        counter.print_result(done)

    trained, start = cell.training_cell(settings), cell.start
    if start is not None:  # a finished one is not changed
        train_cell(
            data, start.training_cell(settings_of(start, chosen)), settings_of(start, chosen), below
        )
        start_s = time.process_time()
    outcome = train_cell(
        data,
        trained,
        settings,
        below,
        start=None if start is None else start.training_cell(settings),
        on_progress=lambda progress: print_result(progress.done),
    )
    spent_s = time.process_time() - start_s
    share = (outcome.iterations - begun_at[0]) / outcome.iterations if begun_at else 1.0
    known = None if share else _known(cell, folder, settings)
    cpu_s = round(spent_s / share, 1) if share else known.cpu_s if known is not None else None
    columns = tested(
        cell, data, load_cell(data, trained, settings, below), settings, known, left_out=left_out
    )
    curve = tuple(
        (point.iteration, float(point.loss or 0.0), point.accuracy) for point in outcome.curve
    )
    found = GridResult(
        cell.name,
        cell.variant,
        cell.split,
        cell.seed,
        cell.method,
        cell.shots,
        data.name,
        _remembered(cell, settings),
        cpu_s,
        curve,
        columns,
        tuple(data.class_keys[position] for position in data.test_few_shot.tolist()),
        seen_parents(data),
    )
    results.write(found, folder)
    counter.print_result(settings.training.iterations)
    return found


def _known(cell: GridCell, folder: Path, settings: MethodSettings) -> GridResult | None:
    """Stored result of a training that was finished then; rows may be missing."""
    path = folder / f"{cell.name}.json"
    found = results.read(path) if path.exists() else None
    return found if found is not None and found.settings == _remembered(cell, settings) else None


def tested(
    cell: GridCell,
    data: FewShotData,
    objective: Objective,
    settings: MethodSettings,
    known: GridResult | None,
    *,
    left_out: frozenset[str],
) -> dict[tuple[int, int], ColumnResult]:
    """Test a trained cell in all columns, by every candidate of the rows that `known` lacks."""
    bench = Bench(data, embedder(objective, data.pixels, settings.training.side))
    views = Bench(data, views_embedder(objective, data.pixels, settings.training))
    rows = rows_of(bench, views, objective)
    columns, steps = {}, distances(data)
    for ways, shots in cell.columns:
        validation = draw_tasks(
            validation_images(data),
            ways=ways,
            shots=shots,
            count=VALIDATION_TASKS,
            seed=TASK_SEED + 1,
        )
        test = draw_tasks(test_images(data), ways=ways, shots=shots, count=TASK_COUNT)
        of_validation, of_test = bench.embed_tasks(validation), bench.embed_tasks(test)

        def tried(choice: str, predict: Predict) -> TriedChoice:
            accuracy = float(validation.accuracies(predict(of_validation)).mean())  # noqa: B023 (called at once)
            found = _tried(predict(of_test), test, data, steps)  # noqa: B023 (called at once)
            return replace(found, choice=choice, validation=accuracy)

        before = known.columns.get((ways, shots)) if known is not None else None
        has = before.rows if before is not None and before.tasks == checksum_of(test) else {}
        found = {
            row: has.get(row) or tuple(starmap(tried, candidates.items()))
            for row, candidates in rows.items()
            if row in has or row not in left_out
        }
        asked = np.bincount(
            np.repeat(test.classes, test.queries.shape[2]), minlength=len(data.class_keys)
        )
        of_class = tuple(asked[data.test_few_shot].tolist())
        columns[ways, shots] = ColumnResult(
            checksum_of(test), test.flat_queries.shape[1], found, of_class
        )
    return columns


def _tried(
    predictions: Positions, test: Tasks, data: FewShotData, steps_between: Steps
) -> TriedChoice:
    """Evaluate predictions (T, N * Q) of test tasks."""
    truth = np.take_along_axis(
        test.classes, np.broadcast_to(test.targets, predictions.shape), axis=1
    )
    given = np.take_along_axis(test.classes, predictions, axis=1)
    is_right = truth == given
    of_class = np.bincount(truth[is_right], minlength=len(data.class_keys))[data.test_few_shot]
    pairs, counts = np.unique(
        np.stack([truth[~is_right], given[~is_right]]), axis=1, return_counts=True
    )
    # The root of WordNet, which is not among the classes.
    by_the_root = data.levels[pairs].sum(axis=0).tolist()
    steps = [
        steps_between[first].get(second, most)
        for (first, second), most in zip(pairs.T.tolist(), by_the_root, strict=True)
    ]
    distance = float(np.average(steps, weights=counts)) if len(counts) else 0.0
    return TriedChoice(
        "", 0.0, is_right.sum(axis=1).astype(np.uint8), tuple(of_class.tolist()), distance
    )


def distances(data: FewShotData) -> Steps:
    """Edges between each test class and all others, up or down."""
    graph: nx.Graph[int] = nx.Graph(data.edge_index.T.tolist())
    return {
        place: nx.single_source_shortest_path_length(graph, place)
        for place in data.test_few_shot.tolist()
    }


def seen_parents(data: FewShotData) -> tuple[bool, ...]:
    """Whether each test class has a parent in training."""
    is_seen = data.part_classes(test=False)
    return tuple(
        bool(is_seen[data.edge_index[0, data.edge_index[1] == position]].any())
        for position in data.test_few_shot.tolist()
    )


def checksum_of(tasks: Tasks) -> str:
    """Checksum of the images and their order."""
    parts = (tasks.classes, tasks.support, tasks.queries)
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    ).hexdigest()[:16]
