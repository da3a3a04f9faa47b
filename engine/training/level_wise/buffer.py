"""The buffer of initial prototypes `P0` that Algorithm 1 updates lazily (lines 3 to 7)."""

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from engine.model.initial_prototypes import Prototypes, initial_prototypes
from engine.training.objective import Embed
from engine.training.training_set import Positions, TrainingSet


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
