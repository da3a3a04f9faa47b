"""Classify a project's images once, for a file or a report; the file is written by `write_predictions`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.live import LiveCollection
from engine.collection.models import ModelFiles, model_of
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.classifier import FittedClassifier, Setting
from engine.everyday.scores import Scores
from engine.project import ModelVersion, Prediction, Project


@dataclass(frozen=True)
class Classified:
    """Every image that has an embedding, classified; labelled ones included."""

    model: ModelFiles  # the model files
    fitted: FittedClassifier  # the fitted model
    rows: NDArray[np.int64]  # (n,) int64, rows of the images in what it was fitted to
    image_ids: NDArray[np.int64]  # (n,) int64
    paths: Sequence[str]  # (n,) as stored in the project
    labels: NDArray[np.int64]  # (n,) int64, the person's labels
    embeddings: NDArray[np.int16]  # (n, d) int16, fixed point
    scores: Scores  # outcome, aligned
    waiting: int  # images without an embedding
    uses_views: bool = False  # whether images are classified by the mean over all their views

    def probabilities(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Probability (k, c) of each candidate for images at k places; at most a few thousand at once."""
        return self.fitted.probabilities(self.embeddings[places], self.rows[places])

    @property
    def unknown_distance(self) -> float:
        """See `FittedClassifier`."""
        return self.fitted.unknown_distance(self.scores, self.labels == NO_CLASS)


def classify(
    project: Project,
    caches: CacheFolders,
    setting: Setting = Setting.PPN_PLUS,
    *,
    version: ModelVersion | None = None,
    with_stage: bool | None = None,
    with_views: bool = True,
) -> Classified:
    """Fit the classifier to the person's labels and classify all embedded images, as the window does.

    Args:
        project: may be open for reading only.
        setting: the classifier.
        version: by default the model version in use.
        with_stage: whether unlabelled and coarse-labelled images teach too; by default as the project is set.
        with_views: False takes images by one view each: models are comparable only where both know as many views.

    Raises:
        InputError: there are no classes, no embedded labels, or no embeddings.
        ModelError: the version's files are gone.
    """
    model = model_of(project, caches, version)
    live = LiveCollection(project, caches, model=model, setting=setting, with_stage=with_stage, with_views=with_views)
    try:
        live.load()
    finally:
        live.embedded.close()
    return _classified(live)


def _classified(live: LiveCollection) -> Classified:
    images, store, rows = live.embedded.images, live.embedded.store, live.embedded.ready_rows
    fitted = live.fitted
    assert fitted is not None, "loaded"
    _check_usable(live.project, len(images.ids), len(rows), len(fitted.shots))
    is_all = len(rows) == len(images.ids)
    return Classified(
        live.model,
        fitted,
        rows,
        images.ids[rows],
        [images.paths[row] for row in rows.tolist()],
        images.labels[rows],
        store.embeddings if is_all else store.embeddings[rows],
        live.scores.at(rows),
        len(images.ids) - len(rows),
        live.embedded.uses_views,
    )


def _check_usable(project: Project, images: int, ready: int, labelled: int) -> None:
    if len(project.classes.graph) == 0:
        raise InputError("the project has no classes", remedy="import a graph or add classes first")
    if images == 0:
        raise InputError("the project has no images", remedy="import images first")
    if ready == 0:
        raise InputError(
            "no image has an embedding yet", found="{images} waiting", remedy="run embed first", images=images
        )
    if labelled == 0:
        raise InputError(
            "no class has a shot yet",
            expected="at least one image with a person's label and an embedding",
            remedy="import images with --class or --folders-as-classes, then embed",
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
