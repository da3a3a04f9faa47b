"""Measure a backbone, and estimate the duration of its training by a step on blank images."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.arrays import Floats, Integers
from engine.collection.training.labelled import (
    GraphArrays,
    TrainingImages,
    TrainingLabels,
    graph_arrays,
    held_out_split,
    labelled_images,
    training_set_of,
)
from engine.collection.training.settings import BackboneSettings, Chosen, by_field, with_chosen
from engine.collection.training.starts import start_of
from engine.config import CacheFolders
from engine.embedding.views import unit_length
from engine.errors import ImageError, InputError
from engine.everyday.classifier import Explains, ProjectClassifier
from engine.everyday.in_use import fit_temperature, fitted_to_shots
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.images.decode import read_rgb
from engine.images.pixels import square
from engine.model_card import BackboneCard
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from engine.training.curve import TrainingDuration

if TYPE_CHECKING:
    import torch
    from torch import nn

    from engine.training.level_wise import PrototypePropagation
    from engine.training.loop import Embed


MOST_QUANTISED = 200  # images that the eight-bit companion is calibrated with (decision 109)
LOOKED_AT = 5  # images of a class for its prototype in the accuracy curve

_WARMING = 8  # images of the warm-up step
_LOOKED = 32  # images that are embedded to measure the time
_MEASURED_S = 2.0  # shortest measurement
_MOST_ROUNDS = 10  # most repetitions
_DRAWS = 20  # iterations that are drawn to count images
_READ = 8  # labelled images that are read to measure the time
# until libraries are loaded and the network is ready. Measured, as the next two
_BEGINNING_S = 6.0
_SAVING_S = 5.0  # for checkpoints, exports and the new version
_STEP_MORE = 1.05  # duration of an iteration relative to the network: draw, crops, optimiser


@dataclass(frozen=True)
class Pace:
    """Seconds that a network takes."""

    step_s: float  # to learn from the images of an iteration
    look_s: float  # to embed an image


def ending_s(look_s: float, images: int) -> float:
    """Seconds after the last iteration: final prototypes, companion, and figures."""
    return _SAVING_S + look_s * (2 * images + 2 * min(images, MOST_QUANTISED))


def estimate_duration(
    project: Project, caches: CacheFolders, chosen: Chosen | None = None
) -> TrainingDuration:
    """Estimate the duration of training a backbone on a project's labels.

    Raises:
        InputError: nothing is labelled, or a setting is invalid.
        ModelError: the backbone cannot be trained.
    """
    from engine.training.loop import EMBEDDING_BATCH, SETTLING_BATCHES, has_statistics

    settings = with_chosen(BackboneSettings(), by_field(chosen or {}))
    start = start_of(project, caches, settings.start)
    settings = start.filled_in(settings)
    assert settings.side is not None, "filled in"
    labelled = labelled_images(project)
    arrays = graph_arrays(project.classes.graph, labelled.class_ids)
    kept, held_out = held_out_split(labelled, arrays, settings)
    positions = arrays.positions_of(labelled.class_ids)
    network, _ = start.network(settings)
    drawn = _images_of_an_iteration(arrays, positions[kept], settings)
    pace = measured_pace(network, settings.side, settings.device, images=round(drawn))
    counts = np.bincount(positions[kept], minlength=len(arrays.class_ids))
    checked = len(held_out) + np.minimum(counts[np.unique(positions[held_out])], LOOKED_AT).sum()
    count = len(labelled)
    settling = SETTLING_BATCHES * min(count, EMBEDDING_BATCH) if has_statistics(network) else 0
    looks = 2 * len(kept) + (settings.points + 1) * checked + settling
    reading_s = count * _mean_reading_s(project, labelled, start.stored_side(settings.side))
    return TrainingDuration(
        iteration_s=_STEP_MORE * pace.step_s,
        others_s=float(
            _BEGINNING_S + reading_s + looks * pace.look_s + ending_s(pace.look_s, count)
        ),
    )


def _mean_reading_s(project: Project, labelled: TrainingLabels, side: int) -> float:
    """Mean seconds to decode some images; unreadable ones cost little."""
    paths = [
        labelled.paths[row]
        for row in np.linspace(0, len(labelled) - 1, min(_READ, len(labelled))).astype(int)
    ]
    started_s = time.perf_counter()
    for path in paths:
        with suppress(ImageError):
            square(read_rgb(project.path.parent / path, smallest_side=side), side)
    return (time.perf_counter() - started_s) / len(paths)


def _images_of_an_iteration(
    arrays: GraphArrays, positions: Integers, settings: BackboneSettings
) -> float:
    """Mean number of images of some drawn iterations, or that of the settings."""
    from engine.training.level_wise import LevelWiseSampler

    training_set, shape = training_set_of(
        arrays, positions, np.zeros((0, 1, 1, 3), dtype=np.uint8), settings
    )
    try:
        sampler = LevelWiseSampler(training_set, shape)
    except InputError:
        return float(shape.ways * (shape.shots + shape.query_count))
    generator = np.random.default_rng(settings.seed)
    return float(np.mean([len(sampler.draw(generator).images) for _ in range(_DRAWS)]))


def measured_pace(network: "nn.Module", side: int, device_name: str, *, images: int) -> Pace:
    """Time a network on blank images; it is moved to the device, otherwise unchanged."""
    import torch

    from engine.training.arithmetic import device_of, keep_freed_memory, number_type

    keep_freed_memory()
    device = device_of(device_name)
    kind = number_type("auto", device)
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    was_training = network.training
    network.eval()  # statistics stay as they are

    def look(count: int) -> float:
        with torch.no_grad(), torch.autocast(device.type, kind, enabled=kind != torch.float32):
            return float(network(_made_up(count, side, device)).sum().item())

    def step(count: int) -> float:
        with torch.autocast(device.type, kind, enabled=kind != torch.float32):
            loss = network(_made_up(count, side, device)).float().square().sum()
        torch.autograd.backward(loss)
        return float(loss.item())

    look(_WARMING)
    step(_WARMING)
    pace = Pace(_mean_time_s(lambda: step(images)), _mean_time_s(lambda: look(_LOOKED)) / _LOOKED)
    network.zero_grad(set_to_none=True)
    network.train(was_training)
    return pace


def _made_up(count: int, side: int, device: "torch.device") -> "torch.Tensor":
    import torch

    return torch.zeros(count, 3, side, side, device=device).contiguous(
        memory_format=torch.channels_last
    )


def _mean_time_s(work: Callable[[], object]) -> float:
    started_s = now_s = time.perf_counter()
    rounds = 0
    while rounds < _MOST_ROUNDS and (now_s - started_s < _MEASURED_S):
        work()
        rounds, now_s = rounds + 1, time.perf_counter()
    return (now_s - started_s) / rounds


def fitted_to_training(
    graph: CategoryGraph,
    images: TrainingImages,
    embeddings: Floats,
    propagation: Path,
    card: BackboneCard,
) -> ProjectClassifier:
    """Fit the everyday model to the training images; embeddings (n, d) of length 1."""
    rows = images.training
    shots = Shots(images.images.image_ids[rows], images.images.class_ids[rows], embeddings[rows])
    return fitted_to_shots(graph, shots, propagation, card)


def held_out_accuracy(fitted: Explains, images: TrainingImages, embeddings: Floats) -> float | None:
    """Accuracy of the most probable leaf on held-out images; None without any."""
    rows = images.held_out
    if not len(rows):
        return None
    best = fitted.classify_new(embeddings[rows]).best
    return float((fitted.candidate_ids[best] == images.images.class_ids[rows]).mean())


def held_out_temperature(
    fitted: Explains, images: TrainingImages, embeddings: Floats, start: float
) -> float:
    """Temperature of maximum likelihood on held-out images; by default `start`."""
    rows, candidates = images.held_out, fitted.candidate_ids.tolist()
    place_of = {class_id: place for place, class_id in enumerate(candidates)}
    targets = np.array(
        [place_of.get(label, -1) for label in images.images.class_ids[rows].tolist()],
        dtype=np.int64,
    )
    rows, targets = rows[targets >= 0], targets[targets >= 0]
    prototypes = [
        prototype for each in candidates if (prototype := fitted.prototype(each)) is not None
    ]
    return (
        fit_temperature(np.stack(prototypes), embeddings[rows], targets, start)
        if len(rows)
        else start
    )


def exported_embeddings(backbone: Path, card: BackboneCard, images: TrainingImages) -> Floats:
    """Embeddings (n, d) float32 of length 1 of the centres of all n images."""
    from engine.training.arithmetic import middle_windows

    session = BackboneSession(backbone, card, choose_providers("cpu"))
    pixels = images.training_set.pixels
    blocks = np.array_split(np.arange(len(pixels)), max(1, -(-len(pixels) // session.batch_size)))
    found = [session.embed(middle_windows(pixels, block, card.input_side)) for block in blocks]
    return unit_length(np.concatenate(found))


def curve_check(
    objective: "PrototypePropagation", images: TrainingImages
) -> "Callable[[Embed], float] | None":
    """Function that measures accuracy on the held-out images; None without any.

    Up to `LOOKED_AT` training images of each class are the support.
    """
    import torch

    from engine.model.propagation import Prototypes, initial_prototypes, propagate
    from engine.training.level_wise import edges_between

    if not len(images.held_out):
        return None
    training_set = images.training_set
    labels = images.arrays.positions_of(images.images.class_ids[images.held_out])
    fine = np.unique(labels)
    above = frozenset[int]().union(
        *(training_set.ancestors[position] for position in fine.tolist())
    )
    classes = np.union1d(fine, np.array(sorted(above), dtype=np.int64))
    support = [training_set.images_by_class[position][:LOOKED_AT] for position in fine.tolist()]
    places = np.repeat(np.searchsorted(classes, fine), [len(of_class) for of_class in support])
    edges = torch.from_numpy(
        edges_between(training_set.edge_index, classes, training_set.class_count)
    )
    positions = np.concatenate([*support, images.held_out])
    settings, targets = objective.settings, torch.from_numpy(np.searchsorted(fine, labels))

    @torch.no_grad()
    def check(embed: "Embed") -> float:
        embeddings = embed(positions)
        device, count = embeddings.device, len(places)
        buffered = objective.buffer.prototypes_of(torch.from_numpy(classes).to(device))
        own = initial_prototypes(
            embeddings[:count],
            torch.arange(count, device=device),
            torch.from_numpy(places).to(device),
            len(classes),
        )
        vectors = torch.where(own.exists[:, None], own.vectors, buffered.vectors)
        start = Prototypes(vectors, own.exists | buffered.exists)
        final = propagate(
            objective.attention,
            start,
            edges.to(device),
            settings.own_weight,
            steps=settings.steps,
            normalisation=settings.normalisation,
        ).final.vectors
        candidates = final[torch.from_numpy(np.searchsorted(classes, fine)).to(device)]
        nearest = torch.cdist(embeddings[count:], candidates).argmin(dim=1)
        return float((nearest == targets.to(device)).float().mean())

    return check
