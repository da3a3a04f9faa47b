"""Edits that are tried out on an open project: what was before, what they would change, and how they are called."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.collection.live import LiveCollection
from engine.collection.state import CollectionState
from engine.collection.what_if.changed_images import ChangedImages, changed_images
from engine.collection.what_if.held_out import HeldOutAnswers, HeldOutComparison, compared, held_out_answers
from engine.project import Action, Project
from engine.project.actions import action

NAMED: Final = 3
"""So many edits are named in the text of the step that they become."""
MOST_EDITS: Final = 10_000
"""More edits than this are not counted one by one."""


@dataclass(frozen=True)
class WhatIfBaseline:
    """The collection as it was when trying out began."""

    state: CollectionState  # images, labels and predictions
    answers: HeldOutAnswers | None  # what the model said of held-out labels; None before the first fit


@dataclass(frozen=True)
class WhatIfOutcome:
    """What the edits that are tried out would do."""

    edits: tuple[str, ...]  # each in words, in the order in which they were made
    changes: ChangedImages  # images that would have another class
    held_out: HeldOutComparison | None  # the model beside the one before; None while one of them is missing


def begin_what_if(live: LiveCollection) -> WhatIfBaseline:
    """Let all edits from now on be tried out only; predictions should be up to date.

    Raises:
        InputError: something is being tried out already.
        ProjectReadOnlyError: the project is open for reading only.
    """
    live.project.what_if.begin()
    return baseline_of(live)


def baseline_of(live: LiveCollection) -> WhatIfBaseline:
    """The collection as it is now, to compare with."""
    return WhatIfBaseline(live.state, _answers(live))


def outcome_of(live: LiveCollection, baseline: WhatIfBaseline) -> WhatIfOutcome:
    """What would change, by the predictions that there are now."""
    before, after = baseline.answers, _answers(live)
    held_out = None if before is None or after is None else compared(before, after)
    return WhatIfOutcome(
        tuple(map(str, tried_edits(live.project))), changed_images(baseline.state, live.state), held_out
    )


def tried_edits(project: Project) -> tuple[Action, ...]:
    """The edits that are tried out, first to last; those that were undone are left out."""
    return tuple(step.action for step in reversed(project.history.steps(MOST_EDITS)) if not step.is_undone)


def kept_action(edits: Sequence[Action]) -> Action:
    """The one action that they become."""
    if len(edits) <= 1:
        return edits[0] if edits else action("nothing_tried")
    code = "edits_tried" if len(edits) <= NAMED else "more_edits_tried"
    return action(code, edits=len(edits), first=tuple(edits[:NAMED]))


def _answers(live: LiveCollection) -> HeldOutAnswers | None:
    return None if live.fitted is None else held_out_answers(live.fitted, live.project.classes.graph)
