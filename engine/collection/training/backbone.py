"""Train the backbone: Algorithm 1 on a project's labelled images, exported and measured."""

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import nn

from engine.collection.models import model_of
from engine.collection.training.labelled import TrainingImages, labelled_embeddings, project_images
from engine.collection.training.measurement import (
    MOST_QUANTISED,
    curve_check,
    ending_s,
    exported_embeddings,
    fitted_to_training,
    held_out_accuracy,
    held_out_temperature,
)
from engine.collection.training.settings import (
    BackboneSettings,
    TrainingStage,
    plain_settings,
    with_chosen,
)
from engine.collection.training.starts import Start, start_of
from engine.collection.training.trained import (
    TrainedFiles,
    TrainingTask,
    backbone_file,
    forget,
    free_name,
    open_run,
    propagation_file,
    training_folder,
    write_trained,
)
from engine.config import CacheFolders
from engine.errors import InputError, ModelError
from engine.model.backbone import UnitEmbedding
from engine.model.propagation import PropagationNetwork
from engine.model_card import BackboneCard, file_hash, write_card
from engine.project import Project
from engine.runtime.quantization import FEWEST_IMAGES, write_eight_bit
from engine.training import checkpoints
from engine.training.arithmetic import IMAGENET_MEAN, IMAGENET_STD, middle_windows
from engine.training.curve import CHECKPOINT_NAME, TrainingPoint, kept_iteration
from engine.training.export import export_propagation
from engine.training.level_wise import LevelWiseSettings, PrototypePropagation
from engine.training.loop import embedder, place, train
from engine.training.settings import TrainingSettings
from engine.training.thawed.wrappers import ScaledEmbedding

# figure of a resumed training: the iteration that it continued from
RESUMED = "resumed_iteration"
CHECKPOINTS = 20  # in a training: a crash costs a twentieth of it at most


def train_backbone(task: TrainingTask) -> TrainedFiles:
    """Train a backbone and its attention on labels, export both, and measure them.

    Paper: Algorithm 1, except that embeddings have length 1 and a temperature divides their squared
    distances, and that training starts from the backbone in use: a project has few images. A
    stopped training is kept in the cache, and continued by the next one with the same settings.
    """
    project, out, progress, cancel = task.project, task.out, task.progress, task.cancel
    settings = with_chosen(BackboneSettings(), task.chosen)
    start = start_of(project, task.caches, settings.start)
    settings = start.filled_in(settings)
    assert settings.side is not None, "filled in"
    with training_folder(out):
        images = project_images(
            project,
            settings,
            out,
            side=start.stored_side(settings.side),
            on_progress=progress.reading,
            cancel=cancel,
        )
        run = open_run(project, task.caches, settings, task.chosen)
        resumed = _resumed_iteration(run)
        progress.begin(TrainingStage.PREPARING)
        objective = _objective(settings, start, images)
        _train(objective, images, settings, task, start=start, run=run)
        progress.begin(TrainingStage.SAVING)
        card = _export(objective, start, images, settings, out)
        progress.begin(TrainingStage.MEASURING)
        files = _measured(
            task,
            start,
            images,
            TrainedFiles(
                out,
                "backbone",
                free_name(project, "backbone"),
                project.models.current.version_id,
                backbone_name=start.name,
                backbone_hash=file_hash(backbone_file(out)),
                card=card,
                figures={"iterations": settings.iterations, "kept_iteration": settings.iterations}
                | resumed,
                settings=plain_settings(settings),
                history=tuple(progress.points),
            ),
        )
        write_trained(files)
    forget(run)
    return files


def _resumed_iteration(run: Path) -> dict[str, int]:
    with suppress(OSError, ValueError):  # it starts from the beginning
        return {RESUMED: kept_iteration(run / CHECKPOINT_NAME)}
    return {}


def _objective(
    settings: BackboneSettings, start: Start, images: TrainingImages
) -> PrototypePropagation:
    network, width = start.network(settings)
    objective = PrototypePropagation(
        ScaledEmbedding(UnitEmbedding(network), start.temperature),
        width,
        images.training_set,
        LevelWiseSettings(shape=images.shape, lambda_=settings.lambda_),
        seed=settings.seed,
    )
    if (known := start.attention(width)) is not None:
        objective.attention.load_state_dict(known.state_dict())
    return objective


def _train(
    objective: PrototypePropagation,
    images: TrainingImages,
    settings: BackboneSettings,
    task: TrainingTask,
    *,
    start: Start,
    run: Path,
) -> None:
    """Train, and average the weights of before and after."""
    plan, pixels, check = (
        _plan(settings),
        images.training_set.pixels,
        curve_check(objective, images),
    )
    progress = task.progress
    progress.begin(TrainingStage.EMBEDDING)
    task.cancel.raise_if_cancelled()
    place(objective, plan)
    embed, started_s = embedder(objective, pixels, plan.side), time.perf_counter()
    objective.refresh(embed)
    progress.ending_s = ending_s(
        (time.perf_counter() - started_s) / len(images.training), len(pixels)
    )
    progress.add_point(TrainingPoint(0, accuracy=None if check is None else check(embed)))
    if (run / CHECKPOINT_NAME).exists():
        for point in checkpoints.read(run / CHECKPOINT_NAME).curve:
            progress.add_point(point)
    train(
        objective,
        pixels,
        plan,
        run,
        validate=check,
        on_point=progress.add_point,
        on_progress=progress.report,
        cancel=task.cancel,
    )
    objective.cpu().eval()
    assert settings.trained_share is not None, "filled in"
    start.average(_network_in(objective), settings.trained_share)


def _plan(settings: BackboneSettings) -> TrainingSettings:
    assert settings.side is not None, "filled in"
    assert settings.learning_rate is not None, "filled in"
    return TrainingSettings(
        iterations=settings.iterations,
        side=settings.side,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        augmentation=settings.augmentation,
        device=settings.device,
        checkpoint_interval=max(1, settings.iterations // CHECKPOINTS),
        point_interval=max(1, settings.iterations // settings.points),
        seed=settings.seed,
    )


def _export(
    objective: PrototypePropagation,
    start: Start,
    images: TrainingImages,
    settings: BackboneSettings,
    out: Path,
) -> BackboneCard:
    """Write backbone and propagation; return the card, with the temperature of the training."""
    assert settings.side is not None, "filled in"
    attention = objective.attention
    card = BackboneCard(
        name=start.name,
        input_side=settings.side,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
        embedding_width=attention.embedding_width,
        resize_share=settings.side / images.training_set.side,
        temperature=start.temperature,
        description=f"{start.name} trained level by level on a project's labels.",
        training_data=f"{len(images.training)} labelled images "
        f"of {len(images.training_set.few_shot)} leaf classes "
        "of the project and of the classes above them.",
        licence="As the project's images and the network it started from allow.",
        command=f"protoleaf train --depth backbone --setting start={settings.start} "
        f"--setting iterations={settings.iterations}",
    )
    network = PropagationNetwork(
        attention, steps=objective.settings.steps, normalisation=objective.settings.normalisation
    )
    export_propagation(network, propagation_file(out))
    return start.write(_network_in(objective), backbone_file(out), card)


def _network_in(objective: PrototypePropagation) -> nn.Module:
    return objective.backbone.get_submodule("backbone.backbone")


def _measured(
    task: TrainingTask, start: Start, images: TrainingImages, files: TrainedFiles
) -> TrainedFiles:
    """Add figures and temperature, measured by the exported files."""
    _write_companion(files, start, images)
    embeddings = exported_embeddings(backbone_file(files.folder), files.card, images)
    fitted = fitted_to_training(
        task.project.classes.graph, images, embeddings, files.propagation, files.card
    )
    temperature = held_out_temperature(fitted, images, embeddings, files.card.temperature)
    figures: dict[str, float | None] = {
        "before_accuracy": _accuracy_before(task.project, task.caches, images),
        "after_accuracy": held_out_accuracy(fitted, images, embeddings),
        "held_out_images": len(images.held_out),
        "labelled_images": len(images.images),
        "unreadable_images": images.broken,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    card = replace(
        files.card, temperature=round(temperature, 5), figures=files.card.figures | known
    )
    write_card(backbone_file(files.folder), card)
    return replace(files, card=card, figures={**files.figures, **figures})


def _write_companion(files: TrainedFiles, start: Start, images: TrainingImages) -> None:
    """Write the eight-bit companion, so that the new backbone is as fast."""
    count = len(images.images)
    if count < FEWEST_IMAGES:
        return
    positions = np.unique(
        np.linspace(0, count - 1, min(count, MOST_QUANTISED)).round().astype(np.int64)
    )
    with suppress(ModelError):  # eight bits are too few for it
        windows = middle_windows(images.training_set.pixels, positions, files.card.input_side)
        write_eight_bit(backbone_file(files.folder), files.card, windows, in_float=start.in_float())


def _accuracy_before(
    project: Project, caches: CacheFolders, images: TrainingImages
) -> float | None:
    model = model_of(project, caches)
    try:
        embeddings = labelled_embeddings(project, images.images, model, caches)
    except InputError:
        return None
    fitted = fitted_to_training(
        project.classes.graph, images, embeddings, model.propagation, model.card
    )
    return held_out_accuracy(fitted, images, embeddings)
