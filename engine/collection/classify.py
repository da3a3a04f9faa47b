"""Classify a project once, without a window: for a file of predictions, a report, or the images to label first."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.collection.folding.folds import Folds
from engine.collection.live import LiveCollection
from engine.collection.models import ModelFiles, model_of
from engine.collection.outputs import PREDICTIONS, check_file
from engine.collection.state import NO_CLASS, Codes
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.blocks import Floats, Integers
from engine.everyday.classifier import ProjectClassifier, Setting
from engine.everyday.scores import Scores
from engine.interchange.predictions_file import LabelledRow, PredictedRow, write_predictions_file
from engine.project import ModelVersion, Prediction, Project

if TYPE_CHECKING:
    from engine.collection.recommendations import Recommendation

_Row = tuple[int, PredictedRow | LabelledRow]  # image id and row


@dataclass(frozen=True)
class Classified:
    """Every image that has an embedding, classified; labelled ones included."""

    model: ModelFiles
    fitted: ProjectClassifier
    rows: Integers  # (n,) int64, rows of the images in what it was fitted to
    image_ids: Integers  # (n,) int64
    paths: Sequence[str]  # (n,) as stored in the project
    labels: Codes  # (n,) int32, the person's labels
    embeddings: NDArray[np.int16]  # (n, d) int16, fixed point
    scores: Scores  # aligned
    waiting: int  # images without an embedding
    uses_views: bool = False  # whether images are classified by the mean over all their views
    folds: Folds = field(default_factory=Folds.none)  # copies and bursts of the project
    recommendations: "tuple[Recommendation, ...]" = ()  # what would help most

    def probabilities(self, places: Integers) -> Floats:
        """Probability (k, c) of each candidate for images at k places; at most a few thousand at once."""
        return self.fitted.probabilities(self.embeddings[places], self.rows[places])

    @property
    def unknown_distance(self) -> float:
        return self.fitted.unknown_distance(self.scores, self.labels == NO_CLASS)


def classify(
    project: Project,
    caches: CacheFolders,
    setting: Setting = Setting.PPN_PLUS,
    *,
    version: ModelVersion | None = None,
    with_stage: bool | None = None,
    with_views: bool = True,
    folds: Folds | None = None,
) -> Classified:
    """Fit the classifier to the person's labels and classify all embedded images, as the window does.

    Args:
        version: by default the model version in use.
        with_stage: whether unlabelled and coarse-labelled images teach too; by default as the project is set.
        with_views: False takes images by one view each: models are comparable only where both know as many views.
        folds: of another model, with which this one is compared: embeddings help to tell copies. By default its own.

    Raises:
        InputError: there are no classes, no embedded labels, or no embeddings.
        ModelError: the version's files are gone.
    """
    model = model_of(project, caches, version)
    live = LiveCollection(
        project, caches, model=model, setting=setting, with_stage=with_stage, with_views=with_views
    )
    try:
        live.load(folds=folds)
    finally:
        live.embedded.close()
    return classified_of(live)


def classified_of(live: LiveCollection) -> Classified:
    """What an open project's model says of every image that has an embedding, as of its last fit.

    Raises:
        InputError: there are no classes, no embedded labels, or no embeddings.
    """
    from engine.collection.recommendations import recommendations_of

    images, store, rows = live.embedded.images, live.embedded.store, live.embedded.ready_rows
    fitted = live.fitted
    _check_usable(
        live.project, len(images.ids), len(rows), 0 if fitted is None else len(fitted.shots)
    )
    assert fitted is not None, "it has shots"
    is_all = len(rows) == len(images.ids)
    return Classified(
        live.model,
        fitted,
        rows,
        images.ids[rows],
        [images.paths[row] for row in rows.tolist()],
        images.labels[rows],
        store.embeddings if is_all else store.embeddings[rows],
        live.row_scores.scores.at(rows),
        len(images.ids) - len(rows),
        live.embedded.uses_views,
        live.folds,
        recommendations_of(live),
    )


def _check_usable(project: Project, images: int, ready: int, labelled: int) -> None:
    if len(project.classes.graph) == 0:
        raise InputError("the project has no classes", remedy="import a graph or add classes first")
    _check_embedded(images, ready)
    if labelled == 0:
        raise InputError(
            "no class has an example yet",
            expected="at least one image with a person's label and an embedding",
            remedy="import images with --class or --folders-as-classes, then embed",
        )


def _check_embedded(images: int, ready: int) -> None:
    if images == 0:
        raise InputError("the project has no images", remedy="import images first")
    if ready == 0:
        raise InputError(
            "no image has an embedding yet",
            found="{images} waiting",
            remedy="run embed first",
            images=images,
        )


def predictions(classified: Classified) -> Iterator[tuple[str, Prediction]]:
    """Path and prediction of every image without a person's label."""
    fitted, scores = classified.fitted, classified.scores
    is_unknown, best_score = fitted.is_unknown(scores), scores.best_score
    candidate_ids = fitted.candidate_ids
    for row in np.flatnonzero(classified.labels == NO_CLASS).tolist():
        safe = int(scores.safe_class[row])
        prediction = Prediction(
            int(classified.image_ids[row]),
            int(candidate_ids[scores.best[row]]),
            float(best_score[row]),
            None if safe == NO_CLASS or is_unknown[row] else safe,
            0.0 if is_unknown[row] else float(scores.safe_score[row]),
        )
        yield classified.paths[row], prediction


@dataclass(frozen=True)
class ToLabel:
    """An image whose label would teach much."""

    image_id: int
    path: str  # as stored in the project
    class_id: int | None  # the best class, None before any label
    score: float  # its probability; 0 without a class


def images_to_label(
    project: Project, caches: CacheFolders, count: int, *, random_seed: int | None = None
) -> tuple[ToLabel, ...]:
    """At most so many unlabelled images whose labels would teach most, best first; each adds to those before it.

    Args:
        random_seed: draw them at random instead, all with the same probability.

    Raises:
        InputError: there are no images, no embeddings, or too few of them, or all that have one are labelled.
        ModelError: the files of the version in use are gone.
    """
    live = LiveCollection(project, caches)
    live.find_what_teaches(is_wanted=random_seed is None)
    try:
        state = live.load()
    finally:
        live.embedded.close()
    ready = int(live.embedded.is_ready.sum())
    _check_embedded(len(state.image_ids), ready)
    places = np.flatnonzero((state.label_class == NO_CLASS) & live.embedded.is_ready)
    if random_seed is not None:
        places = np.random.default_rng(random_seed).permutation(places)[:count]
    elif state.teach_rank is not None:
        places = places[np.argsort(state.teach_rank[places], kind="stable")][:count]
    else:
        raise InputError(
            "there are too few different images to choose among",
            found="{ready} with an embedding",
            remedy="label any of them, or add more",
            ready=ready,
        )
    return tuple(
        ToLabel(
            int(state.image_ids[place]),
            state.paths[place],
            None if state.best_class[place] == NO_CLASS else int(state.best_class[place]),
            float(state.best_score[place]),
        )
        for place in places.tolist()
    )


@dataclass(frozen=True)
class WrittenRows:
    """How many rows of each kind are in the file."""

    predictions: int
    labels: int = 0


def write_predictions(
    project: Project,
    classified: Classified,
    out: Path,
    *,
    include_labelled: bool = False,
    is_plain: bool = False,
    is_overwriting: bool = False,
) -> WrittenRows:
    """Write the predictions as CSV, whole or not at all, and keep them in the project where it may be written to.

    Args:
        include_labelled: write labelled images too, with the annotator, and without what only a model has.
        is_plain: write names as they are, also those that a spreadsheet would run as formulas.
        is_overwriting: replace a file that is no earlier output of predictions, too.

    Raises:
        TakenError: such a file is there.
        InputError: the file is the project itself or one of its images.
        StorageError: the file cannot be written.
    """
    check_file(out, PREDICTIONS, project=project, is_overwriting=is_overwriting)
    found, setting = list(predictions(classified)), classified.fitted.setting.value
    labelled = list(_labelled(project)) if include_labelled else []
    rows = heapq.merge(_predicted(classified, found), labelled, key=itemgetter(0))
    write_predictions_file(
        out, project.classes.graph, (row for _, row in rows), setting=setting, model=classified.model.name,
        with_people=include_labelled, is_plain=is_plain,
    )  # fmt: skip
    if project.is_writable:  # last: where no file could be written, the project stays as it was
        version_id = project.models.current.version_id
        project.models.store_predictions(
            (one for _, one in found), version_id=version_id, setting=setting
        )
    return WrittenRows(len(found), len(labelled))


def _predicted(classified: Classified, found: Sequence[tuple[str, Prediction]]) -> Iterator[_Row]:
    is_unknown = dict(
        zip(
            classified.image_ids.tolist(),
            classified.fitted.is_unknown(classified.scores),
            strict=True,
        )
    )
    for path, one in found:
        is_far = bool(is_unknown[one.image_id])
        yield (
            one.image_id,
            PredictedRow(path, one.class_id, one.score, one.safe_class_id, one.safe_score, is_far),
        )


def _labelled(project: Project) -> Iterator[_Row]:
    labels = project.labels.by_image()
    for image_id, path in project.images.each_path():
        if (label := labels.get(image_id)) is not None:
            yield image_id, LabelledRow(path, label.class_id, label.who)
