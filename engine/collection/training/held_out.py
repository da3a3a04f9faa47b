"""What a backbone is worth on images that training never saw: while it trains, and beside the model it came from."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.collection.training.duration import LOOKED_AT
from engine.collection.training.project_images import TrainingImages
from engine.embedding.views import unit_length
from engine.everyday.classifier import FittedClassifier
from engine.everyday.in_use import fitted_to_shots, likeliest_temperature
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers

if TYPE_CHECKING:
    from engine.training.level_wise import PrototypePropagation
    from engine.training.loop import Embed


def fitted_to_training(
    graph: CategoryGraph, images: TrainingImages, embeddings: NDArray[np.float32], propagation: Path, card: BackboneCard
) -> FittedClassifier:
    """The everyday model of a project whose only labels are those that are trained on.

    Args:
        embeddings: (n, d) float32 of length 1.
    """
    rows = images.training
    shots = Shots(images.images.image_ids[rows], images.images.class_ids[rows], embeddings[rows])
    return fitted_to_shots(graph, shots, propagation, card)


def held_out_accuracy(
    fitted: FittedClassifier, images: TrainingImages, embeddings: NDArray[np.float32]
) -> float | None:
    """Share of the held-out images whose likeliest leaf is the person's; None without any."""
    rows = images.held_out
    if not len(rows):
        return None
    best = fitted.classify_new(embeddings[rows]).best
    return float((fitted.candidate_ids[best] == images.images.class_ids[rows]).mean())


def held_out_temperature(
    fitted: FittedClassifier, images: TrainingImages, embeddings: NDArray[np.float32], start: float
) -> float:
    """The temperature that makes the held-out images' labels likeliest; `start` without any.

    On the images that were trained on, every backbone looks surer than it is.
    """
    rows, candidates = images.held_out, fitted.candidate_ids.tolist()
    place_of = {class_id: place for place, class_id in enumerate(candidates)}
    targets = np.array([place_of.get(label, -1) for label in images.images.class_ids[rows].tolist()], dtype=np.int64)
    rows, targets = rows[targets >= 0], targets[targets >= 0]
    prototypes = [prototype for each in candidates if (prototype := fitted.prototype(each)) is not None]
    return likeliest_temperature(np.stack(prototypes), embeddings[rows], targets, start) if len(rows) else start


def exported_embeddings(backbone: Path, card: BackboneCard, images: TrainingImages) -> NDArray[np.float32]:
    """Embeddings (n, d) float32 of length 1 by an exported backbone, of the middle of all n images."""
    from engine.training.arithmetic import middle_windows

    session = BackboneSession(backbone, card, choose_providers("cpu"))
    pixels = images.training_set.pixels
    blocks = np.array_split(np.arange(len(pixels)), max(1, -(-len(pixels) // session.batch_size)))
    return unit_length(
        np.concatenate([session.embed(middle_windows(pixels, block, card.input_side)) for block in blocks])
    )


def curve_check(objective: "PrototypePropagation", images: TrainingImages) -> "Callable[[Embed], float] | None":
    """A way to measure accuracy on the held-out images while training goes on; None without any.

    One task: the held-out images among all their classes, with up to `LOOKED_AT` training images of each as support.
    """
    import torch

    from engine.model.propagation import Prototypes, initial_prototypes, propagate
    from engine.training.level_wise import edges_between

    if not len(images.held_out):
        return None
    training_set = images.training_set
    labels = images.arrays.positions_of(images.images.class_ids[images.held_out])
    fine = np.unique(labels)
    above = frozenset[int]().union(*(training_set.ancestors[position] for position in fine.tolist()))
    classes = np.union1d(fine, np.array(sorted(above), dtype=np.int64))
    support = [training_set.images_by_class[position][:LOOKED_AT] for position in fine.tolist()]
    places = np.repeat(np.searchsorted(classes, fine), [len(of_class) for of_class in support])
    edges = torch.from_numpy(edges_between(training_set.edge_index, classes, training_set.class_count))
    positions = np.concatenate([*support, images.held_out])
    settings, targets = objective.settings, torch.from_numpy(np.searchsorted(fine, labels))

    @torch.no_grad()
    def check(embed: "Embed") -> float:
        embeddings = embed(positions)
        device, count = embeddings.device, len(places)
        buffered = objective.buffer.prototypes_of(torch.from_numpy(classes).to(device))
        own = initial_prototypes(
            embeddings[:count], torch.arange(count, device=device), torch.from_numpy(places).to(device), len(classes)
        )
        start = Prototypes(
            torch.where(own.exists[:, None], own.vectors, buffered.vectors), own.exists | buffered.exists
        )
        final = propagate(
            objective.attention, start, edges.to(device), settings.own_weight,
            steps=settings.steps, normalisation=settings.normalisation,
        ).final.vectors  # fmt: skip
        candidates = final[torch.from_numpy(np.searchsorted(classes, fine)).to(device)]
        nearest = torch.cdist(embeddings[count:], candidates).argmin(dim=1)
        return float((nearest == targets.to(device)).float().mean())

    return check
