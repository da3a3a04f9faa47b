"""Algorithm 1: subgraphs with a task for each level, propagated prototypes, summed losses."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from engine.arrays import Flags, Integers
from engine.errors import InputError
from engine.model.propagation import (
    HIDDEN_WIDTH,
    Attention,
    Normalisation,
    Prototypes,
    initial_prototypes,
    log_probabilities,
    propagate,
)
from engine.texts import marked
from engine.training.arithmetic import placed
from engine.training.class_heads import ClassHeads
from engine.training.guessed_parents import DROPPED, GuessedParents
from engine.training.loop import Embed, IterationDraw, Objective
from engine.training.training_set import LEAST_CLASSES, Positions, TrainingSet

ONE_SHOT_LAMBDA = 0.0  # Paper, section 4: lambda for 1 shot
MORE_SHOTS_LAMBDA = 0.5  # Paper, section 4: lambda for 5 shots


@dataclass(frozen=True)
class EpisodeShape:
    """How many classes and images one iteration takes."""

    ways: int = 5  # few-shot classes
    shots: int = 1  # support images of each few-shot class
    # Queries of each few-shot class; as many as shots when None, as in the authors' code
    queries: int | None = None
    # Images of each coarse class on the subgraph, at most; 10 in the authors' code
    coarse_images: int = 10
    # How many of those are support images; none where a buffer holds the coarse prototypes
    coarse_shots: int = 0

    @property
    def query_count(self) -> int:
        return self.shots if self.queries is None else self.queries


@dataclass(frozen=True)
class LevelWiseSettings:
    """Settings of Algorithm 1 but for the optimiser; defaults are the paper's or its code's."""

    shape: EpisodeShape = field(default_factory=EpisodeShape)  # classes and images of an iteration
    # Weight of `P0` in Eq. 6; None takes the paper's 0 for 1 shot and 0.5 for more.
    lambda_: float | None = None
    # The same for coarse classes; None takes `lambda_`, as the paper does: at 0, siblings are
    # equal.
    coarse_lambda: float | None = None
    refresh_epochs: int = 5  # m, epochs between two updates of the buffered `P0`
    epoch_iterations: int = 100  # iterations that make an epoch; 100 in the authors' code
    # Images of each class behind the buffered `P0` in training, at most; None: all, as in the
    # paper.
    buffer_images: int | None = None
    # Weight of the iteration's own support images (`coarse_shots`) in a coarse `P0`; the rest is
    # the buffer's. At 0, as in Algorithm 1, no gradient reaches a coarse prototype; with more,
    # children train their parents' images.
    fresh_share: float = 0.0
    hidden_width: int = HIDDEN_WIDTH  # of the attention; 128 in the authors' code
    logit_scale: float = 1.0  # factor on the cosine before the softmax; 1 in the authors' code
    # "softmax" over a class's parents as in the authors' code, or the raw "cosine" of the paper
    normalisation: Normalisation = "softmax"
    steps: int = 1  # propagation steps; the paper takes one
    head_weight: float = 0.0  # of the loss of `ClassHeads`, which the paper does not have
    guess_weight: float = 0.0  # of the loss of `GuessedParents`, which the paper does not have

    @property
    def own_weight(self) -> float:
        """Lambda of Eq. 6."""
        if self.lambda_ is not None:
            return self.lambda_
        return ONE_SHOT_LAMBDA if self.shape.shots == 1 else MORE_SHOTS_LAMBDA


@dataclass(frozen=True)
class LevelTask:
    """Classification over the classes of one level, at least two."""

    level: int  # of all the classes
    classes: Positions  # (K,) int64, class positions
    # (K, k) int64, rows of the draw's images; k is 0 for classes without support
    support: Positions
    queries: Positions  # (q,) int64, rows of the draw's images
    targets: Positions  # (q,) int64 in [0, K), the place of each query's class in `classes`


@dataclass(frozen=True)
class LevelWiseDraw(IterationDraw):
    """Images and tasks of one iteration."""

    tasks: tuple[LevelTask, ...]  # finest level first; those of one class only are left out
    classes: Positions  # (S,) int64, the subgraph's classes in ascending order of position
    edge_index: Positions  # (2, E) int64 in [0, S), the edges between them
    # (C,) bool, prototypes that may be guessed as parents; None where nothing is guessed
    kept: Flags | None = None

    @property
    def few_shot_task(self) -> LevelTask:
        return self.tasks[0]


@final
class LevelWiseSampler:
    """Draws iterations of Algorithm 1 (lines 8 and 13): a subgraph and a task for each level.

    The only coarse class of a level competes with the drawn few-shot classes of that level. Without
    `coarse_levels`, plain few-shot episodes are drawn.

    Raises:
        InputError: too few classes have enough images, or the shape leaves nothing to classify.
    """

    def __init__(
        self, training_set: TrainingSet, shape: EpisodeShape, *, coarse_levels: bool = True
    ) -> None:
        self._training_set = training_set
        self._shape = shape
        self._coarse_levels = coarse_levels
        _require_queries(shape, coarse_levels=coarse_levels)
        self._able = _able_classes(training_set, shape)

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw one iteration; classes and images without replacement."""
        chosen = np.sort(generator.choice(self._able, self._shape.ways, replace=False))
        above = frozenset().union(
            *(self._training_set.ancestors[position] for position in chosen.tolist())
        )
        images = _Images()
        tasks = [self._few_shot_task(chosen, images, generator)]
        if self._coarse_levels:
            tasks += self._coarse_tasks(
                np.array(sorted(above), dtype=np.int64), tasks[0], images, generator
            )
        classes = np.sort(np.concatenate([chosen, np.array(sorted(above), dtype=np.int64)]))
        edges = edges_between(
            self._training_set.edge_index, classes, self._training_set.class_count
        )
        return LevelWiseDraw(images.positions(), tuple(tasks), classes, edges)

    def _few_shot_task(
        self, classes: Positions, images: "_Images", generator: np.random.Generator
    ) -> LevelTask:
        shots, count = self._shape.shots, self._shape.shots + self._shape.query_count
        rows = [
            images.take(self._draw_images(position, count, generator))
            for position in classes.tolist()
        ]
        return _task(int(self._training_set.levels[classes[0]]), classes, rows, shots)

    def _coarse_tasks(
        self,
        coarse: Positions,
        few_shot: LevelTask,
        images: "_Images",
        generator: np.random.Generator,
    ) -> Iterator[LevelTask]:
        own = self._training_set.images_by_class
        levels = self._training_set.levels[coarse]
        least = self._shape.coarse_shots + 1
        for level in np.unique(levels)[::-1].tolist():
            classes = np.array(
                [c for c in coarse[levels == level].tolist() if len(own[c]) >= least],
                dtype=np.int64,
            )
            # Few-shot classes on the level; none where coarse classes have support images.
            is_same_level = (self._training_set.levels[few_shot.classes] == level) & (
                self._shape.coarse_shots == 0
            )
            same_level = np.flatnonzero(is_same_level & (len(classes) == 1))
            if len(classes) + len(same_level) < LEAST_CLASSES:
                continue
            count = self._shape.coarse_images
            rows = [
                images.take(self._draw_images(position, count, generator))
                for position in classes.tolist()
            ]
            rows += [few_shot.queries[few_shot.targets == place] for place in same_level.tolist()]
            classes = np.concatenate([classes, few_shot.classes[same_level]])
            yield _task(level, classes, rows, self._shape.coarse_shots)

    def _draw_images(self, position: int, count: int, generator: np.random.Generator) -> Positions:
        own = self._training_set.images_by_class[position]
        return generator.choice(own, min(count, len(own)), replace=False)


@final
class _Images:
    """Collects image positions and returns their rows."""

    def __init__(self) -> None:
        self._blocks: list[Positions] = []
        self._count = 0

    def take(self, positions: Positions) -> Positions:
        self._blocks.append(positions)
        self._count += len(positions)
        return np.arange(self._count - len(positions), self._count)

    def positions(self) -> Positions:
        return np.concatenate(self._blocks)


def _task(level: int, classes: Positions, rows: list[Positions], shots: int) -> LevelTask:
    support = np.stack([of_class[:shots] for of_class in rows])
    queries = [of_class[shots:] for of_class in rows]
    targets = np.repeat(np.arange(len(rows)), [len(of_class) for of_class in queries])
    return LevelTask(level, classes, support, np.concatenate(queries), targets)


def edges_between(edge_index: Positions, classes: Positions, class_count: int) -> Positions:
    """Edges among distinct `classes` (S,) of C, as positions in it: (2, E') int64 in [0, S)."""
    places: Integers = np.full(class_count, -1, dtype=np.int64)
    places[classes] = np.arange(len(classes))
    ends = places[edge_index]
    return ends[:, (ends >= 0).all(axis=0)]


def _require_queries(shape: EpisodeShape, *, coarse_levels: bool) -> None:
    counts = {
        marked("an iteration leaves no image of a few-shot class to classify"): shape.query_count
    }
    if coarse_levels:
        left = shape.coarse_images - shape.coarse_shots
        counts[marked("an iteration leaves no image of a coarse class to classify")] = left
    for what, count in counts.items():
        if count < 1:
            raise InputError(
                what,
                expected="at least 1",
                found=str(count),
                remedy="ask for more images than shots",
            )


def _able_classes(training_set: TrainingSet, shape: EpisodeShape) -> Positions:
    needed = shape.shots + shape.query_count
    own = training_set.images_by_class
    able = np.array(
        [position for position in training_set.few_shot.tolist() if len(own[position]) >= needed]
    )
    if len(able) < shape.ways or shape.ways < LEAST_CLASSES:
        scarce = [
            position for position in training_set.few_shot.tolist() if len(own[position]) < needed
        ]
        raise InputError(
            "too few classes have enough images for {ways}-way {shots}-shot training",
            expected="at least {least_classes} few-shot classes with {needed} images each",
            found="{classes} of {found_classes}{example}",
            remedy="label more images, or ask for fewer ways or shots",
            ways=shape.ways,
            shots=shape.shots,
            least_classes=max(shape.ways, LEAST_CLASSES),
            needed=needed,
            classes=len(able),
            found_classes=len(training_set.few_shot),
            example=f"; “{training_set.class_names[scarce[0]]}” has {len(own[scarce[0]])}"
            if scarce
            else "",
        )
    return able.astype(np.int64)


@final
class PrototypePropagation(Objective):
    """The Prototype Propagation Network in training.

    Paper: Algorithm 1. `P0` of few-shot classes comes from the iteration's support images, so that
    their gradient reaches the backbone; `P0` of coarse classes comes from the buffer, as in the
    authors' code.
    """

    def __init__(
        self,
        backbone: nn.Module,
        embedding_width: int,
        training_set: TrainingSet,
        settings: LevelWiseSettings,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(backbone)
        self.settings = settings
        self.refresh_interval = settings.refresh_epochs * settings.epoch_iterations
        self.sampler = LevelWiseSampler(training_set, settings.shape)
        self.attention = Attention(
            embedding_width,
            settings.hidden_width,
            logit_scale=settings.logit_scale,
            generator=torch.Generator().manual_seed(seed),
        )
        self.buffer = PrototypeBuffer(training_set, embedding_width)
        self.heads = (
            ClassHeads(embedding_width, training_set, seed=seed) if settings.head_weight else None
        )
        self.guessed = GuessedParents() if settings.guess_weight else None
        self._training_set = training_set

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw a subgraph and its tasks (Algorithm 1, lines 8 and 13)."""
        draw = self.sampler.draw(generator)
        if self.guessed is None:
            return draw
        return replace(draw, kept=generator.random(self._training_set.class_count) >= DROPPED)

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
        """Update the buffer (Algorithm 1, lines 3 to 7); without a generator, from all images."""
        self.buffer.refresh(embed, generator, sample=self.settings.buffer_images)

    def loss(self, embeddings: Tensor, draw: LevelWiseDraw) -> Tensor:
        """Propagate on the subgraph and sum the levels' mean losses (Algorithm 1, 9 to 15)."""
        initial = self._initial_prototypes(embeddings, draw)
        final_prototypes = propagate(
            self.attention,
            initial,
            placed(draw.edge_index, embeddings.device),
            self._own_weights(draw).to(embeddings.device),
            steps=self.settings.steps,
            normalisation=self.settings.normalisation,
        ).final
        losses = [_task_loss(embeddings, final_prototypes, task, draw) for task in draw.tasks]
        if self.heads is not None:
            classes = self._training_set.class_positions[draw.images]
            losses.append(self.settings.head_weight * self.heads.loss(embeddings, classes))
        if self.guessed is not None:
            losses.append(self.settings.guess_weight * self._guess_loss(embeddings, initial, draw))
        return torch.stack(losses).sum()

    def _guess_loss(self, embeddings: Tensor, initial: Prototypes, draw: LevelWiseDraw) -> Tensor:
        """Mean loss of the few-shot task by prototypes propagated from guessed parents."""
        assert self.guessed is not None, "there is a weight"
        assert draw.kept is not None, "drawn by this objective"
        device, task = embeddings.device, draw.few_shot_task
        places = placed(np.searchsorted(draw.classes, task.classes), device)
        own, classes = (
            initial.vectors.index_select(0, places),
            placed(task.classes, device),
        )
        others = Prototypes(self.buffer.vectors, self.buffer.exists)
        vectors = self.guessed(self.attention, own, classes, others, placed(draw.kept, device))
        scores = log_probabilities(
            embeddings.index_select(0, placed(task.queries, device)), vectors
        )
        return nn.functional.nll_loss(scores, placed(task.targets, device))

    def _own_weights(self, draw: LevelWiseDraw) -> Tensor:
        """Lambda of each of the subgraph's classes, (S,) float32."""
        fine, coarse = self.settings.own_weight, self.settings.coarse_lambda
        is_few_shot = np.isin(draw.classes, draw.few_shot_task.classes)
        return torch.from_numpy(
            np.where(is_few_shot, fine, fine if coarse is None else coarse)
        ).float()

    def _initial_prototypes(self, embeddings: Tensor, draw: LevelWiseDraw) -> Prototypes:
        device = embeddings.device
        buffered = self.buffer.prototypes_of(placed(draw.classes, device))
        rows, places = _support_pairs(draw)
        support = initial_prototypes(
            embeddings,
            placed(rows, device),
            placed(places, device),
            len(draw.classes),
        )
        is_few_shot = placed(np.isin(draw.classes, draw.few_shot_task.classes), device)
        share = torch.where(
            support.exists & ~is_few_shot & buffered.exists, self.settings.fresh_share, 1.0
        )
        share = torch.where(support.exists, share, 0.0)[:, None]
        return Prototypes(
            share * support.vectors + (1.0 - share) * buffered.vectors,
            support.exists | buffered.exists,
        )


def _support_pairs(draw: LevelWiseDraw) -> tuple[Integers, Integers]:
    """Rows of all support images, and the position of each one's class in the subgraph."""
    rows = [task.support.ravel() for task in draw.tasks]
    places = [
        np.repeat(np.searchsorted(draw.classes, task.classes), task.support.shape[1])
        for task in draw.tasks
    ]
    return np.concatenate(rows), np.concatenate(places)


def _task_loss(
    embeddings: Tensor, prototypes: Prototypes, task: LevelTask, draw: LevelWiseDraw
) -> Tensor:
    queries = embeddings.index_select(0, placed(task.queries, embeddings.device))
    places = placed(np.searchsorted(draw.classes, task.classes), embeddings.device)
    scores = log_probabilities(queries, prototypes.vectors.index_select(0, places))
    return nn.functional.nll_loss(scores, placed(task.targets, embeddings.device))


@final
class PrototypeBuffer(nn.Module):
    """`P0` of all C classes as of the last refresh; part of the state that a checkpoint keeps.

    A coarse class without images of its own takes the images below it (the paper's classes all have
    some).
    """

    vectors: Tensor
    exists: Tensor

    def __init__(self, training_set: TrainingSet, embedding_width: int) -> None:
        super().__init__()
        self._members = members_by_class(training_set)
        self._class_count = training_set.class_count
        self.register_buffer("vectors", torch.zeros(training_set.class_count, embedding_width))
        self.register_buffer("exists", torch.zeros(training_set.class_count, dtype=torch.bool))

    def refresh(
        self,
        embed: Embed,
        generator: np.random.Generator | None = None,
        *,
        sample: int | None = None,
    ) -> None:
        """Compute `P0` of every class by Eq. 3, from at most `sample` images of each."""
        members = self._members
        if generator is not None and sample is not None:
            members = [
                generator.choice(images, sample, replace=False) if len(images) > sample else images
                for images in members
            ]
        counts = np.array([len(images) for images in members])
        pairs = np.concatenate(members), np.repeat(np.arange(len(counts)), counts)
        images, rows = np.unique(pairs[0], return_inverse=True)
        embeddings = embed(images)
        prototypes = initial_prototypes(
            embeddings,
            placed(rows, embeddings.device),
            placed(pairs[1], embeddings.device),
            self._class_count,
        )
        self.vectors.copy_(prototypes.vectors)
        self.exists.copy_(prototypes.exists)

    def prototypes_of(self, classes: Tensor) -> Prototypes:
        """Buffered `P0` of the classes at (S,) positions."""
        return Prototypes(
            self.vectors.index_select(0, classes), self.exists.index_select(0, classes)
        )


def members_by_class(training_set: TrainingSet) -> list[Positions]:
    """Positions of the images behind each class's `P0`: its own, or those below without any."""
    own = training_set.images_by_class
    members = list(own)
    for position, images in enumerate(own):
        if not len(images):
            below = [own[place] for place in sorted(training_set.descendants[position])]
            members[position] = np.concatenate(below) if below else images
    return members
