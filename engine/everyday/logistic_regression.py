"""Logistic regression on embeddings: the usual linear classifier on frozen features.

Multinomial, with an L2 penalty that held-out labels choose. Every class counts the same, however
many labels it has. Of a coarse label the probabilities below it sum to 1. Otherwise it uses no
graph: classes without a label are never predicted, and unlabelled images teach nothing. Bars,
roll-up and unknown images are shared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_flags, no_integers
from engine.everyday.back_off import BackOff, back_off
from engine.everyday.blocks import (
    Embeddings,
    in_blocks,
    no_similarity,
    one_thread_each,
    stop_if_requested,
    sums_by_class,
    to_floats,
)
from engine.everyday.classifier import (
    Explanation,
    FitFigures,
    FitSnapshot,
    Inheritance,
    ScoredClass,
    Setting,
    Share,
)
from engine.everyday.excluded import ExcludedClasses, excluded_classes
from engine.everyday.prototypical.classification import LinearClassifier, classify_all, softmax
from engine.everyday.prototypical.onnx_export import answers_model
from engine.everyday.scores import HeldOutShots, Scores, distance_limit
from engine.everyday.shots import Shots, class_means, membership
from engine.everyday.teaching import BasisClassifier
from engine.everyday.unseen import UnseenClasses, classes_seen, seen_classes, unseen_classes
from engine.graph.category_graph import CategoryGraph

PENALTIES = (1e-2, 1e-3, 1e-4)
"""L2 penalties. Chosen: from almost class means to almost none, for unit embeddings."""
USUAL_PENALTY = 1e-3  # where no label can be held out
STEPS = 150
"""Of gradient descent with momentum. Chosen: more change no answer at the least penalty."""
STEPS_BEFORE_A_LOOK = 10  # steps before looking whether to stop
FOLDS = 3  # parts of the labels that are held out in turn, some of every class that has two


@dataclass(frozen=True)
class FittedRegression:
    """See `FittedClassifier`."""

    shots: Shots
    candidate_ids: Integers  # (c,) int64, the labelled classes with no labelled one below
    linear: LinearClassifier  # logits over the candidates
    back_off: BackOff
    class_ids: Integers  # (C,) int64, labelled classes and all above, ascending
    # (C, d) float32, of the images at each class, or below where it has none of its own
    means: Floats
    # Squared distance to a class's mean that nearly all shots of a class stay within
    unknown_limit: float
    held_out: HeldOutShots
    is_right: Flags
    # What probabilities are divided with; None where all classes have examples
    unseen: UnseenClasses | None
    excluded: ExcludedClasses | None  # classes that are excluded for single images
    setting: Setting = Setting.REGRESSION
    inheritance: Inheritance = field(default_factory=Inheritance)
    space: None = None
    has_links: None = None

    @property
    def figures(self) -> FitFigures:
        accuracy = float(self.is_right.mean()) if len(self.is_right) else float("nan")
        return FitFigures(
            len(self.is_right), accuracy, unseen=None if self.unseen is None else self.unseen.counts
        )

    def classify(self, embeddings: Embeddings, rows: Integers | None = None) -> Scores:
        scores = self._classify(embeddings)
        if self.excluded is not None:
            scores = self.excluded.correct(scores, embeddings, rows, self, self.linear)
        return self._with_similarity(scores, embeddings)

    def classify_new(self, embeddings: Embeddings) -> Scores:
        """See `FittedClassifier`; the similarity is to the mean of the most probable class."""
        return self._with_similarity(self._classify(embeddings), embeddings)

    def _classify(self, embeddings: Embeddings) -> Scores:
        return classify_all(self.linear, self.back_off, embeddings, unseen=self.unseen)

    def _with_similarity(self, scores: Scores, embeddings: Embeddings) -> Scores:
        prototypes = self._prototypes

        def compare(rows: slice) -> None:
            images = to_floats(embeddings[rows])
            scores.similarity[rows] = np.einsum("nd,nd->n", images, prototypes[scores.best[rows]])

        in_blocks(len(embeddings), compare)
        return scores

    def probabilities(self, embeddings: Embeddings, rows: Integers | None = None) -> Floats:
        with one_thread_each:
            found = softmax(self.linear.logits(embeddings))
        if self.unseen is not None:
            found = self.unseen.divide(found, no_similarity(len(found)))
        return found if self.excluded is None or rows is None else self.excluded.apply(found, rows)

    def is_unknown(self, scores: Scores) -> Flags:
        return self.distance(scores) > self.unknown_limit

    def distance(self, scores: Scores) -> Floats:
        squares = (self._prototypes**2).sum(axis=1)
        return (1 - 2 * scores.similarity + squares[scores.best]).astype(np.float32)

    def unknown_distance(self, scores: Scores, is_free: Flags) -> float:  # noqa: ARG002 (contract)
        return self.unknown_limit

    def explain(
        self,
        image_id: int,
        embedding: Floats,
        chances: Floats,
        *,
        class_id: int,
        safe: ScoredClass | None,
    ) -> Explanation | None:
        """See `Explains`: only the class's own images count."""
        if len(self.candidate_ids) == 0 or self.prototype(class_id) is None:
            return None
        own = Share(
            class_id, 1.0, tuple(self.shots.image_ids[self.shots.class_ids == class_id].tolist())
        )
        is_unknown = bool(
            ((embedding - self._prototypes[chances.argmax()]) ** 2).sum() > self.unknown_limit
        )
        score = self.back_off.probability_of(class_id, chances)
        return Explanation(image_id, class_id, score, own, (), safe, is_unknown)

    def prototype(self, class_id: int) -> Floats | None:
        """See `Explains`: the mean of its images."""
        place = np.flatnonzero(self.class_ids == class_id)
        return self.means[place[0]] if len(place) else None

    def hold_out_each(self, graph: CategoryGraph) -> Flags:  # noqa: ARG002 (contract)
        return self.is_right

    def export(self, opset: int) -> Any:
        return answers_model(
            self.linear, self._prototypes, self.back_off, opset, unseen=self.unseen
        )

    @property
    def _prototypes(self) -> Floats:
        """(c, d) means of the candidates."""
        return self.means[np.searchsorted(self.class_ids, self.candidate_ids)]


@final
class LogisticRegression(BasisClassifier):
    """See `Classifier`."""

    @one_thread_each
    def fit(self, snapshot: FitSnapshot) -> FittedRegression:
        graph, shots = snapshot.graph, snapshot.shots
        labelled = set(shots.counts())
        above = frozenset[int]().union(*map(graph.ancestors, labelled))
        candidate_ids = np.array(sorted(labelled - above), dtype=np.int64)
        class_ids = np.array(sorted(labelled | above), dtype=np.int64)
        means = class_means(shots, membership(graph, class_ids.tolist(), shots), len(class_ids))
        task = _task(graph, shots, candidate_ids)
        penalty, held, probabilities = _held_out(task)
        weights, offsets = _fitted(task, penalty)
        can_tell = np.isin(task.classes[held], candidate_ids)
        held, probabilities = held[can_tell], probabilities[can_tell]
        is_right = task.is_allowed[held, probabilities.argmax(axis=1)] if len(held) else no_flags()
        seen = seen_classes(graph, labelled)
        counts = classes_seen(graph, seen, shots.counts(), len(snapshot.images.labels))
        unseen = None
        rules = back_off(
            graph, candidate_ids, snapshot.policies, broadest_level=snapshot.broadest_level
        )
        if labelled:
            unseen = unseen_classes(graph, candidate_ids, seen, counts, None, labels=len(shots))
        if unseen is not None:
            rules = rules.without_obvious(unseen.leaves, len(graph.leaves()))
        excluded = excluded_classes(
            graph, candidate_ids, snapshot.excluded, snapshot.images.row_ids
        )
        return FittedRegression(
            shots,
            candidate_ids,
            LinearClassifier(weights, offsets, np.zeros_like(offsets), 1.0),
            rules,
            class_ids,
            means,
            _limit(shots),
            HeldOutShots(shots.image_ids[held], shots.class_ids[held], probabilities),
            is_right,
            unseen,
            excluded,
        )


@dataclass(frozen=True)
class _Task:
    """n labelled images and c candidates."""

    images: Floats  # (n, d) float32, what is learned from
    seen: Floats  # (n, d) float32, what they would be classified by
    classes: Integers  # (n,) int64, their labels
    is_allowed: Flags  # (n, c) bool, candidates that agree with the label
    twins: Integers  # (n,) int64, equal for images that are held out together
    is_first: Flags  # (n,) bool, those that are measured then: one of each class among twins

    def at(self, rows: Integers) -> "_Task":
        return _Task(
            self.images[rows],
            self.seen[rows],
            self.classes[rows],
            self.is_allowed[rows],
            self.twins[rows],
            self.is_first[rows],
        )

    def folds(self) -> Iterator[Integers]:
        """Rows to hold out in turn: every `FOLDS`-th of each class, twins together."""
        for fold in range(FOLDS):
            yield np.flatnonzero(self.ranks[0] % FOLDS == fold)

    @cached_property
    def ranks(self) -> tuple[Integers, Flags]:
        """Rank (n,) of each row in its class, twins sharing one; whether there are others."""
        _, first, group = np.unique(self.twins, return_index=True, return_inverse=True)
        leaders = np.sort(first)
        order = leaders[np.argsort(self.classes[leaders], kind="stable")]
        starts = np.searchsorted(self.classes[order], self.classes[order])
        counts = np.searchsorted(self.classes[order], self.classes[order], side="right") - starts
        rank, has_others = (
            np.empty(len(self.twins), dtype=np.int64),
            np.empty(len(self.twins), dtype=bool),
        )
        rank[order], has_others[order] = np.arange(len(order)) - starts, counts > 1
        leader_of = first[group.reshape(-1)]
        return rank[leader_of], has_others[leader_of]


def _task(graph: CategoryGraph, shots: Shots, candidate_ids: Integers) -> _Task:
    is_allowed = np.zeros((len(shots), len(candidate_ids)), dtype=bool)
    for label in shots.counts():
        below = sorted(graph.descendants(label) | {label})
        is_allowed[shots.class_ids == label] = np.isin(candidate_ids, below)
    is_first = np.zeros(len(shots), dtype=bool)
    is_first[shots.together.firsts] = True
    return _Task(
        shots.embeddings,
        shots.as_classified,
        shots.class_ids,
        is_allowed,
        shots.twin_groups,
        is_first,
    )


def _held_out(task: _Task) -> tuple[float, Integers, Floats]:
    """The penalty of the greatest held-out likelihood, the held-out rows, their probabilities."""
    has_others = task.ranks[1]
    folds = [fold[has_others[fold]] for fold in task.folds()]
    folds = [fold for fold in folds if len(fold)]
    measured = [fold[task.is_first[fold]] for fold in folds]
    if not folds:
        return (
            USUAL_PENALTY,
            no_integers(),
            np.zeros((0, task.is_allowed.shape[1]), dtype=np.float32),
        )
    held = np.concatenate(measured)
    order = np.argsort(held)
    best, found = -np.inf, (USUAL_PENALTY, held[order], np.zeros((len(held), 0), dtype=np.float32))
    for penalty in PENALTIES:
        parts = []
        for fold, some in zip(folds, measured, strict=True):
            weights, offsets = _fitted(
                task.at(np.setdiff1d(np.arange(len(task.classes)), fold)), penalty
            )
            parts.append(softmax(task.seen[some] @ weights.T + offsets))
        probabilities = np.concatenate(parts)[order]
        right = (probabilities * task.is_allowed[held[order]]).sum(axis=1)
        evidence = float(np.log(np.maximum(right, 1e-12)).sum())
        if evidence > best:
            best, found = evidence, (penalty, held[order], probabilities)
    return found


def _fitted(task: _Task, penalty: float) -> tuple[Floats, Floats]:
    """Weights (c, d) and offsets (c,) by Nesterov's accelerated gradient descent, from zero.

    The loss is the mean over classes of the mean of -log(summed probability of the allowed
    candidates), whose gradient changes by no more than 1 for each step of length 1 where images
    have length 1.
    """
    _, place, counts = np.unique(task.classes, return_inverse=True, return_counts=True)
    importance = (
        (1 / (len(counts) * counts[place]))[:, None].astype(np.float32) if len(place) else 0
    )
    inputs = np.concatenate([task.images, np.ones((len(task.images), 1), dtype=np.float32)], axis=1)
    decay = np.full(inputs.shape[1], penalty, dtype=np.float32)
    decay[-1] = 0
    now = ahead = np.zeros((task.is_allowed.shape[1], inputs.shape[1]), dtype=np.float32)
    for step in range(STEPS if now.size else 0):
        if step % STEPS_BEFORE_A_LOOK == 0:
            stop_if_requested()
        chances = softmax(inputs @ ahead.T)
        wanted = chances * task.is_allowed
        wanted /= np.maximum(wanted.sum(axis=1, keepdims=True), np.float32(1e-12))
        slope = ((chances - wanted) * importance).T @ inputs + decay * ahead
        before, now = now, (ahead - slope / (1 + penalty)).astype(np.float32)
        ahead = (now + step / (step + 3) * (now - before)).astype(np.float32)
    return np.ascontiguousarray(now[:, :-1]), now[:, -1].copy()


def _limit(shots: Shots) -> float:
    """Limit of shots' squared distances to the mean of their class's others; else infinite."""
    _, place, counts = np.unique(shots.class_ids, return_inverse=True, return_counts=True)
    sums = sums_by_class(shots.embeddings, place, len(counts))
    twins, taken = shots.together, shots.together.sizes
    has_others = twins.firsts[counts[place[twins.firsts]] > taken[twins.firsts]]
    own, left_out = place[has_others], taken[has_others, None]
    means = (sums[own] - left_out * twins.means[has_others]) / (counts[own, None] - left_out)
    return distance_limit(
        ((shots.as_classified[has_others] - means) ** 2).sum(axis=1).astype(np.float32)
    )
