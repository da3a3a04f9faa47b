"""How long training a backbone takes on this computer, measured before it begins by a step on made-up images."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.training.labelled import GraphArrays, TrainingLabels, graph_arrays, labelled_images
from engine.collection.training.project_images import held_out_split, training_set_of
from engine.collection.training.settings import BackboneSettings, Chosen, by_field, with_chosen
from engine.collection.training.starts import start_of
from engine.config import CacheFolders
from engine.errors import ImageError, InputError
from engine.images.decode import read_rgb
from engine.images.pixels import square
from engine.project import Project
from engine.training.curve import TrainingDuration

if TYPE_CHECKING:
    import torch
    from torch import nn

MOST_QUANTISED: Final = 200
"""Images that the eight-bit companion is made with, at most; leafnet's took as many (decision 21)."""
LOOKED_AT: Final = 5
"""Images of a class that make its prototype while training is watched."""

_WARMING: Final = 8
"""Images of the step that makes room, before anything is timed."""
_LOOKED: Final = 32
"""Images that are embedded for the time; so many at once take as long each as in a training."""
_MEASURED_S: Final = 2.0
_MOST_ROUNDS: Final = 10
"""A quick network is timed for so long, in so many rounds at most: their mean counts, also what disturbs them."""
_DRAWS: Final = 20
"""Iterations that are drawn to know how many images one takes."""
_READ: Final = 8
"""Labelled images that are read for the time."""
_BEGINNING_S: Final = 6.0
"""Until a process has loaded what training needs, and the network is ready. Measured, as the next two."""
_SAVING_S: Final = 5.0
"""For the checkpoints, the exports and the new version."""
_STEP_MORE: Final = 1.05
"""How much longer an iteration takes than the network's own arithmetic: the draw, the crops, the optimiser."""


@dataclass(frozen=True)
class Pace:
    """Seconds that a network takes."""

    step_s: float  # to learn from the images of an iteration
    look_s: float  # to embed an image


def ending_s(look_s: float, images: int) -> float:
    """From the last iteration to the end: the final prototypes, the companion, and the new version's figures."""
    return _SAVING_S + look_s * (2 * images + 2 * min(images, MOST_QUANTISED))


def estimate_duration(project: Project, caches: CacheFolders, chosen: Chosen | None = None) -> TrainingDuration:
    """Measure how long training a backbone on a project's labels would take here and now.

    Args:
        project: may be open for reading only.
        caches: where files of trained versions are.
        chosen: settings by name, see `BackboneSettings`.

    Raises:
        InputError: nothing is labelled, or a setting is wrong.
        ModelError: training cannot go on from the backbone.
    """
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
    looks = 2 * len(kept) + (settings.points + 1) * checked + _settling_images(network, count)
    reading_s = count * _mean_reading_s(project, labelled, start.stored_side(settings.side))
    return TrainingDuration(
        iteration_s=_STEP_MORE * pace.step_s,
        others_s=float(_BEGINNING_S + reading_s + looks * pace.look_s + ending_s(pace.look_s, count)),
    )


def _settling_images(network: "nn.Module", count: int) -> int:
    """Images that batch norms see first, where there are any."""
    from engine.training.loop import EMBEDDING_BATCH, SETTLING_BATCHES, has_statistics

    return SETTLING_BATCHES * min(count, EMBEDDING_BATCH) if has_statistics(network) else 0


def _mean_reading_s(project: Project, labelled: TrainingLabels, side: int) -> float:
    """Mean seconds to decode some of the images; those that cannot be read cost little."""
    paths = [labelled.paths[row] for row in np.linspace(0, len(labelled) - 1, min(_READ, len(labelled))).astype(int)]
    started_s = time.perf_counter()
    for path in paths:
        with suppress(ImageError):
            square(read_rgb(project.path.parent / path, smallest_side=side), side)
    return (time.perf_counter() - started_s) / len(paths)


def _images_of_an_iteration(arrays: GraphArrays, positions: NDArray[np.int64], settings: BackboneSettings) -> float:
    """The mean over some drawn iterations; what is asked for, where too little is labelled to draw one."""
    from engine.training.level_wise import LevelWiseSampler

    training_set, shape = training_set_of(arrays, positions, np.zeros((0, 1, 1, 3), dtype=np.uint8), settings)
    try:
        sampler = LevelWiseSampler(training_set, shape)
    except InputError:
        return float(shape.ways * (shape.shots + shape.query_count))
    generator = np.random.default_rng(settings.seed)
    return float(np.mean([len(sampler.draw(generator).images) for _ in range(_DRAWS)]))


def measured_pace(network: "nn.Module", side: int, device_name: str, *, images: int) -> Pace:
    """Time a network on made-up images of a side, in the arithmetic of the training; it moves to the device.

    Args:
        network: that is trained; its weights and statistics stay as they are.
        side: of the images.
        device_name: "auto", "cpu" or "cuda".
        images: of an iteration: a network that takes them in pieces is slower with more than one.
    """
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

    return torch.zeros(count, 3, side, side, device=device).contiguous(memory_format=torch.channels_last)


def _mean_time_s(work: Callable[[], object]) -> float:
    """Mean seconds of some rounds."""
    started_s = now_s = time.perf_counter()
    rounds = 0
    while rounds < _MOST_ROUNDS and (now_s - started_s < _MEASURED_S):
        work()
        rounds, now_s = rounds + 1, time.perf_counter()
    return (now_s - started_s) / rounds
