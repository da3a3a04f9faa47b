"""Classify a project's images once, for a file or a report."""

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.config import CacheFolders
from engine.errors import InputError, StorageError
from engine.inference.classification import Scores
from engine.inference.collection.basis import CollectionBasis, collection_basis
from engine.inference.everyday_model import EverydayModel, fit, prior_of
from engine.inference.propagation import PropagationSession
from engine.inference.prototypes import Setting
from engine.inference.shots import Shots
from engine.project import ModelVersion, Prediction, Project
from engine.workflows.collection_setting import is_collection_on
from engine.workflows.collection_state import NO_CLASS, UNKNOWN
from engine.workflows.embed import open_cache
from engine.workflows.embedding_store import EmbeddingStore
from engine.workflows.image_list import ImageList
from engine.workflows.models import ModelFiles, model_of
from engine.workflows.policies import policies_of

COLUMNS: Final = ("image", "class", "path", "score", "safe_class", "safe_score", "setting", "model")
UNKNOWN_NAME: Final = "unknown"


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
        store.fill(np.arange(len(images.ids)), images.content_hashes, cache)
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


def write_predictions(project: Project, classified: Classified, out: Path) -> int:
    """Write the predictions as CSV, whole or not at all, and keep them in the project; returns their number.

    A safe class of "unknown" means: too far from every prototype.

    Raises:
        StorageError: the file cannot be written.
    """
    rows = list(predictions(classified))
    if project.is_writable:
        project.store_predictions(
            (prediction for _, prediction in rows),
            version_id=project.model.version_id,
            setting=classified.fitted.setting.value,
        )
    is_unknown = dict(zip(classified.image_ids.tolist(), classified.fitted.is_unknown(classified.scores), strict=True))
    _write_whole(out, _csv_rows(project, classified, rows, is_unknown))
    return len(rows)


def _csv_rows(
    project: Project,
    classified: Classified,
    rows: Sequence[tuple[str, Prediction]],
    is_unknown: dict[int, np.bool_],
) -> Iterator[Sequence[object]]:
    graph, setting, model = project.graph, classified.fitted.setting.value, classified.model.name
    yield COLUMNS
    for path, prediction in rows:
        safe = graph.name(prediction.safe_class_id) if prediction.safe_class_id is not None else ""
        yield (
            path, graph.name(prediction.class_id), graph.path_text(prediction.class_id), f"{prediction.score:.6f}",
            UNKNOWN_NAME if is_unknown[prediction.image_id] else safe, f"{prediction.safe_score:.6f}", setting, model,
        )  # fmt: skip


def _write_whole(out: Path, rows: Iterator[Sequence[object]]) -> None:
    target = Path(os.path.realpath(out))
    partial = target.parent / f".protoleaf-{os.getpid()}.partial"
    try:
        if out.exists() and not out.is_file():
            partial = out  # a device or a pipe takes rows and cannot be replaced
        with partial.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            csv.writer(file).writerows(rows)
        if partial != out:
            partial.replace(target)
    except OSError as error:
        raise StorageError(
            "the predictions cannot be written", found=f"{out}: {error.strerror}", remedy="choose another place"
        ) from error
    finally:
        if partial != out:
            with suppress(OSError):
                partial.unlink()
