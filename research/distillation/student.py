"""Training of the student: match the teacher's similarities among photos."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.training.arithmetic import keep_freed_memory, normalised, number_type
from engine.training.thawed.network import ThawedNetwork

FROZEN_SHARE = 0.44
"""Share of leafnet's layers that are frozen: its first two stages, of colour and texture."""
REPORTED = 50
"""Iterations between two reports."""
_FIRST_PHOTOS = 2500
"""Photos that the linear map is fitted to before the training."""
_EMBEDDED = 64
"""Photos embedded at once. Chosen: little memory."""
_RIDGE = 0.03
_LARGEST_SLOPE = 5.0
_CONTRAST = 0.15
_BRIGHTNESS = 0.1
"""Largest changes of contrast, and of a channel's brightness in standard deviations."""
_ITSELF = -1e4
_SETTLING = 10


@dataclass(frozen=True)
class DistillationSettings:
    """Constants of the recipe.

    Attributes:
        iterations: batches.
        batch: photos in each.
        sides: of the student's images, each for the same share of the iterations.
        learning_rate: peak, of the convolutions; linear warm-up, cosine to zero.
        head_rate: the same of the affine map behind them and of the map to the teacher's
            embeddings.
        teacher_sharpness, student_sharpness: temperature of the softmax over cosines.
        averaging: decay of the weight average that is exported.
    """

    iterations: int = 2000
    batch: int = 128
    sides: tuple[int, ...] = (64, 96)
    learning_rate: float = 3e-4
    head_rate: float = 1e-3
    warm_up_share: float = 0.05
    weight_decay: float = 0.01
    teacher_sharpness: float = 0.05
    student_sharpness: float = 0.07
    averaging: float = 0.995
    seed: int = 0


@dataclass(frozen=True)
class Losses:
    """Means since the last report.

    Attributes:
        iteration: finished.
        similarity: divergence between the similarity distributions of teacher and student in a
            batch, in nats.
        missed: 1 - cosine between the teacher's embeddings and their linear prediction.
    """

    iteration: int
    similarity: float
    missed: float


def similarity_loss(student: Tensor, teacher: Tensor, settings: DistillationSettings) -> Tensor:
    """Divergence between the similarity distributions of student and teacher over a batch.

    Source: Fang et al. (SEED), ICLR 2021, with the batch in place of a queue.

    Args:
        student: (B, d) float, of length 1.
        teacher: (B, D) float, of length 1.
        settings: for the sharpness.
    """
    itself = torch.eye(len(student), dtype=torch.bool)
    theirs = (
        (teacher @ teacher.T / settings.teacher_sharpness)
        .masked_fill(itself, _ITSELF)
        .softmax(dim=1)
    )
    ours = (
        (student @ student.T / settings.student_sharpness)
        .masked_fill(itself, _ITSELF)
        .log_softmax(dim=1)
    )
    return nn.functional.kl_div(ours, theirs, reduction="batchmean")


def distil(
    network: ThawedNetwork,
    pixels: NDArray[np.uint8],
    teacher: NDArray[np.float32],
    settings: DistillationSettings,
    on_report: Callable[[Losses], None],
) -> None:
    """Train a network in place.

    Args:
        network: maps images, normalised, to embeddings (B, d).
        pixels: (n, S, S, 3) uint8, n at least the size of a batch; resized to the settings' sides.
        teacher: (n, D), the teacher's embeddings of the same photos, of length 1.
        settings: constants.
        on_report: called with the losses regularly.
    """
    keep_freed_memory()
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    targets = torch.from_numpy(teacher)
    to_teacher = _linear_map(_embedded(network, pixels[:_FIRST_PHOTOS]), targets[:_FIRST_PHOTOS])
    optimizer = torch.optim.AdamW(
        _groups(network, to_teacher, settings), weight_decay=settings.weight_decay
    )
    peaks = [group["lr"] for group in optimizer.param_groups]
    trained = [weight for weight in network.weights if weight.requires_grad]
    average = [weight.detach().clone() for weight in trained]
    losses: list[tuple[float, float]] = []
    for iteration in range(settings.iterations):
        progress = iteration / settings.iterations
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * _one_cycle(progress, settings.warm_up_share)
        chosen = generator.permutation(len(pixels))[: settings.batch]
        side = settings.sides[int(progress * len(settings.sides))]
        embeddings = _unit(network, augmented(pixels[chosen], side, generator))
        similarity = similarity_loss(embeddings, targets[chosen], settings)
        missed = 1 - nn.functional.cosine_similarity(to_teacher(embeddings), targets[chosen]).mean()
        optimizer.zero_grad()
        torch.autograd.backward(similarity + missed)
        nn.utils.clip_grad_norm_(trained, _LARGEST_SLOPE)
        optimizer.step()
        _move(average, trained, 1 - min(settings.averaging, iteration / (iteration + _SETTLING)))
        losses.append((similarity.item(), missed.item()))
        if len(losses) == REPORTED or iteration + 1 == settings.iterations:
            on_report(Losses(iteration + 1, *np.mean(losses, axis=0).tolist()))
            losses = []
    _move(trained, average, 1.0)


def augmented(pixels: NDArray[np.uint8], side: int, generator: np.random.Generator) -> Tensor:
    """Random flips and brightness: (B, 3, side, side) float32, normalised, channels last."""
    count = len(pixels)
    images = normalised(torch.from_numpy(pixels))
    flips = torch.from_numpy(generator.random(count) < 0.5)[:, None, None, None]  # noqa: PLR2004 (heads or tails)
    contrast = torch.from_numpy(
        generator.uniform(1 - _CONTRAST, 1 + _CONTRAST, (count, 1, 1, 1))
    ).float()
    brightness = torch.from_numpy(
        generator.uniform(-_BRIGHTNESS, _BRIGHTNESS, (count, 3, 1, 1))
    ).float()
    images = torch.where(flips, images.flip(3), images) * contrast + brightness
    if images.shape[-1] != side:
        images = nn.functional.interpolate(images, (side, side), mode="bilinear", antialias=True)
    return images.contiguous(memory_format=torch.channels_last)


def _unit(network: nn.Module, images: Tensor) -> Tensor:
    precision = number_type("auto", images.device)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == torch.bfloat16):
        embeddings = network(images)
    return nn.functional.normalize(embeddings.float(), dim=1)


@torch.no_grad()
def _embedded(network: nn.Module, pixels: NDArray[np.uint8]) -> Tensor:
    parts = [pixels[start : start + _EMBEDDED] for start in range(0, len(pixels), _EMBEDDED)]
    return torch.cat([_unit(network, normalised(torch.from_numpy(part))) for part in parts])


@torch.no_grad()
def _linear_map(embeddings: Tensor, targets: Tensor) -> nn.Linear:
    """Ridge regression from the student's embeddings to the teacher's."""
    inputs = torch.cat([embeddings, torch.ones(len(embeddings), 1)], dim=1)
    ridge = _RIDGE * len(inputs) / embeddings.shape[1] * torch.eye(inputs.shape[1])
    solution = torch.linalg.solve(inputs.T @ inputs + ridge, inputs.T @ targets).T
    found = nn.Linear(embeddings.shape[1], targets.shape[1])
    found.weight.copy_(solution[:, :-1])
    assert found.bias is not None
    found.bias.copy_(solution[:, -1])
    return found


def _groups(
    network: ThawedNetwork, to_teacher: nn.Linear, settings: DistillationSettings
) -> list[dict[str, Any]]:
    """Parameter groups: convolutions, and the layers after them."""
    trained = [weight for weight in network.weights if weight.requires_grad]
    head, body = trained[-2:], trained[:-2]
    return [
        {"params": body, "lr": settings.learning_rate},
        {"params": [*head, *to_teacher.parameters()], "lr": settings.head_rate},
    ]


@torch.no_grad()
def _move(ours: Sequence[Tensor], theirs: Sequence[Tensor], share: float) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        mine.lerp_(other, share)


def _one_cycle(progress: float, warm_up_share: float) -> float:
    if progress < warm_up_share:
        return progress / warm_up_share
    return 0.5 * (1 + math.cos(math.pi * (progress - warm_up_share) / (1 - warm_up_share)))
