"""Algorithm 1: prototypes propagated on a sampled subgraph, and the sum of its levels' classification losses."""

from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.model.attention import Attention
from engine.model.classifier import log_probabilities
from engine.model.initial_prototypes import Prototypes, initial_prototypes
from engine.model.propagation import propagate
from engine.training.level_wise.sampling import LevelTask, LevelWiseDraw, LevelWiseSampler, LevelWiseSettings
from engine.training.objective import Embed, Objective
from engine.training.training_set import Positions, TrainingSet


@final
class PrototypePropagation(Objective):
    """The Prototype Propagation Network in training.

    Paper: Algorithm 1. `P0` of few-shot classes comes from the iteration's support images, so that their gradient
    reaches the backbone; `P0` of coarse classes comes from the buffer, as in the authors' code.

    Args:
        backbone: maps images to embeddings (B, d).
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

    def draw(self, generator: np.random.Generator) -> LevelWiseDraw:
        """Draw a subgraph and its tasks (Algorithm 1, lines 8 and 13)."""
        return self.sampler.draw(generator)

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None) -> None:
        """Update the buffer (Algorithm 1, lines 3 to 7); without a generator, from all images of each class."""
        self.buffer.refresh(embed, generator, sample=self.settings.buffer_images)

    def loss(self, embeddings: Tensor, draw: LevelWiseDraw) -> Tensor:
        """Propagate on the subgraph and sum the levels' losses (Algorithm 1, lines 9 to 15).

        Args:
            embeddings: (B, d) float32.

        Returns:
            Scalar float32, at least 0; each level counts with the mean over its queries.
        """
        final_prototypes = propagate(
            self.attention,
            self._initial_prototypes(embeddings, draw),
            torch.from_numpy(draw.edge_index).to(embeddings.device),
            self._own_weights(draw).to(embeddings.device),
            steps=self.settings.steps,
            normalisation=self.settings.normalisation,
        ).final
        return torch.stack([_task_loss(embeddings, final_prototypes, task, draw) for task in draw.tasks]).sum()

    def _own_weights(self, draw: LevelWiseDraw) -> Tensor:
        """Lambda of each of the subgraph's classes, (S,) float32."""
        fine, coarse = self.settings.own_weight, self.settings.coarse_lambda
        is_few_shot = np.isin(draw.classes, draw.few_shot_task.classes)
        return torch.from_numpy(np.where(is_few_shot, fine, fine if coarse is None else coarse)).float()

    def _initial_prototypes(self, embeddings: Tensor, draw: LevelWiseDraw) -> Prototypes:
        device = embeddings.device
        buffered = self.buffer.prototypes_of(torch.from_numpy(draw.classes).to(device))
        rows, places = _support_pairs(draw)
        support = initial_prototypes(
            embeddings, torch.from_numpy(rows).to(device), torch.from_numpy(places).to(device), len(draw.classes)
        )
        is_few_shot = torch.from_numpy(np.isin(draw.classes, draw.few_shot_task.classes)).to(device)
        share = torch.where(support.exists & ~is_few_shot & buffered.exists, self.settings.fresh_share, 1.0)
        share = torch.where(support.exists, share, 0.0)[:, None]
        return Prototypes(share * support.vectors + (1.0 - share) * buffered.vectors, support.exists | buffered.exists)


def _support_pairs(draw: LevelWiseDraw) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of all support images, and the place of each one's class among the subgraph's classes."""
    rows = [task.support.ravel() for task in draw.tasks]
    places = [np.repeat(np.searchsorted(draw.classes, task.classes), task.support.shape[1]) for task in draw.tasks]
    return np.concatenate(rows), np.concatenate(places)


def _task_loss(embeddings: Tensor, prototypes: Prototypes, task: LevelTask, draw: LevelWiseDraw) -> Tensor:
    queries = embeddings.index_select(0, torch.from_numpy(task.queries).to(embeddings.device))
    places = torch.from_numpy(np.searchsorted(draw.classes, task.classes)).to(embeddings.device)
    scores = log_probabilities(queries, prototypes.vectors.index_select(0, places))
    return nn.functional.nll_loss(scores, torch.from_numpy(task.targets).to(embeddings.device))


@final
class PrototypeBuffer(nn.Module):
    """`P0` of all C classes as of the last refresh; part of the state that a checkpoint keeps.

    A coarse class without images of its own takes the images below it (the paper's classes all have some).
    """

    vectors: Tensor
    exists: Tensor

    def __init__(self, training_set: TrainingSet, embedding_width: int) -> None:
        super().__init__()
        self._members = members_by_class(training_set)
        self._class_count = training_set.class_count
        self.register_buffer("vectors", torch.zeros(training_set.class_count, embedding_width))
        self.register_buffer("exists", torch.zeros(training_set.class_count, dtype=torch.bool))

    def refresh(self, embed: Embed, generator: np.random.Generator | None = None, *, sample: int | None = None) -> None:
        """Compute `P0` of every class by Eq. 3.

        Args:
            sample: images of each class to look at, at most; all of them when None, as in the paper.
        """
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
            torch.from_numpy(rows).to(embeddings.device),
            torch.from_numpy(pairs[1]).to(embeddings.device),
            self._class_count,
        )
        self.vectors.copy_(prototypes.vectors)
        self.exists.copy_(prototypes.exists)

    def prototypes_of(self, classes: Tensor) -> Prototypes:
        """Buffered `P0` of the classes at (S,) positions."""
        return Prototypes(self.vectors.index_select(0, classes), self.exists.index_select(0, classes))


def members_by_class(training_set: TrainingSet) -> list[Positions]:
    """Positions of the images behind each class's `P0`: its own, or those below it where it has none."""
    own = training_set.images_by_class
    members = list(own)
    for position, images in enumerate(own):
        if not len(images):
            below = [own[place] for place in sorted(training_set.descendants[position])]
            members[position] = np.concatenate(below) if below else images
    return members
