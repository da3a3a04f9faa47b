"""What meta-training learns, on which data, and how it is scored: one episode in, log-probabilities and losses out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.model.attention import Attention
from engine.model.classifier import log_probabilities
from engine.model.initial_prototypes import Prototypes, initial_prototypes
from engine.model.propagation import propagate
from engine.training.episodes import ClassArrays, Episode, ImageShares, Positions, Task
from engine.training.propagation_settings import PropagationTrainingSettings


@dataclass(frozen=True)
class HeldOutFigures:
    """Few-shot classification of leaf classes that training never saw."""

    loss: float  # mean negative log-probability of the true class
    accuracy: float  # share of queries whose likeliest class is the true one
    queries: int  # images classified


@dataclass(frozen=True)
class Collection:
    """Embeddings (n, d), and the buffered `P0` of coarse classes with the number of images behind each."""

    embeddings: Tensor
    coarse: Prototypes
    coarse_counts: Tensor


@final
class Learner(nn.Module):
    """All that is learned: the attention, temperatures of fine and coarse tasks, and the shrinkage."""

    def __init__(
        self, attention: Attention, temperatures: tuple[float, float], settings: PropagationTrainingSettings
    ) -> None:
        super().__init__()
        self.settings = settings
        self.attention = attention
        self.log_temperatures = nn.Parameter(torch.tensor(temperatures).log(), settings.learns_temperature)
        self.log_shrinkage = nn.Parameter(torch.tensor(settings.shrinkage).log(), settings.lambda_ is None)

    def lambda_of(self, image_counts: Tensor) -> Tensor:
        """Weight of `P0` (Eq. 6) for prototypes of so many images each, (S,) float."""
        if self.settings.lambda_ is not None:
            return torch.full_like(image_counts, self.settings.lambda_)
        return image_counts / (image_counts + self.log_shrinkage.exp())

    def forward(self, collection: Collection, episode: Episode, *, propagates: bool = True) -> list[Tensor]:
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
        return log_probabilities(queries, prototypes[torch.from_numpy(task.candidates)], temperature)


def _episode_prototypes(collection: Collection, episode: Episode) -> tuple[Prototypes, Tensor]:
    """`P0` of the episode's classes (Eq. 3), (S, d): support sets for the fine ones, the buffer for the coarse ones."""
    classes = torch.from_numpy(episode.classes)
    support_places = torch.from_numpy(episode.support_places)
    support = initial_prototypes(
        collection.embeddings, torch.from_numpy(episode.support_images), support_places, len(classes)
    )
    vectors = torch.where(support.exists[:, None], support.vectors, collection.coarse.vectors[classes])
    shots = torch.bincount(support_places, minlength=len(classes)).float()
    counts = torch.where(support.exists, shots, collection.coarse_counts[classes])
    return Prototypes(vectors, support.exists | collection.coarse.exists[classes]), counts


def prepare(hierarchy: ClassArrays, shares: ImageShares, embeddings: NDArray[np.floating]) -> Collection:
    """Make the buffer: a coarse class's own images, or its descendants' coarse images where it has none."""
    images_of = list(shares.coarse)
    for position in np.flatnonzero(~hierarchy.is_leaf).tolist():
        if not len(images_of[position]):
            images_of[position] = np.concatenate([shares.coarse[below] for below in hierarchy.descendants(position)])
    counts = np.array([len(images) for images in images_of])
    pairs = np.concatenate(images_of), np.repeat(np.arange(len(counts)), counts)
    points = torch.from_numpy(np.ascontiguousarray(embeddings, dtype=np.float32))
    coarse = initial_prototypes(points, torch.from_numpy(pairs[0]), torch.from_numpy(pairs[1]), len(counts))
    return Collection(points, coarse, torch.from_numpy(counts).float())


def start_temperatures(
    collection: Collection, shares: ImageShares, leaves: Positions, settings: PropagationTrainingSettings
) -> tuple[float, float]:
    """Start values for fine and coarse tasks: twice the variance of one component within a training leaf."""
    if settings.temperature is not None:
        return settings.temperature, settings.temperature
    variances = [collection.embeddings[torch.from_numpy(shares.few_shot[leaf])].var(dim=0).mean() for leaf in leaves]
    start = max(2.0 * float(torch.stack(variances).mean()), float(np.finfo(np.float32).eps))
    return start, start


def level_wise_loss(scores: list[Tensor], episode: Episode) -> Tensor:
    """Sum over the tasks of the mean negative log-probability of the true class (Algorithm 1, lines 12 to 15)."""
    losses = [
        nn.functional.nll_loss(of_task, torch.from_numpy(task.targets))
        for of_task, task in zip(scores, episode.tasks, strict=True)
    ]
    return torch.stack(losses).sum()


@torch.no_grad()
def measure(
    learner: Learner, collection: Collection, episodes: Iterable[Episode], *, propagates: bool = True
) -> HeldOutFigures:
    """Figures over the few-shot tasks, the first of each episode."""
    losses, hits = [], []
    for episode in episodes:
        scores = learner(collection, episode, propagates=propagates)[0]
        targets = torch.from_numpy(episode.tasks[0].targets)
        losses.append(nn.functional.nll_loss(scores, targets, reduction="none"))
        hits.append(scores.argmax(dim=1) == targets)
    return HeldOutFigures(float(torch.cat(losses).mean()), float(torch.cat(hits).float().mean()), len(torch.cat(hits)))
