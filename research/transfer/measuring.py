"""Measure a method on one draw: a peer on a few-shot task, or the everyday model."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.backbones.library import BackboneLibrary
from engine.collection.models import bundled_backbones, find_model
from engine.config import CacheFolders
from engine.errors import UsageError
from research.transfer import everyday
from research.transfer.collection import TransferCollection
from research.transfer.draws import ShotDraw, Situation, draw
from research.transfer.embedded import EmbeddedCollection
from research.transfer.parts import accuracies_of, by_part, scored
from research.transfer.results import Figures, Outcome
from research.transfer.task import CoarseLabels, FewShotTask

Predict = Callable[[FewShotTask], Mapping[str, NDArray[np.int64]]]
"""Class of each query by option."""


def measure_peer(
    predict: Predict,
    embedded: EmbeddedCollection,
    situations: Sequence[Situation],
    seed: int,
    *,
    with_coarse_labels: bool = False,
) -> Mapping[Situation, Outcome]:
    """Classify all images of the collection but shots by a peer, and score unlabelled ones.

    Args:
        predict: the peer.
        embedded: the collection.
        situations: of the same number of shots. Those with the same input are classified once.
        seed: of the draw.
        with_coarse_labels: whether the peer receives them. Else these images are unlabelled for it;
            they are not scored either way.
    """
    collection = embedded.collection
    known: dict[tuple[bytes, ...], Mapping[str, NDArray[np.int64]]] = {}
    outcomes = {}
    for situation in situations:
        drawn = draw(collection, situation, seed)
        queries = np.setdiff1d(drawn.rows, drawn.shots)
        coarse_key = (
            (drawn.coarse.tobytes(), drawn.coarse_ids.tobytes()) if with_coarse_labels else ()
        )
        key = (queries.tobytes(), *coarse_key)
        if key not in known:
            known[key] = _classes_of(
                predict, embedded, drawn, queries, with_coarse_labels=with_coarse_labels
            )
        outcomes[situation] = {
            option: _accuracies(collection, queries, ids, scored(collection, drawn))
            for option, ids in known[key].items()
        }
    return outcomes


def _accuracies(
    collection: TransferCollection,
    queries: NDArray[np.int64],
    ids: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> Figures:
    """Accuracies of class ids (q,) of the queries, on the scored rows."""
    given, answers = ids[np.searchsorted(queries, rows)], collection.class_ids[rows]
    return by_part(collection, rows, lambda chosen: accuracies_of(answers[chosen], given[chosen]))


def _classes_of(
    predict: Predict,
    embedded: EmbeddedCollection,
    drawn: ShotDraw,
    queries: NDArray[np.int64],
    *,
    with_coarse_labels: bool,
) -> Mapping[str, NDArray[np.int64]]:
    """Class id (q,) of each query by option."""
    leaves, floats = embedded.collection.leaf_ids, embedded.floats
    classes = np.searchsorted(leaves, embedded.collection.class_ids[drawn.shots])
    coarse = _coarse_labels(embedded.collection, drawn, queries) if with_coarse_labels else None
    shots = embedded.shots(drawn.shots, classes)
    task = FewShotTask(shots.embeddings, classes, floats[queries], len(leaves), coarse)
    return {option: leaves[positions] for option, positions in predict(task).items()}


def _coarse_labels(
    collection: TransferCollection, drawn: ShotDraw, queries: NDArray[np.int64]
) -> CoarseLabels | None:
    if not len(drawn.coarse):
        return None
    below = {
        coarse: np.isin(collection.leaf_ids, list(collection.graph.descendants(coarse)))
        for coarse in np.unique(drawn.coarse_ids).tolist()
    }
    leaves = np.stack([below[coarse] for coarse in drawn.coarse_ids.tolist()])
    return CoarseLabels(np.searchsorted(queries, drawn.coarse), leaves)


def measure_everyday(
    with_collection: bool, embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
) -> Mapping[Situation, Outcome]:
    """Fit and score the everyday model in each situation, with or without the collection stage."""
    draws = {situation: draw(embedded.collection, situation, seed) for situation in situations}
    return {
        situation: {"": everyday.in_memory(embedded, drawn, with_collection=with_collection)}
        for situation, drawn in draws.items()
    }


def measure_in_project(
    embedded: EmbeddedCollection, situations: Sequence[Situation], seed: int
) -> Mapping[Situation, Outcome]:
    """Measure the everyday model through project files, from import to evaluation.

    Raises:
        UsageError: the backbone is a file: a project would copy it into the user's library.
    """
    collection, model = embedded.collection, embedded.model
    if (
        model.name not in known_backbones()
        or find_model(model.name).backbone_hash != model.backbone_hash
    ):
        raise UsageError(
            "a project file needs a backbone that the program knows",
            expected=", ".join(known_backbones()),
            found=str(model.backbone),
            remedy="add it with `protoleaf backbone add`, and choose it by its name",
        )
    draws = {situation: draw(collection, situation, seed) for situation in situations}
    caches = CacheFolders.default()
    return {
        each: {"": everyday.in_project(collection, model.name, drawn, caches)}
        for each, drawn in draws.items()
    }


def known_backbones() -> tuple[str, ...]:
    """Names of the backbones that ship with the program or were added to it."""
    return (*bundled_backbones(), *BackboneLibrary().names())
