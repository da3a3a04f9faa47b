"""Work timed by the speed measurement: one iteration, or one test task."""

from collections.abc import Callable
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.model.backbone import Conv4
from engine.training import loop
from engine.training.arithmetic import Distribution, augmented_windows, device_of, number_type
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import IterationDraw, Objective, embedder
from engine.training.settings import TrainingSettings
from research.baselines.baseline import Baseline
from research.data_sets.stored import FewShotData
from research.methods import PPN_PLUS, MethodSettings
from research.testing.bench import Bench, EmbeddedTasks, test_images
from research.testing.propagation import LearnedPropagation, options_of, predict
from research.testing.tasks import draw_tasks

Timed = Callable[[], object]
"""Timed call."""


@final
class TrainingIteration:
    """An iteration of the training loop: draw, augment, forward, loss, backward, Adam; no refresh.

    Args:
        objective: goes to the training's device.
        pixels: (n, S, S, 3) uint8.
        settings: of the training.
    """

    def __init__(
        self, objective: Objective, pixels: NDArray[np.uint8], settings: TrainingSettings
    ) -> None:
        self._objective, self._pixels, self._settings = objective, pixels, settings
        objective.refresh_interval = 0
        if settings.compiles:
            objective.backbone.compile()
        distribution = Distribution(device_of(settings.device))
        self._training = loop._Training(  # noqa: SLF001 (the loop's own iteration shall be timed, not a copy)
            objective, pixels, settings, run=None, distribution=distribution
        )

    def draw(self, number: int) -> tuple[IterationDraw, np.random.Generator]:
        """Draw of the iteration, and the generator for its augmentation."""
        generator = np.random.default_rng([self._settings.seed, number, 1])
        return self._objective.draw(generator), generator

    def images(self, number: int) -> Tensor:
        """Images (B, 3, side, side) float32 of the iteration, channels last in memory."""
        draw, generator = self.draw(number)
        settings = self._settings
        return augmented_windows(
            self._pixels, draw.images, settings.side, generator, augmentation=settings.augmentation
        )

    def prepared(self, number: int) -> Timed:
        """Set the loop to an iteration."""
        self._objective.train()
        self._training._iteration = number  # noqa: SLF001 (so that each round draws anew)
        return lambda: self._training._iterate(self._objective)  # noqa: SLF001


@final
class BareIteration:
    """Forward, backward and Adam of Conv4 alone; its loss is the mean square of the embeddings.

    Args:
        settings: of the training; its precision and device count, and whether it compiles.
        images: gives the images of an iteration.
        is_tuned: channels last in memory and the fused Adam, as in the loop; else the defaults.
    """

    def __init__(
        self, settings: TrainingSettings, images: Callable[[int], Tensor], *, is_tuned: bool
    ) -> None:
        self._device = device_of(settings.device)
        self._precision = number_type(settings.precision, self._device)
        self._layout = torch.channels_last if is_tuned else torch.contiguous_format
        self._images = images
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            self._backbone: nn.Module = Conv4(settings.side)
        self._backbone.to(self._device, memory_format=self._layout)  # type: ignore[call-overload]
        if settings.compiles:
            self._backbone.compile()
        self._optimizer = torch.optim.Adam(
            self._backbone.parameters(),
            settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True if is_tuned else None,
        )

    def prepared(self, number: int) -> Timed:
        """Bring the images of an iteration to the device, decoded and normalised."""
        images = self._images(number).to(self._device).contiguous(memory_format=self._layout)
        return lambda: self._iterate(images)

    def _iterate(self, images: Tensor) -> None:
        with torch.autocast(
            self._device.type, self._precision, enabled=self._precision != torch.float32
        ):
            embeddings: Tensor = self._backbone(images)
        torch.autograd.backward(embeddings.float().square().mean())
        self._optimizer.step()
        self._optimizer.zero_grad()


@final
class TestTask:
    """One test task: its images are embedded, then its queries classified.

    Args:
        row: of the table.
        data: the data set.
        objective: of the row; on its device.
        settings: the row's.
    """

    __test__ = False  # pytest takes a class of this name for a test

    def __init__(
        self, row: str, data: FewShotData, objective: Objective, settings: MethodSettings
    ) -> None:
        self._data, self._objective, self._shape = data, objective, settings.shape
        self._embed = embedder(objective, data.pixels, settings.training.side)
        self._bench = Bench(data, self._embed)
        self._options = options_of(settings.propagation, knows_edges=row == PPN_PLUS)
        self._seed = settings.training.seed
        self._trained = (
            LearnedPropagation.of(objective)
            if isinstance(objective, PrototypePropagation)
            else None
        )

    def prepared(self, number: int) -> Timed:
        """Draw a task."""
        shape = self._shape
        tasks = draw_tasks(
            test_images(self._data), ways=shape.ways, shots=shape.shots, count=1, seed=number
        )
        images = np.concatenate([tasks.support.ravel(), tasks.queries.ravel()])

        def classify() -> None:
            embeddings = self._embed(images).cpu()
            support, queries = embeddings[: tasks.support.size], embeddings[tasks.support.size :]
            self._classify(
                EmbeddedTasks(tasks, support.reshape(*tasks.support.shape, -1), queries[None])
            )

        return classify

    def _classify(self, embedded: EmbeddedTasks) -> None:
        if self._trained is not None:
            predict(self._bench, embedded, self._trained, self._options)
            return
        assert isinstance(self._objective, Baseline), "every method is PPN or a baseline"
        self._objective.predict(embedded.support.numpy(), embedded.queries.numpy(), seed=self._seed)


@final
class Refresh:
    """A refresh of the buffer from all images of the training set.

    Args:
        objective: PPN, on its device.
        pixels: (n, S, S, 3) uint8.
        side: of embedded images.
    """

    def __init__(
        self, objective: PrototypePropagation, pixels: NDArray[np.uint8], side: int
    ) -> None:
        self._objective = objective
        self._embed = embedder(objective, pixels, side)

    def prepared(self, _number: int) -> Timed:
        """Nothing to prepare."""
        return lambda: self._objective.buffer.refresh(self._embed)
