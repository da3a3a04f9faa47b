"""Groups of look-alikes that one answer decides, the most decisions for a key press first.

Images whose class is sure come together by class, as many as a screen holds; all others as clusters
of look-alikes, whatever a model predicts for them. Before any label all are such clusters.
Labelling clusters at once is old (Dasgupta and Hsu 2008 give bounds); the limit to a screen, and
the order by key presses, are ours (decision 83).
"""

from dataclasses import dataclass, field
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.blocks import one_thread_each, stop_if_requested
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.grouping.clusters import clusters_of, home_anchors, items_of
from engine.everyday.look_alikes import SCREEN, LookAlikes, Opinions
from engine.graph.codes import NO_CLASS

SMALL = 9  # images of a group whose class is held back from larger ones
ALIKE = 0.2
"""Mean cosine of whitened embeddings within a cluster of images that are not sure."""
NAMING_KEYS = 4.0
"""Keys that naming a class takes that was not proposed: R, two letters, Enter."""
IMPURE = 0.1  # Prior share of a cluster that is of other classes than most of it
ODD = 0.5
"""An image is an outlier whose class is less probable, or that is so much less similar."""


@final
class BasisLinks:
    """See `ImageLinks`, by the basis of a collection."""

    def __init__(self, basis: CollectionBasis) -> None:
        self._basis = basis
        self.image_ids = basis.image_ids
        self.rows_of = basis.rows_of

    def groups(
        self, opinions: Opinions, rows: Integers, *, most: int = SCREEN
    ) -> tuple[LookAlikes, ...]:
        return groups_of(self._basis, opinions, rows, most=most)


@one_thread_each
def groups_of(
    basis: CollectionBasis, opinions: Opinions, rows: Integers, *, most: int = SCREEN
) -> tuple[LookAlikes, ...]:
    """Every open image in one group, the groups that give most for a key first.

    Args:
        basis: n images, their anchors and links.
        opinions: of the same images; `Opinions.none` before there is a model.
        rows: (k,) images to group; those without an embedding are left out.
        most: images of a group.

    Raises:
        Cancelled: the token of `stopped_by` was set.
    """
    rows = rows[basis.scales[rows] > 0]
    if not len(rows):
        return ()
    own = opinions.at(rows)
    anchors, cosines = home_anchors(basis, rows)
    group = _grouped(basis, anchors, own, most)
    stop_if_requested()
    return _Drawn(basis, own, rows, anchors, cosines, group).groups()


def _grouped(basis: CollectionBasis, anchors: Integers, own: Opinions, most: int) -> Integers:
    """The group (k,) of each image, from 0 on."""
    width = int(max(own.best.max(), own.branch.max())) + 2
    keys = np.where(own.is_sure, (own.branch + 1) * width + own.best + 1, 0)
    is_few = np.isin(own.best, own.held_back) & own.is_sure
    group, first = np.zeros(len(anchors), dtype=np.int64), 0
    for is_chosen, least, limit in (
        (~own.is_sure, ALIKE, most),
        (own.is_sure & ~is_few, -1.0, most),
        (is_few, -1.0, min(SMALL, most)),
    ):
        chosen = np.flatnonzero(is_chosen)
        if not len(chosen):
            continue
        of_key = np.unique(keys[chosen], return_inverse=True)[1].reshape(-1)
        items = items_of(anchors[chosen], of_key)
        cluster = clusters_of(basis, items, least=least, most=limit)[items.item_of]
        group[chosen] = first + _cut(
            _packed(cluster, of_key, limit) if least < 0 else cluster, limit
        )
        first = int(group[chosen].max()) + 1
    return group


def _packed(cluster: Integers, keys: Integers, most: int) -> Integers:
    """Clusters (k,) of one key together, as many as fit, larger ones first."""
    of, first, sizes = np.unique(cluster, return_index=True, return_counts=True)
    order = np.lexsort((-sizes, keys[first]))
    pack, room, key, place = np.zeros(len(of), dtype=np.int64), 0, -1, -1
    for each, size, of_key in zip(
        order.tolist(), sizes[order].tolist(), keys[first][order].tolist(), strict=True
    ):
        if of_key != key or size > room:
            place, room, key = place + 1, most, of_key
        pack[each] = place
        room -= size
    return pack[np.searchsorted(of, cluster)]


def _cut(cluster: Integers, most: int) -> Integers:
    """Split clusters (k,) of more images than a screen shows into equal parts."""
    sizes = np.bincount(cluster)
    parts = -(-sizes // most)
    starts = np.cumsum(parts) - parts
    order = np.argsort(cluster, kind="stable")
    rank = np.empty(len(cluster), dtype=np.int64)
    rank[order] = np.arange(len(cluster)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return (starts[cluster] + rank * parts[cluster] // np.maximum(sizes[cluster], 1)).astype(
        np.int64
    )


@dataclass(frozen=True)
class _Drawn:
    """k images with what is known of each, and the group of each."""

    basis: CollectionBasis
    own: Opinions  # (k,)
    rows: Integers
    anchors: Integers
    cosines: Floats
    group: Integers
    count: int = field(init=False)
    sizes: Integers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", int(self.group.max()) + 1)
        object.__setattr__(self, "sizes", np.bincount(self.group, minlength=self.count))

    def groups(self) -> tuple[LookAlikes, ...]:
        """Each group, best first."""
        own = self.own
        proposed, support = self._voted()
        error = np.where(own.best == proposed[self.group], 1 - own.probability, 1)
        errors, others = self._sum(error), self._settled_elsewhere()
        oddness = np.where(own.is_sure, error, self._unlikeness())
        is_outlier = oddness > np.where(
            own.is_sure, ODD, ODD + self._sum(oddness)[self.group] / self.sizes[self.group]
        )
        sure = self._sum(own.is_sure) > 0
        first = self._order(self._gains(errors, support, others, is_sure=sure))
        odd, settled = (
            self._sum(is_outlier).astype(np.int64),
            np.rint(self.sizes + others).astype(np.int64),
        )
        held_back = np.isin(proposed, own.held_back) & sure
        branch = np.full(self.count, NO_CLASS)
        branch[self.group] = own.branch
        rows = self.rows[np.lexsort((-oddness, self.group))]
        ends = np.cumsum(self.sizes)
        return tuple(
            LookAlikes(
                rows[ends[each] - self.sizes[each] : ends[each]],
                int(odd[each]),
                int(proposed[each]),
                int(branch[each]),
                float(errors[each]),
                int(settled[each]),
                bool(sure[each]),
                bool(held_back[each]),
            )
            for each in first.tolist()
        )

    def _sum(self, values: Floats | Flags | Integers) -> Floats:
        """Sum (count,) of each group's images."""
        return np.bincount(self.group, weights=values, minlength=self.count).astype(np.float32)

    def _order(self, gains: Floats) -> Integers:
        """Finer classes of what was just decided first, groups that were passed over last."""
        passed = np.rint(self._sum(self.own.passed) / self.sizes)
        is_finer = self._sum(self.own.branch != NO_CLASS) > 0
        return np.lexsort((-gains, ~is_finer, passed))

    def _gains(self, errors: Floats, support: Floats, others: Floats, *, is_sure: Flags) -> Floats:
        """Images (count,) decided for a key: Enter or a name, and a click for each left out."""
        wrong = np.where(is_sure, errors, np.minimum(errors, IMPURE * self.sizes))
        keys = 1 + np.where(is_sure, 0, (1 - support) * NAMING_KEYS) + wrong
        return (self.sizes - wrong + others) / keys

    def _unlikeness(self) -> Floats:
        """1 minus the cosine (k,) of each image with its group's mean, by its anchor."""
        width = len(self.basis.anchors)
        pairs, place, counts = np.unique(
            self.group * width + self.anchors, return_inverse=True, return_counts=True
        )
        of, vectors = pairs // width, self.basis.vectors[pairs % width]
        order = np.flatnonzero(np.diff(of, prepend=-1))
        means = np.add.reduceat(vectors * counts[:, None].astype(np.float32), order, axis=0)
        lengths = np.maximum(np.sqrt(np.einsum("gd,gd->g", means, means)), np.float32(1e-6))
        alike = np.einsum("pd,pd->p", vectors, means[of]) / lengths[of]
        return (1 - alike[place.reshape(-1)] * self.cosines).astype(np.float32)

    def _settled_elsewhere(self) -> Floats:
        """Images (count,) of other groups that an answer to each group is expected to decide.

        An image that is not sure counts for the groups of its look-alikes by the share that they
        have in its links.
        """
        home = np.full(len(self.basis.anchors), -1)
        home[self.anchors] = self.group  # of several groups at one anchor any
        place = self.basis.positions_of(self.rows)
        home[place[place >= 0]] = self.group[place >= 0]
        links = self.basis.links_at(self.rows)
        towards = home[links.positions]
        leads_out = (towards >= 0) & (towards != self.group[:, None])
        doubt = np.where(self.own.is_sure, 1 - self.own.probability, 1)[:, None]
        share = doubt * links.weights / np.maximum(links.followed, np.float32(1e-6))
        return np.bincount(
            towards[leads_out], weights=share[leads_out], minlength=self.count
        ).astype(np.float32)

    def _voted(self) -> tuple[Integers, Floats]:
        """The most voted class (count,) of each group's images, and its share (count,)."""
        best, known = self.own.best, self.own.best != NO_CLASS
        proposed, support = (
            np.full(self.count, NO_CLASS, dtype=np.int64),
            np.zeros(self.count, dtype=np.float32),
        )
        if not known.any():
            return proposed, support
        width = int(best.max()) + 1
        pairs, place = np.unique(self.group[known] * width + best[known], return_inverse=True)
        votes = np.bincount(place.reshape(-1), weights=self.own.probability[known])
        of = pairs // width
        order = np.lexsort((-votes, of))
        first = order[np.diff(of[order], prepend=-1) != 0]
        proposed[of[first]], support[of[first]] = pairs[first] % width, votes[first]
        return proposed, (support / self.sizes).astype(np.float32)
