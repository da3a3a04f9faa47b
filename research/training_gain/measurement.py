"""Train the backbone on shots of a collection; accuracy before and after on other photos."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import embed_project
from engine.collection.importing.import_graph import import_graph
from engine.collection.models import ModelFiles
from engine.collection.new_project import new_project
from engine.collection.training.measurement import estimate_duration
from engine.collection.training.train import train
from engine.collection.training.trained import TrainedFiles
from engine.config import PROJECT_SUFFIX, CacheFolders
from engine.errors import ProtoleafError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model_card import file_hash
from engine.new_folder import scratch_folder
from engine.project import Project
from engine.project.records import Plain
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from research.training_gain.results import TrainingCell, TrainingGain, keep, stored
from research.transfer.collection import TRAIN, TransferCollection
from research.transfer.draws import Situation, draw
from research.transfer.embedded import EmbeddedCollection, embed_collection
from research.transfer.methods import EVERYDAY, METHODS, PROTOTYPES
from research.transfer.results import TOP1

MEASURED = (EVERYDAY, PROTOTYPES)
_TIMED_IMAGES = 16
"""Embedded at once while the speed is measured."""
_ROUNDS = 8
"""Timed rounds; the fastest counts."""


@dataclass(frozen=True)
class TrainingPlan:
    """Trainings to measure.

    Attributes:
        shots: of each leaf.
        draws: of shots, for each number of them.
        settings: of the training, by name.
    """

    shots: tuple[int, ...] = (1, 2, 3, 5, 10)
    draws: int = 3
    settings: tuple[tuple[str, Plain], ...] = ()


def measure_training(
    collection: TransferCollection,
    models: Sequence[ModelFiles],
    plan: TrainingPlan,
    caches: CacheFolders,
    *,
    runs: Path | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[TrainingGain, ...]:
    """Measure every training of the plan; results stored in `runs` are read from there.

    Shots are of `train`, and `val` is the collection to classify: photos of other places and days.
    Where labels are too few for a training, the gain is 0.

    Args:
        collection: the images.
        models: backbones to start from; each has a known name.
        plan: what to measure.
        caches: for embeddings.
        runs: folder for results; none are stored when None.
        on_progress: called with trainings, and the progress within each.
        cancel: stops within a training; finished ones stay.

    Raises:
        FormatError: `runs` has other content.
        StorageError: `runs` cannot be written.
        Cancelled: `cancel` was set.
    """
    cancel = cancel or CancelToken()
    known = {} if runs is None else {_key(gain.cell): gain for gain in stored(runs)}
    found = []
    meter = ProgressMeter(len(models) * len(plan.shots) * plan.draws, on_progress, unit="trainings")
    for model in models:
        for shots in plan.shots:
            for seed in range(plan.draws):
                cell = TrainingCell(
                    collection.identity,
                    model.name,
                    model.backbone_hash,
                    shots,
                    seed,
                    dict(plan.settings),
                )
                gain = known.get(_key(cell))
                if gain is None:
                    cancel.raise_if_cancelled()
                    meter.note = f"{model.name}, {shots} shots, draw {seed}"
                    gain = TrainingGain(cell, _measured(collection, model, cell, caches, cancel))
                    if runs is not None:
                        keep(gain, runs)
                found.append(gain)
                meter.advance()
    return tuple(found)


def _key(cell: TrainingCell) -> tuple[object, ...]:
    settings = sorted((name, str(value)) for name, value in cell.settings.items())
    return cell.collection, cell.backbone_hash, cell.shots, cell.seed, tuple(settings)


def _measured(
    collection: TransferCollection,
    model: ModelFiles,
    cell: TrainingCell,
    caches: CacheFolders,
    cancel: CancelToken,
) -> Mapping[str, float | None]:
    drawn = draw(
        collection,
        Situation(has_coarse_labels=False, shots=cell.shots, is_elsewhere=True),
        cell.seed,
    )
    figures: dict[str, float | None] = _accuracies(
        "before", _seen(collection, drawn.rows, model, caches), cell
    )
    with (
        scratch_folder() as folder,
        _project(folder, collection, model, drawn.shots, drawn.unlabelled) as project,
    ):
        embed_project(project, caches, cancel=cancel)
        chosen = {"seed": cell.seed, **cell.settings}
        expected = estimate_duration(project, caches, chosen)
        started_s, started_cpu_s = time.perf_counter(), time.process_time()
        try:
            trained = train(
                project, caches, "backbone", chosen, out=folder / "trained", cancel=cancel
            )
        except ProtoleafError as error:
            if not _is_too_little(error):
                raise
            return (
                figures
                | {f"after_{name}": figures[f"before_{name}"] for name in MEASURED}
                | {"trained": 0.0}
            )
        wall_s, cpu_s = time.perf_counter() - started_s, time.process_time() - started_cpu_s
        after = _files_of(trained)
        figures |= _accuracies("after", _seen(collection, drawn.rows, after, caches), cell)
        before_rate, after_rate = _rates(model, after)
    return figures | {
        "trained": 1.0,
        "told_minutes": expected.seconds(int(trained.settings["iterations"] or 0)) / 60,
        "minutes": wall_s / 60,
        "processor_minutes": cpu_s / 60,
        "images_per_s_before": before_rate,
        "images_per_s_after": after_rate,
        "held_out_before": trained.figures.get("before_accuracy"),
        "held_out_after": trained.figures.get("after_accuracy"),
    }


def _is_too_little(error: ProtoleafError) -> bool:
    return error.what == "there are too few labelled images to train a backbone"


def _project(
    folder: Path,
    collection: TransferCollection,
    model: ModelFiles,
    shots: NDArray[np.int64],
    others: NDArray[np.int64],
) -> Project:
    """A project of a draw: labelled shots, and unlabelled photos of other places."""
    project = new_project(folder / f"draw{PROJECT_SUFFIX}", model.name)
    import_graph(project, collection.source / TRAIN)
    graph = collection.graph
    ids = {
        class_id: project.classes.graph.find(graph.path_text(class_id))
        for class_id in collection.leaf_ids.tolist()
    }
    labels = {int(row): ids[int(collection.class_ids[row])] for row in shots.tolist()}
    rows = np.sort(np.concatenate([shots, others])).tolist()
    project.images.add_labelled(
        [collection.files[row] for row in rows], list(map(labels.get, rows))
    )
    return project


def _seen(
    collection: TransferCollection, rows: NDArray[np.int64], model: ModelFiles, caches: CacheFolders
) -> EmbeddedCollection:
    """The whole collection, of which only these rows are embedded."""
    part = replace(
        collection,
        files=tuple(collection.files[row] for row in rows.tolist()),
        is_train=collection.is_train[rows],
        class_ids=collection.class_ids[rows],
    )
    seen = embed_collection(part, model, caches)
    assert seen.over_views is not None, "embedded by us"
    embeddings = np.zeros(
        (len(collection.files), seen.embeddings.shape[1]), dtype=seen.embeddings.dtype
    )
    over_views = np.zeros(embeddings.shape, dtype=np.float32)
    embeddings[rows], over_views[rows] = seen.embeddings, seen.over_views
    return replace(seen, collection=collection, embeddings=embeddings, over_views=over_views)


def _accuracies(
    when: str, embedded: EmbeddedCollection, cell: TrainingCell
) -> dict[str, float | None]:
    situation = Situation(has_coarse_labels=False, shots=cell.shots, is_elsewhere=True)
    found: dict[str, float | None] = {}
    for name in MEASURED:
        outcome = METHODS[name].measure(embedded, [situation], cell.seed)[situation]
        for figure, value in next(iter(outcome.values())).items():
            key = f"{when}_{name}" if figure == TOP1 else f"{when}_{name}_{figure}"
            found[key] = None if math.isnan(value) else value
    return found


def _files_of(trained: TrainedFiles) -> ModelFiles:
    assert trained.backbone is not None, "a backbone was trained"
    return ModelFiles(
        trained.name,
        trained.backbone,
        trained.backbone_hash,
        trained.card,
        trained.propagation,
        file_hash(trained.propagation),
    )


def _rates(*models: ModelFiles) -> tuple[float, ...]:
    """Images a second per core of each model, timed in turns by processor time."""
    sessions = [
        BackboneSession(files.backbone, files.card, CPU_CHOICE, threads=1) for files in models
    ]
    images = [
        np.zeros((_TIMED_IMAGES, side, side, 3), np.uint8)
        for side in (files.card.input_side for files in models)
    ]
    least_s = [math.inf] * len(models)
    for _ in range(_ROUNDS):
        for place, session in enumerate(sessions):
            started_s = time.thread_time()
            session.embed(images[place])
            least_s[place] = min(least_s[place], time.thread_time() - started_s)
    return tuple(_TIMED_IMAGES / max(seconds, 1e-6) for seconds in least_s)
