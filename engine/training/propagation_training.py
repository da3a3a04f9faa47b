"""Meta-training of the attention on cached embeddings ("Tune propagation"): Algorithm 1 with a fixed backbone."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.model.attention import Attention
from engine.model.propagation_network import PropagationNetwork
from engine.training.curve import OnPoint, TrainingPoint, ignore_point
from engine.training.episodes import ClassArrays, Episode, Positions, draw_episode, share_out, split_leaves
from engine.training.propagation_learner import (
    Collection,
    HeldOutFigures,
    Learner,
    level_wise_loss,
    measure,
    prepare,
    start_temperatures,
)
from engine.training.propagation_settings import PropagationTrainingSettings


@dataclass(frozen=True)
class TrainedPropagation:
    """What training found, and what it is worth on held-out classes."""

    attention: Attention  # trained, in evaluation mode
    temperature: float  # for few-shot classes
    shrinkage: float | None  # s of lambda = n / (n + s); None when lambda was fixed
    history: tuple[TrainingPoint, ...]  # losses on the way, the start first
    kept_iteration: int  # where the validation loss was lowest
    before: HeldOutFigures  # figures of the attention and values that training started from
    after: HeldOutFigures  # figures of the result
    # Figures of the result's temperature with lambda = 1; propagation should beat them
    without_propagation: HeldOutFigures
    held_out_images: int  # images that the figures were measured on, by turns as support and as query
    settings: PropagationTrainingSettings  # how it was trained

    def network(self) -> PropagationNetwork[Attention]:
        return PropagationNetwork(self.attention, steps=self.settings.steps, normalisation=self.settings.normalisation)


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
    """Train attention, temperature and shrinkage on episodes; measure them on leaf classes that were held out.

    Paper: Algorithm 1 with the CNN's parameters fixed, so that the buffer of `P0` never goes stale. With softmax
    weights, a class with one parent gives the attention nothing to learn: its only weight is 1. On a tree, only the
    temperature and the shrinkage move.

    Args:
        embeddings: (n, d) float, one row for each labelled image.
        class_positions: (n,) int64 in [0, C), the most special class known of each image.
        edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child; without cycles.
        start: attention to go on from, left as it was; new random weights when absent.

    Returns:
        The trained parts and their figures. The same arguments give the same result.

    Raises:
        InputError: too few leaf classes have enough images.
        ModelError: `start` is for embeddings of another width.
        Cancelled: it was asked to stop; nothing is kept.
    """
    settings = settings or PropagationTrainingSettings()
    class_count = 1 + max(int(class_positions.max(initial=-1)), int(edge_index.max(initial=-1)))
    sharing, training, validating, testing = np.random.default_rng(settings.seed).spawn(4)
    hierarchy = ClassArrays(edge_index, class_count)
    shares = share_out(hierarchy, class_positions, settings.episodes, sharing)
    leaves = split_leaves(shares, settings.episodes, sharing)
    collection = prepare(hierarchy, shares, embeddings)
    attention = _attention(embeddings.shape[1], settings, start)
    learner = Learner(attention, start_temperatures(collection, shares, leaves.training, settings), settings)

    def draw(part: Positions, generator: np.random.Generator, count: int) -> Iterator[Episode]:
        return (draw_episode(hierarchy, shares, part, settings.episodes, generator) for _ in range(count))

    tests = list(draw(leaves.held_out, testing, settings.test_episodes))
    before = measure(learner, collection, tests)
    history = _train(
        learner,
        collection,
        draw(leaves.training, training, settings.iterations),
        validation=list(draw(leaves.validation, validating, settings.validation_episodes)),
        meter=ProgressMeter(
            settings.iterations, on_progress, unit="episodes", units_a_round=settings.validation_interval
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


def _attention(width: int, settings: PropagationTrainingSettings, start: Attention | None) -> Attention:
    if start is None:
        generator = torch.Generator().manual_seed(settings.seed)
        return Attention(width, settings.hidden_width, logit_scale=settings.logit_scale, generator=generator)
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


def _optimizer(learner: Learner) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    settings = learner.settings
    scalars = [value for value in (learner.log_temperatures, learner.log_shrinkage) if value.requires_grad]
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
