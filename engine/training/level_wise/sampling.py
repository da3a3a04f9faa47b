"""Subgraph sampling: few-shot classes with everything above them, and one classification task for each level.

With every constant of level-wise training (Algorithm 1) that plain training does not have.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.model.attention import HIDDEN_WIDTH, Normalisation
from engine.training.objective import IterationDraw
from engine.training.training_set import Positions, TrainingSet

ONE_SHOT_LAMBDA: Final = 0.0
"""Paper, section 4: lambda for 1 shot."""
MORE_SHOTS_LAMBDA: Final = 0.5
"""Paper, section 4: lambda for 5 shots."""
LEAST_CLASSES = 2
"""A task over fewer classes has nothing to tell apart: its loss is zero."""


@dataclass(frozen=True)
class EpisodeShape:
    """How many classes and images one iteration takes."""

    ways: int = 5  # few-shot classes
    shots: int = 1  # support images of each few-shot class
    # Images to classify of each few-shot class; as many as shots when None, as the authors' code does
    queries: int | None = None
    coarse_images: int = 10  # images of each coarse class on the subgraph, at most; 10 in the authors' code
    coarse_shots: int = 0  # how many of those are support images; none where a buffer holds the coarse prototypes

    @property
    def query_count(self) -> int:
        return self.shots if self.queries is None else self.queries


@dataclass(frozen=True)
class LevelWiseSettings:
    """What Algorithm 1 takes besides an optimiser; the defaults are the paper's or, where it says so, the authors'."""

    shape: EpisodeShape = field(default_factory=EpisodeShape)  # classes and images of an iteration
    lambda_: float | None = None  # weight of `P0` in Eq. 6; None takes the paper's 0 for 1 shot and 0.5 for more.
    # The same for coarse classes, whose `P0` rests on many images; None takes `lambda_`, as the paper does. Then, at 0,
    # siblings have one prototype, and coarse images are drawn to their grandparents only.
    coarse_lambda: float | None = None
    refresh_epochs: int = 5  # m, epochs between two updates of the buffered `P0`
    epoch_iterations: int = 100  # iterations that make an epoch; 100 in the authors' code
    # Images of each class behind the buffered `P0`, at most; all when None, as in the paper. After training, `P0` is
    # computed from all in any case.
    buffer_images: int | None = None
    # Weight of what the iteration's own support images say of a coarse class, the buffer having the rest; needs
    # `coarse_shots` in the shape. At 0, as in Algorithm 1, no gradient reaches a coarse prototype; with more, errors of
    # children train the images of their parents, as the paper's text wants.
    fresh_share: float = 0.0
    hidden_width: int = HIDDEN_WIDTH  # of the attention; 128 in the authors' code
    logit_scale: float = 1.0  # factor on the cosine before the softmax; 1 in the authors' code
    # "softmax" over a class's parents as in the authors' code, or the raw "cosine" of the paper
    normalisation: Normalisation = "softmax"
    steps: int = 1  # propagation steps; the paper takes one

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
    support: Positions  # (K, k) int64, rows of the draw's images; k is 0 where the classes give no support
    queries: Positions  # (q,) int64, rows of the draw's images
    targets: Positions  # (q,) int64 in [0, K), the place of each query's class in `classes`


@dataclass(frozen=True)
class LevelWiseDraw(IterationDraw):
    """Images and tasks of one iteration."""

    # Finest level first; levels with one class are left out, with their images, unless drawn few-shot classes are on
    # the same level
    tasks: tuple[LevelTask, ...]
    # (S,) int64, the subgraph's classes in ascending order of position: everything that can propagate
    classes: Positions
    edge_index: Positions  # (2, E) int64 in [0, S), the edges between them

    @property
    def few_shot_task(self) -> LevelTask:
        return self.tasks[0]


@final
class LevelWiseSampler:
    """Draws iterations of Algorithm 1 (lines 8 and 13): a subgraph and a task for each of its levels.

    A few-shot class needs nothing above it: where it has no parent, its prototype is what its images say, as in a
    flat list of classes. The only coarse class of a level competes with the drawn few-shot classes beside it.

    Args:
        coarse_levels: whether the coarse classes' levels are tasks too; without them, plain few-shot episodes.

    Raises:
        InputError: too few classes have enough images, or the shape leaves nothing to classify.
    """

    def __init__(self, training_set: TrainingSet, shape: EpisodeShape, *, coarse_levels: bool = True) -> None:
        self._training_set = training_set
        self._shape = shape
        self._coarse_levels = coarse_levels
        _require_queries(shape, coarse_levels=coarse_levels)
        self._able = _able_classes(training_set, shape)

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw one iteration; classes and images without replacement."""
        chosen = np.sort(generator.choice(self._able, self._shape.ways, replace=False))
        above = frozenset().union(*(self._training_set.ancestors[position] for position in chosen.tolist()))
        images = _Images()
        tasks = [self._few_shot_task(chosen, images, generator)]
        if self._coarse_levels:
            tasks += self._coarse_tasks(np.array(sorted(above), dtype=np.int64), tasks[0], images, generator)
        classes = np.sort(np.concatenate([chosen, np.array(sorted(above), dtype=np.int64)]))
        edges = edges_between(self._training_set.edge_index, classes, self._training_set.class_count)
        return LevelWiseDraw(images.positions(), tuple(tasks), classes, edges)

    def _few_shot_task(self, classes: Positions, images: "_Images", generator: np.random.Generator) -> LevelTask:
        shots, count = self._shape.shots, self._shape.shots + self._shape.query_count
        rows = [images.take(self._draw_images(position, count, generator)) for position in classes.tolist()]
        return _task(int(self._training_set.levels[classes[0]]), classes, rows, shots)

    def _coarse_tasks(
        self, coarse: Positions, few_shot: LevelTask, images: "_Images", generator: np.random.Generator
    ) -> Iterator[LevelTask]:
        own = self._training_set.images_by_class
        levels = self._training_set.levels[coarse]
        least = self._shape.coarse_shots + 1
        for level in np.unique(levels)[::-1].tolist():
            classes = np.array([c for c in coarse[levels == level].tolist() if len(own[c]) >= least], dtype=np.int64)
            # Few-shot classes on the level; none where coarse classes give support, as those give theirs.
            is_beside = (self._training_set.levels[few_shot.classes] == level) & (self._shape.coarse_shots == 0)
            beside = np.flatnonzero(is_beside & (len(classes) == 1))
            if len(classes) + len(beside) < LEAST_CLASSES:
                continue
            count = self._shape.coarse_images
            rows = [images.take(self._draw_images(position, count, generator)) for position in classes.tolist()]
            rows += [few_shot.queries[few_shot.targets == place] for place in beside.tolist()]
            classes = np.concatenate([classes, few_shot.classes[beside]])
            yield _task(level, classes, rows, self._shape.coarse_shots)

    def _draw_images(self, position: int, count: int, generator: np.random.Generator) -> Positions:
        own = self._training_set.images_by_class[position]
        return generator.choice(own, min(count, len(own)), replace=False)


@final
class _Images:
    """Collects image positions and tells the rows they get."""

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
    queries = [of_class[shots:] for of_class in rows]
    return LevelTask(
        level=level,
        classes=classes,
        support=np.stack([of_class[:shots] for of_class in rows]),
        queries=np.concatenate(queries),
        targets=np.repeat(np.arange(len(rows)), [len(of_class) for of_class in queries]),
    )


def edges_between(edge_index: Positions, classes: Positions, class_count: int) -> Positions:
    """The edges whose both ends are in `classes`, renumbered to places in it: (2, E') int64 in [0, S).

    Args:
        edge_index: (2, E) int64 in [0, C).
        classes: (S,) int64, distinct.
        class_count: C.
    """
    places: NDArray[np.int64] = np.full(class_count, -1, dtype=np.int64)
    places[classes] = np.arange(len(classes))
    ends = places[edge_index]
    return ends[:, (ends >= 0).all(axis=0)]


def _require_queries(shape: EpisodeShape, *, coarse_levels: bool) -> None:
    counts = {"few-shot class": shape.query_count}
    if coarse_levels:
        counts["coarse class"] = shape.coarse_images - shape.coarse_shots
    for name, count in counts.items():
        if count < 1:
            raise InputError(
                "an iteration leaves no image of a {name} to classify",
                expected="at least 1",
                found=str(count),
                remedy="ask for more images than shots",
                name=name,
            )


def _able_classes(training_set: TrainingSet, shape: EpisodeShape) -> Positions:
    needed = shape.shots + shape.query_count
    own = training_set.images_by_class
    able = np.array([position for position in training_set.few_shot.tolist() if len(own[position]) >= needed])
    if len(able) < shape.ways or shape.ways < LEAST_CLASSES:
        scarce = [position for position in training_set.few_shot.tolist() if len(own[position]) < needed]
        example = f"; “{training_set.class_names[scarce[0]]}” has {len(own[scarce[0]])}" if scarce else ""
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
            example=example,
        )
    return able.astype(np.int64)
