"""Tune propagation: episodes on the cached embeddings of a project's labelled images train attention and scalars."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import ModelFiles, model_of
from engine.collection.training.labelled import GraphArrays, graph_arrays, labelled_embeddings, labelled_images
from engine.collection.training.settings import Chosen, by_field, plain_settings, with_chosen
from engine.collection.training.telling import Teller
from engine.collection.training.trained import TrainedFiles, free_name, propagation_file, training_folder, write_trained
from engine.config import CacheFolders
from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.model_card import BackboneCard
from engine.project import Project
from engine.training.curve import OnPoint, ignore_point
from engine.training.training_set import LEAST_CLASSES, LEAST_LEAVES, EpisodeSettings, too_little

if TYPE_CHECKING:
    from engine.model.propagation import Attention, PropagationNetwork
    from engine.training.propagation_training import PropagationTrainingSettings, TrainedPropagation

ITERATIONS: Final = 500
POINTS: Final = 30
MOST_IMAGES: Final = 5
"""Of a leaf in one episode, as support and as queries each: more teach the same, slower."""
MOST_WAYS: Final = 20
USUAL_SHARE: Final = 0.6
"""Share of the labelled leaves that should have enough images for an episode."""


def tune_propagation(
    project: Project,
    caches: CacheFolders,
    chosen: Chosen | None = None,
    *,
    out: Path,
    on_progress: OnProgress = ignore_progress,
    on_point: OnPoint = ignore_point,
    cancel: CancelToken | None = None,
) -> TrainedFiles:
    """Go on training the propagation of the model in use on the project's labels, and export it.

    Attention, temperature and shrinkage start from the model in use, and the state that did best on validation classes
    is kept, the start included. The figures are of leaf classes that no training and no choice ever saw.

    Args:
        project: may be open for reading only.
        chosen: settings by name, of `PropagationTrainingSettings` and `EpisodeSettings`; others follow from what is
            labelled.
        out: folder for the files, empty or missing; taken away again when the training fails or is stopped.
        on_progress: called after every episode, at most ten times a second.
        on_point: called with each point of the curve.
        cancel: asks to stop.

    Returns:
        The files, not part of the project yet.

    Raises:
        InputError: too little is labelled, labelled images have no embedding yet, or a setting is wrong.
        ModelError: the model in use cannot be used, or the export differs from torch.
        StorageError: the folder refuses.
        Cancelled: it was asked to stop; nothing is kept.
    """
    from engine.training.export import export_propagation
    from engine.training.propagation_training import train_attention

    chosen = by_field(chosen or {})
    model, images = model_of(project, caches), labelled_images(project)
    arrays = graph_arrays(project.classes.graph, images.class_ids)
    positions = arrays.positions_of(images.class_ids)
    start = _start(model, chosen)
    settings = tuning_settings(arrays, positions, _defaults(model.card, start), chosen)
    teller = Teller(on_progress, on_point)
    with training_folder(out):
        trained = train_attention(
            labelled_embeddings(images, model, caches),
            positions,
            arrays.edge_index,
            settings,
            start=None if start is None else start.attention,
            on_progress=teller.progress,
            on_point=teller.point,
            cancel=cancel,
        )
        export_propagation(trained.network(), propagation_file(out))
        files = TrainedFiles(
            out, "propagation", free_name(project, "propagation"), project.models.current.version_id,
            backbone_name=project.models.current.backbone_name, backbone_hash=model.backbone_hash,
            card=_card(model.card, trained, len(images)), figures=_figures(trained),
            settings=plain_settings(trained.settings), history=tuple(teller.points),
        )  # fmt: skip
        write_trained(files)
    return files


def tuning_settings(
    arrays: GraphArrays, positions: NDArray[np.int64], defaults: "PropagationTrainingSettings", chosen: Chosen
) -> "PropagationTrainingSettings":
    """Settings that fit what is labelled, with the chosen ones in their place.

    Args:
        arrays: C classes.
        positions: (n,) int64 in [0, C), class of each labelled image.
        defaults: what does not depend on the labels.
        chosen: by field name.

    Raises:
        InputError: too little is labelled for any episode, or a chosen setting is wrong.
    """
    wanted = with_chosen(defaults, chosen)
    counts = np.bincount(positions, minlength=len(arrays.class_ids))
    episodes = episodes_for(counts[arrays.is_leaf], has_coarse=bool(counts[~arrays.is_leaf].any()), chosen=chosen)
    fitting = replace(
        wanted,
        episodes=episodes,
        validation_interval=max(1, wanted.iterations // POINTS),
        first_decay=max(1, wanted.iterations // 15),
        decay_interval=max(1, wanted.iterations // 10),
    )
    return with_chosen(fitting, chosen)


def episodes_for(leaf_counts: NDArray[np.int64], *, has_coarse: bool, chosen: Chosen) -> EpisodeSettings:
    """Episodes as large as most of the labelled leaves can bear.

    Half of each leaf's images are treated as labelled coarsely, as training needs coarse labels. Where leaves have too
    few for that, only what a person labelled coarsely serves, if there is such.

    Args:
        leaf_counts: (L,) int64, labelled images of each leaf.
        has_coarse: whether some images have a coarse label.
        chosen: settings by name that are not to be adapted.

    Raises:
        InputError: even one shot and one query are too many.
    """
    usual = with_chosen_episodes(EpisodeSettings(), chosen)
    options = [usual] if "coarse_share" in chosen or not has_coarse else [usual, replace(usual, coarse_share=0.0)]
    for option in options:
        left = np.sort([option.left_with_leaf(int(count)) for count in leaf_counts if count])[::-1]
        if len(left) < LEAST_LEAVES or left[LEAST_LEAVES - 1] < LEAST_CLASSES:
            continue
        usual_leaves = max(LEAST_LEAVES, int(USUAL_SHARE * len(left)))
        images = max(2, int(left[usual_leaves - 1]))
        shots = option.shots if "shots" in chosen else min(MOST_IMAGES, images // 2)
        queries = option.queries if "queries" in chosen else max(1, min(MOST_IMAGES, images - shots))
        able = int((left >= shots + queries).sum())
        ways = option.ways if "ways" in chosen else min(MOST_WAYS, max(LEAST_CLASSES, able // 3))
        return replace(option, ways=ways, shots=shots, queries=queries)
    smallest = replace(usual, shots=1, queries=1)
    raise too_little(smallest, sum(smallest.left_with_leaf(int(count)) > 1 for count in leaf_counts))


def with_chosen_episodes(episodes: EpisodeSettings, chosen: Chosen) -> EpisodeSettings:
    """The chosen settings that are of episodes."""
    names = vars(episodes).keys()
    return with_chosen(episodes, {name: value for name, value in chosen.items() if name in names})


def _defaults(card: BackboneCard, start: "PropagationNetwork[Attention] | None") -> "PropagationTrainingSettings":
    """Go on from the values in use."""
    from engine.training.propagation_training import PropagationTrainingSettings

    defaults = PropagationTrainingSettings(
        iterations=ITERATIONS, temperature=card.temperature, shrinkage=card.shrinkage
    )
    return defaults if start is None else replace(defaults, steps=start.steps, normalisation=start.normalisation)


def _start(model: ModelFiles, chosen: Chosen) -> "PropagationNetwork[Attention] | None":
    """The propagation in use; None where its form is chosen anew or the file holds none of ours."""
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
