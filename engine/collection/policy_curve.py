"""What a class's bar costs and brings: how many held-out images would be named at it, and how many of them rightly."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.live import LiveCollection
from engine.collection.project_settings import policies_of
from engine.everyday.back_off import BackOff, Policy, bars_in_effect
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import share_interval
from engine.graph.category_graph import CategoryGraph

BARS: Final = tuple(percent / 100 for percent in range(30, 100))
"""Bars that are tried: below 30% two classes may both pass, and 100% is never reached."""


@dataclass(frozen=True)
class PolicyPoint:
    """What one bar does."""

    bar: float  # the bar
    found: int  # images of the class that are named as it or as a class below it
    named: int  # all images that are named so, wherever they belong
    right: int  # of `named`, those whose label is the class that they are named as, or lies below it

    @property
    def precision(self) -> float:
        """Share of what is named that is named rightly; 0 where nothing is named."""
        return self.right / self.named if self.named else 0.0

    @property
    def precision_interval(self) -> tuple[float, float]:
        """Where that share lies in 19 of 20 cases."""
        return share_interval(self.right, self.named)


@dataclass(frozen=True)
class PolicyCurve:
    """Coverage and precision of a class by its bar, from labelled images that were held out."""

    class_id: int  # the class
    images: int  # held-out images that a person labelled as the class or as one below it
    points: tuple[PolicyPoint, ...]  # one for each of `BARS`

    def at(self, bar: float) -> PolicyPoint:
        """The point nearest to a bar."""
        return min(self.points, key=lambda point: abs(point.bar - bar))

    def coverage(self, point: PolicyPoint) -> float:
        """Share of the class's images that are named as it or as a class below it."""
        return point.found / self.images if self.images else 0.0


def curve_of(live: LiveCollection, class_id: int) -> PolicyCurve | None:
    """The curve of a class of an open project; see `policy_curve`."""
    if live.fitted is None:
        return None
    return policy_curve(live.fitted, live.project.classes.graph, policies_of(live.project), class_id)


def policy_curve(
    fitted: FittedClassifier, graph: CategoryGraph, policies: Mapping[int, Policy], class_id: int
) -> PolicyCurve | None:
    """Try every bar on a class, for it and all below that inherit it.

    Args:
        fitted: the model; its held-out shots are named anew, as images are.
        graph: the category graph that it was fitted to.
        policies: what people set.
        class_id: the class whose bar is tried.

    Returns:
        The curve; None where no image of the class was held out, so that nothing can be said.
    """
    held_out, rules = fitted.held_out, fitted.back_off
    if held_out is None or class_id not in graph or not len(held_out.class_ids):
        return None
    branch = np.array(sorted(graph.descendants(class_id) | {class_id}), dtype=np.int64)
    is_of_class = np.isin(held_out.class_ids, branch)
    if not is_of_class.any():
        return None
    best, score = held_out.likeliest()
    mass = held_out.probabilities @ rules.roll_up
    fitting = held_out.fitting(graph)
    points = []
    for bar in BARS:
        tried = {**policies, class_id: replace(policies.get(class_id, Policy()), bar=bar)}
        safe, _ = _with_bars(rules, graph, tried, branch).decide(best, score, mass)
        is_named = np.isin(safe, branch)
        named = zip(safe[is_named].tolist(), held_out.class_ids[is_named].tolist(), strict=True)
        right = sum(answer in fitting.get(label, ()) for answer, label in named)
        points.append(PolicyPoint(bar, int((is_named & is_of_class).sum()), int(is_named.sum()), right))
    return PolicyCurve(class_id, int(is_of_class.sum()), tuple(points))


def _with_bars(
    rules: BackOff, graph: CategoryGraph, policies: Mapping[int, Policy], branch: NDArray[np.int64]
) -> BackOff:
    """The same rules with the bars that other policies give to the classes of a branch."""
    bars = bars_in_effect(graph, policies, branch.tolist())

    def changed(class_ids: NDArray[np.int64], before: NDArray[np.float32]) -> NDArray[np.float32]:
        after = [bars.get(each, known) for each, known in zip(class_ids.tolist(), before.tolist(), strict=True)]
        return np.where(np.isfinite(before), np.array(after, dtype=np.float32), before)

    return replace(
        rules,
        candidate_bars=changed(rules.candidate_ids, rules.candidate_bars),
        coarse_bars=changed(rules.coarse_ids, rules.coarse_bars),
    )
