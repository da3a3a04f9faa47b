"""Train at either depth; tune propagation by episodes on cached embeddings."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.arrays import Integers
from engine.collection.models import ModelFiles, model_of
from engine.collection.training.labelled import (
    GraphArrays,
    graph_arrays,
    labelled_embeddings,
    labelled_images,
)
from engine.collection.training.settings import (
    Chosen,
    TrainingProgress,
    by_field,
    plain_settings,
    with_chosen,
)
from engine.collection.training.trained import (
    DEPTHS,
    TrainedFiles,
    TrainingTask,
    free_name,
    propagation_file,
    training_folder,
    write_trained,
)
from engine.config import CacheFolders
from engine.errors import ModelError, UsageError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.model_card import BackboneCard
from engine.project import Project
from engine.texts import Message, either
from engine.training.curve import OnPoint, ignore_point
from engine.training.needed_packages import check_packages
from engine.training.training_set import LEAST_CLASSES, LEAST_LEAVES, EpisodeSettings, too_little

if TYPE_CHECKING:
    from engine.model.propagation import Attention, PropagationNetwork
    from engine.training.propagation_training import PropagationTrainingSettings, TrainedPropagation


PACKAGES = ("torch", "onnx", "onnxscript", "safetensors")
ITERATIONS = 500
POINTS = 30
MOST_IMAGES = 5  # support or query images of a leaf in an episode
MOST_WAYS = 20
# share of the labelled leaves that should have enough images for an episode
USUAL_SHARE = 0.6


def train(
    project: Project,
    caches: CacheFolders,
    depth: str,
    chosen: Chosen | None = None,
    *,
    out: Path,
    on_progress: OnProgress = ignore_progress,
    on_point: OnPoint = ignore_point,
    cancel: CancelToken | None = None,
) -> TrainedFiles:
    """Train the "propagation" or the "backbone" on the labels of a project, and compare.

    Args:
        chosen: settings by name, of `BackboneSettings`, or of `PropagationTrainingSettings` and
            `EpisodeSettings`.
        out: empty or missing folder for the files; removed if the training fails or is stopped.
        on_progress: called after decoded images, then after iterations, at most ten times a second.

    Raises:
        UsageError: there is no such depth.
        InputError: too little is labelled, labelled images have no embedding, or invalid settings.
        ModelError: packages are missing, the model cannot be used, the loss is NaN or infinite, or
            the export differs from torch.
        StorageError: the folder is not writable.
        Cancelled: training of a backbone continues at the next start.
    """
    if depth not in DEPTHS:
        raise UsageError("there is no such depth of training", expected=either(DEPTHS), found=depth)
    check_packages(PACKAGES, Message("training needs"))
    progress = TrainingProgress(on_progress, on_point)
    task = TrainingTask(
        project, caches, by_field(chosen or {}), out, progress, cancel or CancelToken()
    )
    if depth == "propagation":
        return _tune_propagation(task)
    from engine.collection.training.backbone import train_backbone

    return train_backbone(task)


def _tune_propagation(task: TrainingTask) -> TrainedFiles:
    """Continue training the propagation of the model in use, and export it.

    Attention, temperature and shrinkage start from the model in use; the best state on validation
    classes is kept, the start included. The figures are of leaf classes that were never used.
    """
    from engine.training.export import export_propagation
    from engine.training.propagation_training import train_attention

    project, chosen = task.project, task.chosen
    model, images = model_of(project, task.caches), labelled_images(project)
    arrays = graph_arrays(project.classes.graph, images.class_ids)
    positions = arrays.positions_of(images.class_ids)
    start = _start(model, chosen)
    settings = tuning_settings(arrays, positions, _defaults(model.card, start), chosen)
    with training_folder(task.out):
        trained = train_attention(
            labelled_embeddings(project, images, model, task.caches),
            positions,
            arrays.edge_index,
            settings,
            start=None if start is None else start.attention,
            on_progress=task.progress.report,
            on_point=task.progress.add_point,
            cancel=task.cancel,
        )
        export_propagation(trained.network(), propagation_file(task.out))
        files = TrainedFiles(
            task.out,
            "propagation",
            free_name(project, "propagation"),
            project.models.current.version_id,
            backbone_name=project.models.current.backbone_name,
            backbone_hash=model.backbone_hash,
            card=_card(model.card, trained, len(images)),
            figures=_figures(trained),
            settings=plain_settings(trained.settings),
            history=tuple(task.progress.points),
        )
        write_trained(files)
    return files


def tuning_settings(
    arrays: GraphArrays,
    positions: Integers,
    defaults: "PropagationTrainingSettings",
    chosen: Chosen,
) -> "PropagationTrainingSettings":
    """Settings that fit labels, given as class indices (n,), with the chosen ones.

    Raises:
        InputError: too little is labelled for an episode, or a chosen setting is invalid.
    """
    wanted = with_chosen(defaults, chosen)
    counts = np.bincount(positions, minlength=len(arrays.class_ids))
    episodes = episodes_for(
        counts[arrays.is_leaf], has_coarse=bool(counts[~arrays.is_leaf].any()), chosen=chosen
    )
    fitting = replace(
        wanted,
        episodes=episodes,
        validation_interval=max(1, wanted.iterations // POINTS),
        first_decay=max(1, wanted.iterations // 15),
        decay_interval=max(1, wanted.iterations // 10),
    )
    return with_chosen(fitting, chosen)


def episodes_for(leaf_counts: Integers, *, has_coarse: bool, chosen: Chosen) -> EpisodeSettings:
    """Largest episodes that most leaves allow, by their labelled images (L,).

    Half of each leaf's images are used as coarsely labelled, which training needs. If leaves have
    too few for that, only images with coarse labels are, if there are any.

    Raises:
        InputError: even one shot and one query are too many.
    """
    names = vars(EpisodeSettings()).keys()
    usual = with_chosen(
        EpisodeSettings(), {name: value for name, value in chosen.items() if name in names}
    )
    options = (
        [usual]
        if "coarse_share" in chosen or not has_coarse
        else [usual, replace(usual, coarse_share=0.0)]
    )
    for option in options:
        left = np.sort([option.left_with_leaf(int(count)) for count in leaf_counts if count])[::-1]
        if len(left) < LEAST_LEAVES or left[LEAST_LEAVES - 1] < LEAST_CLASSES:
            continue
        usual_leaves = max(LEAST_LEAVES, int(USUAL_SHARE * len(left)))
        images = max(2, int(left[usual_leaves - 1]))
        shots = option.shots if "shots" in chosen else min(MOST_IMAGES, images // 2)
        queries = (
            option.queries if "queries" in chosen else max(1, min(MOST_IMAGES, images - shots))
        )
        able = int((left >= shots + queries).sum())
        ways = option.ways if "ways" in chosen else min(MOST_WAYS, max(LEAST_CLASSES, able // 3))
        return replace(option, ways=ways, shots=shots, queries=queries)
    smallest = replace(usual, shots=1, queries=1)
    raise too_little(
        smallest, sum(smallest.left_with_leaf(int(count)) > 1 for count in leaf_counts)
    )


def _defaults(
    card: BackboneCard, start: "PropagationNetwork[Attention] | None"
) -> "PropagationTrainingSettings":
    from engine.training.propagation_training import PropagationTrainingSettings

    defaults = PropagationTrainingSettings(
        iterations=ITERATIONS, temperature=card.temperature, shrinkage=card.shrinkage
    )
    return (
        defaults
        if start is None
        else replace(defaults, steps=start.steps, normalisation=start.normalisation)
    )


def _start(model: ModelFiles, chosen: Chosen) -> "PropagationNetwork[Attention] | None":
    """The propagation in use; None for another form or a foreign file."""
    from engine.training.onnx_conversion import read_propagation

    if {"hidden_width", "logit_scale"} & chosen.keys():
        return None
    try:
        return read_propagation(model.propagation)
    except ModelError:
        return None


def _card(card: BackboneCard, trained: "TrainedPropagation", images: int) -> BackboneCard:
    figures = {
        "labelled_images": float(images),
        "held_out_loss_before": round(trained.before.loss, 4),
        "held_out_loss": round(trained.after.loss, 4),
        "held_out_accuracy_before": round(trained.before.accuracy, 4),
        "held_out_accuracy": round(trained.after.accuracy, 4),
        "held_out_accuracy_prototypes": round(trained.without_propagation.accuracy, 4),
    }
    return replace(
        card,
        temperature=round(trained.temperature, 5),
        shrinkage=card.shrinkage if trained.shrinkage is None else round(trained.shrinkage, 4),
        figures=card.figures | figures,
    )


def _figures(trained: "TrainedPropagation") -> dict[str, float | None]:
    return {
        "before_accuracy": trained.before.accuracy,
        "after_accuracy": trained.after.accuracy,
        "before_loss": trained.before.loss,
        "after_loss": trained.after.loss,
        "held_out_images": trained.held_out_images,
        "iterations": trained.settings.iterations,
        "kept_iteration": trained.kept_iteration,
    }
