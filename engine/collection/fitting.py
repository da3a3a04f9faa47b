"""Fit the model and classify every image on any thread, while the project goes on, and publish snapshots.

The project's thread makes a `FitInput`, another one runs it, and the project's thread adopts the outcome (decision 44).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedded_images import EmbeddedImages
from engine.collection.folding.folds import Folds
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus, ShownCounts, counts_of, shown_classes
from engine.events import CancelToken
from engine.everyday.back_off import Policy
from engine.everyday.blocks import stopped_by
from engine.everyday.classifier import Classifier, FitSnapshot, FittedClassifier, ImageLinks, Setting
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import AttributesChanged, ClassRenamed
from engine.project import Change, Project
from engine.project.actions import action
from engine.project.records import Note

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
class FitInput:
    """What a fit needs."""

    version: int  # of the collection's labels, graph, rules and embeddings; later ones are higher
    snapshot: FitSnapshot
    classifier: Classifier
    with_teaching: bool = False  # whether to rank the images to label first
    with_look_alikes: bool = False  # whether to keep what groups for review are made from
    keep: Callable[[], None] | None = None  # writes embeddings for the next opening, once predictions are there


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
        fitted = classifier.fit(snapshot)
        scores = Scores.empty(len(snapshot.images.row_ids))
        if len(fitted.candidate_ids):
            scores = fitted.classify(snapshot.images.embeddings)
        first = classifier.teach_first(snapshot, fitted, scores) if wanted.with_teaching else None
        look_alikes = classifier.look_alikes(snapshot) if wanted.with_look_alikes else None
        return FitOutcome(wanted, fitted, scores, first, look_alikes)


@dataclass(frozen=True)
class Predictions:
    """Predictions (n,) as in `CollectionState`, in a graph that may have changed since the fit: no removed class."""

    best_class: NDArray[np.int64]
    best_score: NDArray[np.float32]
    safe_class: NDArray[np.int64]
    safe_score: NDArray[np.float32]
    is_unknown: NDArray[np.bool_]

    @staticmethod
    def none(count: int) -> "Predictions":
        classes, scores = np.full(count, NO_CLASS, dtype=np.int64), np.zeros(count, dtype=np.float32)
        return Predictions(classes, scores, classes, scores, np.zeros(count, dtype=bool))

    @staticmethod
    def of(
        fitted: FittedClassifier, scores: Scores, has_scores: NDArray[np.bool_], graph: CategoryGraph
    ) -> "Predictions":
        """From scores (n,), of which only those with `has_scores` (n,) are about the image."""
        candidates = _those_in(graph, fitted.candidate_ids)
        if not has_scores.any() or len(candidates) == 0:
            return Predictions.none(len(has_scores))
        best = np.where(has_scores, candidates[np.where(has_scores, scores.best, 0)], NO_CLASS)
        has_best = best != NO_CLASS
        is_unknown = has_best & fitted.is_unknown(scores)
        safe = np.where(has_best & ~is_unknown, scores.safe_class, NO_CLASS)
        gone = np.setdiff1d(fitted.back_off.coarse_ids, _those_in(graph, fitted.back_off.coarse_ids))
        if len(gone):
            safe[np.isin(safe, gone)] = NO_CLASS
        return Predictions(
            best, np.where(has_best, scores.best_score, 0).astype(np.float32),
            safe, np.where(safe != NO_CLASS, scores.safe_score, 0).astype(np.float32), is_unknown,
        )  # fmt: skip


def _those_in(graph: CategoryGraph, class_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class ids (c,), `NO_CLASS` in place of those that are gone."""
    return np.array([i if i in graph else NO_CLASS for i in class_ids.tolist()], dtype=np.int64)


def teach_ranks(first: NDArray[np.int64] | None, rows: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Ranks (n,) of rows among the first ones to label (k,), in order; all others have the last rank."""
    if first is None:
        return None
    ranks = np.full(max(rows.max(initial=0), first.max(initial=0)) + 1, len(first), dtype=np.int32)
    ranks[first] = np.arange(len(first), dtype=np.int32)
    return ranks[rows]


@final
class Publisher:
    """Makes snapshots, and keeps what the next one can be made from quickly."""

    def __init__(self, embedded: EmbeddedImages, model_name: str) -> None:
        self._embedded = embedded
        self._model_name = model_name
        self._counts = ShownCounts.none()
        self.state: CollectionState = embedded.images.blank_state(model_name)

    def publish_notes(self, notes: Mapping[int, Note], ranks: Mapping[str, NDArray[np.int32]]) -> CollectionState:
        """What people noted, and how images are sorted; the rest as it is."""
        self.state = replace(self.state, notes=notes, ranks=ranks)
        return self.state

    def publish_list(self) -> CollectionState:
        """Images and labels, before embeddings were read."""
        self._counts = ShownCounts.none()
        self.state = replace(self._embedded.images.blank_state(self._model_name), folds=self.state.folds)
        return self.state

    def publish_folds(self, folds: Folds) -> CollectionState:
        """The same with other folds."""
        self.state = replace(self.state, folds=folds)
        return self.state

    def publish(
        self, graph: CategoryGraph, predictions: Predictions, teach_rank: NDArray[np.int32] | None = None
    ) -> CollectionState:
        """Images, labels, predictions, counts, and the ranks of images to label first."""
        images, is_ready = self._embedded.images, self._embedded.is_ready
        status = np.where(is_ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[images.has_failed & ~is_ready] = ImageStatus.FAILED
        self._counts = ShownCounts.none()
        self.state = replace(
            self.state, image_ids=images.ids, paths=images.paths, status=status,
            failures=images.failures, is_list_only=False,
            best_class=predictions.best_class, best_score=predictions.best_score,
            safe_class=predictions.safe_class, safe_score=predictions.safe_score,
            is_unknown=predictions.is_unknown, teach_rank=teach_rank,
        )  # fmt: skip
        return self.publish_labels(graph)

    def publish_labels(self, graph: CategoryGraph) -> CollectionState:
        """Other labels of the same images, with the same predictions in the same graph."""
        labels, state = self._embedded.images.labels, self.state
        shown = shown_classes(labels, state.best_class, state.is_unknown)
        self._counts = self._counts.moved_to(graph, shown)
        self.state = replace(
            state, label_class=labels, shot_counts=counts_of(labels), image_counts=self._counts.or_below,
            without_views=state.without_views if state.is_list_only else self._embedded.without_views(),
        )  # fmt: skip
        return self.state
