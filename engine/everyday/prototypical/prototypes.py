"""Prototypes of every class that can have one, by running the exported equations (Eq. 3 to 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks
from engine.everyday.classifier import Setting
from engine.everyday.prototypical.propagation import PropagationSession
from engine.everyday.shots import Membership, Shots, class_means, membership, reached_classes
from engine.graph.arrays import edge_index
from engine.graph.category_graph import CategoryGraph

NEIGHBOURS: Final = 3
"""K of the PPN setting (paper, section "Meta-Test")."""
NEIGHBOUR_ROWS: Final = 256
"""Classes whose neighbours are looked up at a time. Chosen: their distances to 10,000 others take 10 MB."""


@dataclass(frozen=True)
class PrototypeTable:
    """Prototypes of C classes of width d, and what they were made of."""

    class_ids: NDArray[np.int64]  # (C,) int64
    membership: Membership  # which shot makes up which initial prototype
    edges: NDArray[np.int64]  # (2, E) int64, parent and child positions
    initial: NDArray[np.float32]  # (C, d) float32, P0 (Eq. 3); zeros where there is none.
    has_initial: NDArray[np.bool_]  # (C,) bool
    edge_weights: NDArray[np.float32]  # (E,) float32, attention (Eq. 5).
    final: NDArray[np.float32]  # (C, d) float32, P (Eq. 6).
    has_prototype: NDArray[np.bool_]  # (C,) bool, own or propagated
    lambda_: NDArray[np.float32]  # (C,) float32, share of the initial prototype (Eq. 6), 0 for zero-shot classes.

    @property
    def is_zero_shot(self) -> NDArray[np.bool_]:
        """(C,) bool: only what ancestors propagate."""
        return self.has_prototype & ~self.has_initial


@dataclass(frozen=True)
class Support:
    """Everything prototypes are made of, before lambda is known."""

    class_ids: NDArray[np.int64]
    membership: Membership
    edges: NDArray[np.int64]
    own_counts: NDArray[np.int64]
    """(C,) images in each initial prototype."""


def support_of(graph: CategoryGraph, shots: Shots, setting: Setting) -> Support:
    """Collect the classes, memberships and edges of a setting.

    PPN+ takes the graph's edges. PPN pretends that a leaf's place is not known: its parents are the classes with
    images of their own whose initial prototypes are nearest. Prototypes alone have no edges.
    """
    if setting is Setting.PPN_PLUS:
        class_ids = reached_classes(graph, tuple(shots.counts()))
    else:
        class_ids = tuple(sorted(shots.counts()))
    members = membership(graph, class_ids, shots)
    counts = np.bincount(members.class_positions, minlength=len(class_ids)).astype(np.int64)
    if setting is Setting.PPN_PLUS:
        edges = _usable_edges(edge_index(graph, class_ids), counts)
    elif setting is Setting.PPN:
        means = class_means(shots, members, len(class_ids))
        edges = nearest_parents(means, NEIGHBOURS)
    else:
        edges = np.zeros((2, 0), dtype=np.int64)
    return Support(np.array(class_ids, dtype=np.int64), members, edges, counts)


def nearest_parents(prototypes: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Edges (2, C * count) from each class's nearest other prototypes to the class.

    Paper: "Meta-Test", second setting (PPN).
    """
    classes = len(prototypes)
    count = min(count, classes - 1)
    if count < 1:
        return np.zeros((2, 0), dtype=np.int64)
    squares = (prototypes**2).sum(axis=1)
    parents = np.empty((classes, count), dtype=np.int64)

    def work(rows: slice) -> None:
        distances = squares - 2 * prototypes[rows] @ prototypes.T
        distances[np.arange(len(distances)), np.arange(classes)[rows]] = np.inf
        parents[rows] = np.argpartition(distances, count - 1, axis=1)[:, :count]

    in_blocks(classes, work, NEIGHBOUR_ROWS)
    return np.stack([parents.ravel(), np.repeat(np.arange(classes), count)]).astype(np.int64)


def _usable_edges(edges: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Edges whose parent has an initial prototype: one step of propagation starts there."""
    return edges[:, counts[edges[0]] > 0]


def prototype_table(
    session: PropagationSession, support: Support, shots: Shots, lambda_: NDArray[np.float32]
) -> PrototypeTable:
    """Run Eq. 3 to 6 on the exported network.

    Args:
        support: classes, memberships and edges.
        shots: labelled images, in the order the memberships refer to.
        lambda_: (C,) float32 in [0, 1].
    """
    result = session.run(
        shots.embeddings,
        support.membership.image_positions,
        support.membership.class_positions,
        edge_index=support.edges,
        lambda_=lambda_,
    )
    has_initial = support.own_counts > 0
    has_parents = np.bincount(support.edges[1], minlength=len(support.class_ids)) > 0
    effective = np.where(has_initial, np.where(has_parents, lambda_, 1), 0).astype(np.float32)
    return PrototypeTable(
        support.class_ids, support.membership, support.edges, result.initial, has_initial,
        result.weights, result.final, has_initial | has_parents, effective,
    )  # fmt: skip


def candidate_positions(
    graph: CategoryGraph, table: PrototypeTable, allowed: Sequence[int] | None
) -> NDArray[np.int64]:
    """Positions of the classes to choose among: by default the deepest ones that have a prototype.

    Args:
        allowed: class ids that do not contain one another, or None for the default.
    """
    available = {
        int(class_id): position
        for position, class_id in enumerate(table.class_ids.tolist())
        if table.has_prototype[position]
    }
    if allowed is not None:
        return np.array([available[class_id] for class_id in allowed if class_id in available], dtype=np.int64)
    covered: set[int] = set()
    for class_id in available:
        covered |= graph.ancestors(class_id)
    return np.array([place for class_id, place in available.items() if class_id not in covered], dtype=np.int64)
