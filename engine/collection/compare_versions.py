"""What would change with another model version: images that get another class, and how often each version is right."""

from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from engine.collection.classify import Classified, classify
from engine.collection.state import NO_CLASS, UNKNOWN
from engine.config import CacheFolders
from engine.errors import InputError
from engine.project import Project


@dataclass(frozen=True)
class VersionFigures:
    """One model version on the project's labels.

    Attributes:
        version_id: in the project.
        name: what people call it.
        accuracy: leave-one-shot-out accuracy on the person's labels, 0..1; None where too little is embedded to say. A
            backbone that was trained on these labels has seen them, so its held-out figures say more.
        shots_checked: shots that were held out for it, one by one.
        waiting: images without an embedding of this version's backbone.
    """

    version_id: int
    name: str
    accuracy: float | None
    shots_checked: int
    waiting: int


@dataclass(frozen=True)
class VersionComparison:
    """Two model versions side by side; counts are of images that both have embedded and no person has labelled.

    Attributes:
        first, second: the versions.
        images: images compared; None when one version has nothing embedded, and so there is nothing to compare.
        other_leaf: images whose likeliest leaf differs.
        other_safe_class: images whose safe class differs, unknown counted as a class of its own.
    """

    first: VersionFigures
    second: VersionFigures
    images: int | None
    other_leaf: int | None
    other_safe_class: int | None


def compare_versions(project: Project, caches: CacheFolders, first_id: int, second_id: int) -> VersionComparison:
    """Compare two model versions by what is in their embedding caches; nothing is embedded for it.

    Args:
        project: may be open for reading only.
        caches: where the embeddings are.
        first_id, second_id: versions of the project.

    Raises:
        InputError: there is no such version.
        ModelError: a version's files are gone.
    """
    first, second = (_classified(project, caches, version_id) for version_id in (first_id, second_id))
    figures = _figures(project, first_id, first), _figures(project, second_id, second)
    if first is None or second is None:
        return VersionComparison(*figures, None, None, None)
    before, after = _answers(first), _answers(second)
    shared, rows, other_rows = np.intersect1d(before.image_ids, after.image_ids, return_indices=True)
    return VersionComparison(
        *figures,
        images=len(shared),
        other_leaf=int((before.leaf[rows] != after.leaf[other_rows]).sum()),
        other_safe_class=int((before.safe[rows] != after.safe[other_rows]).sum()),
    )


@dataclass(frozen=True)
class _Answers:
    """Likeliest leaf and safe class (n,) of the images without a label; `UNKNOWN` for those too far from all."""

    image_ids: NDArray[np.int64]
    leaf: NDArray[np.int64]
    safe: NDArray[np.int64]


def _answers(side: Classified) -> _Answers:
    free = np.flatnonzero(side.labels == NO_CLASS)
    scores, is_unknown = side.scores, side.fitted.is_unknown(side.scores)
    safe = np.where(is_unknown, UNKNOWN, scores.safe_class)
    return _Answers(side.image_ids[free], side.fitted.candidate_ids[scores.best][free], safe[free])


def _classified(project: Project, caches: CacheFolders, version_id: int) -> Classified | None:
    """The collection classified by a version; None while none of its labels or images has an embedding."""
    version = project.model_version(version_id)
    try:
        return classify(project, caches, version=version, with_views=False)
    except InputError:
        return None


def _figures(project: Project, version_id: int, side: Classified | None) -> VersionFigures:
    name = project.model_version(version_id).label
    if side is None:
        return VersionFigures(version_id, name, accuracy=None, shots_checked=0, waiting=project.image_count)
    tuning = side.fitted.tuning
    accuracy = None if isnan(tuning.accuracy) else float(tuning.accuracy)
    return VersionFigures(version_id, name, accuracy, tuning.shots_checked, side.waiting)
