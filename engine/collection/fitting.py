"""Fit the model and classify every image on any thread, while the project goes on.

The project's thread makes a `FitInput`, another one runs it, and the project's thread adopts the outcome (decision 44).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedded_images import nothing_to_keep
from engine.events import CancelToken
from engine.everyday.back_off import Policy
from engine.everyday.blocks import stopped_by
from engine.everyday.classifier import Classifier, FitSnapshot, FittedClassifier, ImageLinks, Setting
from engine.everyday.scores import Scores
from engine.graph.edits import AttributesChanged, ClassRenamed
from engine.project import Change, Project
from engine.project.actions import action

SETTING_NAME: Final = "setting"
STAGE_SETTING: Final = "collection"


def setting_of(project: Project) -> Setting:
    """The classifier; PPN+ by default."""
    return Setting(str(project.policies.setting(SETTING_NAME, Setting.PPN_PLUS.value)))


def is_stage_on(project: Project) -> bool:
    """Whether unlabelled and coarse-labelled images teach the model too, as is the default."""
    return bool(project.policies.setting(STAGE_SETTING, True))


def switch_stage(project: Project, *, is_on: bool) -> Change:
    """Switch the collection stage on or off: one action that can be undone.

    Raises:
        ProjectReadOnlyError: the project is open for reading only.
    """
    with project.history.one_step(action("stage_turned_on" if is_on else "stage_turned_off")) as step:
        project.policies.set_setting(STAGE_SETTING, is_on)
    return step.change


def policies_of(project: Project) -> dict[int, Policy]:
    """Bars and deepest classes by class id, as the everyday model takes them."""
    return {class_id: Policy(policy.bar, policy.is_deepest) for class_id, policy in project.policies.by_class().items()}


@dataclass(frozen=True)
class Fit:
    """A fitted model and its scores of each row that it was fitted with; meaningless without an embedding."""

    fitted: FittedClassifier
    scores: Scores


@dataclass(frozen=True)
class FitInput:
    """What a fit needs."""

    version: int  # of the collection's labels, graph, rules and embeddings; later ones are higher
    snapshot: FitSnapshot
    classifier: Classifier
    with_teaching: bool = False  # whether to rank the images to label first
    with_look_alikes: bool = False  # whether to keep what groups for review are made from
    known: Fit | None = None  # of the very same snapshot: only what else is wanted is missing
    keep: Callable[[], None] = nothing_to_keep  # writes embeddings for the next opening, once predictions are there


@dataclass(frozen=True)
class FitOutcome:
    """A fitted model and its scores."""

    given: FitInput
    fitted: FittedClassifier
    scores: Scores  # of each row of `given.snapshot.images`; meaningless for rows without an embedding
    # rows of the unlabelled images by how much their labels would teach; None if not computed, or too few images
    teach_first: NDArray[np.int64] | None = None
    look_alikes: ImageLinks | None = None  # where they were wanted, and there are images enough


def concerns_every_fit(change: Change) -> bool:
    """Whether a change makes a fitted model outdated, whatever is embedded; names and most attributes do not."""
    if not all(isinstance(edit, ClassRenamed | AttributesChanged) for edit in change.graph_edits):
        return True
    is_other_setting = not {SETTING_NAME, STAGE_SETTING}.isdisjoint(change.settings)
    return bool(change.policies or change.images_removed) or is_other_setting


def run_fit(wanted: FitInput, cancel: CancelToken | None = None) -> FitOutcome:
    """Fit the model and classify every image; on any thread, one at a time.

    Raises:
        Cancelled: `cancel` was set.
        ModelError: the backbone's equations cannot be loaded.
    """
    with stopped_by(cancel):
        snapshot, classifier = wanted.snapshot, wanted.classifier
        fit = wanted.known or _fit(snapshot, classifier)
        fitted, scores = fit.fitted, fit.scores
        first = classifier.teach_first(snapshot, fitted, scores) if wanted.with_teaching else None
        look_alikes = classifier.look_alikes(snapshot) if wanted.with_look_alikes else None
        return FitOutcome(wanted, fitted, scores, first, look_alikes)


def _fit(snapshot: FitSnapshot, classifier: Classifier) -> Fit:
    fitted = classifier.fit(snapshot)
    if len(fitted.candidate_ids):
        return Fit(fitted, fitted.classify(snapshot.images.embeddings))
    return Fit(fitted, Scores.empty(len(snapshot.images.row_ids)))


def teach_ranks(first: NDArray[np.int64] | None, rows: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Ranks (n,) of rows among the first ones to label (k,), in order; all others have the last rank."""
    if first is None:
        return None
    ranks = np.full(max(rows.max(initial=0), first.max(initial=0)) + 1, len(first), dtype=np.int32)
    ranks[first] = np.arange(len(first), dtype=np.int32)
    return ranks[rows]
