"""Test procedure of Closer Look: fit cosine classifiers to the support sets of many tasks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from research.baselines.cosine_classifier import COSINE_SCALE, cosine_scores, normalised


@dataclass(frozen=True)
class FittingSettings:
    """Settings of fitting a classifier to a support set; all values are those of the authors' code.

    Attributes:
        epochs: passes over the support set.
        batch_size: support images of a step; the last step of an epoch takes the rest.
        learning_rate: of stochastic gradient descent.
        momentum: of stochastic gradient descent.
        dampening: of the momentum.
        weight_decay: on directions and lengths.
    """

    epochs: int = 100
    batch_size: int = 4
    learning_rate: float = 0.01
    momentum: float = 0.9
    dampening: float = 0.9
    weight_decay: float = 0.001


@dataclass(frozen=True)
class FittingDraw:
    """The randomness of fitting T tasks.

    Attributes:
        directions: (T, N, d) float32, initial directions of the classes.
        orders: (T, epochs, N * k) int64, the order of the support images in each epoch.
    """

    directions: NDArray[np.float32]
    orders: NDArray[np.int64]


def draw_fitting(
    support_shape: torch.Size, epochs: int, generators: Sequence[np.random.Generator]
) -> FittingDraw:
    """Draw initial weights, as of a linear layer, and the order of the support images.

    Args:
        support_shape: (T, N, k, d).
        epochs: passes over the support set.
        generators: one for each of T tasks.

    Returns:
        The draw; a task's part depends on its own generator only.
    """
    _, ways, shots, width = support_shape
    bound = 1.0 / math.sqrt(width)
    directions = [generator.uniform(-bound, bound, (ways, width)) for generator in generators]
    in_order: NDArray[np.int64] = np.tile(np.arange(ways * shots), (epochs, 1))
    orders = [generator.permuted(in_order, axis=1) for generator in generators]
    return FittingDraw(np.stack(directions).astype(np.float32), np.stack(orders))


def fitted_scores(
    support: Tensor,
    queries: Tensor,
    draw: FittingDraw,
    settings: FittingSettings,
    *,
    scale: float = COSINE_SCALE,
) -> Tensor:
    """Fit a cosine classifier to each task and score the queries.

    Gradient descent stays in the span of support embeddings and initial directions, and does not
    depend on the axes of that space. So fitting runs in coordinates of an orthonormal basis: the
    result is the same, with N * k + N numbers for a class instead of d.

    Args:
        support: (T, N, k, d) float32.
        queries: (T, q, d) float32.
        draw: initial weights and order of the images.
        settings: constants.
        scale: factor on all scores.

    Returns:
        (T, q, N) float32.
    """
    tasks, ways, shots, width = support.shape
    images = normalised(support.reshape(tasks, ways * shots, width))
    initial = torch.from_numpy(draw.directions).to(support.device)
    basis, coordinates = torch.linalg.qr(torch.cat([images, initial], dim=1).transpose(1, 2))
    orders = torch.from_numpy(draw.orders).to(support.device)
    rows = coordinates.transpose(1, 2)
    directions, lengths = _fit(
        rows[:, : ways * shots], rows[:, ways * shots :], orders, settings, scale
    )
    return cosine_scores(normalised(queries) @ basis, directions, lengths, scale)


@torch.enable_grad()
def _fit(
    images: Tensor, directions: Tensor, orders: Tensor, settings: FittingSettings, scale: float
) -> tuple[Tensor, Tensor]:
    tasks, count, width = images.shape
    ways = directions.shape[1]
    directions = directions.detach().clone().requires_grad_()
    lengths = torch.linalg.vector_norm(directions.detach(), dim=2).requires_grad_()
    descent = torch.optim.SGD(
        [directions, lengths],
        settings.learning_rate,
        momentum=settings.momentum,
        dampening=settings.dampening,
        weight_decay=settings.weight_decay,
    )
    targets = torch.arange(count, device=images.device) // (count // ways)
    for epoch in range(settings.epochs):
        for first in range(0, count, settings.batch_size):
            places = orders[:, epoch, first : first + settings.batch_size]
            batch = images.gather(1, places[:, :, None].expand(-1, -1, width))
            scores = cosine_scores(batch, directions, lengths, scale)
            loss = functional.cross_entropy(scores.flatten(0, 1), targets[places].flatten())
            descent.zero_grad()
            # The mean over all tasks, times their number: the gradient of each task is that of the
            # task alone.
            (loss * tasks).backward()  # type: ignore[no-untyped-call]
            descent.step()
    return directions.detach(), lengths.detach()
