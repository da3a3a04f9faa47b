"""A simulated user who labels every image of a collection correctly, and counts the keys.

Single cards in some order, or the groups of the program's own queue. It stops at 90 % of the
images: the rest takes a key each in any order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from app.group_review.logic import Review
from app.palette.logic import class_ids_for
from engine.collection.review_groups import GroupInput, ReviewGroup, ReviewMemory, make_queue
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.excluded import excluded_classes
from engine.everyday.grouping.groups import BasisLinks
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.scores import Scores
from engine.everyday.shots import EmbeddedSnapshot, Shots
from engine.everyday.teaching import teach_first, uncertainty_of
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS
from research.transfer.embedded import EmbeddedCollection

ENOUGH = 0.9  # share of the images that must have the correct label
DIGITS = 9
FITTED_EVERY = (5, 20)
"""Cards between two fits: for the first `EARLY` of them, and later.

In folder order the model is also fitted after each card that was not as predicted, so that a new
class is known.
"""
EARLY = 400
ROWS = 8  # visible rows of the palette: a row further down takes an arrow key each

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CurvePoint:
    """State after a number of keys.

    Attributes:
        keys: pressed so far; a click counts as one.
        decisions: answers so far.
        right: share of all images whose label is correct.
        with_predictions: the same if all others were accepted as predicted.
        rare: share of the images of all classes but the largest whose label is correct.
        classes: number of labelled classes.
        answers_of_largest: answers with the largest class.
        right_of_largest: images correctly labelled as that class.
    """

    keys: int
    decisions: int
    right: float
    with_predictions: float
    rare: float
    classes: int
    answers_of_largest: int
    right_of_largest: int


@dataclass(frozen=True)
class AnsweredGroup:
    """A group with a proposed class.

    Attributes:
        images: number of images.
        expected: errors shown.
        wrong: images of another class.
        is_sure: whether the group is of one sure class.
        is_largest: whether that class is the largest.
        settles: images that the answer was expected to decide.
    """

    images: int
    expected: float
    wrong: int
    is_sure: bool
    is_largest: bool
    settles: int


@dataclass(frozen=True)
class ReviewOutcome:
    """Result of a review.

    Attributes:
        curve: from 0 to `ENOUGH`.
        groups: answered ones; none for single cards.
    """

    curve: tuple[CurvePoint, ...]
    groups: tuple[AnsweredGroup, ...] = ()


@final
class Desk:
    """A collection of n images, its labels, and the model fitted to them.

    Args:
        embedded: the collection.
        rows: its images to review, of known class.
    """

    def __init__(self, embedded: EmbeddedCollection, rows: Integers) -> None:
        self.truth = embedded.collection.class_ids[rows]
        self.files = [embedded.collection.files[row].path for row in rows.tolist()]
        self.graph: CategoryGraph = embedded.collection.graph
        self.embeddings, self._floats = embedded.embeddings[rows], embedded.floats[rows]
        self._model, self._propagation = (
            embedded.model,
            PropagationSession(embedded.model.propagation),
        )
        self.ids = np.arange(len(rows), dtype=np.int64)
        basis = collection_basis(self.ids, self.embeddings, labelled=self.ids[:0])
        assert basis is not None, "a collection of several classes"
        self.basis: CollectionBasis = basis
        self.labels = np.full(len(rows), NO_CLASS, dtype=np.int64)
        self.excluded: Sequence[tuple[int, int]] = ()
        self.fitted: EverydayModel | None = None
        self.scores = Scores.empty(len(rows))
        self.keys = self.decisions = self.answers_of_largest = 0
        self._curve: list[CurvePoint] = []

    @cached_property
    def largest(self) -> int:
        """The class with most images."""
        classes, counts = np.unique(self.truth, return_counts=True)
        return int(classes[counts.argmax()])

    @cached_property
    def typed_keys(self) -> Callable[[int], int]:
        """Keys to name a class: R, the letters and arrows in the palette, and Enter."""

        @cache
        def keys_of(class_id: int) -> int:
            name = self.graph.name(class_id)
            found = (
                class_ids_for(self.graph, name[:letters])[:ROWS]
                for letters in range(1, len(name) + 1)
            )
            ways = [
                n + rows.index(class_id)
                for n, rows in enumerate(found, start=1)
                if class_id in rows
            ]
            return 2 + min(ways, default=len(name))

        return keys_of

    def keys_to_name(self, class_id: int, proposed: int, tops: Sequence[int]) -> int:
        """Keys to name a class by Enter, a digit, or the palette."""
        return 1 if class_id == proposed or class_id in tops[:DIGITS] else self.typed_keys(class_id)

    def fit(self) -> None:
        """Fit the model to the labels."""
        labelled = np.flatnonzero(self.labels != NO_CLASS)
        self.basis = self.basis.with_anchors(self.embeddings, labelled)
        shots = Shots(labelled, self.labels[labelled], self._floats[labelled])
        fitted = fit(self.graph, shots, self._propagation, self._model.card, basis=self.basis)
        excluded = excluded_classes(self.graph, fitted.candidate_ids, self.excluded, self.ids)
        self.fitted = replace(fitted, excluded=excluded)
        self.scores = self.fitted.classify(self.embeddings)

    def label(self, images: Integers, class_id: int) -> None:
        """Set the label of some images."""
        self.decisions += 1
        self.answers_of_largest += class_id == self.largest
        self.labels[images] = class_id

    @property
    def predicted(self) -> Integers:
        """(n,) class ids."""
        if self.fitted is None:
            return np.full(len(self.ids), NO_CLASS, dtype=np.int64)
        return self.fitted.candidate_ids[self.scores.best]

    def snapshot(self) -> EmbeddedSnapshot:
        """Snapshot of the images as in the program."""
        count = len(self.ids)
        return EmbeddedSnapshot(
            self.ids,
            self.labels.astype(np.int32),
            self.ids,
            np.zeros(count, dtype=bool),
            self.ids,
            self.embeddings,
            np.ones(count, dtype=bool),
            0,
        )

    def note(self) -> CurvePoint:
        """Current point of the curve."""
        is_right = self.labels == self.truth
        either = np.where(self.labels != NO_CLASS, is_right, self.predicted == self.truth)
        is_rare = self.truth != self.largest
        point = CurvePoint(
            self.keys,
            self.decisions,
            float(is_right.mean()),
            float(either.mean()),
            float(is_right[is_rare].mean()),
            len(np.unique(self.labels[is_right])),
            self.answers_of_largest,
            int(is_right[~is_rare].sum()),
        )
        self._curve.append(point)
        return point

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """The whole curve."""
        return tuple(self._curve)


Order = Callable[[Desk], Integers]
"""The unlabelled images, the next one first."""


def in_folder_order(desk: Desk) -> Integers:
    """Images in the order of a file manager."""
    order = np.array(
        sorted(range(len(desk.files)), key=lambda row: desk.files[row].as_posix()), dtype=np.int64
    )
    return order[desk.labels[order] == NO_CLASS]


def in_random_order(desk: Desk) -> Integers:
    """Images in a random order, the same on every call."""
    order = np.random.default_rng(0).permutation(desk.ids)
    return order[desk.labels[order] == NO_CLASS]


def least_certain_first(desk: Desk) -> Integers:
    """Images by the probability of the top class; at random before there is a model."""
    free = in_random_order(desk)
    return (
        free
        if desk.fitted is None
        else free[np.argsort(desk.scores.best_score[free], kind="stable")]
    )


def teaching_first(desk: Desk) -> Integers:
    """Images in the order of the window."""
    labelled = np.flatnonzero(desk.labels != NO_CLASS)
    first = teach_first(
        desk.basis,
        uncertainty_of(desk.fitted, desk.scores),
        labelled=labelled,
        left_out=desk.ids[:0],
    )
    return first.astype(np.int64)


def review_cards(desk: Desk, order: Order) -> ReviewOutcome:
    """Label one card after the other; the order is updated with every fit."""
    fits_at_misses = order is in_folder_order
    desk.note()
    queue: Iterator[int] = iter(order(desk).tolist())
    since = 0
    while desk.curve[-1].right < ENOUGH:
        image = next(queue)
        is_as_predicted = _name_card(desk, image)
        since += 1
        enough = FITTED_EVERY[desk.decisions > EARLY]
        if since >= enough or (fits_at_misses and not is_as_predicted):
            desk.fit()
            queue, since = iter(order(desk).tolist()), 0
        desk.note()
    return ReviewOutcome(desk.curve)


def _name_card(desk: Desk, image: int) -> bool:
    truth, proposed, tops = int(desk.truth[image]), NO_CLASS, list[int]()
    if desk.fitted is not None:
        chances = desk.fitted.probabilities(desk.embeddings[image : image + 1], np.array([image]))[
            0
        ]
        tops = desk.fitted.candidate_ids[np.argsort(-chances, kind="stable")[:DIGITS]].tolist()
        proposed = tops[0]
    desk.keys += desk.keys_to_name(truth, proposed, tops)
    desk.label(np.array([image]), truth)
    return truth == proposed


def review_groups(desk: Desk) -> ReviewOutcome:
    """Label the groups of the queue; as in the window, a fit affects the group after the next."""
    review, answered = Review(ReviewMemory()), list[AnsweredGroup]()
    desk.note()
    while desk.curve[-1].right < ENOUGH:
        group = answer_group(desk, review)
        if group is not None:
            answered.append(group)
        desk.fit()
        desk.note()
    return ReviewOutcome(desk.curve, tuple(answered))


def answer_group(desk: Desk, review: Review) -> AnsweredGroup | None:
    """Answer the next group; None where it had no proposed class."""
    decided = np.flatnonzero(desk.labels != NO_CLASS)
    links, memory = BasisLinks(desk.basis), review.memory
    queue = make_queue(
        GroupInput(links, desk.snapshot(), desk.fitted, desk.scores, desk.graph, memory)
    )
    review.take(queue, decided.tolist())
    group = review.current
    assert group is not None, "images are left"
    answered = None if group.class_id == NO_CLASS else _answered(desk, group)
    _answer(desk, review, group)
    return answered


def _answered(desk: Desk, group: ReviewGroup) -> AnsweredGroup:
    wrong = int(np.count_nonzero(desk.truth[list(group.image_ids)] != group.class_id))
    is_largest = group.class_id == desk.largest
    return AnsweredGroup(
        len(group.image_ids), group.expected_errors, wrong, group.is_sure, is_largest, group.settles
    )


def _answer(desk: Desk, review: Review, group: ReviewGroup) -> None:
    """Label the majority of a group, excluding the others by clicks, or by all out and some in."""
    ids = np.array(group.image_ids, dtype=np.int64)
    classes, counts = np.unique(desk.truth[ids], return_counts=True)
    tops = [top.class_id for top in group.tops]
    naming = [desk.keys_to_name(class_id, group.class_id, tops) for class_id in classes.tolist()]
    clicks = np.minimum(len(ids) - counts, 1 + counts)
    best = min(range(len(classes)), key=lambda place: (-counts[place], naming[place]))
    class_id = int(classes[best])
    for image_id in ids[desk.truth[ids] != class_id].tolist():
        review.toggle(image_id)
    desk.keys += naming[best] + int(clicks[best])
    decision = review.label(class_id, children=())
    assert decision is not None, "some are ticked"
    desk.label(np.array(decision.image_ids), class_id)
    desk.excluded = [
        (image, each) for image, classes in review.memory.dismissed.items() for each in classes
    ]
