"""Classify a project's images once, for a file or a report; the file is `predictions_file`'s."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.embedding_store import EmbeddingStore
from engine.collection.fresh_hashes import newest_hashes
from engine.collection.image_list import ImageList
from engine.collection.models import ModelFiles, model_of
from engine.collection.policies import policies_of
from engine.collection.setting import is_collection_on
from engine.collection.state import NO_CLASS, UNKNOWN
from engine.config import CacheFolders
from engine.errors import InputError
from engine.everyday.classification import Scores
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.model import EverydayModel, fit, prior_of
from engine.everyday.propagation import PropagationSession
from engine.everyday.prototypes import Setting
from engine.everyday.shots import Shots
from engine.project import ModelVersion, Prediction, Project


@dataclass(frozen=True)
class Classified:
    """Every image that has an embedding, classified; labelled ones included.

    Attributes:
        fitted: the model.
        image_ids: (n,) int64.
        paths: (n,) as stored in the project.
        labels: (n,) int64, the person's labels.
        embeddings: (n, d) int16, fixed point.
        scores: outcome, aligned.
        waiting: images without an embedding.
    """

    model: ModelFiles
    fitted: EverydayModel
    image_ids: NDArray[np.int64]
    paths: Sequence[str]
    labels: NDArray[np.int64]
    embeddings: NDArray[np.int16]
    scores: Scores
    waiting: int


def classify(
    project: Project,
    caches: CacheFolders,
    setting: Setting = Setting.PPN_PLUS,
    *,
    version: ModelVersion | None = None,
    collection: bool | None = None,
) -> Classified:
    """Fit the everyday model to the person's labels and classify all embedded images.

    Args:
        project: may be open for reading only.
        caches: where the embeddings are.
        setting: PPN+, PPN or prototypes alone.
        version: by default the model version in use.
        collection: whether unlabelled and coarse-labelled images teach too; by default as the project is set.

    Raises:
        InputError: there are no classes, no embedded labels, or no embeddings.
    """
    images = ImageList(project)
    images.read()
    model = model_of(project, caches, version)
    store = EmbeddingStore(model.card.embedding_width)
    store.append(images.ids)
    with open_cache(model, caches) as cache:
        store.fill(np.arange(len(images.ids)), newest_hashes(project, images, cache), cache)
    ready = np.flatnonzero(store.is_filled)
    labelled = ready[images.labels[ready] >= 0]
    _check_usable(project, len(images.ids), len(ready), len(labelled))
    embeddings = store.embeddings if len(ready) == len(images.ids) else store.embeddings[ready]
    uses_collection = is_collection_on(project) if collection is None else collection
    shots = Shots(images.ids[labelled], images.labels[labelled], store.floats(labelled))
    fitted = fit(
        project.graph,
        shots,
        PropagationSession(model.propagation),
        prior_of(model.card),
        setting=setting,
        policies=policies_of(project),
        collection=_basis(images.ids[ready], images.labels[ready], embeddings) if uses_collection else None,
        ignored=images.ids[images.labels == UNKNOWN],
    )
    scores = fitted.classify(embeddings, np.ones(len(ready), dtype=np.float32))
    paths = [images.paths[place] for place in ready.tolist()]
    return Classified(
        model, fitted, images.ids[ready], paths, images.labels[ready], embeddings, scores,
        len(images.ids) - len(ready),
    )  # fmt: skip


def _basis(
    image_ids: NDArray[np.int64], labels: NDArray[np.int64], embeddings: NDArray[np.int16]
) -> CollectionBasis | None:
    return collection_basis(image_ids, embeddings, labelled=np.flatnonzero(labels >= 0))


def _check_usable(project: Project, images: int, ready: int, labelled: int) -> None:
    if len(project.graph) == 0:
        raise InputError("the project has no classes", remedy="import a graph or add classes first")
    if images == 0:
        raise InputError("the project has no images", remedy="import images first")
    if ready == 0:
        raise InputError("no image has an embedding yet", found=f"{images} waiting", remedy="run embed first")
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
