"""Closer Look (Chen et al., ICLR 2019), Baseline++: a cosine classifier, fitted again per task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.errors import InputError
from engine.training.loop import IterationDraw
from engine.training.training_set import LEAST_CLASSES, Positions, TrainingSet
from research.baselines.baseline import Baseline
from research.baselines.cosine_classifier import COSINE_SCALE, CosineClassifier
from research.baselines.task_fitting import FittingSettings, draw_fitting, fitted_scores


@dataclass(frozen=True)
class CloserLookSettings:
    """The constants of Closer Look.

    Attributes:
        batch_size: images of few-shot classes in an iteration; 16 in the authors' code, more here
            because the whole table is trained for as many iterations as PPN, whose iterations hold
            about that many.
        coarse_batch_size: images of the coarse classes of each level in an iteration of the `*`
            variant.
        scale: factor on the cosine; 2 in the authors' code for up to 200 classes.
        fitting: how a classifier is fitted to a support set.
    """

    batch_size: int = 128
    coarse_batch_size: int = 32
    scale: float = COSINE_SCALE
    fitting: FittingSettings = field(default_factory=FittingSettings)


@dataclass(frozen=True)
class LevelBatch:
    """Images of the classes of one level.

    Attributes:
        rows: (b,) int64, rows of the draw's images.
        targets: (b,) int64, the position of each image's class among the classes of the level that
            have images.
    """

    rows: Positions
    targets: Positions


@dataclass(frozen=True)
class CloserLookDraw(IterationDraw):
    """Images of one iteration.

    Attributes:
        batches: one for each level that is trained, the few-shot classes first.
    """

    batches: tuple[LevelBatch, ...]


@dataclass(frozen=True)
class _Level:
    images: Positions
    targets: Positions
    class_count: int
    batch_size: int


@final
class CloserLook(Baseline):
    """Cosine classifier over all few-shot classes; `*` adds one for the coarse classes per level.

    Paper: section 4. "*" sums the levels' cross entropies, each over all classes of the level that
    have images. Images of a batch are drawn evenly from all images of the level, as from a shuffled
    list.

    Args:
        backbone: maps images (B, 3, H, W) to embeddings (B, d).
        embedding_width: d.
        training_set: images and graph.
        settings: constants.
        level_wise: True for the `*` variant.
        seed: of the initial weights.

    Raises:
        InputError: fewer than two few-shot classes have images.
    """

    tasks_at_once = 200

    def __init__(
        self,
        backbone: nn.Module,
        embedding_width: int,
        training_set: TrainingSet,
        settings: CloserLookSettings | None = None,
        *,
        level_wise: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(backbone)
        self.settings = settings or CloserLookSettings()
        self._levels = tuple(_levels(training_set, self.settings, level_wise=level_wise))
        generator = torch.Generator().manual_seed(seed)
        self.classifiers = nn.ModuleList(
            CosineClassifier(
                embedding_width, level.class_count, generator, scale=self.settings.scale
            )
            for level in self._levels
        )

    def draw(self, generator: np.random.Generator) -> CloserLookDraw:
        """Draw a batch of each level, without replacement."""
        images: list[Positions] = []
        batches: list[LevelBatch] = []
        first = 0
        for level in self._levels:
            count = min(level.batch_size, len(level.images))
            chosen = generator.choice(len(level.images), count, replace=False)
            images.append(level.images[chosen])
            batches.append(LevelBatch(np.arange(first, first + count), level.targets[chosen]))
            first += count
        return CloserLookDraw(np.concatenate(images), tuple(batches))

    def loss(self, embeddings: Tensor, draw: CloserLookDraw) -> Tensor:
        """Sum over the levels of the mean cross entropy of their images.

        Args:
            embeddings: (B, d) float32.
            draw: the corresponding draw.

        Returns:
            Scalar float32, at least 0.
        """
        losses = []
        for classifier, batch in zip(self.classifiers, draw.batches, strict=True):
            rows, targets = (
                torch.from_numpy(part).to(embeddings.device) for part in (batch.rows, batch.targets)
            )
            losses.append(functional.cross_entropy(classifier(embeddings[rows]), targets))
        return torch.stack(losses).sum()

    def scores(
        self, support: Tensor, queries: Tensor, generators: Sequence[np.random.Generator]
    ) -> Tensor:
        """Scores of classifiers fitted to the support sets; shapes as in `Baseline.scores`."""
        fitting = self.settings.fitting
        draw = draw_fitting(support.shape, fitting.epochs, generators)
        return fitted_scores(support, queries, draw, fitting, scale=self.settings.scale)


def _levels(
    training_set: TrainingSet, settings: CloserLookSettings, *, level_wise: bool
) -> Iterator[_Level]:
    has_images = np.bincount(training_set.class_positions, minlength=training_set.class_count) > 0
    few_shot = training_set.few_shot[has_images[training_set.few_shot]]
    if len(few_shot) < LEAST_CLASSES:
        raise InputError(
            "a classifier needs classes to tell apart",
            expected=f"at least {LEAST_CLASSES} few-shot classes with images",
            found=str(len(few_shot)),
            remedy="label images of more classes",
        )
    yield _level(training_set, few_shot, settings.batch_size)
    coarse = np.setdiff1d(np.flatnonzero(has_images), training_set.few_shot)
    for level in np.unique(training_set.levels[coarse])[::-1] if level_wise else ():
        classes = coarse[training_set.levels[coarse] == level]
        if len(classes) >= LEAST_CLASSES:
            yield _level(training_set, classes, settings.coarse_batch_size)


def _level(training_set: TrainingSet, classes: Positions, batch_size: int) -> _Level:
    images = [training_set.images_by_class[position] for position in classes.tolist()]
    targets = np.repeat(np.arange(len(classes)), [len(of_class) for of_class in images])
    return _Level(np.concatenate(images), targets, len(classes), batch_size)
