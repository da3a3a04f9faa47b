"""Simulated labelling sessions, and the program's claims about the rest after each answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from app.group_review.logic import Review
from engine.collection.review_groups import ReviewMemory
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.graph.codes import NO_CLASS
from research.honesty.claims import ClaimTally, claims_of
from research.teaching.review_person import Desk, answer_group, teaching_first
from research.transfer.embedded import EmbeddedCollection

EARLY = 50
"""Number of first labels with a fit after each; later a fit after every `FITTED_EVERY`."""
FITTED_EVERY = 5


@dataclass(frozen=True)
class SessionPoint:
    """State after a number of labels.

    Attributes:
        labels, classes: labelled images, and classes that have some.
        rest: claims about all other images.
    """

    labels: int
    classes: int
    rest: ClaimTally


@dataclass(frozen=True)
class ReplayedSession:
    """A simulated session.

    Attributes:
        way: one of `SESSIONS`.
        classes, images: of the collection.
        curve: one point for each fit.
    """

    way: str
    classes: int
    images: int
    curve: tuple[SessionPoint, ...]


def _label_next(desk: Desk, _review: Review) -> None:
    """Label the first images of Teach first until the next fit is due."""
    labelled = int(np.count_nonzero(desk.labels != NO_CLASS))
    count = 1 if labelled < EARLY else FITTED_EVERY
    for image in teaching_first(desk)[:count].tolist():
        desk.label(np.array([image]), int(desk.truth[image]))


def _answer_next(desk: Desk, review: Review) -> None:
    answer_group(desk, review)


TEACHING = "teach-first"
GROUPS = "groups"
SESSIONS: Mapping[str, tuple[str, Callable[[Desk, Review], None]]] = {
    TEACHING: ("Teach first, one by one", _label_next),
    GROUPS: ("review by group", _answer_next),
}


def replay(
    embedded: EmbeddedCollection,
    labels: int,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> tuple[ReplayedSession, ...]:
    """Simulate a session of each kind with `labels` labels, or fewer of a smaller collection.

    Raises:
        Cancelled: `cancel` was set.
    """
    rows = np.flatnonzero(embedded.collection.class_ids != NO_CLASS)
    most = min(labels, len(rows) - 1)
    meter = ProgressMeter(len(SESSIONS) * most, on_progress, unit="labels")
    found = []
    for number, way in enumerate(SESSIONS, start=1):
        desk, review, curve = Desk(embedded, rows), Review(ReviewMemory()), list[SessionPoint]()
        while not curve or curve[-1].labels < most:
            (cancel or CancelToken()).raise_if_cancelled()
            SESSIONS[way][1](desk, review)
            desk.fit()
            curve.append(point_of(desk))
            meter.advance((number - 1) * most + min(most, curve[-1].labels) - meter.done)
        classes = len(embedded.collection.leaf_ids)
        found.append(ReplayedSession(way, classes, len(rows), tuple(curve)))
    return tuple(found)


def point_of(desk: Desk) -> SessionPoint:
    """Claims about the unlabelled images, and the truth."""
    assert desk.fitted is not None, "there are labels"
    is_free = desk.labels == NO_CLASS
    scores = desk.scores.at(np.flatnonzero(is_free))
    claims = claims_of(desk.fitted, scores, desk.truth[is_free], desk.graph)
    classes = np.unique(desk.labels[~is_free])
    tally = ClaimTally.of(claims, np.zeros(len(claims.score), dtype=bool))
    return SessionPoint(int((~is_free).sum()), len(classes), tally)
