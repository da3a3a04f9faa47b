"""Train the backbone: Algorithm 1 end to end on a project's labelled images, exported and compared with what was."""

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import model_of
from engine.collection.training.duration import MOST_QUANTISED, ending_s
from engine.collection.training.held_out import (
    curve_check,
    exported_embeddings,
    fitted_to_training,
    held_out_accuracy,
    held_out_temperature,
)
from engine.collection.training.labelled import labelled_embeddings
from engine.collection.training.project_images import TrainingImages, project_images
from engine.collection.training.settings import BackboneSettings, Chosen, by_field, plain_settings, with_chosen
from engine.collection.training.starts import Start, start_of
from engine.collection.training.telling import Teller, TrainingStage
from engine.collection.training.trained import (
    TrainedFiles,
    backbone_file,
    free_name,
    propagation_file,
    training_folder,
    write_trained,
)
from engine.collection.training.unfinished import forget, open_run
from engine.config import CacheFolders
from engine.errors import InputError, ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.model_card import BackboneCard, file_hash
from engine.project import Project
from engine.training.curve import CHECKPOINT_NAME, OnPoint, TrainingPoint, ignore_point, kept_iteration

if TYPE_CHECKING:
    from torch import nn

    from engine.training.level_wise import PrototypePropagation
    from engine.training.settings import TrainingSettings

RESUMED: Final = "resumed_iteration"
"""Figure of a training that was stopped: after which iteration it went on."""
CHECKPOINTS: Final = 20
"""In a training: what a crash costs is a twentieth of it at most."""


def train_backbone(
    project: Project,
    caches: CacheFolders,
    chosen: Chosen | None = None,
    *,
    out: Path,
    on_progress: OnProgress = ignore_progress,
    on_point: OnPoint = ignore_point,
    cancel: CancelToken | None = None,
) -> TrainedFiles:
    """Train a backbone and its attention on what a person labelled, export both, and measure them on held-out images.

    Paper: Algorithm 1, except that embeddings have length 1 and a temperature divides their squared distances, as
    everywhere in the program, and that training goes on from the backbone in use: a project has few images.

    Args:
        project: may be open for reading only.
        caches: where the embeddings of the model in use are; without them there is no figure from before.
        chosen: settings by name, see `BackboneSettings`.
        out: folder for the files, empty or missing; taken away again when the training fails or is stopped.
        on_progress: called after every image that is read, then after every iteration; at most ten times a second.
        on_point: called with each point of the curve.
        cancel: asks to stop.

    Returns:
        The files, not part of the project yet.

    Raises:
        InputError: too little is labelled, or a setting is wrong.
        ModelError: the loss is no number any more, or the export differs from torch.
        StorageError: the folder refuses.
        Cancelled: it was asked to stop. What was learned is kept in the cache: asked for again, it goes on from there.
    """
    settings = with_chosen(BackboneSettings(), by_field(chosen or {}))
    start, teller = start_of(project, caches, settings.start), Teller(on_progress, on_point)
    settings, cancel = start.filled_in(settings), cancel or CancelToken()
    assert settings.side is not None, "filled in"
    with training_folder(out):
        images = project_images(
            project, settings, out, side=start.stored_side(settings.side), on_progress=teller.reading, cancel=cancel
        )
        run = open_run(project, caches, settings, by_field(chosen or {}))
        resumed = _resumed_iteration(run)
        teller.stage(TrainingStage.PREPARING)
        objective = _objective(settings, start, images)
        _train(objective, images, settings, teller, cancel, start=start, run=run)
        teller.stage(TrainingStage.SAVING)
        card = _export(objective, start, images, settings, out)
        teller.stage(TrainingStage.MEASURING)
        files = _measured(project, caches, start, images, TrainedFiles(
            out, "backbone", free_name(project, "backbone"), project.models.current.version_id,
            backbone_name=start.name, backbone_hash=file_hash(backbone_file(out)), card=card,
            figures={"iterations": settings.iterations, "kept_iteration": settings.iterations} | resumed,
            settings=plain_settings(settings), history=tuple(teller.points),
        ))  # fmt: skip
        write_trained(files)
    forget(run)
    return files


def _resumed_iteration(run: Path) -> dict[str, int]:
    """The figure of a training that goes on: where it was stopped."""
    with suppress(OSError, ValueError):  # it starts anew
        return {RESUMED: kept_iteration(run / CHECKPOINT_NAME)}
    return {}


def _objective(settings: BackboneSettings, start: Start, images: TrainingImages) -> "PrototypePropagation":
    from engine.model.backbone import UnitEmbedding
    from engine.training.level_wise import LevelWiseSettings, PrototypePropagation
    from engine.training.thawed.wrappers import ScaledEmbedding

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
    objective: "PrototypePropagation",
    images: TrainingImages,
    settings: BackboneSettings,
    teller: Teller,
    cancel: CancelToken,
    *,
    start: Start,
    run: Path,
) -> None:
    """Train, and keep the mean of before and after."""
    from engine.training import checkpoints
    from engine.training.loop import embedder, place, train

    plan, pixels, check = _plan(settings), images.training_set.pixels, curve_check(objective, images)
    teller.stage(TrainingStage.EMBEDDING)
    cancel.raise_if_cancelled()
    place(objective, plan)
    embed, started_s = embedder(objective, pixels, plan.side), time.perf_counter()
    objective.refresh(embed)
    teller.ending_s = ending_s((time.perf_counter() - started_s) / len(images.training), len(pixels))
    teller.point(TrainingPoint(0, accuracy=None if check is None else check(embed)))
    if (run / CHECKPOINT_NAME).exists():
        for point in checkpoints.read(run / CHECKPOINT_NAME).curve:
            teller.point(point)
    train(
        objective,
        pixels,
        plan,
        run,
        validate=check,
        on_point=teller.point,
        on_progress=teller.progress,
        cancel=cancel,
    )
    objective.cpu().eval()
    assert settings.trained_share is not None, "filled in"
    start.average(_network_in(objective), settings.trained_share)


def _plan(settings: BackboneSettings) -> "TrainingSettings":
    from engine.training.settings import TrainingSettings

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
    objective: "PrototypePropagation", start: Start, images: TrainingImages, settings: BackboneSettings, out: Path
) -> BackboneCard:
    """Write backbone and propagation; returns the card, its temperature still that of the training."""
    from engine.model.propagation import PropagationNetwork
    from engine.training.arithmetic import IMAGENET_MEAN, IMAGENET_STD
    from engine.training.export import export_propagation

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
        training_data=f"{len(images.training)} labelled images of {len(images.training_set.few_shot)} leaf classes "
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


def _network_in(objective: "PrototypePropagation") -> "nn.Module":
    """What `Start.network` made."""
    return objective.backbone.get_submodule("backbone.backbone")


def _measured(
    project: Project, caches: CacheFolders, start: Start, images: TrainingImages, files: TrainedFiles
) -> TrainedFiles:
    """Fill in the figures and the card's temperature, by the exported files."""
    from engine.model_card import write_card

    _write_companion(files, start, images)
    embeddings = exported_embeddings(backbone_file(files.folder), files.card, images)
    fitted = fitted_to_training(project.classes.graph, images, embeddings, files.propagation, files.card)
    temperature = held_out_temperature(fitted, images, embeddings, files.card.temperature)
    figures: dict[str, float | None] = {
        "before_accuracy": _accuracy_before(project, caches, images),
        "after_accuracy": held_out_accuracy(fitted, images, embeddings),
        "held_out_images": len(images.held_out),
        "labelled_images": len(images.images),
        "unreadable_images": images.broken,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    card = replace(files.card, temperature=round(temperature, 5), figures=files.card.figures | known)
    write_card(backbone_file(files.folder), card)
    return replace(files, card=card, figures={**files.figures, **figures})


def _write_companion(files: TrainedFiles, start: Start, images: TrainingImages) -> None:
    """Write the eight-bit companion, so that the new backbone embeds as fast as the one before; some have none."""
    from engine.runtime.quantization import FEWEST_IMAGES, write_eight_bit
    from engine.training.arithmetic import middle_windows

    count = len(images.images)
    if count < FEWEST_IMAGES:
        return
    positions = np.unique(np.linspace(0, count - 1, min(count, MOST_QUANTISED)).round().astype(np.int64))
    with suppress(ModelError):  # eight bits are too few for it
        windows = middle_windows(images.training_set.pixels, positions, files.card.input_side)
        write_eight_bit(backbone_file(files.folder), files.card, windows, in_float=start.in_float())


def _accuracy_before(project: Project, caches: CacheFolders, images: TrainingImages) -> float | None:
    """The same figure of the model in use; None where its embeddings are not there."""
    model = model_of(project, caches)
    try:
        embeddings: NDArray[np.float32] = labelled_embeddings(images.images, model, caches)
    except InputError:
        return None
    fitted = fitted_to_training(project.classes.graph, images, embeddings, model.propagation, model.card)
    return held_out_accuracy(fitted, images, embeddings)
