"""Meta-training of the attention on cached embeddings: Algorithm 1 with a fixed backbone."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model.propagation import (
    HIDDEN_WIDTH,
    Attention,
    Normalisation,
    PropagationNetwork,
    Prototypes,
    initial_prototypes,
    log_probabilities,
    propagate,
)
from engine.training.curve import OnPoint, TrainingPoint, ignore_point
from engine.training.settings import at_least, between
from engine.training.training_set import (
    ClassArrays,
    Episode,
    EpisodeSettings,
    ImageShares,
    Positions,
    Task,
    draw_episode,
    share_out,
    split_leaves,
)


@dataclass(frozen=True)
class PropagationTrainingSettings:
    """Every constant of the training."""

    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)  # how episodes are drawn
    iterations: int = 1000  # episodes to train on, one step each
    # Iterations between two validations; the best state, including the start, is restored
    validation_interval: int = 50
    validation_episodes: int = 50  # episodes of each look
    test_episodes: int = 200  # episodes over held-out classes that the figures are measured on
    hidden_width: int = HIDDEN_WIDTH  # of the attention
    # Factor on the cosine before the softmax; 1 is what the authors published
    logit_scale: float = 1.0
    normalisation: Normalisation = "softmax"  # of the attention weights
    steps: int = 1  # propagation steps
    # Fixed weight of `P0`, in the paper 0 for 1 shot and 0.5 for 5; None learns `shrinkage`
    lambda_: float | None = None
    shrinkage: float = 1.0  # start value s of lambda = n / (n + s) for a prototype of n images
    # Start value; None takes twice the variance of a component within a leaf class
    temperature: float | None = None
    learns_temperature: bool = True  # whether temperatures move with the rest
    learning_rate: float = 1e-3  # Adam's, for the attention
    scalar_learning_rate: float = 1e-2  # Adam's, for the logarithms of temperatures and shrinkage
    weight_decay: float = 1e-5  # on the attention only
    # Factor on the learning rates at `first_decay` and every `decay_interval` after
    rate_factor: float = 0.7
    first_decay: int = 67  # iterations, in the paper's proportion (10k of 150k)
    decay_interval: int = 100  # likewise (15k of 150k)
    seed: int = 0  # of every draw

    def __post_init__(self) -> None:
        at_least(
            self,
            iterations=0,
            validation_interval=1,
            validation_episodes=1,
            test_episodes=1,
            hidden_width=1,
        )
        at_least(self, steps=1, first_decay=0, decay_interval=1, seed=0)
        between(
            self, lambda_=(0.0, 1.0), learning_rate=(0.0, 1.0), scalar_learning_rate=(0.0, 10.0)
        )
        between(
            self,
            weight_decay=(0.0, 1.0),
            rate_factor=(0.0, 1.0),
            shrinkage=(1e-6, 1e6),
            temperature=(1e-6, 1e9),
        )


@dataclass(frozen=True)
class HeldOutFigures:
    """Few-shot classification of leaf classes that training never saw."""

    loss: float  # mean negative log-probability of the true class
    accuracy: float  # share of queries whose most probable class is the true one
    queries: int  # images classified


@dataclass(frozen=True)
class Collection:
    """Embeddings (n, d), and the buffered `P0` of coarse classes with their numbers of images."""

    embeddings: Tensor
    coarse: Prototypes
    coarse_counts: Tensor


@final
class Learner(nn.Module):
    """All learned parameters: attention, temperatures of fine and coarse tasks, shrinkage."""

    def __init__(
        self,
        attention: Attention,
        temperatures: tuple[float, float],
        settings: PropagationTrainingSettings,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.attention = attention
        self.log_temperatures = nn.Parameter(
            torch.tensor(temperatures).log(), settings.learns_temperature
        )
        self.log_shrinkage = nn.Parameter(
            torch.tensor(settings.shrinkage).log(), settings.lambda_ is None
        )

    def lambda_of(self, image_counts: Tensor) -> Tensor:
        """Weight of `P0` (Eq. 6) for prototypes of so many images each, (S,) float."""
        if self.settings.lambda_ is not None:
            return torch.full_like(image_counts, self.settings.lambda_)
        return image_counts / (image_counts + self.log_shrinkage.exp())

    def forward(
        self, collection: Collection, episode: Episode, *, propagates: bool = True
    ) -> list[Tensor]:
        """Log-probabilities (q, K) of each of the episode's tasks."""
        initial, image_counts = _episode_prototypes(collection, episode)
        lambda_ = self.lambda_of(image_counts) if propagates else torch.ones_like(image_counts)
        result = propagate(
            self.attention,
            initial,
            torch.from_numpy(episode.edge_index),
            lambda_,
            steps=self.settings.steps,
            normalisation=self.settings.normalisation,
        )
        return [self._scores(collection, result.final.vectors, task) for task in episode.tasks]

    def _scores(self, collection: Collection, prototypes: Tensor, task: Task) -> Tensor:
        queries = collection.embeddings[torch.from_numpy(task.images)]
        temperature = self.log_temperatures[int(task.is_coarse)].exp()
        return log_probabilities(
            queries, prototypes[torch.from_numpy(task.candidates)], temperature
        )


def _episode_prototypes(collection: Collection, episode: Episode) -> tuple[Prototypes, Tensor]:
    """`P0` of the episode's classes (Eq. 3), (S, d), by support sets and the buffer."""
    classes = torch.from_numpy(episode.classes)
    support_places = torch.from_numpy(episode.support_places)
    support = initial_prototypes(
        collection.embeddings,
        torch.from_numpy(episode.support_images),
        support_places,
        len(classes),
    )
    vectors = torch.where(
        support.exists[:, None], support.vectors, collection.coarse.vectors[classes]
    )
    shots = torch.bincount(support_places, minlength=len(classes)).float()
    counts = torch.where(support.exists, shots, collection.coarse_counts[classes])
    return Prototypes(vectors, support.exists | collection.coarse.exists[classes]), counts


def prepare(
    hierarchy: ClassArrays, shares: ImageShares, embeddings: NDArray[np.floating]
) -> Collection:
    """Compute the buffer: a coarse class's images, or else its descendants' coarse ones."""
    images_of = list(shares.coarse)
    for position in np.flatnonzero(~hierarchy.is_leaf).tolist():
        if not len(images_of[position]):
            images_of[position] = np.concatenate(
                [shares.coarse[below] for below in hierarchy.descendants(position)]
            )
    counts = np.array([len(images) for images in images_of])
    pairs = np.concatenate(images_of), np.repeat(np.arange(len(counts)), counts)
    points = torch.from_numpy(np.ascontiguousarray(embeddings, dtype=np.float32))
    coarse = initial_prototypes(
        points, torch.from_numpy(pairs[0]), torch.from_numpy(pairs[1]), len(counts)
    )
    return Collection(points, coarse, torch.from_numpy(counts).float())


def start_temperatures(
    collection: Collection,
    shares: ImageShares,
    leaves: Positions,
    settings: PropagationTrainingSettings,
) -> tuple[float, float]:
    """Initial temperatures: twice the variance of one component within a training leaf."""
    if settings.temperature is not None:
        return settings.temperature, settings.temperature
    variances = [
        collection.embeddings[torch.from_numpy(shares.few_shot[leaf])].var(dim=0).mean()
        for leaf in leaves
    ]
    start = max(2.0 * float(torch.stack(variances).mean()), float(np.finfo(np.float32).eps))
    return start, start


def level_wise_loss(scores: list[Tensor], episode: Episode) -> Tensor:
    """Sum over tasks of the true class's mean negative log-probability (Algorithm 1, 12-15)."""
    losses = [
        nn.functional.nll_loss(of_task, torch.from_numpy(task.targets))
        for of_task, task in zip(scores, episode.tasks, strict=True)
    ]
    return torch.stack(losses).sum()


@torch.no_grad()
def measure(
    learner: Learner,
    collection: Collection,
    episodes: Iterable[Episode],
    *,
    propagates: bool = True,
) -> HeldOutFigures:
    """Figures over the few-shot tasks, the first of each episode."""
    losses, hits = [], []
    for episode in episodes:
        scores = learner(collection, episode, propagates=propagates)[0]
        targets = torch.from_numpy(episode.tasks[0].targets)
        losses.append(nn.functional.nll_loss(scores, targets, reduction="none"))
        hits.append(scores.argmax(dim=1) == targets)
    return HeldOutFigures(
        float(torch.cat(losses).mean()), float(torch.cat(hits).float().mean()), len(torch.cat(hits))
    )


@dataclass(frozen=True)
class TrainedPropagation:
    """The trained model, and its figures on held-out classes."""

    attention: Attention  # trained, in evaluation mode
    temperature: float  # for few-shot classes
    shrinkage: float | None  # s of lambda = n / (n + s); None when lambda was fixed
    history: tuple[TrainingPoint, ...]  # losses on the way, the start first
    kept_iteration: int  # where the validation loss was lowest
    before: HeldOutFigures  # figures of the attention and values that training started from
    after: HeldOutFigures  # figures of the result
    without_propagation: HeldOutFigures  # figures with lambda = 1; propagation should beat them
    # Images that the figures were measured on, by turns as support and as query
    held_out_images: int
    settings: PropagationTrainingSettings  # how it was trained

    def network(self) -> PropagationNetwork[Attention]:
        return PropagationNetwork(
            self.attention, steps=self.settings.steps, normalisation=self.settings.normalisation
        )


def train_attention(
    embeddings: NDArray[np.floating],
    class_positions: Positions,
    edge_index: Positions,
    settings: PropagationTrainingSettings | None = None,
    *,
    start: Attention | None = None,
    on_progress: OnProgress = ignore_progress,
    on_point: OnPoint = ignore_point,
    cancel: CancelToken | None = None,
) -> TrainedPropagation:
    """Train attention, temperature and shrinkage on episodes; evaluate on held-out leaf classes.

    Paper: Algorithm 1 with the CNN's parameters fixed, so that the buffer of `P0` never goes stale.
    With softmax weights, a class with one parent gives the attention nothing to learn: its only
    weight is 1. On a tree, only the temperature and the shrinkage move.

    Args:
        embeddings: (n, d) float, one row for each labelled image.
        class_positions: (n,) int64 in [0, C), the most specific class known of each image.
        edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child; without cycles.
        start: attention to go on from, left as it was; new random weights when absent.

    Raises:
        InputError: too few leaf classes have enough images.
        ModelError: `start` is for embeddings of another width.
        Cancelled: `cancel` was set; the result is discarded.
    """
    settings = settings or PropagationTrainingSettings()
    class_count = 1 + max(int(class_positions.max(initial=-1)), int(edge_index.max(initial=-1)))
    sharing, training, validating, testing = np.random.default_rng(settings.seed).spawn(4)
    hierarchy = ClassArrays(edge_index, class_count)
    shares = share_out(hierarchy, class_positions, settings.episodes, sharing)
    leaves = split_leaves(shares, settings.episodes, sharing)
    collection = prepare(hierarchy, shares, embeddings)
    attention = _attention(embeddings.shape[1], settings, start)
    learner = Learner(
        attention, start_temperatures(collection, shares, leaves.training, settings), settings
    )

    def draw(part: Positions, generator: np.random.Generator, count: int) -> Iterator[Episode]:
        return (
            draw_episode(hierarchy, shares, part, settings.episodes, generator)
            for _ in range(count)
        )

    tests = list(draw(leaves.held_out, testing, settings.test_episodes))
    before = measure(learner, collection, tests)
    history = _train(
        learner,
        collection,
        draw(leaves.training, training, settings.iterations),
        validation=list(draw(leaves.validation, validating, settings.validation_episodes)),
        meter=ProgressMeter(
            settings.iterations,
            on_progress,
            unit="episodes",
            units_a_round=settings.validation_interval,
        ),
        on_point=on_point,
        cancel=cancel or CancelToken(),
    )
    return TrainedPropagation(
        attention=learner.attention.eval(),
        temperature=float(learner.log_temperatures.detach()[0].exp()),
        shrinkage=float(learner.log_shrinkage.detach().exp()) if settings.lambda_ is None else None,
        history=history,
        kept_iteration=min(history, key=lambda point: point.measured_loss).iteration,
        before=before,
        after=measure(learner, collection, tests),
        without_propagation=measure(learner, collection, tests, propagates=False),
        held_out_images=sum(len(shares.few_shot[leaf]) for leaf in leaves.held_out),
        settings=settings,
    )


def _attention(
    width: int, settings: PropagationTrainingSettings, start: Attention | None
) -> Attention:
    if start is None:
        generator = torch.Generator().manual_seed(settings.seed)
        return Attention(
            width, settings.hidden_width, logit_scale=settings.logit_scale, generator=generator
        )
    if start.embedding_width != width:
        raise ModelError(
            "the attention does not fit the embeddings",
            expected="width {width}",
            found=f"{start.embedding_width}",
            width=width,
        )
    return deepcopy(start)


def _train(
    learner: Learner,
    collection: Collection,
    episodes: Iterable[Episode],
    *,
    validation: list[Episode],
    meter: ProgressMeter,
    on_point: OnPoint,
    cancel: CancelToken,
) -> tuple[TrainingPoint, ...]:
    """Train, and leave the learner in the state of the lowest validation loss."""
    settings = learner.settings
    optimizer, schedule = _optimizer(learner)
    history: list[TrainingPoint] = []

    def look(iteration: int, training_loss: float | None) -> None:
        figures = measure(learner, collection, validation)
        history.append(TrainingPoint(iteration, training_loss, figures.loss, figures.accuracy))
        on_point(history[-1])

    look(0, None)
    best = deepcopy(learner.state_dict())
    losses: list[float] = []
    for iteration, episode in enumerate(episodes, start=1):
        cancel.raise_if_cancelled()
        optimizer.zero_grad()
        loss = level_wise_loss(learner(collection, episode), episode)
        torch.autograd.backward(loss)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
        if iteration % settings.validation_interval == 0 or iteration == settings.iterations:
            lowest = min(point.measured_loss for point in history)
            look(iteration, float(np.mean(losses)))
            if history[-1].measured_loss < lowest:
                best = deepcopy(learner.state_dict())
            losses.clear()
        meter.advance()
    learner.load_state_dict(best)
    return tuple(history)


def _optimizer(
    learner: Learner,
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    settings = learner.settings
    scalars = [
        value for value in (learner.log_temperatures, learner.log_shrinkage) if value.requires_grad
    ]
    groups = [
        {"params": list(learner.attention.parameters()), "lr": settings.learning_rate},
        {"params": scalars, "lr": settings.scalar_learning_rate, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.Adam(groups, weight_decay=settings.weight_decay)

    def factor(iteration: int) -> float:
        if iteration < settings.first_decay:
            return 1.0
        decays: int = 1 + (iteration - settings.first_decay) // settings.decay_interval
        return settings.rate_factor**decays

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
