"""Facts and predictions of images and classes of an open collection."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.state import NO_CLASS, CollectionState, predicted_as
from engine.everyday.back_off import Policy, bars_in_effect, where_bar_is_set
from engine.everyday.classifier import (
    Explains,
    Explanation,
    Inheritance,
    ProjectClassifier,
    ScoredClass,
    Share,
)
from engine.everyday.scores import similarity
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.project.records import Label

FACES = 6  # images that represent a class, at most: as many as fit on a card
TOPS = 9  # classes in a guess: one for each digit


@dataclass(frozen=True)
class ClassFacts:
    """Facts of a class."""

    class_id: int
    shots: tuple[int, ...]  # images labelled with exactly this class
    lambda_: float  # weight of its own shots in its prototype (Eq. 6)
    parents: tuple[ScoredClass, ...]  # with their attention weights (Eq. 5), 0 without propagation
    is_zero_shot: bool  # whether it has a prototype only by propagation
    bar: float  # effective threshold
    own_bar: float | None  # threshold of this class, None if inherited
    bar_from: int | None = None  # the class whose threshold is inherited, None if there is none


def class_facts(
    fitted: Explains | None,
    graph: CategoryGraph,
    rules: Mapping[int, Policy],
    class_id: int,
    shots: Sequence[int],
) -> ClassFacts:
    """Collect facts of a class, with or without a prototype."""
    keep, weights = 1.0 if shots else 0.0, Inheritance().edge_weights
    if fitted is not None and fitted.prototype(class_id) is not None:
        keep, weights = fitted.inheritance.own_shares[class_id], fitted.inheritance.edge_weights
    own = rules[class_id].bar if class_id in rules else None
    return ClassFacts(
        class_id,
        tuple(shots),
        keep,
        tuple(
            ScoredClass(parent, weights.get((parent, class_id), 0.0))
            for parent in graph.parents(class_id)
        ),
        keep == 0,
        bars_in_effect(graph, rules, [class_id])[class_id],
        own,
        where_bar_is_set(graph, rules, class_id),
    )


@dataclass(frozen=True)
class GraphFacts:
    """Facts of the classes and edges of a graph."""

    # attention (parent, child), Eq. 5
    weights: Mapping[tuple[ClassId, ClassId], float] = field(default_factory=dict)
    # weight of own shots (lambda, Eq. 6)
    own_shares: Mapping[ClassId, float] = field(default_factory=dict)
    # shots at or below each class
    faces: Mapping[ClassId, tuple[int, ...]] = field(default_factory=dict)
    # share of images at or below that are labelled, or whose best leaf is safe
    decided: Mapping[ClassId, float] = field(default_factory=dict)


def graph_facts(
    fitted: Explains | None, graph: CategoryGraph, state: CollectionState
) -> GraphFacts:
    """Collect facts for the drawing of a graph."""
    inherits = Inheritance() if fitted is None else fitted.inheritance
    return GraphFacts(
        inherits.edge_weights,
        inherits.own_shares,
        faces(graph, state),
        decided_shares(graph, state),
    )


def faces(
    graph: CategoryGraph, state: CollectionState, most: int = FACES
) -> dict[ClassId, tuple[int, ...]]:
    """Shots that represent each class: its own, then one of each child in turn, and so on."""
    found = _own_faces(graph, state, most)
    above = {parent for class_id in found for parent in graph.ancestors(class_id)}
    for class_id in sorted(above, key=graph.level, reverse=True):
        own = found.get(class_id, ())
        below = [found[child] for child in graph.children(class_id) if child in found]
        found[class_id] = tuple(dict.fromkeys((*own, *_in_turn(below, most))))[:most]
    return found


def _own_faces(
    graph: CategoryGraph, state: CollectionState, most: int
) -> dict[ClassId, tuple[int, ...]]:
    labelled = np.flatnonzero(state.label_class >= 0)
    order = labelled[np.argsort(state.label_class[labelled], kind="stable")]
    classes, first = np.unique(state.label_class[order], return_index=True)
    groups = np.split(state.image_ids[order], first[1:])
    pairs = zip(classes.tolist(), groups, strict=True) if len(classes) else ()
    return {class_id: tuple(ids[:most].tolist()) for class_id, ids in pairs if class_id in graph}


def _in_turn(groups: Iterable[tuple[int, ...]], most: int) -> list[int]:
    """Interleave groups: the first of each, then the second of each, and so on."""
    several = list(groups)[: 4 * most]
    turns = (group[turn] for turn in range(most) for group in several if turn < len(group))
    return [image for image, _ in zip(turns, range(2 * most), strict=False)]


def decided_shares(graph: CategoryGraph, state: CollectionState) -> dict[ClassId, float]:
    """Share of decided images at or below each class that has images."""
    is_labelled = state.label_class >= 0
    shown = np.where(
        is_labelled, state.label_class, np.where(state.is_unknown, NO_CLASS, state.best_class)
    )
    is_decided = is_labelled | (state.safe_class == state.best_class)
    seen, decided = Counter[int](), Counter[int]()
    classes, place = np.unique(shown, return_inverse=True)
    totals = np.bincount(place, minlength=len(classes))
    sure = np.bincount(place, weights=is_decided, minlength=len(classes)).astype(np.int64)
    for class_id, total, count in zip(
        classes.tolist(), totals.tolist(), sure.tolist(), strict=True
    ):
        if class_id < 0 or class_id not in graph:
            continue
        for above in (class_id, *graph.ancestors(class_id)):
            seen[above] += total
            decided[above] += count
    return {class_id: decided[class_id] / total for class_id, total in seen.items()}


@dataclass(frozen=True)
class Guess:
    """Label and predictions of an image, as shown before a person decides."""

    image_id: int
    label: Label | None  # by a person
    tops: tuple[ScoredClass, ...]  # at most `TOPS` classes, best first; none without an embedding
    explanation: Explanation | None  # of the best class


@dataclass(frozen=True)
class Answers:
    """Answers of a fitted model, without removed classes and images."""

    fitted: ProjectClassifier
    graph: CategoryGraph  # current
    embedded: EmbeddedImages
    state: CollectionState
    seen: Flags  # (r,) bool, the rows of `embedded.store` that the model was fitted to

    def tops(self, image_id: int, count: int) -> tuple[ScoredClass, ...]:
        row = self.embedded.ready_row(image_id)
        return () if row is None else self._tops(self.chances(np.array([row]))[0], count)

    def explain(self, image_id: int, class_id: int | None = None) -> Explanation | None:
        row = self.embedded.ready_row(image_id)
        return (
            None
            if row is None
            else self._explain(image_id, row, self.chances(np.array([row]))[0], class_id)
        )

    def guess_parts(
        self, image_ids: Sequence[int]
    ) -> dict[int, tuple[tuple[ScoredClass, ...], Explanation | None]]:
        """The `TOPS` best classes and an explanation of each image that has an embedding."""
        rows = {i: row for i in image_ids if (row := self.embedded.ready_row(i)) is not None}
        chances = self.chances(np.array(list(rows.values()), dtype=np.int64))
        return {
            image_id: (self._tops(of_image, TOPS), self._explain(image_id, row, of_image, None))
            for (image_id, row), of_image in zip(rows.items(), chances, strict=True)
        }

    def likely_unlabelled(
        self, class_id: int, state: CollectionState, count: int
    ) -> tuple[int, ...]:
        """Unlabelled images predicted as a class, then those most similar to it.

        Args:
            class_id: a class; predictions of its descendants count too.
            state: the predictions.
            count: how many, at most.

        Returns:
            Predicted images by falling probability, then others by falling similarity to the
            prototype of the class; none without a prototype.
        """
        prototype = self.fitted.prototype(class_id)
        if prototype is None:
            return ()
        predicted = predicted_as(state, (class_id, *self.graph.descendants(class_id)))
        rows, store = self.embedded.rows, self.embedded.store
        free = rows[(self.embedded.images.labels == NO_CLASS) & self.embedded.is_ready]
        alike = similarity(store.embeddings, prototype)
        nearest = store.image_ids[free[np.argsort(-alike[free], kind="stable")[:count]]].tolist()
        return tuple(dict.fromkeys((*predicted[:count], *nearest)))[:count]

    def nearest_shots(self, image_id: int, class_id: int, count: int) -> tuple[int, ...]:
        """Labelled images at or below a class that are most similar to an image.

        Args:
            image_id: an image, which is not among the result.
            class_id: a class of the graph.
            count: how many, at most.
        """
        row = self.embedded.ready_row(image_id)
        if row is None or class_id not in self.graph:
            return ()
        classes = (class_id, *self.graph.descendants(class_id))
        is_shot = np.isin(self.embedded.images.labels, classes) & self.embedded.is_ready
        is_shot &= self.embedded.images.ids != image_id
        rows, store = self.embedded.rows[is_shot], self.embedded.store
        vector = store.floats(np.array([row]))[0]
        alike = similarity(store.floats(rows), vector)
        return tuple(store.image_ids[rows[np.argsort(-alike, kind="stable")[:count]]].tolist())

    def chances(self, rows: Integers) -> Floats:
        """Probability (k, c) of each candidate for images with an embedding."""
        store = self.embedded.store
        found = np.zeros((len(rows), len(self.fitted.candidate_ids)), dtype=np.float32)
        if found.size == 0:
            return found
        for places, is_seen in (
            (np.flatnonzero(self.seen[rows]), True),
            (np.flatnonzero(~self.seen[rows]), False),
        ):
            if len(places):
                chosen = rows[places]
                known = chosen if is_seen else None
                found[places] = self.fitted.probabilities(store.embeddings[chosen], known)
        return found

    def _tops(self, chances: Floats, count: int) -> tuple[ScoredClass, ...]:
        listed = np.where(self._is_gone, np.float32(-1), chances)
        order = np.argsort(-listed, kind="stable")[:count]
        tops = (
            ScoredClass(int(self.fitted.candidate_ids[place]), float(listed[place]))
            for place in order
        )
        return tuple(top for top in tops if top.score >= 0)

    def _explain(
        self, image_id: int, row: int, chances: Floats, class_id: int | None
    ) -> Explanation | None:
        tops = self._tops(chances, 1)
        if not tops or (class_id is not None and class_id not in self.graph):
            return None
        place = self.state.position(image_id)
        safe = int(self.state.safe_class[place])
        safe_class = (
            None if safe == NO_CLASS else ScoredClass(safe, float(self.state.safe_score[place]))
        )
        embedding = self.embedded.store.floats(np.array([row]))[0]
        asked = tops[0].class_id if class_id is None else class_id
        found = self.fitted.explain(image_id, embedding, chances, class_id=asked, safe=safe_class)
        return None if found is None else self._without_removed(found)

    def _without_removed(self, found: Explanation) -> Explanation:
        """Leave out the shares of classes and images removed since the fit."""
        return replace(
            found,
            own=self._listed(found.own),
            parents=tuple(
                self._listed(share) for share in found.parents if share.class_id in self.graph
            ),
            coarse=tuple(
                self._listed(share) for share in found.coarse if share.class_id in self.graph
            ),
            look_alikes=tuple(
                one for one in found.look_alikes if self.embedded.images.has(one.image_id)
            ),
        )

    def _listed(self, share: Share) -> Share:
        gone = self._removed_shots
        return (
            replace(share, image_ids=tuple(i for i in share.image_ids if i not in gone))
            if gone
            else share
        )

    @cached_property
    def _is_gone(self) -> Flags:
        """(c,) bool: candidates that are no longer in the graph."""
        return np.array(
            [class_id not in self.graph for class_id in self.fitted.candidate_ids.tolist()],
            dtype=bool,
        )

    @cached_property
    def _removed_shots(self) -> frozenset[int]:
        shots = self.fitted.shots.image_ids
        return frozenset(shots[~np.isin(shots, self.embedded.images.ids)].tolist())
