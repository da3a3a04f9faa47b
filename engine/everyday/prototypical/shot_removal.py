"""What taking one shot away does to the prototypes that it is in, found from inner products with the others.

Of a class with m images the mean without shot x is P' = P + (P - x) / (m - 1). The propagated prototype of a child
(Eq. 4) then is k (P+ + sum w r P - g x) over the parents that the shot is in, with r = 1 / (m - 1), or -1 for a parent
that has no other image and leaves its share to the rest, g the sum of w r over parents that stay, and k what brings the
weights back to their old sum. None of k, r and g depends on which shot of a class is taken.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.shots import Shots

EDGE_ROWS: Final = 4096
"""Edges whose prototypes are multiplied at a time. Chosen: a few megabytes."""

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]


@dataclass(frozen=True)
class ShotProducts:
    """Inner products of r shots with c candidates' prototypes as they are, with all shots."""

    made: Matrix  # (r, d) float32, what prototypes are made from
    seen: Matrix  # (r, d) float32, what the shots would be classified by
    # to_own, to_propagated: (r, c) float32, of `seen` with P0 and P+
    to_own: Matrix
    to_propagated: Matrix
    # made_to_own, made_to_propagated: (r, c) float32, of `made`; the same arrays where both are the same
    made_to_own: Matrix
    made_to_propagated: Matrix
    # own_squared, propagated_squared, own_to_propagated: (c,) float32, among the prototypes
    own_squared: Matrix
    propagated_squared: Matrix
    own_to_propagated: Matrix

    @cached_property
    def seen_squared(self) -> Matrix:
        """(r, 1) float32."""
        return np.einsum("nd,nd->n", self.seen, self.seen)[:, None]

    def rows(self, part: slice) -> "ShotProducts":
        """Those of some of the shots."""
        return ShotProducts(
            self.made[part], self.seen[part], self.to_own[part], self.to_propagated[part],
            self.made_to_own[part], self.made_to_propagated[part],
            self.own_squared, self.propagated_squared, self.own_to_propagated,
        )  # fmt: skip

    def distances(self) -> tuple[Matrix, Matrix, Matrix]:
        """(r, c) squared distances to P0 and to P+, and the product of both differences, with all shots there."""
        own = self.seen_squared - 2 * self.to_own + self.own_squared
        propagated = self.seen_squared - 2 * self.to_propagated + self.propagated_squared
        cross = self.seen_squared - self.to_own - self.to_propagated + self.own_to_propagated
        return own, propagated, cross


@dataclass(frozen=True)
class ChangedDistances:
    """Distances of r shots of one class, each without itself, to the p candidates that this changes."""

    places: Positions  # (p,) int64 places among the candidates
    # own, propagated, cross: (r, p) float32, see `HeldOutDistances`
    own: Matrix
    propagated: Matrix
    cross: Matrix
    is_member: NDArray[np.bool_]  # (p,) bool, the shot is in the candidate's own prototype
    has_parents: NDArray[np.bool_]  # (p,) bool, something is still propagated to it


@final
class ShotRemoval:
    """Prototypes, their edges and their images, laid out to take shots away.

    Args:
        table: C prototypes.
        candidates: (c,) positions of the classes to measure against.

    Attributes:
        sizes: (C,) int64 images in each initial prototype.
        has_parents: (c,) bool, something is propagated to the candidate.
    """

    def __init__(self, table: PrototypeTable, candidates: Positions) -> None:
        members = table.membership
        by_image = np.argsort(members.image_positions, kind="stable")
        self._member_images = members.image_positions[by_image]
        self._member_classes = members.class_positions[by_image]
        self.sizes = np.bincount(members.class_positions, minlength=len(table.class_ids)).astype(np.int64)
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
        self._totals = np.bincount(self._children, weights=self._weights, minlength=count).astype(np.float32)
        self._own = self._prototypes[self._candidates]
        self._propagated = np.zeros_like(self._own)
        for part in self._edge_blocks():
            np.add.at(
                self._propagated,
                self._children[part],
                self._weights[part, None] * self._prototypes[self._parents[part]],
            )
        self._to_own, self._to_propagated = (np.empty(len(by_parent), dtype=np.float32) for _ in range(2))
        for part in self._edge_blocks():
            parents, children = self._prototypes[self._parents[part]], self._children[part]
            self._to_own[part] = np.einsum("ed,ed->e", parents, self._own[children])
            self._to_propagated[part] = np.einsum("ed,ed->e", parents, self._propagated[children])

    def _edge_blocks(self) -> list[slice]:
        return [slice(start, start + EDGE_ROWS) for start in range(0, len(self._parents), EDGE_ROWS)]

    @cached_property
    def _squared(self) -> tuple[Matrix, Matrix, Matrix]:
        own, propagated = self._own, self._propagated
        return (
            np.einsum("nd,nd->n", own, own), np.einsum("nd,nd->n", propagated, propagated),
            np.einsum("nd,nd->n", own, propagated),
        )  # fmt: skip

    def products(self, shots: Shots, positions: Positions) -> ShotProducts:
        """Inner products of some shots (r,) with all candidates."""
        seen, made = shots.as_classified[positions], shots.embeddings[positions]
        to_own, to_propagated = seen @ self._own.T, seen @ self._propagated.T
        if shots.single_view is None:
            return ShotProducts(made, seen, to_own, to_propagated, to_own, to_propagated, *self._squared)
        made_to = made @ self._own.T, made @ self._propagated.T
        return ShotProducts(made, seen, to_own, to_propagated, *made_to, *self._squared)

    def without(self, products: ShotProducts, shot: int) -> ChangedDistances:
        """Distances of shots of one class, each without itself, where that changes them.

        Args:
            products: of r shots that are in the same prototypes.
            shot: position of one of them.
        """
        low, high = np.searchsorted(self._member_images, [shot, shot + 1])
        classes = self._member_classes[low:high]
        change = self._change(classes)
        return _changed(products, change, self._prototypes[classes])

    def _change(self, classes: Positions) -> "_Change":
        """What the loss of one image of these s classes means for the candidates."""
        edges, slots = self._edges_from(classes)
        own_places = self._place_of[classes]
        places, at = np.unique(
            np.concatenate([self._children[edges], own_places[own_places >= 0]]), return_inverse=True
        )
        children = at[: len(edges)]
        others = self.sizes[classes] - 1
        factors = np.where(others > 0, 1 / np.maximum(others, 1), -1).astype(np.float32)
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
            to_propagated=_summed(shares[children, slots] * self._to_propagated[edges], children, len(places)),
            growth=growth,
            is_member=is_member,
            has_parents=stays,
        )

    def _edges_from(self, classes: Positions) -> tuple[Positions, Positions]:
        """Edges that begin at these classes, and which of them each begins at."""
        starts, stops = np.searchsorted(self._parents, classes), np.searchsorted(self._parents, classes, side="right")
        counts = stops - starts
        slots = np.repeat(np.arange(len(classes)), counts)
        offsets = np.arange(len(slots)) - np.repeat(np.cumsum(counts) - counts, counts)
        return starts[slots] + offsets, slots


@dataclass(frozen=True)
class _Change:
    """What the loss of one image of s classes means for p candidates, whichever image of the class it is."""

    places: Positions  # (p,) int64 places among the candidates
    shares: Matrix  # (p, s) float32, how much more of each class's prototype is propagated: w r
    scale: Matrix  # (p,) float32, k; 0 where no parent is left
    taken: Matrix  # (p,) float32, how much of the image is taken from what is propagated: g
    # to_own, to_propagated: (p,) float32, products of P0 and P+ with `shares` times the prototypes
    to_own: Matrix
    to_propagated: Matrix
    # (p,) float32, r of the candidate itself where the image is in its own prototype and not the only one
    growth: Matrix
    # is_member, has_parents: see `ChangedDistances`
    is_member: NDArray[np.bool_]
    has_parents: NDArray[np.bool_]


def _changed(products: ShotProducts, change: _Change, prototypes: Matrix) -> ChangedDistances:
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
    own_to_new = scale * (products.own_to_propagated[at] + change.to_own - change.taken * made_to_own)
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


def _summed(values: Matrix, places: Positions, count: int) -> Matrix:
    return np.bincount(places, weights=values, minlength=count).astype(np.float32)
