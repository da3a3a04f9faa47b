"""Gain of three more shots, for suggested classes and for others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.suggestion import MORE_SHOTS, find_underlabelled
from engine.collection.state import NO_CLASS, CollectionState
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from research.transfer.embedded import EmbeddedCollection

SHOTS = (1, 2, 3, 5, 10)
"""Shots of a class, drawn from these."""


@dataclass(frozen=True)
class Helped:
    """Effect of more shots of a class.

    Attributes:
        is_suggested: whether the class was suggested.
        promised: predicted number of images helped.
        helped: increase in images of the class that are predicted confidently and correctly.
    """

    is_suggested: bool
    promised: int
    helped: int


@dataclass(frozen=True)
class _Named:
    """A fit: the snapshot, and which images (n,) are predicted confidently as their leaf."""

    state: CollectionState
    is_right: NDArray[np.bool_]


def helped_classes(embedded: EmbeddedCollection, seed: int, most: int) -> list[Helped]:
    """Label more images of each suggested class, one at a time, and of as many others.

    Args:
        embedded: the collection.
        seed: of the draw.
        most: classes of each kind.
    """
    generator = np.random.default_rng(seed)
    collection = embedded.collection
    order = generator.permutation(np.flatnonzero(collection.is_train))
    free: dict[int, NDArray[np.int64]] = {}
    shots: list[int] = []
    for leaf in collection.leaf_ids.tolist():
        of_leaf = order[collection.class_ids[order] == leaf]
        count = min(int(generator.choice(SHOTS)), max(1, len(of_leaf) - MORE_SHOTS - 1))
        shots += of_leaf[:count].tolist()
        free[leaf] = of_leaf[count : count + MORE_SHOTS]
    before = _named(embedded, shots)
    suggested = find_underlabelled(collection.graph, before.state, fewest=1)[:most]
    chosen = {each.class_id: each for each in suggested}
    others = [
        leaf for leaf in generator.permutation(collection.leaf_ids).tolist() if leaf not in chosen
    ][:most]
    outcome = []
    for class_id in (*chosen, *others):
        more = free[class_id]
        if len(more) < MORE_SHOTS:
            continue
        counted = collection.class_ids == class_id
        counted[more] = False
        gained = _gained(before, _named(embedded, [*shots, *more.tolist()]), counted)
        promised = chosen[class_id].helped if class_id in chosen else 0
        outcome.append(Helped(class_id in chosen, promised, gained))
    return outcome


def _gained(before: _Named, after: _Named, counted: NDArray[np.bool_]) -> int:
    return int(after.is_right[counted].sum()) - int(before.is_right[counted].sum())


def _named(embedded: EmbeddedCollection, shots: list[int]) -> _Named:
    collection, rows = embedded.collection, np.sort(np.array(shots, dtype=np.int64))
    everything, count = np.arange(len(collection.files), dtype=np.int64), len(collection.files)
    labels = collection.class_ids[rows]
    fitted = fit(
        collection.graph,
        embedded.shots(rows, labels),
        PropagationSession(embedded.model.propagation),
        embedded.model.card,
        basis=embedded.basis_of(everything, rows),
    )
    scores = fitted.classify(embedded.embeddings, everything)
    best, is_unknown = fitted.candidate_ids[scores.best].astype(np.int32), fitted.is_unknown(scores)
    label_class = np.full(count, NO_CLASS, dtype=np.int32)
    label_class[rows] = labels
    state = CollectionState(
        collection.source,
        everything,
        [file.path.as_posix() for file in collection.files],
        label_class,
        best,
        scores.best_score,
        scores.safe_class,
        scores.safe_score,
        is_unknown,
        np.ones(count, dtype=np.uint8),
        fitted.shots.counts(),
        {},
    )
    return _Named(state, (scores.safe_class == best) & ~is_unknown & (best == collection.class_ids))
