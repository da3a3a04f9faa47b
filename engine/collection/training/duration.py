"""How long training a backbone takes on this computer, measured before it begins by a step on made-up images."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from engine.collection.training.labelled import graph_arrays, labelled_images
from engine.collection.training.project_images import held_out_split, shape_for
from engine.collection.training.settings import BackboneSettings, Chosen, by_field, with_chosen
from engine.collection.training.starts import start_of
from engine.config import CacheFolders
from engine.project import Project
from engine.training.expected_time import TrainingDuration

if TYPE_CHECKING:
    from torch import nn

MOST_QUANTISED: Final = 200
"""Images that the eight-bit companion is made with, at most; leafnet's took as many (decision 21)."""
LOOKED_AT: Final = 5
"""Images of a class that make its prototype while training is watched."""

_TRIED: Final = 8
"""Images of the step that is timed."""
_ROUNDS: Final = 3
"""Timed steps, of which the fastest counts: the first one makes room, another may be disturbed."""
_READING_S: Final = 0.01
"""Of a photo of a camera, decoded small."""
_START_S: Final = 8.0
"""Until a process has loaded what training needs, and for the exports."""


@dataclass(frozen=True)
class Pace:
    """Seconds that a network takes for one image.

    Attributes:
        step_s: to learn from it.
        look_s: to embed it.
    """

    step_s: float
    look_s: float

    def ending_s(self, images: int) -> float:
        """From the last iteration to the end: the final prototypes, the companion, and the new version's figures."""
        return _START_S / 2 + self.look_s * (2 * images + 2 * min(images, MOST_QUANTISED))


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
    arrays = graph_arrays(project.graph, labelled.class_ids)
    kept, held_out = held_out_split(labelled, arrays, settings)
    counts = np.bincount(arrays.positions_of(labelled.class_ids[kept]), minlength=len(arrays.class_ids))
    shape = shape_for(counts[arrays.is_leaf], settings)
    coarse = np.minimum(counts[~arrays.is_leaf], settings.coarse_images).sum()
    network, _ = start.network(settings)
    pace = measured_pace(network, settings.side, settings.device)
    checked = len(held_out) + np.minimum(counts[arrays.is_leaf], LOOKED_AT).sum()
    count = len(labelled)
    return TrainingDuration(
        iteration_s=float(pace.step_s * (shape.ways * (shape.shots + shape.query_count) + coarse)),
        others_s=float(
            _START_S / 2 + count * (_READING_S + pace.look_s) + settings.points * checked * pace.look_s
        ) + pace.ending_s(count),
    )  # fmt: skip


def measured_pace(network: "nn.Module", side: int, device_name: str) -> Pace:
    """Time a network on made-up images of a side, in the arithmetic of the training; it moves to the device."""
    import torch

    from engine.training.arithmetic import device_of, number_type

    device = device_of(device_name)
    kind = number_type("auto", device)
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    was_training = network.training
    network.eval()  # statistics stay as they are
    images = torch.zeros(_TRIED, 3, side, side, device=device).contiguous(memory_format=torch.channels_last)
    pace = Pace(float("inf"), float("inf"))
    for _ in range(_ROUNDS):
        started_s = time.perf_counter()
        with torch.autocast(device.type, kind, enabled=kind != torch.float32):
            with torch.no_grad():
                network(images).sum().item()
            looked_s = time.perf_counter()
            loss = network(images).float().square().sum()
        torch.autograd.backward(loss)
        loss.item()
        pace = Pace(
            min(pace.step_s, (time.perf_counter() - looked_s) / _TRIED),
            min(pace.look_s, (looked_s - started_s) / _TRIED),
        )
    network.zero_grad(set_to_none=True)
    network.train(was_training)
    return pace
