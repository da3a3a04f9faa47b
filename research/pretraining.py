"""Supervised pretraining of a backbone on a labelled image set."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from engine.training.arithmetic import keep_freed_memory

# Of ImageNet's red, green and blue, in [0, 1], as for torchvision's networks.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class PretrainingImages:
    """Decoded images: `pixels` (N, H, W, 3) uint8, `targets` (N,) int64, `class_names`."""

    pixels: NDArray[np.uint8]
    targets: NDArray[np.int64]
    class_names: tuple[str, ...]


@dataclass(frozen=True)
class PretrainingSettings:
    """Settings of the recipe.

    Attributes:
        stages: (epochs, image side in pixels) pairs, small images first.
        learning_rate: peak of a one-cycle schedule (linear warm-up, cosine to zero).
        ancestor_weight: of the loss of ancestor classes (`AncestorLoss`).
        averaging: decay of the weight average that is evaluated and saved.
    """

    stages: tuple[tuple[int, int], ...] = ((6, 40), (5, 52), (5, 64))
    batch_size: int = 128
    learning_rate: float = 0.15
    warm_up_share: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 5e-4
    label_smoothing: float = 0.1
    ancestor_weight: float = 0.0
    averaging: float = 0.998
    seed: int = 0


def read_class_folders(folder: Path, side: int) -> PretrainingImages:
    """Decode a folder of class folders into one array of `side` x `side` RGB images."""
    class_names = tuple(sorted(path.name for path in folder.iterdir() if path.is_dir()))
    pixels, targets = [], []
    for target, name in enumerate(class_names):
        for path in sorted((folder / name).rglob("*.*")):
            with Image.open(path) as image:
                pixels.append(np.asarray(image.convert("RGB").resize((side, side))))
            targets.append(target)
    return PretrainingImages(np.stack(pixels), np.array(targets, dtype=np.int64), class_names)


def augment(pixels: Tensor, side: int) -> Tensor:
    """Random resized crop, flip and colour shift for a batch.

    Args:
        pixels: (B, H, W, 3) uint8.
        side: output side in pixels.

    Returns:
        (B, 3, side, side) float, normalised, channels last in memory.
    """
    count = len(pixels)
    images = _normalised(pixels)
    area = torch.empty(count).uniform_(0.3, 1.0)
    aspect = torch.empty(count).uniform_(math.log(3 / 4), math.log(4 / 3)).exp()
    width = (area * aspect).sqrt().clamp(max=1.0)
    height = (area / aspect).sqrt().clamp(max=1.0)
    flip = torch.randint(0, 2, (count,)) * 2.0 - 1.0
    transform = torch.zeros(count, 2, 3)
    transform[:, 0, 0] = width * flip
    transform[:, 1, 1] = height
    transform[:, 0, 2] = (torch.rand(count) * 2 - 1) * (1 - width)
    transform[:, 1, 2] = (torch.rand(count) * 2 - 1) * (1 - height)
    grid = nn.functional.affine_grid(transform, [count, 3, side, side], align_corners=False)
    crops = nn.functional.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
    contrast = torch.empty(count, 1, 1, 1).uniform_(0.7, 1.3)
    shift = torch.empty(count, 3, 1, 1).uniform_(-0.25, 0.25)
    return (crops * contrast + shift).contiguous(memory_format=torch.channels_last)


def _normalised(pixels: Tensor) -> Tensor:
    images = pixels.permute(0, 3, 1, 2).float() / 255
    mean, std = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_STD)
    return (images - mean[:, None, None]) / std[:, None, None]


def _moving_average(decay: float) -> Callable[..., None]:
    average: Callable[..., None] = torch.optim.swa_utils.get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
    return average


def _one_cycle(progress: float, warm_up_share: float) -> float:
    if progress < warm_up_share:
        return progress / warm_up_share
    return 0.5 * (1 + math.cos(math.pi * (progress - warm_up_share) / (1 - warm_up_share)))


def _batches(
    images: PretrainingImages, settings: PretrainingSettings
) -> Iterator[tuple[int, int, Tensor, Tensor]]:
    """Yield (epoch, side, pixels, targets) over all stages."""
    generator = torch.Generator().manual_seed(settings.seed)
    pixels, targets = torch.from_numpy(images.pixels), torch.from_numpy(images.targets)
    epoch = 0
    for epochs, side in settings.stages:
        for _ in range(epochs):
            order = torch.randperm(len(targets), generator=generator)
            for start in range(0, len(order) - settings.batch_size + 1, settings.batch_size):
                chosen = order[start : start + settings.batch_size]
                yield epoch, side, pixels[chosen], targets[chosen]
            epoch += 1


class AncestorLoss(nn.Module):
    """Cross entropy of the class, plus that of the coarse classes above it.

    The probability of a coarse class is the sum over the classes below it; the loss is the mean of
    -log of those above the true class.

    Args:
        ancestors: (K, A) float, 1 where class a is above class k.
        weight: of the coarse part.
        label_smoothing: of the fine part.
    """

    def __init__(self, ancestors: Tensor, weight: float, label_smoothing: float) -> None:
        super().__init__()
        self.fine = nn.CrossEntropyLoss(label_smoothing=label_smoothing)
        self.ancestors, self.weight = ancestors, weight

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Loss of scores (B, K) float for targets (B,) int64."""
        loss: Tensor = self.fine(scores, targets)
        if self.weight == 0:
            return loss
        above = self.ancestors[targets]
        surprise = -(scores.float().softmax(dim=1) @ self.ancestors).clamp(min=1e-6).log()
        return (
            loss
            + self.weight * ((surprise * above).sum(dim=1) / above.sum(dim=1).clamp(min=1)).mean()
        )


def pretrain(
    backbone: nn.Module,
    images: PretrainingImages,
    settings: PretrainingSettings,
    *,
    embedding_width: int,
    on_epoch: Callable[[int, float, nn.Module, float], None],
    ancestors: Tensor | None = None,
) -> None:
    """Train `backbone` with a linear head; `on_epoch(epoch, loss, averaged, images_per_s)`.

    `averaged` is the weight-averaged `nn.Sequential(backbone, head)`. Arithmetic is bf16 autocast
    on channels-last images. `ancestors` is that of `AncestorLoss`.
    """
    keep_freed_memory()
    torch.manual_seed(settings.seed)
    classes = len(images.class_names)
    head = nn.Sequential(nn.BatchNorm1d(embedding_width), nn.Linear(embedding_width, classes))
    model = nn.Sequential(backbone, head).to(memory_format=torch.channels_last)
    averaged = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=_moving_average(settings.averaging), use_buffers=True
    )
    optimizer = torch.optim.SGD(
        model.parameters(),
        settings.learning_rate,
        settings.momentum,
        weight_decay=settings.weight_decay,
        nesterov=True,
    )
    above = torch.zeros(classes, 0) if ancestors is None else ancestors
    loss_of = AncestorLoss(above, settings.ancestor_weight, settings.label_smoothing)
    iterations_per_epoch = len(images.targets) // settings.batch_size
    total = iterations_per_epoch * sum(epochs for epochs, _ in settings.stages)
    losses: list[float] = []
    started = time.monotonic()
    for iteration, (epoch, side, pixels, targets) in enumerate(_batches(images, settings)):
        rate = settings.learning_rate * _one_cycle((iteration + 1) / total, settings.warm_up_share)
        optimizer.param_groups[0]["lr"] = rate
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(model(augment(pixels, side)), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        averaged.update_parameters(model)
        losses.append(loss.item())
        if len(losses) == iterations_per_epoch:
            images_per_s = iterations_per_epoch * settings.batch_size / (time.monotonic() - started)
            on_epoch(epoch, float(np.mean(losses)), averaged.module, images_per_s)
            losses, started = [], time.monotonic()


@torch.no_grad()
def embed(
    backbone: nn.Module, images: PretrainingImages, batch_size: int = 250
) -> NDArray[np.float32]:
    """Embeddings (n, d) of all images, in evaluation mode."""
    backbone.eval()
    blocks = []
    for start in range(0, len(images.targets), batch_size):
        pixels = torch.from_numpy(images.pixels[start : start + batch_size])
        blocks.append(
            backbone(_normalised(pixels).contiguous(memory_format=torch.channels_last))
            .float()
            .numpy()
        )
    return np.concatenate(blocks)


@torch.no_grad()
def accuracy(model: nn.Module, images: PretrainingImages, batch_size: int = 250) -> float:
    """Share of `images` whose top class is right; leaves `model` in training mode."""
    model.eval()
    hits = 0
    for start in range(0, len(images.targets), batch_size):
        pixels = torch.from_numpy(images.pixels[start : start + batch_size])
        scores = model(_normalised(pixels).contiguous(memory_format=torch.channels_last))
        hits += int((scores.argmax(1).numpy() == images.targets[start : start + batch_size]).sum())
    model.train()
    return hits / len(images.targets)
