"""The Prototype Propagation Network in torch (Eq. 2 to 6)."""

from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, final

import torch
from torch import Tensor, nn

HIDDEN_WIDTH = 128
INITIAL_DEVIATION = 0.001
SMALLEST_NORM = 1e-4

Normalisation = Literal["softmax", "cosine"]


class Prototypes(NamedTuple):
    """One vector for each class, and which classes have one."""

    vectors: Tensor  # (C, d) float32, zeros where there is none
    exists: Tensor  # (C,) bool


def initial_prototypes(
    embeddings: Tensor, image_positions: Tensor, class_positions: Tensor, class_count: int
) -> Prototypes:
    """Mean embedding of each class's images, of C classes.

    Paper: Eq. 3. A class without images has no prototype, which the paper leaves undefined;
    propagation may reach it.

    Args:
        embeddings: (n, d) float32, one row for each image.
        image_positions: (m,) int64 in [0, n), the image of each (image, class) pair.
        class_positions: (m,) int64 in [0, C), the class of each pair.
    """
    members = embeddings.index_select(0, image_positions)
    counts = sum_by_class(
        torch.ones_like(class_positions, dtype=embeddings.dtype), class_positions, class_count
    )
    sums = sum_by_class(members, class_positions, class_count)
    return Prototypes(sums / counts.clamp(min=1.0)[:, None], counts > 0)


def sum_by_class(rows: Tensor, class_positions: Tensor, class_count: int) -> Tensor:
    """Sum the rows (k,) or (k, d) of each class (k,), to (C,) or (C, d) float; zeros without rows.

    The index is expanded to the rows' shape on purpose: `scatter_add` then becomes ONNX
    `ScatterElements`, whereas `index_add` becomes `ScatterND`, whose CPU kernel in ONNX Runtime
    adds from several threads without a lock and loses terms when many rows fall on one class. The
    price is 8 bytes of index for each number in `rows`.
    """
    totals = rows.new_zeros((class_count, *rows.shape[1:]))
    index = (
        class_positions if rows.ndim == 1 else class_positions[:, None].expand(-1, rows.shape[1])
    )
    return totals.scatter_add(0, index, rows)


class EdgeScores(Protocol):
    """Similarity of children to their parents."""

    logit_scale: Tensor  # factor on the scores before a softmax
    __call__: Callable[..., Any]
    """From children (C, d), parents (C, d) and edge index (2, E) to scores (E,) in [-1, 1]."""


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
        # Without storage first: nn.Linear would draw from the global generator and change other
        # seeds.
        linear = nn.Linear(width_in, width_out, bias=False, device="meta").to_empty(device="cpu")
        nn.init.normal_(linear.weight, 0.0, INITIAL_DEVIATION, generator=generator)
        return linear

    @property
    def embedding_width(self) -> int:
        """Length of the prototypes that this attention compares."""
        return self.g.in_features

    def forward(self, children: Tensor, parents: Tensor, edge_index: Tensor) -> Tensor:
        """Cosine of `g(child)` and `h(parent)`, of prototypes (C, d), on each edge, (E,).

        Paper: Eq. 5 as printed. Each norm is at least `SMALLEST_NORM`, so that a zero vector scores
        0.
        """
        queries = _unit(self.g(children)).index_select(0, edge_index[1])
        keys = _unit(self.h(parents)).index_select(0, edge_index[0])
        return (queries * keys).sum(dim=1)


@final
class PlainAttention(nn.Module):
    """Attention without parameters: `g` and `h` are the identity, so any width fits."""

    logit_scale: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("logit_scale", torch.tensor(1.0))

    def forward(self, children: Tensor, parents: Tensor, edge_index: Tensor) -> Tensor:
        """Cosine of child and parent on each edge: `Attention.forward` with identities."""
        return (
            _unit(children).index_select(0, edge_index[1])
            * _unit(parents).index_select(0, edge_index[0])
        ).sum(1)


def _unit(vectors: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return vectors / norms.clamp(min=SMALLEST_NORM)


def softmax_over_parents(
    scores: Tensor, child_positions: Tensor, is_usable: Tensor, class_count: int
) -> Tensor:
    """Softmax of edge scores (E,) over each child's usable parents: (E,) in [0, 1], else 0."""
    masked = torch.where(is_usable, scores, float("-inf"))
    # The maximum is subtracted for the range of exp only; it cancels out, as does its gradient.
    highest = scores.new_full((class_count,), float("-inf"))
    highest = highest.scatter_reduce(0, child_positions, masked.detach(), "amax")
    shifted = torch.where(is_usable, scores - highest.index_select(0, child_positions), 0.0)
    shares = torch.where(is_usable, shifted.exp(), 0.0)
    totals = sum_by_class(shares, child_positions, class_count)
    # Children without a usable parent must not divide 0 / 0. Not by clamp(min=1): a lone parent's
    # total is exactly 1, where clamp lets no gradient through, so that weights that cannot change
    # would seem to want to.
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
    """Attention weight of each edge: (E,) float32 in [0, 1], or [-1, 1] for "cosine".

    Paper: Eq. 5. "cosine" is the printed formula; "softmax" normalises it over each child's
    parents, as the authors' published code does and as works in practice. Parents without a
    prototype get no weight. A child without one has nothing to compare, so its usable parents share
    evenly under either normalisation.

    Args:
        edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        sources: in the role of the parent; `prototypes` when absent.
    """
    sources = sources or prototypes
    class_count = prototypes.vectors.shape[0]
    parents, children = edge_index[0], edge_index[1]
    is_usable = sources.exists.index_select(0, parents)
    scores = attention(prototypes.vectors, sources.vectors, edge_index)
    if normalisation == "softmax":
        return softmax_over_parents(
            scores * attention.logit_scale, children, is_usable, class_count
        )
    even = softmax_over_parents(torch.zeros_like(scores), children, is_usable, class_count)
    is_comparable = prototypes.exists.index_select(0, children)
    return torch.where(is_usable, torch.where(is_comparable, scores, even), 0.0)


class Propagation(NamedTuple):
    """Outcome of propagation."""

    weights: Tensor  # (E,) float32, attention weight of each edge in the last step
    propagated: Prototypes  # `P+`; exists where at least one parent has a prototype
    final: Prototypes  # `P`; exists where `P0` or `P+` does


def propagated_prototypes(sources: Prototypes, edge_index: Tensor, weights: Tensor) -> Prototypes:
    """`P+`: sum of the parents' prototypes, weighted by attention (E,); exists if one of them does.

    Paper: Eq. 4. Parents without a prototype are left out.
    """
    class_count = sources.vectors.shape[0]
    parents, children = edge_index[0], edge_index[1]
    usable = sources.exists.index_select(0, parents).to(weights.dtype)
    messages = sources.vectors.index_select(0, parents) * (weights * usable)[:, None]
    usable_parents = sum_by_class(usable, children, class_count)
    return Prototypes(sum_by_class(messages, children, class_count), usable_parents > 0)


def final_prototypes(
    initial: Prototypes, propagated: Prototypes, lambda_: Tensor | float
) -> Prototypes:
    """`P`: blend of `P0` and `P+`; `lambda_` in [0, 1] is the weight of `P0`, a number or (C,).

    Paper: Eq. 6, which assumes both are there. With only one of them, that one counts fully: a
    class without usable parents keeps `P0`, a class without images (zero-shot) takes `P+`. With
    neither it has no prototype.
    """
    # With only one of the two, its own existence (1 or 0) is the weight of P0.
    has_both = initial.exists & propagated.exists
    own_weight = torch.where(has_both, lambda_, initial.exists.to(initial.vectors.dtype))[:, None]
    vectors = own_weight * initial.vectors + (1.0 - own_weight) * propagated.vectors
    return Prototypes(vectors, initial.exists | propagated.exists)


def propagate(
    attention: EdgeScores,
    initial: Prototypes,
    edge_index: Tensor,
    lambda_: Tensor | float,
    *,
    steps: int = 1,
    normalisation: Normalisation = "softmax",
) -> Propagation:
    """Propagate once, or several times, so that what a class learns reaches its grandchildren.

    Paper: Eq. 4 to 6 in one step; more steps are its "future studies". From the second step on,
    parents give their final prototypes of the step before, while the child's own side (`P0` in Eq.
    5 and 6) stays. A class whose nearest ancestor with a prototype is k edges away is reached in k
    steps.

    Args:
        edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        lambda_: weight of `P0` in [0, 1]; a number, or (C,) float32.

    Raises:
        ValueError: `steps` is less than 1.
    """
    if steps < 1:
        raise ValueError(f"propagation takes at least 1 step, not {steps}")
    sources = initial
    for _ in range(steps):
        weights = attention_weights(attention, initial, edge_index, normalisation, sources=sources)
        propagated = propagated_prototypes(sources, edge_index, weights)
        sources = final_prototypes(initial, propagated, lambda_)
    return Propagation(weights, propagated, sources)


A = TypeVar("A", Attention, PlainAttention)


class NetworkOutputs(NamedTuple):
    """Outputs in the order and under the names of the exported file."""

    initial: Tensor  # (C, d) float32, `P0`; zeros where there is none
    has_initial: Tensor  # (C,) bool
    weights: Tensor  # (E,) float32, attention weight of each edge
    propagated: Tensor  # (C, d) float32, `P+`; zeros where there is none
    final: Tensor  # (C, d) float32, `P`; zeros where there is none
    has_final: Tensor  # (C,) bool; False for a class that neither images nor propagation reach


@final
class PropagationNetwork(nn.Module, Generic[A]):
    """From labelled embeddings to final prototypes in one pass (Eq. 3 to 6): exported to ONNX.

    With `PlainAttention` it has no parameters and takes embeddings of any width.
    """

    def __init__(
        self, attention: A, *, steps: int = 1, normalisation: Normalisation = "softmax"
    ) -> None:
        super().__init__()
        self.attention: A = attention
        self.steps = steps
        self.normalisation: Normalisation = normalisation

    def forward(
        self,
        embeddings: Tensor,
        image_positions: Tensor,
        class_positions: Tensor,
        edge_index: Tensor,
        lambda_: Tensor,
    ) -> NetworkOutputs:
        """Apply Eq. 3 to 6.

        Args:
            embeddings: (n, d) float32, one row for each image.
            image_positions: (m,) int64 in [0, n), the image of each (image, class) pair.
            class_positions: (m,) int64 in [0, C), the class of each pair.
            edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child.
            lambda_: (C,) float32 in [0, 1], weight of `P0` in Eq. 6. n, m and E may be 0.
        """
        initial = initial_prototypes(embeddings, image_positions, class_positions, lambda_.shape[0])
        result = propagate(
            self.attention,
            initial,
            edge_index,
            lambda_,
            steps=self.steps,
            normalisation=self.normalisation,
        )
        return NetworkOutputs(*initial, result.weights, result.propagated.vectors, *result.final)


def squared_distances(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    """Squared Euclidean distances (n, C) of embeddings (n, d) and prototypes (C, d), at least 0.

    Both are first moved by the prototypes' mean. Distances do not change by that, but |x|² - 2xp +
    |p|² cancels less.
    """
    centre = prototypes.detach().mean(dim=0)
    points, targets = embeddings - centre, prototypes - centre
    lengths = points.square().sum(dim=1)[:, None] + targets.square().sum(dim=1)
    return (lengths - 2.0 * points @ targets.T).clamp(min=0.0)


def log_probabilities(
    embeddings: Tensor, prototypes: Tensor, temperature: Tensor | float = 1.0
) -> Tensor:
    """Log-probability (n, C) float32 of each of C > 0 classes for each embedding (n, d).

    Paper: Eq. 2, with the squared distance divided by a temperature (1 in the paper) so that scores
    can be calibrated.
    """
    return (-squared_distances(embeddings, prototypes) / temperature).log_softmax(dim=1)
