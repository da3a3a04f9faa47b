"""The training loop of PPN and every baseline, each an `Objective`; resumes deterministically."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from engine.arrays import Integers, Pixels
from engine.errors import InputError, ModelError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.training import checkpoints
from engine.training.arithmetic import (
    Distribution,
    augmented_windows,
    device_of,
    keep_freed_memory,
    middle_windows,
    normalised,
    number_type,
    placed,
)
from engine.training.curve import CHECKPOINT_NAME, OnPoint, TrainingPoint, ignore_point
from engine.training.settings import TrainingSettings

Embed = Callable[[Integers], Tensor]
"""Embeds the images at (k,) positions of the training set, without gradient: (k, d) float32."""
EMBEDDING_BATCH = 256  # images embedded at a time for a refresh. Chosen: little memory.
SETTLING = 1_000_000_007  # in place of the iteration's number in a seed
SETTLING_BATCHES = 20  # batches that batch norms see before the first refresh (decision 88)
FREELY_CHANGED = frozenset({"device", "compiles", "checkpoint_interval", "point_interval"})
"""Settings that a resumed training may change."""

Validate = Callable[[Embed], float]


@dataclass(frozen=True)
class IterationDraw:
    """One iteration's data."""

    # (B,) int64, positions in the training set; rows of subclasses' fields refer to it
    images: Integers


class Objective(nn.Module, ABC):
    """A backbone, from images (B, 3, H, W) to embeddings (B, d), and the modules on top of it.

    All state is in parameters and registered buffers.

    Attributes:
        constants: what it was made with, by name; a checkpoint remembers them and goes on with the
            same only.
        refresh_interval: iterations between two calls of `refresh`, the first before the first
            iteration; 0 for never.
        precision: number type of the backbone's arithmetic; the loss is always computed in float32.
    """

    refresh_interval: int = 0

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.precision = torch.float32
        self.constants: Mapping[str, float | str | int | bool | None] = {}

    @abstractmethod
    def draw(self, generator: np.random.Generator) -> IterationDraw:
        """Draw the data of one iteration; all randomness comes from `generator`."""

    @abstractmethod
    def loss(self, embeddings: Tensor, draw: Any) -> Tensor:
        """Scalar float32 loss of embeddings (B, d) float32, a row for each image of the draw."""

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
        """Recompute what is too expensive for each iteration, from a sample or from all."""

    def forward(self, images: Tensor, draw: IterationDraw) -> Tensor:
        """Loss of images (B, 3, H, W) float32, normalised."""
        return self.loss(self.embed(images), draw)

    def embed(self, images: Tensor) -> Tensor:
        """Embeddings (B, d) float32 of images (B, 3, H, W) float32, computed in `precision`."""
        with torch.autocast(
            images.device.type, self.precision, enabled=self.precision != torch.float32
        ):
            embeddings: Tensor = self.backbone(images)
        return embeddings.float()


@dataclass(frozen=True)
class Outcome:
    """Outcome of a training."""

    iterations: int  # finished in all, also before a resume
    curve: tuple[TrainingPoint, ...]  # losses and accuracies on the way


def train(
    objective: Objective,
    pixels: Pixels,
    settings: TrainingSettings,
    run: Path | None = None,
    *,
    validate: Validate | None = None,
    on_point: OnPoint = ignore_point,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Outcome:
    """Train an objective, or go on where its checkpoint stopped.

    Every iteration draws from a generator of its own, seeded by the settings' seed and the
    iteration's number. So a checkpoint needs no generator's state, and a resumed training gives the
    numbers of an uninterrupted one: bit for bit where the arithmetic itself repeats, as on a CPU
    with as many threads. Under `torchrun`, each process draws its own iteration; gradients and the
    running statistics of batch norms are averaged over the processes. A checkpoint goes on with any
    number of them.

    Args:
        objective: trained in place; left on the training's device, in evaluation mode.
        pixels: (n, S, S, 3) uint8, which draws index; may be memory-mapped.
        run: folder of the checkpoint; none is written without it.
        validate: accuracy 0..1 on validation tasks, given a way to embed images; called at each
            point of the curve.
        cancel: stops it; the checkpoint of that moment stays, so that training can go on later.

    Raises:
        InputError: the images are smaller than the trained side, or the checkpoint has other
            settings.
        FormatError: the file in the checkpoint's place is torn or no checkpoint.
        ModelError: the checkpoint is of another architecture, or the loss is not a number.
        StorageError: a checkpoint cannot be written; the one before stays.
        Cancelled: `cancel` was set.
    """
    keep_freed_memory()
    with Distribution.of_environment(settings.device) as distribution:
        training = _Training(objective, pixels, settings, run=run, distribution=distribution)
        training.validate = validate
        training.on_point = on_point
        return training.run(on_progress, cancel or CancelToken())


def place(objective: Objective, settings: TrainingSettings) -> None:
    """Move an objective to the device and dtype of its training, to embed before it."""
    keep_freed_memory()
    device = device_of(settings.device)
    objective.precision = number_type(settings.precision, device)
    objective.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]


def embedder(objective: Objective, pixels: Pixels, side: int) -> Embed:
    """A function from positions (k,) to embeddings (k, d) of middle windows, without gradient."""

    @torch.no_grad()
    def embed(positions: Integers) -> Tensor:
        was_training = objective.training
        objective.eval()
        device = next(objective.parameters()).device
        blocks = [
            objective.embed(normalised(placed(middle_windows(pixels, part, side), device)))
            for part in np.array_split(positions, max(1, -(-len(positions) // EMBEDDING_BATCH)))
        ]
        objective.train(was_training)
        return torch.cat(blocks)

    return embed


@final
class _Training:
    """State of one training between iterations."""

    def __init__(
        self,
        objective: Objective,
        pixels: Pixels,
        settings: TrainingSettings,
        *,
        run: Path | None,
        distribution: Distribution,
    ) -> None:
        device = distribution.device if distribution.is_shared else device_of(settings.device)
        objective.precision = number_type(settings.precision, device)
        self.objective = objective.to(  # type: ignore[call-overload]
            device, memory_format=torch.channels_last
        )
        self.settings = settings
        self.validate: Validate | None = None
        self.on_point: OnPoint = ignore_point
        self._pixels = pixels
        self._device = device
        self._distribution = distribution
        self._path = None if run is None else run / CHECKPOINT_NAME
        self._optimizer = torch.optim.Adam(
            objective.parameters(),
            settings.learning_rate,
            betas=(settings.momentum, 0.999),
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self._embed = embedder(objective, pixels, settings.side)
        self._iteration = 0
        self._curve: list[TrainingPoint] = []
        self._losses: list[float] = []
        self._is_new = True
        if self._path is not None and self._path.exists():
            self._resume(self._path)

    def _resume(self, path: Path) -> None:
        self._is_new = False
        checkpoint = checkpoints.read(path)
        _require_same_settings(checkpoint.settings, self._remembered(), path)
        checkpoints.restore_module(self.objective, checkpoint)
        checkpoints.restore_optimizer(self.objective, self._optimizer, checkpoint)
        self._iteration = checkpoint.iteration
        self._curve = list(checkpoint.curve)
        self._losses = list(checkpoint.pending_losses)

    def run(self, on_progress: OnProgress, cancel: CancelToken) -> Outcome:
        total = self.settings.iterations
        meter = ProgressMeter(total, on_progress, unit="iterations", already_done=self._iteration)
        step = self._distribution.share(self.objective)
        if self.settings.compiles:
            self.objective.backbone.compile()
        self.objective.train()
        if self._is_new and has_statistics(self.objective):
            self._settle_statistics()
        while self._iteration < total:
            if cancel.is_cancelled:
                self._keep()
                cancel.raise_if_cancelled()
            self._losses.append(self._iterate(step))
            self._iteration += 1
            is_last = self._iteration == total
            if is_last or self._iteration % self.settings.point_interval == 0:
                self._add_point(is_last=is_last)
            if is_last or self._iteration % self.settings.checkpoint_interval == 0:
                self._keep()
            meter.advance()
        self.objective.eval()
        return Outcome(self._iteration, tuple(self._curve))

    @torch.no_grad()
    def _settle_statistics(self) -> None:
        """Initialise batch norms' statistics with the random network, for the first refresh."""
        generator = np.random.default_rng([self.settings.seed, SETTLING])
        for _ in range(SETTLING_BATCHES):
            positions = generator.choice(
                len(self._pixels), min(len(self._pixels), EMBEDDING_BATCH), replace=False
            )
            windows = middle_windows(self._pixels, np.sort(positions), self.settings.side)
            self.objective.embed(normalised(placed(windows, self._device)))

    def _iterate(self, step: Callable[..., Tensor]) -> float:
        interval = self.objective.refresh_interval
        if interval and self._iteration % interval == 0:
            self.objective.refresh(
                self._embed, np.random.default_rng([self.settings.seed, self._iteration])
            )
        generator = np.random.default_rng(
            [self.settings.seed, self._iteration, self._distribution.rank + 1]
        )
        draw = self.objective.draw(generator)
        images = augmented_windows(
            self._pixels,
            draw.images,
            self.settings.side,
            generator,
            augmentation=self.settings.augmentation,
            device=self._device,
        )
        self._optimizer.param_groups[0]["lr"] = self.settings.learning_rate_at(self._iteration)
        loss = step(images, draw)
        torch.autograd.backward(loss)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self._distribution.average_statistics(self.objective)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(
                "the loss is no longer a number, so training cannot continue",
                found="{value} in iteration {iteration}",
                remedy="train with a lower learning rate or in float32",
                value=value,
                iteration=self._iteration + 1,
            )
        return value

    def _add_point(self, *, is_last: bool) -> None:
        if is_last:  # buffers must match the final weights
            self.objective.refresh(self._embed)
        is_first = self._distribution.rank == 0  # one process validates, the others wait
        accuracy = self.validate(self._embed) if self.validate is not None and is_first else None
        point = TrainingPoint(self._iteration, float(np.mean(self._losses)), accuracy=accuracy)
        self._curve.append(point)
        self._losses.clear()
        self.on_point(point)

    def _remembered(self) -> dict[str, Any]:
        return {**asdict(self.settings), **self.objective.constants}

    def _keep(self) -> None:
        if self._path is not None and self._distribution.rank == 0:
            checkpoint = checkpoints.capture(
                self.objective,
                self._optimizer,
                iteration=self._iteration,
                curve=tuple(self._curve),
                pending_losses=tuple(self._losses),
                settings=self._remembered(),
            )
            checkpoints.write(checkpoint, self._path)


def has_statistics(network: torch.nn.Module) -> bool:
    """Whether a network has batch norms, which must see some images before the first refresh."""
    return any(
        isinstance(module, torch.nn.modules.batchnorm._BatchNorm)  # noqa: SLF001
        for module in network.modules()
    )


def _require_same_settings(found: Any, expected: dict[str, Any], path: Path) -> None:
    different = sorted(
        name
        for name in expected.keys() | found.keys()
        if expected.get(name) != found.get(name) and name not in FREELY_CHANGED
    )
    if different:
        name = different[0]
        raise InputError(
            "the checkpoint was trained with another {name}",
            expected=str(expected.get(name)),
            found="{value} in {path}",
            remedy="use the same settings to continue, or another folder to start over",
            name=name,
            value=found.get(name),
            path=path,
        )
