"""Collections with images of none of the classes, and simulated labels in them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.collection.models import ModelFiles
from engine.embedding.views import first_of_each
from engine.everyday.blocks import to_floats
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from research.transfer.embedded import EmbeddedCollection

# Kinds of images.
KNOWN = 0
NEAR = 1
FAR = 2
STRANGER = -1
"""Class of an image of none of the classes."""
MOST_FAR = 500
"""Images of another collection that are mixed in."""
SESSION_CLASSES = 9
"""Classes of a session."""
FEWEST_OF_CLASS = 40
"""Least images of a class of a session, if there are enough such classes."""
FIRST, BULK, MORE = 2, 45, 10
"""Labels of a session: two of each class, a bulk accept of the surest in one, more of each."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class OpenSet:
    """Images and their classes.

    Attributes:
        model: the backbone.
        graph: of the known classes, and maybe of others without labels.
        embeddings: (n, d) int16, of length 1 in fixed point.
        over_views: (n, d) float32, mean over all views, if computed.
        class_ids: (n,) int64 of the graph; `STRANGER` for images of none of the known classes.
        kinds: (n,) `KNOWN`, `NEAR` (of another class of the collection) or `FAR` (of another
            collection).
    """

    model: ModelFiles
    graph: CategoryGraph
    embeddings: NDArray[np.int16]
    over_views: NDArray[np.float32] | None
    class_ids: Rows
    kinds: Rows

    def fitted(self, rows: Rows, class_ids: Rows, *, with_stage: bool = True) -> EverydayModel:
        """The program's model fitted to labels; rows are image ids.

        Args:
            rows: (l,) labelled images, ascending.
            class_ids: (l,) their labels.
            with_stage: whether with the collection stage.
        """
        alone = to_floats(self.embeddings[rows])
        embeddings, viewed = alone.copy(), first_of_each(class_ids)
        if self.over_views is not None:
            embeddings[viewed] = self.over_views[rows[viewed]]
        basis = collection_basis(np.arange(len(self.embeddings)), self.embeddings, labelled=rows)
        return fit(
            self.graph,
            Shots(rows, class_ids, embeddings, alone),
            PropagationSession(self.model.propagation),
            self.model.card,
            basis=basis if with_stage else None,
        )


@dataclass(frozen=True)
class Labelled:
    """An open set and some labels in it: `rows` (l,) ascending, `class_ids` (l,)."""

    name: str
    open_set: OpenSet
    rows: Rows
    class_ids: Rows


def drawn(embedded: EmbeddedCollection, shots: int, seed: int) -> Labelled:
    """Half of the classes known by `shots` images of `train` each, in the whole collection."""
    collection, generator = embedded.collection, np.random.default_rng(seed)
    leaves = generator.permutation(collection.leaf_ids)
    known = leaves[: len(leaves) // 2]
    is_known = np.isin(collection.class_ids, known)
    open_set = OpenSet(
        embedded.model,
        collection.graph,
        embedded.embeddings,
        embedded.over_views,
        np.where(is_known, collection.class_ids, STRANGER),
        np.where(is_known, KNOWN, NEAR),
    )
    rows = _shots(open_set.class_ids, np.sort(known), collection.is_train, shots, generator)
    return Labelled(f"near, {shots}", open_set, rows, open_set.class_ids[rows])


def drawn_with_far(
    embedded: EmbeddedCollection, far: EmbeddedCollection, shots: int, seed: int
) -> Labelled:
    """All classes known by `shots` images each, with images of another collection mixed in."""
    collection, generator = embedded.collection, np.random.default_rng(seed)
    count = len(far.embeddings)
    taken = np.sort(generator.choice(count, min(MOST_FAR, count), replace=False))
    views = (embedded.over_views, far.over_views)
    over_views = (
        None
        if views[0] is None or views[1] is None
        else np.concatenate([views[0], views[1][taken]])
    )
    strangers = np.full(len(taken), STRANGER)
    open_set = OpenSet(
        embedded.model,
        collection.graph,
        np.concatenate([embedded.embeddings, far.embeddings[taken]]),
        over_views,
        np.concatenate([collection.class_ids, strangers]),
        np.concatenate([np.full(len(embedded.embeddings), KNOWN), np.full(len(taken), FAR)]),
    )
    is_train = np.concatenate([collection.is_train, np.zeros(len(taken), dtype=bool)])
    rows = _shots(open_set.class_ids, collection.leaf_ids, is_train, shots, generator)
    return Labelled(f"far, {shots}", open_set, rows, open_set.class_ids[rows])


def _shots(
    class_ids: Rows,
    known: Rows,
    is_train: NDArray[np.bool_],
    count: int,
    generator: np.random.Generator,
) -> Rows:
    """Rows of random images of `train` of each class; at least one of a class stays unlabelled."""
    rows = []
    for class_id in known.tolist():
        own = np.flatnonzero(is_train & (class_ids == class_id))
        rows.append(generator.choice(own, min(count, max(1, len(own) - 1)), replace=False))
    return np.sort(np.concatenate(rows))


def session(embedded: EmbeddedCollection, seed: int, *, is_coarse: bool) -> Iterator[Labelled]:
    """Session with nine classes and as many strangers: two labels each, a bulk accept, more.

    Args:
        embedded: the collection.
        seed: of every draw.
        is_coarse: whether classes are the parents of the collection's leaves.
    """
    generator = np.random.default_rng(seed)
    open_set, ids = _session_images(embedded, generator, is_coarse=is_coarse)
    kind = "coarse" if is_coarse else "fine"
    labels: dict[int, int] = {}
    for class_id in ids:
        own = np.flatnonzero(open_set.class_ids == class_id)
        labels |= dict.fromkeys(generator.choice(own, FIRST, replace=False).tolist(), class_id)
    yield _so_far(f"session {kind}, 2 each", open_set, labels)
    labels |= _bulk_accept(open_set, labels)
    yield _so_far(f"session {kind}, +{BULK} in bulk", open_set, labels)
    for class_id in ids:
        own = np.setdiff1d(np.flatnonzero(open_set.class_ids == class_id), list(labels))
        more = generator.choice(own, min(MORE, max(0, len(own) - 1)), replace=False)
        labels |= dict.fromkeys(more.tolist(), class_id)
    yield _so_far(f"session {kind}, +{MORE} each", open_set, labels)


def _so_far(name: str, open_set: OpenSet, labels: dict[int, int]) -> Labelled:
    rows = np.array(sorted(labels), dtype=np.int64)
    return Labelled(
        name, open_set, rows, np.array([labels[row] for row in rows.tolist()], dtype=np.int64)
    )


def _session_images(
    embedded: EmbeddedCollection, generator: np.random.Generator, *, is_coarse: bool
) -> tuple[OpenSet, list[int]]:
    """All images of nine classes in a flat graph, and as many others."""
    collection = embedded.collection
    groups = collection.class_ids.copy()
    if is_coarse:
        for leaf in collection.leaf_ids.tolist():
            groups[collection.class_ids == leaf] = min(collection.graph.parents(leaf), default=leaf)
    found, counts = np.unique(groups, return_counts=True)
    large = found[counts >= FEWEST_OF_CLASS]
    large = large if len(large) > 1 else found
    known = generator.choice(large, min(SESSION_CLASSES, len(large) * 2 // 3 or 1), replace=False)
    graph = CategoryGraph()
    id_of = {class_id: graph.add_class(f"class {class_id}") for class_id in known.tolist()}
    inside, outside = (
        np.flatnonzero(np.isin(groups, known)),
        np.flatnonzero(~np.isin(groups, known)),
    )
    outside = generator.choice(outside, min(len(outside), len(inside)), replace=False)
    rows = np.sort(np.concatenate([inside, outside]))
    class_ids = np.array(
        [id_of.get(group, STRANGER) for group in groups[rows].tolist()], dtype=np.int64
    )
    over_views = None if embedded.over_views is None else embedded.over_views[rows]
    kinds = np.where(class_ids == STRANGER, NEAR, KNOWN)
    open_set = OpenSet(
        embedded.model, graph, embedded.embeddings[rows], over_views, class_ids, kinds
    )
    return open_set, list(id_of.values())


def _bulk_accept(open_set: OpenSet, labels: dict[int, int]) -> dict[int, int]:
    """The surest images of the largest class, if correct: the user checks them."""
    counts = np.bincount(open_set.class_ids[open_set.kinds == KNOWN])
    class_id = int(counts.argmax())
    now = _so_far("", open_set, labels)
    fitted = open_set.fitted(now.rows, now.class_ids)
    rows = np.arange(len(open_set.embeddings))
    scores = fitted.classify(open_set.embeddings, rows)
    is_free = ~np.isin(rows, now.rows)
    right = (
        (fitted.candidate_ids[scores.best] == class_id) & (open_set.class_ids == class_id) & is_free
    )
    surest = np.flatnonzero(right)
    surest = surest[np.argsort(-scores.best_score[surest], kind="stable")][:BULK]
    return dict.fromkeys(surest.tolist(), class_id)
