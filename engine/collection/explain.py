"""What is known of a class, and which classes are likeliest."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.back_off import Policy, bars_in_effect, where_bar_is_set
from engine.everyday.classifier import FittedClassifier, Inheritance, ScoredClass
from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class ClassFacts:
    """What is known of a class."""

    class_id: int
    shots: tuple[int, ...]  # images a person labelled with exactly this class
    lambda_: float  # weight of its own shots in its prototype (Eq. 6).
    # parents with their attention weights (Eq. 5); weight 0 where nothing is propagated.
    parents: tuple[ScoredClass, ...]
    is_zero_shot: bool  # only what ancestors propagate
    bar: float  # probability that must be passed, in effect
    own_bar: float | None  # set on this very class, None when inherited
    bar_from: int | None = None  # the class whose bar it is, None where nobody set one


def top_classes(fitted: FittedClassifier, chances: NDArray[np.float32], count: int) -> tuple[ScoredClass, ...]:
    """The likeliest candidates, best first, by their probabilities (c,)."""
    order = np.argsort(-chances, kind="stable")[:count]
    return tuple(ScoredClass(int(fitted.candidate_ids[place]), float(chances[place])) for place in order)


def class_facts(
    fitted: FittedClassifier | None,
    graph: CategoryGraph,
    policies: Mapping[int, Policy],
    class_id: int,
    *,
    shots: tuple[int, ...],
) -> ClassFacts:
    """Collect what is known of a class; it need not have a prototype."""
    keep, weights = 1.0 if shots else 0.0, Inheritance().edge_weights
    if fitted is not None and fitted.prototype(class_id) is not None:
        keep, weights = fitted.inheritance.own_shares[class_id], fitted.inheritance.edge_weights
    own = policies[class_id].bar if class_id in policies else None
    return ClassFacts(
        class_id, shots, keep,
        tuple(ScoredClass(parent, weights.get((parent, class_id), 0.0)) for parent in graph.parents(class_id)),
        keep == 0, bars_in_effect(graph, policies, [class_id])[class_id], own,
        where_bar_is_set(graph, policies, class_id),
    )  # fmt: skip
