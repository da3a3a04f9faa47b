"""Cells of the experiments: a method trained for N ways and k shots and tested on 600 tasks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.training import checkpoints
from engine.training.arithmetic import device_of, number_type
from engine.training.curve import CHECKPOINT_NAME, OnPoint
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import Embed, Objective, Outcome, embedder, train
from research.baselines.baseline import Baseline
from research.data_sets.stored import FewShotData
from research.methods import PPN, PPN_PLUS, STAR, MethodSettings, constants_of, make_objective
from research.results import Setting, TestResult
from research.testing.bench import Bench, EmbeddedTasks, test_images, validation_images
from research.testing.propagation import LearnedPropagation, options_of, predict
from research.testing.tasks import TASK_SEED, Tasks, draw_tasks

COLUMNS = ((5, 1), (5, 5), (10, 1), (10, 5))
"""(ways, shots) of the paper's tables."""

WATCHED_TASKS = 60
"""Tasks behind the accuracy of a curve: of validation classes if any, else of test classes.

No choice depends on it.
"""

KEPT_SETTINGS = ("side", "iterations", "learning_rate", "seed")
"""Settings of the training that are stored with a result."""

ANY_SETTING = "all"
"""Folder of methods whose training does not depend on ways and shots."""


@dataclass(frozen=True)
class Cell:
    """A method in a column of the table.

    Attributes:
        method: what is trained.
        ways, shots: of the column's tasks.
        trained_ways: classes of a training episode, if different; columns of the same shots then
            share one training.
    """

    method: str
    ways: int
    shots: int
    trained_ways: int | None = None

    @staticmethod
    def of(method: str, ways: int, shots: int, settings: MethodSettings) -> "Cell":
        """The cell with the training ways of the settings; a GNN takes those of its tasks."""
        is_bound = method.removesuffix(STAR) == "gnn"
        return Cell(method, ways, shots, None if is_bound else settings.training_ways)

    def folder(self, runs: Path, variant: str) -> Path:
        """Folder of its checkpoint."""
        depends = self.method.removesuffix(STAR) != "closer-look"
        ways = self.trained_ways or self.ways
        return runs / variant / (f"{ways}w{self.shots}s" if depends else ANY_SETTING) / self.method

    def is_trained(self, runs: Path, variant: str, iterations: int) -> bool:
        """Whether its training is finished."""
        path = self.folder(runs, variant) / CHECKPOINT_NAME
        return path.exists() and checkpoints.read(path).iteration >= iterations


def settings_for(cell: Cell, settings: MethodSettings) -> MethodSettings:
    """The settings with the cell's ways and shots."""
    shape = replace(settings.shape, ways=cell.trained_ways or cell.ways, shots=cell.shots)
    return replace(
        settings,
        propagation=replace(settings.propagation, shape=shape),
        gnn=replace(settings.gnn, max_ways=cell.ways),
    )


def remembered(cell: Cell, settings: MethodSettings) -> dict[str, Setting]:
    """Settings of a training that are stored with its result, by field name.

    Args:
        cell: that was trained.
        settings: with the cell's ways and shots, see `settings_for`.
    """
    training = {name: getattr(settings.training, name) for name in KEPT_SETTINGS}
    return {**training, **constants_of(cell.method, settings)}


def train_cell(
    data: FewShotData,
    cell: Cell,
    settings: MethodSettings,
    runs: Path,
    *,
    start: Cell | None = None,
    on_point: OnPoint = lambda _point: None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Outcome:
    """Train a cell, or resume its training; a finished one is not changed.

    Args:
        data: the data set.
        cell: what to train.
        settings: constants.
        runs: folder of checkpoints.
        start: a trained cell of the same network with the initial weights; random where None.
        on_point: called with each point of the curve.
        on_progress: called with iterations.
        cancel: stops the training; the checkpoint stays.

    Raises:
        InputError: the data set is too small, or the folder holds a training with other settings.
    """
    settings = settings_for(cell, settings)
    training_set = data.training_set()
    objective = make_objective(cell.method, training_set, settings)
    if start is not None:
        checkpoints.restore_module(
            objective, checkpoints.read(start.folder(runs, data.variant) / CHECKPOINT_NAME)
        )
    images = validation_images(data) if len(data.validation_few_shot) else test_images(data)
    watched = draw_tasks(images, ways=cell.ways, shots=cell.shots, count=WATCHED_TASKS)
    return train(
        objective,
        training_set.pixels,
        settings.training,
        cell.folder(runs, data.variant),
        validate=_watch(objective, data, watched, settings),
        on_point=on_point,
        on_progress=on_progress,
        cancel=cancel,
    )


def _watch(
    objective: Objective, data: FewShotData, tasks: Tasks, settings: MethodSettings
) -> Callable[[Embed], float]:
    """Accuracy on a few tasks for the curve; PPN without known edges."""

    def watch(_embed: Embed) -> float:
        bench = Bench(data, embedder(objective, data.pixels, settings.training.side))
        return float(
            tasks.accuracies(_predictions(bench, objective, bench.embed_tasks(tasks))).mean()
        )

    return watch


def load_cell(data: FewShotData, cell: Cell, settings: MethodSettings, runs: Path) -> Objective:
    """A trained objective from its checkpoint, on its device, in evaluation mode.

    Raises:
        FormatError: there is no checkpoint, or it is corrupt.
        ModelError: the checkpoint is of another architecture.
        InputError: its training is not finished.
    """
    settings = settings_for(cell, settings)
    path = cell.folder(runs, data.variant) / CHECKPOINT_NAME
    checkpoint = checkpoints.read(path)
    if checkpoint.iteration < settings.training.iterations:
        raise InputError(
            "the training is not finished",
            expected=f"{settings.training.iterations} iterations",
            found=f"{checkpoint.iteration} in {path}",
            remedy="train it to the end first, or ask for fewer iterations",
        )
    objective = make_objective(cell.method, data.training_set(), settings)
    checkpoints.restore_module(objective, checkpoint)
    device = device_of(settings.training.device)
    objective.precision = number_type(settings.training.precision, device)
    return objective.to(device).eval()


def test_cell(
    data: FewShotData, cell: Cell, settings: MethodSettings, objective: Objective
) -> tuple[TestResult, ...]:
    """Test a trained cell on the tasks of the column, which are the same for all methods."""
    settings = settings_for(cell, settings)
    bench = Bench(data, embedder(objective, data.pixels, settings.training.side))
    embedded = bench.embed_tasks(draw_tasks(test_images(data), ways=cell.ways, shots=cell.shots))

    def result(row: str, accuracies: Iterable[float]) -> TestResult:
        kept = remembered(cell, settings)
        return TestResult(
            row, data.variant, data.name, cell.ways, cell.shots, tuple(map(float, accuracies)), kept
        )

    if not isinstance(objective, PrototypePropagation):
        accuracies = embedded.tasks.accuracies(_predictions(bench, objective, embedded))
        return (result(cell.method, accuracies),)
    found: list[TestResult] = []
    trained = LearnedPropagation.of(objective)
    for row, knows_edges in ((PPN, False), (PPN_PLUS, True)):
        paper = options_of(objective.settings, knows_edges=knows_edges)
        found.append(
            result(row, embedded.tasks.accuracies(predict(bench, embedded, trained, paper)))
        )
    return tuple(found)


test_cell.__test__ = False  # type: ignore[attr-defined]  # pytest takes a function of this name for a test


def _predictions(bench: Bench, objective: Objective, embedded: EmbeddedTasks) -> NDArray[np.int64]:
    if isinstance(objective, PrototypePropagation):
        options = options_of(objective.settings, knows_edges=False)
        return predict(bench, embedded, LearnedPropagation.of(objective), options)
    assert isinstance(objective, Baseline), "every method is PPN or a baseline"
    return objective.predict(embedded.support.numpy(), embedded.queries.numpy(), seed=TASK_SEED)
