"""Classify a project without a window, for predictions, a report, or the images to label first."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats, Integers
from engine.collection.folding.folds import Folds
from engine.collection.live import LiveCollection
from engine.collection.models import ModelFiles, model_of
from engine.collection.outputs import PREDICTIONS, check_file
from engine.collection.predictions import Predictions
from engine.collection.state import NO_CLASS, Codes
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.classifier import ProjectClassifier, Setting
from engine.everyday.scores import Scores
from engine.interchange.predictions_file import LabelledRow, PredictedRow, write_predictions_file
from engine.project import ModelVersion, Prediction, Project

if TYPE_CHECKING:
    from engine.collection.recommendations import Recommendation


@dataclass(frozen=True)
class Classified:
    """Predictions of all images that have an embedding, labelled ones included."""

    model: ModelFiles
    fitted: ProjectClassifier
    rows: Integers  # (n,) int64, rows of the images in the input of the fit
    image_ids: Integers  # (n,) int64
    paths: Sequence[str]  # (n,) as stored in the project
    labels: Codes  # (n,) int32
    embeddings: NDArray[np.int16]  # (n, d) int16, fixed point
    scores: Scores  # (n,)
    waiting: int  # number of images without an embedding
    uses_views: bool = False  # whether embeddings are means over all views
    folds: Folds = field(default_factory=Folds.none)  # copies and bursts of the project
    recommendations: "tuple[Recommendation, ...]" = ()  # most helpful first

    def probabilities(self, places: Integers) -> Floats:
        """Probability (k, c) of each candidate for images at k places; a few thousand at a time."""
        return self.fitted.probabilities(self.embeddings[places], self.rows[places])

    @cached_property
    def predictions(self) -> Predictions:
        """Columns (n,) of the most probable and the safe classes."""
        scores, is_unknown = self.scores, self.fitted.is_unknown(self.scores)
        return Predictions(
            self.fitted.candidate_ids[scores.best].astype(np.int32),
            scores.best_score,
            np.where(is_unknown, NO_CLASS, scores.safe_class),
            np.where(is_unknown, np.float32(0), scores.safe_score),
            is_unknown,
        )

    @property
    def unknown_distance(self) -> float:
        return self.fitted.unknown_distance(self.scores, self.labels == NO_CLASS)


def classify_project(
    project: Project,
    caches: CacheFolders,
    setting: Setting = Setting.PPN_PLUS,
    *,
    version: ModelVersion | None = None,
    with_stage: bool | None = None,
    with_views: bool = True,
    folds: Folds | None = None,
) -> Classified:
    """Fit the classifier to the labels and classify all embedded images, as the window does.

    Args:
        version: by default the model version in use.
        with_stage: whether to learn from unlabelled images; by default as the project is set.
        with_views: False uses one view of each image: for comparison with a model without views.
        folds: those of another model to compare with, as embeddings are used to find copies.

    Raises:
        InputError: there are no classes, no embedded labels, or no embeddings.
        ModelError: the version's files are missing.
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
    """Predictions of an open project by its last fit.

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


def predictions(classified: Classified) -> Iterator[tuple[int, PredictedRow]]:
    """Id and prediction of each unlabelled image, in ascending id order."""
    free = np.flatnonzero(classified.labels == NO_CLASS)
    columns = classified.image_ids, *vars(classified.predictions).values()
    for place, image_id, best, score, safe, safe_score, is_unknown in zip(
        free.tolist(), *(column[free].tolist() for column in columns), strict=True
    ):
        safe_id, path = None if safe == NO_CLASS else safe, classified.paths[place]
        yield image_id, PredictedRow(path, best, score, safe_id, safe_score, is_unknown)


@dataclass(frozen=True)
class ToLabel:
    """An image to label first."""

    image_id: int
    path: str  # as stored in the project
    class_id: int | None  # the best class, None without labels
    score: float  # its probability; 0 without a class


def images_to_label(
    project: Project, caches: CacheFolders, count: int, *, random_seed: int | None = None
) -> tuple[ToLabel, ...]:
    """Choose unlabelled images whose labels would help most, best first (active learning).

    Args:
        count: how many, at most.
        random_seed: draw them at random instead, all with the same probability.

    Raises:
        InputError: there are no images, no or too few embeddings, or all embedded images are
            labelled.
        ModelError: the files of the version in use are missing.
    """
    live = LiveCollection(project, caches)
    live.rank_images_to_label(is_wanted=random_seed is None)
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
    """Numbers of rows in a file."""

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
    """Write the predictions as an atomic CSV file, and store them in a writable project.

    Args:
        include_labelled: also write labelled images, with the annotator instead of scores.
        is_plain: do not escape names that a spreadsheet would run as formulas.
        is_overwriting: replace any file, not only earlier predictions.

    Raises:
        TakenError: there is another file.
        InputError: the file is the project itself or one of its images.
        StorageError: the file cannot be written.
    """
    check_file(out, PREDICTIONS, project=project, is_overwriting=is_overwriting)
    found, setting = list(predictions(classified)), classified.fitted.setting.value
    labelled = list(_labelled(project)) if include_labelled else []
    rows: Iterator[tuple[int, PredictedRow | LabelledRow]]
    rows = heapq.merge(found, labelled, key=itemgetter(0))
    write_predictions_file(
        out,
        project.classes.graph,
        (row for _, row in rows),
        setting=setting,
        model=classified.model.name,
        with_people=include_labelled,
        is_plain=is_plain,
    )
    if project.is_writable:  # last: without a file, the project does not change
        store_predictions(project, found, setting)
    return WrittenRows(len(found), len(labelled))


def store_predictions(
    project: Project, found: Iterable[tuple[int, PredictedRow]], setting: str
) -> None:
    """Store predictions of the model version in use in its project."""
    rows = (
        Prediction(image_id, row.class_id, row.score, row.safe_class_id, row.safe_score)
        for image_id, row in found
    )
    version_id = project.models.current.version_id
    project.models.store_predictions(rows, version_id=version_id, setting=setting)


def _labelled(project: Project) -> Iterator[tuple[int, LabelledRow]]:
    labels = project.labels.by_image()
    for image_id, path in project.images.each_path():
        if (label := labels.get(image_id)) is not None:
            yield image_id, LabelledRow(path, label.class_id, label.who)
