"""Attention over the edges of the category graph (Eq. 5): how much a class takes from each of its parents."""

from collections.abc import Callable
from typing import Any, Final, Literal, Protocol, final

import torch
from torch import Tensor, nn

from engine.model.initial_prototypes import Prototypes, sum_by_class

HIDDEN_WIDTH: Final = 128
INITIAL_DEVIATION: Final = 0.001
SMALLEST_NORM: Final = 1e-4

Normalisation = Literal["softmax", "cosine"]


class EdgeScores(Protocol):
    """What says how much a child is like each of its parents."""

    logit_scale: Tensor  # factor on the scores before a softmax
    __call__: Callable[..., Any]
    """Takes children (C, d), parents (C, d) and the edge index (2, E); gives (E,) scores in [-1, 1]."""


@final
class Attention(nn.Module):
    """The learned transformations `g` (of the child) and `h` (of the parent), linear without bias.

    Args:
        embedding_width: d, length of a prototype.
        hidden_width: length of the transformed prototype.
        logit_scale: factor on the cosine before a softmax; 1 is what the paper's authors published.
        generator: source of the initial weights, drawn from N(0, `INITIAL_DEVIATION`²).
    """

    logit_scale: Tensor

    def __init__(
        self,
        embedding_width: int,
        hidden_width: int = HIDDEN_WIDTH,
        *,
        logit_scale: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.g = self._linear(embedding_width, hidden_width, generator)
        self.h = self._linear(embedding_width, hidden_width, generator)
        self.register_buffer("logit_scale", torch.tensor(float(logit_scale)))

    @staticmethod
    def _linear(width_in: int, width_out: int, generator: torch.Generator | None) -> nn.Linear:
        # Made without storage first: nn.Linear would draw from the global generator and so disturb other seeds.
        linear = nn.Linear(width_in, width_out, bias=False, device="meta").to_empty(device="cpu")
        nn.init.normal_(linear.weight, 0.0, INITIAL_DEVIATION, generator=generator)
        return linear

    @property
    def embedding_width(self) -> int:
        """Length of the prototypes that this attention compares."""
        return self.g.in_features

    def forward(self, children: Tensor, parents: Tensor, edge_index: Tensor) -> Tensor:
        """Cosine of `g(child)` and `h(parent)` on each edge, (E,) float32 in [-1, 1].

        Paper: Eq. 5 as printed. Each norm is at least `SMALLEST_NORM`, so that a zero vector scores 0.

        Args:
            children: (C, d) float32, prototypes in the role of the child.
            parents: (C, d) float32, prototypes in the role of the parent.
            edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        """
        queries = _unit(self.g(children)).index_select(0, edge_index[1])
        keys = _unit(self.h(parents)).index_select(0, edge_index[0])
        return (queries * keys).sum(dim=1)


@final
class PlainAttention(nn.Module):
    """Attention without parameters: `g` and `h` change nothing, so it fits embeddings of any width."""

    logit_scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("logit_scale", torch.tensor(1.0))

    def forward(self, children: Tensor, parents: Tensor, edge_index: Tensor) -> Tensor:
        """Cosine of child and parent on each edge, as `Attention.forward` with the identity for `g` and `h`."""
        return (_unit(children).index_select(0, edge_index[1]) * _unit(parents).index_select(0, edge_index[0])).sum(1)


def _unit(vectors: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return vectors / norms.clamp(min=SMALLEST_NORM)


def softmax_over_parents(scores: Tensor, child_positions: Tensor, is_usable: Tensor, class_count: int) -> Tensor:
    """Normalise edge scores so that each child's usable parents share a weight of one: (E,) in [0, 1], else zero.

    Args:
        scores: (E,) float32.
        child_positions: (E,) int64 in [0, C), the child of each edge.
        is_usable: (E,) bool, edges that take part.
    """
    masked = torch.where(is_usable, scores, float("-inf"))
    # The highest score is subtracted for the range of exp only; it cancels out, and so does its gradient.
    highest = scores.new_full((class_count,), float("-inf"))
    highest = highest.scatter_reduce(0, child_positions, masked.detach(), "amax")
    shifted = torch.where(is_usable, scores - highest.index_select(0, child_positions), 0.0)
    shares = torch.where(is_usable, shifted.exp(), 0.0)
    totals = sum_by_class(shares, child_positions, class_count)
    # Children without a usable parent are spared 0 / 0. Not by clamp(min=1): a lone parent's total is exactly 1, where
    # clamp lets no gradient through, so that weights that cannot change would seem to want to.
    totals = torch.where(totals > 0, totals, 1.0)
    return shares / totals.index_select(0, child_positions)


def attention_weights(
    attention: EdgeScores,
    prototypes: Prototypes,
    edge_index: Tensor,
    normalisation: Normalisation = "softmax",
    *,
    sources: Prototypes | None = None,
) -> Tensor:
    """Weight of each edge: the share of a parent's prototype that its child takes.

    Paper: Eq. 5. "cosine" is the printed formula; "softmax" normalises it over each child's parents, as the authors'
    published code does and as works in practice. Parents without a prototype get no weight. A child without one has
    nothing to compare, so its usable parents share evenly under either normalisation.

    Args:
        prototypes: of C classes, in the role of the child.
        edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        normalisation: "softmax" or "cosine".
        sources: of C classes, in the role of the parent; `prototypes` when absent.

    Returns:
        (E,) float32; in [0, 1] for "softmax", in [-1, 1] for "cosine".
    """
    sources = sources or prototypes
    class_count = prototypes.vectors.shape[0]
    parents, children = edge_index[0], edge_index[1]
    is_usable = sources.exists.index_select(0, parents)
    scores = attention(prototypes.vectors, sources.vectors, edge_index)
    if normalisation == "softmax":
        return softmax_over_parents(scores * attention.logit_scale, children, is_usable, class_count)
    even = softmax_over_parents(torch.zeros_like(scores), children, is_usable, class_count)
    is_comparable = prototypes.exists.index_select(0, children)
    return torch.where(is_usable, torch.where(is_comparable, scores, even), 0.0)
