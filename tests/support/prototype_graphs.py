"""Small prototypes, attentions and hierarchies for tests of the model."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.model.propagation import Attention, Prototypes


def prototypes(*vectors: tuple[float, ...] | None, width: int = 2) -> Prototypes:
    """Prototypes from rows; None for a class without one."""
    rows = [(0.0,) * width if vector is None else vector for vector in vectors]
    return Prototypes(torch.tensor(rows), torch.tensor([vector is not None for vector in vectors]))


def edges(*pairs: tuple[int, int]) -> torch.Tensor:
    """Edge index (2, E) from (parent, child) pairs."""
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()


def swapping_attention(*, logit_scale: float = 1.0) -> Attention:
    """Attention of width 2: g is the identity, h swaps both numbers."""
    attention = Attention(2, 2, logit_scale=logit_scale)
    with torch.no_grad():
        attention.g.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        attention.h.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    return attention


def random_attention(width: int, *, seed: int = 0, hidden_width: int = 16) -> Attention:
    """Attention with weights large enough to distinguish edges."""
    attention = Attention(width, hidden_width, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        attention.g.weight.mul_(1000.0)
        attention.h.weight.mul_(1000.0)
    return attention


@dataclass(frozen=True)
class SyntheticHierarchy:
    """Labelled embeddings (n, d), their classes (n,), and the edges (2, E)."""

    embeddings: NDArray[np.float32]
    class_positions: NDArray[np.int64]
    edge_index: NDArray[np.int64]
    leaf_count: int


def synthetic_hierarchy(
    *, parents: int = 6, leaves: int = 36, images: int = 16, width: int = 12, seed: int = 0
) -> SyntheticHierarchy:
    """Leaves around an informative parent's mean, with an uninformative second parent.

    Informative parents (positions from 0) and the others (after them) differ in the first number of
    their means, so that attention can learn to distinguish them for unseen classes.
    """
    generator = np.random.default_rng(seed)
    coarse = generator.normal(size=(2 * parents, width)) * 2.5
    coarse[:parents, 0], coarse[parents:, 0] = 4.0, -4.0
    means, pairs = list(coarse), []
    for leaf in range(leaves):
        telling = leaf % parents
        own = generator.normal(size=width)
        own[0] = 0.0
        means.append(coarse[telling] + own)
        pairs += [
            (telling, 2 * parents + leaf),
            (parents + int(generator.integers(parents)), 2 * parents + leaf),
        ]
    class_positions = np.repeat(np.arange(len(means)), images)
    embeddings = (
        np.array(means)[class_positions]
        + generator.normal(size=(len(class_positions), width)) * 2.0
    )
    return SyntheticHierarchy(
        embeddings.astype(np.float32),
        class_positions,
        np.array(pairs, dtype=np.int64).T.copy(),
        leaves,
    )
