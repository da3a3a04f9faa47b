"""Leave-one-shot-out: distances of a labelled image to every prototype computed without it.

Prototypes are linear in the shots once the edge weights are held fixed, so taking one shot away is
a matter of inner products (`ShotRemoval`): no prototype is recomputed. The image that is held out
is measured by one view, as any image is classified, even where its part of the prototype is the
mean over several. With one parent this is exact; with several parents the attention weights are
those with the shot still there, a second-order difference. The weights of a class's parents must
sum to one (softmax).

Twins, as copies and shots of one burst, are held out together: k shots are then taken away for one
that is measured.

A coarse class whose only own image is held out counts as one without a prototype. A refit would
give it the mean over its descendants' images; only held-out coarse labels see the difference, and
they do not count for lambda.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.blocks import in_blocks
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.shots import Shots

EDGE_ROWS = 4096  # edges whose prototypes are multiplied at a time. Chosen: a few megabytes.


BLOCK_SHOTS = 128
"""Shots measured at a time by a core. Chosen: their products with 10,000 classes take 5 MB each."""


@dataclass(frozen=True)
class ShotProducts:
    """Inner products of r shots with the prototypes of c candidates, with all shots."""

    made: Floats  # (r, d) float32, what prototypes are made from; of twins their mean
    seen: Floats  # (r, d) float32, what the shots would be classified by
    to_own: Floats  # (r, c) float32, of `seen` with P0
    to_propagated: Floats  # (r, c) float32, of `seen` with P+
    made_to_own: Floats  # (r, c) float32, of `made` with P0
    made_to_propagated: Floats  # (r, c) float32, of `made` with P+
    own_squared: Floats  # (c,) float32, among the prototypes, as the two below
    propagated_squared: Floats
    own_to_propagated: Floats

    @cached_property
    def seen_squared(self) -> Floats:
        """(r, 1) float32."""
        return np.einsum("nd,nd->n", self.seen, self.seen)[:, None]

    def rows(self, part: slice) -> "ShotProducts":
        """Those of some of the shots."""
        return ShotProducts(
            self.made[part],
            self.seen[part],
            self.to_own[part],
            self.to_propagated[part],
            self.made_to_own[part],
            self.made_to_propagated[part],
            self.own_squared,
            self.propagated_squared,
            self.own_to_propagated,
        )

    def distances(self) -> tuple[Floats, Floats, Floats]:
        """(r, c) squared distances to P0 and P+ with all shots, and the differences' product."""
        own = self.seen_squared - 2 * self.to_own + self.own_squared
        propagated = self.seen_squared - 2 * self.to_propagated + self.propagated_squared
        cross = self.seen_squared - self.to_own - self.to_propagated + self.own_to_propagated
        return own, propagated, cross


@dataclass(frozen=True)
class ChangedDistances:
    """Leave-one-out distances of r shots of one class to the p candidates that this changes."""

    places: Integers  # (p,) int64 places among the candidates
    own: Floats  # (r, p) float32, see `HeldOutDistances`, as the two below
    propagated: Floats
    cross: Floats
    is_member: Flags  # (p,) bool, the shot is in the candidate's own prototype
    has_parents: Flags  # (p,) bool, something is still propagated to it


@final
class ShotRemoval:
    """Prototypes, their edges and their images, laid out to take shots away.

    Of a class with m images the mean without shot x is P' = P + (P - x) / (m - 1). The propagated
    prototype of a child (Eq. 4) then is k (P+ + sum w r P - g x) over the parents that the shot is
    in, with r = 1 / (m - 1), or -1 for a parent that has no other image and leaves its share to the
    rest, g the sum of w r over parents that stay, and k what brings the weights back to their old
    sum. None of k, r and g depends on which shot of a class is taken. With t twins x is their mean
    and r = t / (m - t).

    Attributes:
        sizes: (C,) int64 images in each initial prototype.
        has_parents: (c,) bool, something is propagated to the candidate.
    """

    def __init__(self, table: PrototypeTable, candidates: Integers) -> None:
        members = table.membership
        by_image = np.argsort(members.image_positions, kind="stable")
        self._member_images = members.image_positions[by_image]
        self._member_classes = members.class_positions[by_image]
        self.sizes = np.bincount(members.class_positions, minlength=len(table.class_ids)).astype(
            np.int64
        )
        self._prototypes, self._candidates = table.initial, candidates
        self._place_of = np.full(len(table.class_ids), -1, dtype=np.int64)
        self._place_of[candidates] = np.arange(len(candidates))
        self._lay_out_edges(table)

    def _lay_out_edges(self, table: PrototypeTable) -> None:
        places = self._place_of[table.edges[1]]
        usable = np.flatnonzero((places >= 0) & (table.edge_weights > 0))
        by_parent = usable[np.argsort(table.edges[0][usable], kind="stable")]
        self._parents, self._children = table.edges[0][by_parent], places[by_parent]
        self._weights = table.edge_weights[by_parent]
        count = len(self._candidates)
        self._parent_counts = np.bincount(self._children, minlength=count)
        self.has_parents = self._parent_counts > 0
        self._totals = np.bincount(self._children, weights=self._weights, minlength=count).astype(
            np.float32
        )
        self._own = self._prototypes[self._candidates]
        self._propagated = np.zeros_like(self._own)
        for part in self._edge_blocks():
            weighted = self._weights[part, None] * self._prototypes[self._parents[part]]
            np.add.at(self._propagated, self._children[part], weighted)
        self._to_own, self._to_propagated = (
            np.empty(len(by_parent), dtype=np.float32) for _ in range(2)
        )
        for part in self._edge_blocks():
            parents, children = self._prototypes[self._parents[part]], self._children[part]
            self._to_own[part] = np.einsum("ed,ed->e", parents, self._own[children])
            self._to_propagated[part] = np.einsum("ed,ed->e", parents, self._propagated[children])

    def _edge_blocks(self) -> list[slice]:
        return [
            slice(start, start + EDGE_ROWS) for start in range(0, len(self._parents), EDGE_ROWS)
        ]

    @cached_property
    def _squared(self) -> tuple[Floats, Floats, Floats]:
        own, propagated = self._own, self._propagated
        return (
            np.einsum("nd,nd->n", own, own),
            np.einsum("nd,nd->n", propagated, propagated),
            np.einsum("nd,nd->n", own, propagated),
        )

    def products(self, shots: Shots, positions: Integers) -> ShotProducts:
        """Inner products of some shots (r,) with all candidates."""
        seen, made = shots.as_classified[positions], shots.together.means[positions]
        to_own, to_propagated = seen @ self._own.T, seen @ self._propagated.T
        if shots.single_view is None and shots.folds is None:
            return ShotProducts(
                made, seen, to_own, to_propagated, to_own, to_propagated, *self._squared
            )
        made_to = made @ self._own.T, made @ self._propagated.T
        return ShotProducts(made, seen, to_own, to_propagated, *made_to, *self._squared)

    def without(self, products: ShotProducts, shot: int, taken: int = 1) -> ChangedDistances:
        """Distances of shots of one class, each without itself, where that changes them.

        Args:
            shot: position of one of them.
            taken: how many twins go with each, itself included.
        """
        low, high = np.searchsorted(self._member_images, [shot, shot + 1])
        classes = self._member_classes[low:high]
        return _changed(products, self._change(classes, taken), self._prototypes[classes])

    def _change(self, classes: Integers, taken: int) -> "_Change":
        """What the loss of so many images of these s classes means for the candidates."""
        edges, slots = self._edges_from(classes)
        own_places = self._place_of[classes]
        places, at = np.unique(
            np.concatenate([self._children[edges], own_places[own_places >= 0]]),
            return_inverse=True,
        )
        children = at[: len(edges)]
        others = self.sizes[classes] - taken
        factors = np.where(others > 0, taken / np.maximum(others, 1), -1).astype(np.float32)
        shares = np.zeros((len(places), len(classes)), dtype=np.float32)
        shares[children, slots] = self._weights[edges] * factors[slots]
        dies = others[slots] == 0
        lost = _summed(self._weights[edges] * dies, children, len(places))
        left = self._parent_counts[places] - np.bincount(children[dies], minlength=len(places))
        totals, stays = self._totals[places], left > 0
        growth = np.zeros(len(places), dtype=np.float32)
        growth[at[len(edges) :]] = np.maximum(factors, 0)[own_places >= 0]
        is_member = np.zeros(len(places), dtype=bool)
        is_member[at[len(edges) :]] = True
        return _Change(
            places=places,
            shares=shares,
            scale=np.divide(totals, totals - lost, out=np.zeros_like(totals), where=stays),
            taken=shares @ (factors > 0).astype(np.float32),
            to_own=_summed(shares[children, slots] * self._to_own[edges], children, len(places)),
            to_propagated=_summed(
                shares[children, slots] * self._to_propagated[edges], children, len(places)
            ),
            growth=growth,
            is_member=is_member,
            has_parents=stays,
        )

    def _edges_from(self, classes: Integers) -> tuple[Integers, Integers]:
        """Edges that begin at these classes, and which of them each begins at."""
        starts, stops = (
            np.searchsorted(self._parents, classes),
            np.searchsorted(self._parents, classes, side="right"),
        )
        counts = stops - starts
        slots = np.repeat(np.arange(len(classes)), counts)
        offsets = np.arange(len(slots)) - np.repeat(np.cumsum(counts) - counts, counts)
        return starts[slots] + offsets, slots


@dataclass(frozen=True)
class _Change:
    """Effect on p candidates of removing one image of s classes, whichever image it is."""

    places: Integers  # (p,) int64 places among the candidates
    shares: Floats  # (p, s) float32, how much more of each class's prototype is propagated: w r
    scale: Floats  # (p,) float32, k; 0 where no parent is left
    taken: Floats  # (p,) float32, how much of the image is taken from what is propagated: g
    to_own: Floats  # (p,) float32, products of P0 with `shares` times the prototypes
    to_propagated: Floats  # (p,) float32, products of P+ with these
    # (p,) float32, r of the candidate whose own prototype has the image and others; else 0
    growth: Floats
    is_member: Flags  # see `ChangedDistances`
    has_parents: Flags  # see `ChangedDistances`


def _changed(products: ShotProducts, change: _Change, prototypes: Floats) -> ChangedDistances:
    """Distances (r, p) after a change; `prototypes` (s, d) are those of its classes."""
    at, shares, scale, growth = change.places, change.shares, change.scale, change.growth
    made_squared = np.einsum("nd,nd->n", products.made, products.made)[:, None]
    seen_to_made = np.einsum("nd,nd->n", products.seen, products.made)[:, None]
    seen_squared = products.seen_squared
    made_to_own, to_own = products.made_to_own[:, at], products.to_own[:, at]
    made_to = products.made_to_propagated[:, at] + (products.made @ prototypes.T) @ shares.T
    seen_to = products.to_propagated[:, at] + (products.seen @ prototypes.T) @ shares.T
    squared = products.propagated_squared[at] + 2 * change.to_propagated
    squared = squared + np.einsum("ps,ps->p", shares @ (prototypes @ prototypes.T), shares)
    seen_to_new = scale * (seen_to - change.taken * seen_to_made)
    new_squared = scale**2 * (squared - 2 * change.taken * made_to + change.taken**2 * made_squared)
    own_to_new = scale * (
        products.own_to_propagated[at] + change.to_own - change.taken * made_to_own
    )
    made_to_new = scale * (made_to - change.taken * made_squared)
    seen_to_own = (1 + growth) * to_own - growth * seen_to_made
    own_squared = (1 + growth) ** 2 * products.own_squared[at]
    own_squared = own_squared - 2 * growth * (1 + growth) * made_to_own + growth**2 * made_squared
    both = (1 + growth) * own_to_new - growth * made_to_new
    return ChangedDistances(
        places=at,
        own=seen_squared - 2 * seen_to_own + own_squared,
        propagated=seen_squared - 2 * seen_to_new + new_squared,
        cross=seen_squared - seen_to_own - seen_to_new + both,
        is_member=change.is_member,
        has_parents=change.has_parents,
    )


def _summed(values: Floats, places: Integers, count: int) -> Floats:
    return np.bincount(places, weights=values, minlength=count).astype(np.float32)


@dataclass(frozen=True)
class HeldOutDistances:
    """Squared distances of n held-out shots to c candidates, as a quadratic in lambda (Eq. 6).

    ||e - P||² = lambda² own + 2 lambda (1 - lambda) cross + (1 - lambda)² propagated.
    """

    own: Floats  # (n, c) float32, squared distance to the initial prototype without the shot
    # (n, c) float32, squared distance to the propagated prototype without the shot
    propagated: Floats
    cross: Floats  # (n, c) float32, inner product of the two differences
    shots_left: Integers  # (n, c) int64, images of the candidate's own that remain
    has_parents: Flags  # (n, c) bool, whether anything is propagated to the candidate

    def rows(self, chosen: Integers) -> "HeldOutDistances":
        return HeldOutDistances(*(array[chosen] for array in vars(self).values()))

    def at(self, lambda_: Floats) -> Floats:
        """Squared distances (n, c) at lambdas (n, c); infinite without a prototype."""
        keep = np.where(self.has_parents, lambda_, np.float32(1.0))
        keep = np.where(self.shots_left > 0, keep, np.float32(0.0))
        rest = 1 - keep
        squared = (
            keep * keep * self.own + 2 * keep * rest * self.cross + rest * rest * self.propagated
        )
        missing = (self.shots_left == 0) & ~self.has_parents
        return np.where(missing, np.float32(np.inf), squared)


def held_out_distances(
    shots: Shots, table: PrototypeTable, candidates: Integers, held: Integers
) -> HeldOutDistances:
    """Leave-one-out distances of the shots at `held` (h,) to the candidates (c,).

    Needs h x c numbers a few times over: shots of one class are in the same prototypes, so what
    their removal changes is laid out once for all of them.
    """
    removal = ShotRemoval(table, candidates)
    sizes = removal.sizes[candidates]
    shape = (len(held), len(candidates))
    own, propagated, cross = (np.empty(shape, dtype=np.float32) for _ in range(3))
    left, has_parents = (
        np.broadcast_to(sizes, shape).copy(),
        np.broadcast_to(removal.has_parents, shape).copy(),
    )
    found = HeldOutDistances(own, propagated, cross, left, has_parents)
    sizes_of = shots.together.sizes[held]
    order = np.lexsort((sizes_of, shots.class_ids[held]))

    def measure(part: slice) -> None:
        rows = order[part]
        products = removal.products(shots, held[rows])
        found.own[rows], found.propagated[rows], found.cross[rows] = products.distances()
        labels, taken = shots.class_ids[held[rows]], sizes_of[rows]
        starts = np.flatnonzero(
            np.diff(labels, prepend=labels[0] - 1) | np.diff(taken, prepend=taken[0])
        )
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            same, count = slice(int(start), int(stop)), int(taken[start])
            changed = removal.without(products.rows(same), int(held[rows[start]]), count)
            _put(found, rows[same], changed, count)

    in_blocks(len(held), measure, BLOCK_SHOTS)
    return found


def _put(found: HeldOutDistances, rows: Integers, changed: ChangedDistances, taken: int) -> None:
    """Write what the removal of shots (r,) of one class, each with `taken` - 1 twins, changes."""
    at = np.ix_(rows, changed.places)
    found.own[at], found.propagated[at], found.cross[at] = (
        changed.own,
        changed.propagated,
        changed.cross,
    )
    found.shots_left[at] -= taken * changed.is_member
    found.has_parents[at] = changed.has_parents


def with_fresh_neighbours(
    distances: HeldOutDistances,
    shots: Shots,
    prototypes: Floats,
    *,
    held: Integers,
    class_positions: Integers,
    places: Integers,
    count: int,
) -> HeldOutDistances:
    """Choose the guessed parents of each shot's own class again, without the shot.

    In the PPN setting a class's parents are its nearest prototypes. Chosen with the shot included
    they are near the shot, and every held-out shot would look easier than a new image. The parents
    count evenly here: attention over similar classes is nearly even.

    Args:
        distances: of n shots to c candidates.
        held: (n,) int64 positions of these shots among all.
        prototypes: (C, d) float32, initial prototypes of all classes with images.
        class_positions: (n,) int64 in [0, C), each shot's own class.
        places: (n,) int64 in [0, c), the same class among the candidates; negative where it is
            none.
        count: parents of a class; all other classes where there are fewer.
    """
    count = min(count, len(prototypes) - 1)
    if count < 1:
        return distances
    rows = np.flatnonzero(places >= 0)
    rows = rows[distances.shots_left[rows, places[rows]] > 0]
    own, place = class_positions[rows], places[rows]
    seen, left = shots.as_classified[held[rows]], distances.shots_left[rows, place][:, None]
    together, taken = shots.together, shots.together.sizes[held[rows], None].astype(np.float32)
    without = prototypes[own] + taken * (prototypes[own] - together.means[held[rows]]) / left
    apart = (prototypes**2).sum(axis=1)[None, :] - 2 * without @ prototypes.T
    apart[np.arange(len(rows)), own] = np.inf
    propagated = prototypes[np.argsort(apart, axis=1)[:, :count]].mean(axis=1)
    fresh = HeldOutDistances(*(array.copy() for array in vars(distances).values()))
    fresh.propagated[rows, place] = ((seen - propagated) ** 2).sum(axis=1)
    fresh.cross[rows, place] = ((seen - without) * (seen - propagated)).sum(axis=1)
    return fresh
