"""Propagation of prototypes from parents to children (Eq. 4) and the final prototypes (Eq. 6)."""

from typing import NamedTuple

import torch
from torch import Tensor

from engine.model.attention import EdgeScores, Normalisation, attention_weights
from engine.model.initial_prototypes import Prototypes, sum_by_class


class Propagation(NamedTuple):
    """What propagation made of the initial prototypes."""

    weights: Tensor  # (E,) float32, attention weight of each edge in the last step
    propagated: Prototypes  # `P+`; exists where at least one parent had something to give
    final: Prototypes  # `P`; exists where `P0` or `P+` does


def propagated_prototypes(sources: Prototypes, edge_index: Tensor, weights: Tensor) -> Prototypes:
    """`P+`: sum of each class's parents' prototypes, weighted by attention; exists where one of them does.

    Paper: Eq. 4. Parents without a prototype are left out.

    Args:
        sources: of C classes, what each gives to its children.
        edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        weights: (E,) float32.
    """
    class_count = sources.vectors.shape[0]
    parents, children = edge_index[0], edge_index[1]
    usable = sources.exists.index_select(0, parents).to(weights.dtype)
    messages = sources.vectors.index_select(0, parents) * (weights * usable)[:, None]
    usable_parents = sum_by_class(usable, children, class_count)
    return Prototypes(sum_by_class(messages, children, class_count), usable_parents > 0)


def final_prototypes(initial: Prototypes, propagated: Prototypes, lambda_: Tensor | float) -> Prototypes:
    """`P`: blend of what a class's own images say and what its parents say.

    Paper: Eq. 6, which assumes both are there. With only one of them, that one counts fully: a class without usable
    parents keeps `P0`, a class without images (zero-shot) takes `P+`. With neither it has no prototype.

    Args:
        initial: `P0` of C classes.
        propagated: `P+` of C classes.
        lambda_: weight of `P0` in [0, 1]; a number, or (C,) float32.
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

    Paper: Eq. 4 to 6 in one step; more steps are its "future studies". From the second step on, parents give their
    final prototypes of the step before, while the child's own side (`P0` in Eq. 5 and 6) stays what its images say.
    A class whose nearest ancestor with a prototype is k edges away is reached in k steps.

    Args:
        initial: `P0` of C classes.
        edge_index: (2, E) int64, row 0 the parent, row 1 the child.
        lambda_: weight of `P0` in [0, 1]; a number, or (C,) float32.
        steps: at least 1.

    Raises:
        ValueError: `steps` is less than 1.
    """
    if steps < 1:
        raise ValueError(f"propagation takes at least 1 step, not {steps}")
    result = _step(attention, initial, initial, edge_index, lambda_, normalisation=normalisation)
    for _ in range(steps - 1):
        result = _step(attention, initial, result.final, edge_index, lambda_, normalisation=normalisation)
    return result


def _step(
    attention: EdgeScores,
    initial: Prototypes,
    sources: Prototypes,
    edge_index: Tensor,
    lambda_: Tensor | float,
    *,
    normalisation: Normalisation,
) -> Propagation:
    weights = attention_weights(attention, initial, edge_index, normalisation, sources=sources)
    propagated = propagated_prototypes(sources, edge_index, weights)
    return Propagation(weights, propagated, final_prototypes(initial, propagated, lambda_))
