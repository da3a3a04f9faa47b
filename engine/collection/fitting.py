"""Fit the model and classify every image on any thread, while the project stays usable.

The project's thread makes a `FitInput`, another one runs it, and the project's thread adopts the
outcome (decision 44). In a large collection the visible images are classified first, and again
for each label that comes in before all others are (decision 44).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np

from engine.arrays import Integers, Ranks, RowOrder, no_integers
from engine.collection.audit_figures import audit_figures
from engine.collection.embedded_images import EmbeddedImages, nothing_to_store
from engine.events import CancelToken
from engine.everyday.back_off import Policy
from engine.everyday.blocks import Embeddings, stopped_by
from engine.everyday.classifier import (
    Classifier,
    FitSnapshot,
    FittedClassifier,
    ImageLinks,
    ProjectClassifier,
    Setting,
)
from engine.everyday.scores import Scores
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import AttributesChanged, ClassRenamed
from engine.project import Change, ImageId, Project
from engine.project.actions import action
from engine.project.labels import IN_BULK
from engine.project.models import BROADEST_SETTING

SETTING_NAME = "setting"
STAGE_SETTING = "collection"


def setting_of(project: Project) -> Setting:
    """The classifier; PPN+ by default, and for unknown ones of newer versions."""
    name = project.policies.setting(SETTING_NAME, Setting.PPN_PLUS.value)
    return Setting(name) if name in set(Setting) else Setting.PPN_PLUS


def is_stage_on(project: Project) -> bool:
    """Whether the collection stage learns from unlabelled images, as is the default."""
    return bool(project.policies.setting(STAGE_SETTING, True))


def switch_stage(project: Project, *, is_on: bool) -> Change:
    """Turn the collection stage on or off: one action.

    Raises:
        ProjectReadOnlyError: the project is read-only.
    """
    called = action("stage_turned_on" if is_on else "stage_turned_off")
    return project.policies.set_setting(STAGE_SETTING, is_on, called)


def policies_of(project: Project) -> dict[int, Policy]:
    """Thresholds, deepest and broadest classes by class id, for the everyday model."""
    return {
        class_id: Policy(**asdict(policy))
        for class_id, policy in project.policies.by_class().items()
    }


def random_answers(project: Project) -> tuple[ImageId, ...]:
    """Labelled images drawn at random from the unlabelled ones, by unstratified audits."""
    asked = {
        item.image_id
        for audit in project.audits.all()
        if not audit.is_stratified
        for item in audit.asked
    }
    sources = project.labels.sources(sorted(asked)) if asked else []
    return tuple(image_id for image_id, source in sources if source not in {"", IN_BULK})


def audited_error_odds(project: Project) -> float:
    """Odds of errors as a multiple of those by scores, by the newest audit; or 1."""
    audits = audit_figures(project)
    return audits[-1].error_odds if audits else 1.0


def fit_snapshot(
    project: Project,
    graph: CategoryGraph,
    images: EmbeddedSnapshot,
    setting: Setting,
    *,
    with_collection: bool,
) -> FitSnapshot:
    """Collect the input of a fit from a project; `graph` is a copy."""
    return FitSnapshot(
        graph,
        images,
        policies_of(project),
        setting,
        with_collection,
        checked=random_answers(project),
        error_odds=audited_error_odds(project),
        excluded=project.exclusions.pairs(),
        broadest_level=project.policies.broadest_level,
    )


@dataclass(frozen=True)
class Fit:
    """A fitted model and its scores of each row; meaningless for rows without an embedding."""

    fitted: ProjectClassifier
    scores: Scores


@dataclass(frozen=True)
class FitInput:
    """Input of a fit."""

    version: int  # of labels, graph, rules and embeddings, ascending
    snapshot: FitSnapshot
    classifier: Classifier
    with_teaching: bool = False  # whether to rank the images to label first
    with_look_alikes: bool = False  # whether to prepare groups for review
    known: Fit | None = None  # fit of the same snapshot, if only other outputs are missing
    # writes embeddings for the next opening, after predictions are published
    keep: Callable[[], None] = nothing_to_store
    # (k,) int64, ascending rows to classify before all others
    first_rows: Integers = field(default_factory=no_integers)


@dataclass(frozen=True)
class FitOutcome:
    """A fitted model and its scores."""

    given: FitInput
    fitted: ProjectClassifier
    # of each row of `given.snapshot.images`; meaningless for rows without an embedding
    scores: Scores
    # rows of unlabelled images, most useful first; None if not requested, or for too few images
    teach_first: RowOrder | None = None
    # input of groups for review, if requested, and for enough images
    look_alikes: ImageLinks | None = None


@dataclass(frozen=True)
class FirstAnswers:
    """Scores of a few images by a model that has not classified the others yet."""

    given: FitInput
    fitted: ProjectClassifier
    scores: Scores  # (k,) of `given.first_rows`

    @cached_property
    def image_ids(self) -> frozenset[int]:
        return frozenset(self.given.snapshot.images.row_ids[self.given.first_rows].tolist())


def concerns_fit(change: Change, embedded: EmbeddedImages) -> bool:
    """Whether a change makes a fit outdated; names and labels without embedding do not."""
    if not all(isinstance(edit, ClassRenamed | AttributesChanged) for edit in change.graph_edits):
        return True
    is_other_setting = not {SETTING_NAME, STAGE_SETTING, BROADEST_SETTING}.isdisjoint(
        change.settings
    )
    if change.policies or change.images_removed or change.excluded or is_other_setting:
        return True
    return bool(
        embedded.store.is_filled[embedded.rows_of(np.array(change.labelled, dtype=np.int64))].any()
    )


# rows from which on visible images are classified first. Chosen: fewer take 0.5 s
FEWEST_IN_TURN = 200_000
# rows classified between two checks for a newer label. Chosen: 0.3 s on two cores
SLICE_ROWS = 131_072


def rows_to_answer_first(images: EmbeddedSnapshot, image_ids: Sequence[int]) -> Integers:
    """Ascending rows (k,) of images with an embedding; none unless the collection is large."""
    if len(images.row_ids) < FEWEST_IN_TURN:
        return no_integers()
    wanted = np.unique(np.array(image_ids, dtype=np.int64))
    places = np.searchsorted(images.image_ids, wanted)
    is_listed = images.image_ids[np.minimum(places, len(images.image_ids) - 1)] == wanted
    rows = images.rows[places[is_listed]]
    return rows[images.is_filled[rows]]


def run_fit(
    wanted: FitInput,
    cancel: CancelToken | None = None,
    *,
    on_first: Callable[[FirstAnswers], object] | None = None,
    next_input: Callable[[], FitInput | None] = lambda: None,
) -> FitOutcome:
    """Fit the model and classify every image; on any thread, one at a time.

    Args:
        on_first: called with the answers on `first_rows` before other images are classified, and
            while they are, with those of models fitted to newer inputs.
        next_input: called between slices of images; a newer input, or None.

    Raises:
        Cancelled: `cancel` was set.
        ModelError: the backbone's equations cannot be loaded.
    """
    with stopped_by(cancel):
        snapshot, classifier = wanted.snapshot, wanted.classifier
        fit = wanted.known or _fit(wanted, on_first, next_input)
        fitted, scores = fit.fitted, fit.scores
        first = classifier.teach_first(snapshot, fitted, scores) if wanted.with_teaching else None
        look_alikes = classifier.look_alikes(snapshot) if wanted.with_look_alikes else None
        return FitOutcome(wanted, fitted, scores, first, look_alikes)


def _fit(
    wanted: FitInput,
    on_first: Callable[[FirstAnswers], object] | None,
    next_input: Callable[[], FitInput | None],
) -> Fit:
    snapshot = wanted.snapshot
    fitted = wanted.classifier.fit(snapshot)

    def answer_newer() -> None:
        newer = next_input()
        if (
            newer is not None
            and newer.snapshot.images.age == snapshot.images.age
            and on_first is not None
        ):
            _answer_first(newer, newer.classifier.fit(newer.snapshot), on_first)

    if on_first is None or not len(wanted.first_rows):
        return Fit(fitted, _classified(fitted, snapshot.images.embeddings))
    _answer_first(wanted, fitted, on_first)
    return Fit(fitted, _classified_in_slices(fitted, snapshot.images.embeddings, answer_newer))


def _answer_first(
    wanted: FitInput, fitted: ProjectClassifier, on_first: Callable[[FirstAnswers], object]
) -> None:
    rows = wanted.first_rows
    if len(fitted.candidate_ids) and len(rows):
        on_first(
            FirstAnswers(
                wanted, fitted, fitted.classify(wanted.snapshot.images.embeddings[rows], rows)
            )
        )


def _classified(fitted: FittedClassifier, embeddings: Embeddings) -> Scores:
    return (
        fitted.classify(embeddings) if len(fitted.candidate_ids) else Scores.empty(len(embeddings))
    )


def _classified_in_slices(
    fitted: FittedClassifier, embeddings: Embeddings, between: Callable[[], None]
) -> Scores:
    scores = Scores.empty(len(embeddings))
    if len(fitted.candidate_ids) == 0:
        return scores
    for start in range(0, len(embeddings), SLICE_ROWS):
        between()
        part = slice(start, min(start + SLICE_ROWS, len(embeddings)))
        scores.put(part, fitted.classify(embeddings[part], np.arange(part.start, part.stop)))
    return scores


def teach_ranks(first: RowOrder, rows: Integers) -> Ranks:
    """Ranks (n,) of rows in an order (k,) of images to label; the last rank for all others."""
    ranks = np.full(max(rows.max(initial=0), first.max(initial=0)) + 1, len(first), dtype=np.int32)
    ranks[first] = np.arange(len(first), dtype=np.int32)
    return ranks[rows]
