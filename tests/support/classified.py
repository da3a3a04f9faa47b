"""Synthetic predictions with given probabilities, for figures computed by hand."""

from collections.abc import Sequence

import numpy as np

from engine.collection.classify import Classified
from engine.collection.models import find_model
from engine.collection.state import NO_CLASS
from engine.everyday.back_off import back_off
from engine.everyday.classifier import Setting
from engine.everyday.prototypical.classification import LinearClassifier, classify_all
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.tuning import Tuning
from engine.everyday.shots import Membership, Shots
from engine.graph.category_graph import CategoryGraph

FAR = 10.0
"""Subtracted from all logits of an image it makes it unknown, with equal probabilities."""
_TUNING = Tuning(
    shrinkage=1.5,
    temperature=1.0,
    accuracy=1.0,
    accuracy_alone=1.0,
    own_distance=1.0,
    unknown_distance=FAR,
    shots_checked=0,
)


def made_up(
    graph: CategoryGraph,
    candidates: Sequence[int],
    chances: Sequence[Sequence[float]],
    *,
    paths: Sequence[str],
    far: Sequence[int] = (),
    labels: dict[int, int] | None = None,
) -> Classified:
    """Build predictions with exactly these probabilities.

    Args:
        graph: the category graph.
        candidates: class ids, none above another.
        chances: for each image the probabilities of the candidates, in their order.
        paths: of the images.
        far: rows of images that are unknown by distance.
        labels: class by row, of labelled images.
    """
    logits = np.log(np.array(chances, dtype=np.float32))
    logits[list(far)] -= FAR
    label_classes = np.full(len(paths), NO_CLASS, dtype=np.int64)
    for row, class_id in (labels or {}).items():
        label_classes[row] = class_id
    fitted = _fitted(graph, np.array(candidates, dtype=np.int64))
    return Classified(
        model=find_model(),
        fitted=fitted,
        rows=np.arange(len(paths)),
        image_ids=np.arange(1, len(paths) + 1),
        paths=paths,
        labels=label_classes.astype(np.int32),
        embeddings=logits,
        scores=classify_all(fitted.classifier, fitted.back_off, logits),
        waiting=0,
    )


def _fitted(
    graph: CategoryGraph, candidates: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> EverydayModel:
    """A model whose logits are the embeddings."""
    count = len(candidates)
    none = np.zeros(0, dtype=np.int64)
    no_rows, zeros = np.zeros((0, count), dtype=np.float32), np.zeros(count, dtype=np.float32)
    unit = np.eye(count, dtype=np.float32)
    table = PrototypeTable(
        candidates,
        Membership(none, none),
        np.zeros((2, 0), dtype=np.int64),
        unit,
        np.ones(count, dtype=bool),
        zeros[:0],
        unit,
        np.ones(count, dtype=bool),
        np.ones(count, dtype=np.float32),
    )
    classifier = LinearClassifier(unit, zeros, zeros, 1.0)
    return EverydayModel(
        Setting.PPN_PLUS,
        Shots(none, none, no_rows),
        table,
        np.arange(count),
        _TUNING,
        classifier,
        back_off(graph, candidates, {}),
    )
