"""Data of the paper's Figures 1 and 4, computed from trained cells; drawn by `reports`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from engine.collection.training.settings import Chosen
from engine.events import OnProgress, ProgressMeter, ignore_progress
from engine.model.propagation import Prototypes
from engine.training.level_wise import edges_between
from research.data_sets.stored import FewShotData
from research.methods import PPN, PPN_PLUS
from research.reports.propagation_figure import (
    PropagationCurve,
    PropagationPoint,
    accuracy_against_propagation,
)
from research.reports.prototype_figure import PrototypeFigure, prototypes_in_2d
from research.results import half_width
from research.testing.bench import Bench, EmbeddedTasks, test_images
from research.testing.propagation import PropagationOptions, options_of, predict
from research.testing.tasks import draw_tasks
from research.trained_cells import TrainedPpn, chosen_cell, load_ppn

SHOTS = 1
"""Shots of both figures."""

WAYS = (5, 10)
"""Ways of Figure 4; Figure 1 uses the training for the first."""

PROPAGATIONS = tuple(step / 10 for step in range(11))
"""Weights of the propagated prototype in Figure 4; the paper stops at 0.9, or at 1 for 1 shot."""


def draw_prototypes(
    data: FewShotData, runs: Path, out: Path, *, ways: int = WAYS[0], chosen: Chosen | None = None
) -> PrototypeFigure:
    """Figure 1 of a trained PPN: `P0` of all classes in two dimensions.

    Args:
        data: the data set.
        runs: folder of checkpoints.
        out: folder for the files.
        ways: of the training, for 1 shot.
        chosen: settings of the test, by field name.

    Returns:
        The files and the distances of children to their parents.

    Raises:
        InputError: PPN was not trained for this, or the data set is too small for a figure.
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    ppn = _load(data, ways, runs, chosen)
    prototypes = class_prototypes(ppn.bench, ppn.trained.buffered)
    positions = torch.nonzero(prototypes.exists).ravel().numpy()
    return prototypes_in_2d(
        prototypes.vectors.numpy()[positions],
        edges_between(data.edge_index, positions, len(data.class_names)),
        data.levels[positions],
        [data.class_names[position] for position in positions.tolist()],
        out,
    )


def class_prototypes(bench: Bench, buffered: Prototypes) -> Prototypes:
    """`P0` of all C classes: buffered where training had images, else the mean of test images.

    The latter are the test part's few-shot classes, and coarse classes above only those.

    Args:
        bench: data set and embeddings.
        buffered: `P0` at the end of training.
    """
    data = bench.data
    vectors, exists = buffered.vectors.clone(), buffered.exists.clone()
    for position in np.unique(data.class_positions[data.is_test]).tolist():
        if not exists[position]:
            own = np.flatnonzero((data.class_positions == position) & data.is_test)
            vectors[position] = bench.embeddings_of(own).mean(dim=0)
            exists[position] = True
    return Prototypes(vectors, exists)


def draw_propagation(
    data_sets: Sequence[FewShotData],
    runs: Path,
    out: Path,
    *,
    ways: Sequence[int] = WAYS,
    chosen: Chosen | None = None,
    on_progress: OnProgress = ignore_progress,
) -> tuple[Path, Path, Path]:
    """Figure 4: accuracy of PPN and PPN+ by weight of the propagated prototype, per data set.

    Args:
        data_sets: one of each variant.
        runs: folder of checkpoints.
        out: folder for the files.
        ways: of the trainings and tests.
        chosen: settings of the test, by field name.
        on_progress: called with the tests.

    Returns:
        PNG, SVG and CSV.

    Raises:
        InputError: PPN was not trained for one of these.
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    meter = ProgressMeter(
        len(data_sets) * len(ways) * 2 * len(PROPAGATIONS), on_progress, unit="tests"
    )
    curves: list[PropagationCurve] = []
    for data in data_sets:
        for count in ways:
            ppn = _load(data, count, runs, chosen)
            curves += propagation_curves(ppn, ways=count, meter=meter)
    return accuracy_against_propagation(curves, out)


def propagation_curves(
    ppn: TrainedPpn, *, ways: int, meter: ProgressMeter | None = None
) -> tuple[PropagationCurve, PropagationCurve]:
    """Accuracy of PPN and PPN+ on the column's tasks at each weight of the propagated prototype.

    Args:
        ppn: trained for `ways`-way 1-shot tasks.
        ways: classes of a task.
        meter: counts the tests.
    """
    bench = ppn.bench
    embedded = bench.embed_tasks(draw_tasks(test_images(bench.data), ways=ways, shots=SHOTS))

    def curve(setting: str, *, knows_edges: bool) -> PropagationCurve:
        paper = options_of(ppn.settings.propagation, knows_edges=knows_edges)
        points = []
        for weight in PROPAGATIONS:
            points.append(_point(ppn, embedded, paper, weight))
            if meter is not None:
                meter.advance()
        return PropagationCurve(
            bench.data.variant, setting, ways, tuple(points), bench.data.name, SHOTS
        )

    return curve(PPN, knows_edges=False), curve(PPN_PLUS, knows_edges=True)


def _point(
    ppn: TrainedPpn, embedded: EmbeddedTasks, paper: PropagationOptions, propagation: float
) -> PropagationPoint:
    options = replace(paper, lambda_=1.0 - propagation)
    accuracies = embedded.tasks.accuracies(predict(ppn.bench, embedded, ppn.trained, options))
    return PropagationPoint(propagation, float(accuracies.mean()), half_width(accuracies.tolist()))


def _load(data: FewShotData, ways: int, runs: Path, chosen: Chosen | None) -> TrainedPpn:
    chosen = chosen or {}
    return load_ppn(data, chosen_cell(PPN, ways, SHOTS, chosen), runs, chosen)
