"""What-if edits of an open project: changed predictions, and the change of accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.arrays import Flags, Integers, no_flags, no_integers
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS, ChangedImages, CollectionState, changed_images
from engine.everyday.classifier import HoldsOut
from engine.everyday.scores import gain_interval
from engine.graph.category_graph import CategoryGraph
from engine.project import Action, Project
from engine.project.actions import action

NAMED = 3  # edits that are named in the text of their undo step
MOST_EDITS = 10_000  # edits that are counted


@dataclass(frozen=True)
class HeldOutAnswers:
    """Predictions of a model for held-out labelled images."""

    image_ids: Integers  # (h,) ascending
    is_right: Flags  # (h,) whether the best leaf is correct
    is_named: Flags  # (h,) whether the image has a safe class
    is_named_rightly: Flags  # (h,) whether it has a correct one

    def of(self, image_ids: Integers) -> "HeldOutAnswers":
        """Select images, which must be among them."""
        rows = np.searchsorted(self.image_ids, image_ids)
        return HeldOutAnswers(
            image_ids, self.is_right[rows], self.is_named[rows], self.is_named_rightly[rows]
        )


@dataclass(frozen=True)
class HeldOutComparison:
    """Two models on the labelled images that were held out of both."""

    images: int
    before: int  # correct by the first model
    after: int  # correct by the second model
    lost: int  # correct by the first only
    gained: int  # correct by the second only
    named_before: int  # with a safe class
    named_after: int
    named_rightly_before: int  # with a correct safe class
    named_rightly_after: int

    @property
    def gain(self) -> float:
        return (self.after - self.before) / self.images if self.images else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the gain; see `gain_interval`."""
        return gain_interval(self.images, self.gained, self.lost)


def held_out_answers(fitted: HoldsOut, graph: CategoryGraph) -> HeldOutAnswers:
    """Predictions of a model for its held-out shots, by the graph of its fit."""
    held_out = fitted.held_out
    if held_out is None or held_out.probabilities.size == 0:
        none = no_flags()
        return HeldOutAnswers(no_integers(), none, none, none)
    best, score = held_out.top_class()
    safe, _ = fitted.back_off.decide(best, score, held_out.probabilities @ fitted.back_off.roll_up)
    fitting = held_out.fitting(graph)
    order = np.argsort(held_out.image_ids, kind="stable")
    is_right = _are_fitting(fitting, fitted.candidate_ids[best], held_out.class_ids)
    is_named_rightly = _are_fitting(fitting, safe, held_out.class_ids)
    is_named = safe != NO_CLASS
    return HeldOutAnswers(
        held_out.image_ids[order], is_right[order], is_named[order], is_named_rightly[order]
    )


def compared(before: HeldOutAnswers, after: HeldOutAnswers) -> HeldOutComparison:
    """Compare two models."""
    shared = np.intersect1d(before.image_ids, after.image_ids)
    was, now = before.of(shared), after.of(shared)
    return HeldOutComparison(
        images=len(shared),
        before=int(was.is_right.sum()),
        after=int(now.is_right.sum()),
        lost=int((was.is_right & ~now.is_right).sum()),
        gained=int((~was.is_right & now.is_right).sum()),
        named_before=int(was.is_named.sum()),
        named_after=int(now.is_named.sum()),
        named_rightly_before=int(was.is_named_rightly.sum()),
        named_rightly_after=int(now.is_named_rightly.sum()),
    )


def _are_fitting(fitting: dict[int, frozenset[int]], answer: Integers, labels: Integers) -> Flags:
    pairs = zip(answer.tolist(), labels.tolist(), strict=True)
    return np.array([each in fitting.get(label, ()) for each, label in pairs], dtype=bool)


@dataclass(frozen=True)
class WhatIfBaseline:
    """State of the collection before the edits."""

    state: CollectionState
    answers: HeldOutAnswers | None  # None before the first fit
    is_behind: bool = False  # the model was stale: newer labels existed


@dataclass(frozen=True)
class WhatIfOutcome:
    """Effect of the edits."""

    edits: tuple[str, ...]  # descriptions, in order
    changes: ChangedImages  # images whose prediction changes
    held_out: HeldOutComparison | None  # None while one of the models is missing
    is_baseline_behind: bool = False  # some changes are due to labels from before the edits


def begin_what_if(live: LiveCollection) -> WhatIfBaseline:
    """Begin what-if edits; the baseline has the current predictions.

    Raises:
        InputError: what-if edits have begun already.
        ProjectReadOnlyError: the project is open for reading only.
    """
    live.project.what_if.begin()
    return baseline_of(live)


def baseline_of(live: LiveCollection) -> WhatIfBaseline:
    """Snapshot of the current predictions."""
    return WhatIfBaseline(live.state, _answers(live), live.is_behind)


def outcome_of(live: LiveCollection, baseline: WhatIfBaseline) -> WhatIfOutcome:
    """Compare the current predictions with the baseline."""
    before, after = baseline.answers, _answers(live)
    held_out = None if before is None or after is None else compared(before, after)
    return WhatIfOutcome(
        tuple(map(str, tried_edits(live.project))),
        changed_images(baseline.state, live.state),
        held_out,
        baseline.is_behind,
    )


def tried_edits(project: Project) -> tuple[Action, ...]:
    """The what-if edits in order, without undone ones."""
    return tuple(
        step.action for step in reversed(project.history.steps(MOST_EDITS)) if not step.is_undone
    )


def kept_action(edits: Sequence[Action]) -> Action:
    """The action of the undo step that the edits become when they are kept."""
    if len(edits) <= 1:
        return edits[0] if edits else action("nothing_tried")
    code = "edits_tried" if len(edits) <= NAMED else "more_edits_tried"
    return action(code, edits=len(edits), first=tuple(edits[:NAMED]))


def _answers(live: LiveCollection) -> HeldOutAnswers | None:
    return (
        None if live.fitted is None else held_out_answers(live.fitted, live.project.classes.graph)
    )
