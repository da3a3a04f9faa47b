"""Recall of a class, and coverage and precision by threshold, from held-out images."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.arrays import Floats, Integers
from engine.collection.fitting import policies_of
from engine.collection.live import LiveCollection
from engine.everyday.back_off import BackOff, Policy, bars_in_effect
from engine.everyday.classifier import ProjectClassifier
from engine.everyday.scores import share_interval
from engine.graph.category_graph import CategoryGraph

BARS = tuple(percent / 100 for percent in range(30, 100))  # below 30 % two classes may pass


@dataclass(frozen=True)
class PolicyPoint:
    """Effect of a threshold."""

    bar: float
    found: int  # images of the class with a safe class in its branch
    named: int  # all images with a safe class in the branch
    right: int  # of `named`, those whose safe class is correct

    @property
    def precision(self) -> float:
        """`right / named`; 0 without any."""
        return self.right / self.named if self.named else 0.0

    @property
    def precision_interval(self) -> tuple[float, float]:
        return share_interval(self.right, self.named)


@dataclass(frozen=True)
class PolicyCurve:
    """Coverage and precision of a class by threshold, from held-out images."""

    class_id: int
    images: int  # held-out images of the branch
    points: tuple[PolicyPoint, ...]  # one for each of `BARS`
    recognised: int = 0  # of `images`, those whose most probable class is in the branch
    mistaken_for: int | None = None  # the most frequent wrong prediction
    has_unseen: bool = False  # other classes have no examples, and so no mistaken images

    @property
    def recognised_interval(self) -> tuple[float, float]:
        return share_interval(self.recognised, self.images)

    def at(self, bar: float) -> PolicyPoint:
        return min(self.points, key=lambda point: abs(point.bar - bar))

    def coverage(self, point: PolicyPoint) -> float:
        """Share of the class's images with a safe class in its branch."""
        return point.found / self.images if self.images else 0.0


def curve_of(live: LiveCollection, class_id: int) -> PolicyCurve | None:
    """The curve of a class of an open project; see `policy_curve`."""
    if live.fitted is None:
        return None
    return policy_curve(
        live.fitted, live.project.classes.graph, policies_of(live.project), class_id
    )


def policy_curve(
    fitted: ProjectClassifier, graph: CategoryGraph, policies: Mapping[int, Policy], class_id: int
) -> PolicyCurve | None:
    """Try all thresholds on a class and its inheriting descendants.

    None if no image of the class was held out.
    """
    held_out, rules = fitted.held_out, fitted.back_off
    if held_out is None or class_id not in graph or not len(held_out.class_ids):
        return None
    branch = np.array(sorted(graph.descendants(class_id) | {class_id}), dtype=np.int64)
    is_of_class = np.isin(held_out.class_ids, branch)
    if not is_of_class.any():
        return None
    best, score = held_out.top_class()
    mass = held_out.probabilities @ rules.roll_up
    fitting = held_out.fitting(graph)
    points = []
    for bar in BARS:
        tried = {**policies, class_id: replace(policies.get(class_id, Policy()), bar=bar)}
        safe, _ = _with_bars(rules, graph, tried, branch).decide(best, score, mass)
        is_named = np.isin(safe, branch)
        named = zip(safe[is_named].tolist(), held_out.class_ids[is_named].tolist(), strict=True)
        right = sum(answer in fitting.get(label, ()) for answer, label in named)
        points.append(
            PolicyPoint(bar, int((is_named & is_of_class).sum()), int(is_named.sum()), right)
        )
    answers = rules.candidate_ids[best[is_of_class]]
    others = Counter(answers[~np.isin(answers, branch)].tolist())
    mistaken_for = min(others, key=lambda each: (-others[each], each), default=None)
    return PolicyCurve(
        class_id,
        len(answers),
        tuple(points),
        recognised=len(answers) - others.total(),
        mistaken_for=mistaken_for,
        has_unseen=fitted.figures.unseen is not None,
    )


def _with_bars(
    rules: BackOff, graph: CategoryGraph, policies: Mapping[int, Policy], branch: Integers
) -> BackOff:
    """The rules with the thresholds of other policies for a branch."""
    bars = bars_in_effect(graph, policies, branch.tolist())

    def changed(class_ids: Integers, before: Floats) -> Floats:
        after = [
            bars.get(each, known)
            for each, known in zip(class_ids.tolist(), before.tolist(), strict=True)
        ]
        return np.where(np.isfinite(before), np.array(after, dtype=np.float32), before)

    return replace(
        rules,
        candidate_bars=changed(rules.candidate_ids, rules.candidate_bars),
        coarse_bars=changed(rules.coarse_ids, rules.coarse_bars),
    )
