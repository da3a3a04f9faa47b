"""Clusters of look-alikes: average linkage over the links among anchors, of limited size.

In each round every pair of clusters that are mutual nearest neighbours is merged, as in
agglomeration by reciprocal nearest neighbours (Murtagh 1983); only pairs with a link between them
are compared. An image counts at the place of its nearest anchor, so 100,000 images take no longer
than their anchors.
"""

from dataclasses import dataclass

import numpy as np

from engine.arrays import Floats, Integers, no_flags
from engine.everyday.blocks import stop_if_requested
from engine.everyday.collection_stage.basis import CollectionBasis

NEAREST = 3  # links of an anchor that measure the similarity around it
COHESION = 0.5
"""Least similarity of two clusters, as a multiple of the similarity of each cluster's images to
their nearest look-alikes. Chosen: at 0.45 to 0.55 a third to a half fewer images are in mixed
clusters, and no more stay alone (decision 83). An absolute measure lets what is all on one ground,
as in a catalogue, come together."""
PAIRS_AT_ONCE = 1_024
"""Pairs of clusters compared at a time. Chosen: their vectors, 4 MB, stay in the cache."""
MOST_ROUNDS = 40  # of merging. Chosen: a dozen is what 100,000 images take.


@dataclass(frozen=True)
class Items:
    """What is clustered: images of one key at one anchor.

    Attributes:
        item_of: (k,) int64, the item of each image.
        anchors: (t,) int64, position of each item's anchor.
        sizes: (t,) int64, images of each item.
        keys: (t,) int64, only items of one key may come together.
    """

    item_of: Integers
    anchors: Integers
    sizes: Integers
    keys: Integers


def home_anchors(basis: CollectionBasis, rows: Integers) -> tuple[Integers, Floats]:
    """The anchor (k,) that represents each image, itself or its nearest, and their cosine (k,)."""
    own = basis.positions_of(rows)
    found = basis.found.rows(rows)
    nearest, cosines = found.positions[:, 0].astype(np.int64), found.cosines[:, 0]
    return np.where(own >= 0, own, nearest), np.where(
        own >= 0, np.float32(1), np.maximum(cosines, 0)
    )


def items_of(anchors: Integers, keys: Integers) -> Items:
    """Put images (k,) at these anchors (k,) with these keys (k,) together."""
    width = int(keys.max(initial=0)) + 1
    codes, item_of, sizes = np.unique(
        anchors * width + keys, return_inverse=True, return_counts=True
    )
    return Items(
        item_of.reshape(-1).astype(np.int64), codes // width, sizes.astype(np.int64), codes % width
    )


def clusters_of(basis: CollectionBasis, items: Items, *, least: float, most: int) -> Integers:
    """The cluster (t,) of each item, from 0 on.

    Args:
        basis: anchors and their links.
        items: t of them.
        least: mean cosine of the pairs of two clusters, below which they do not come together;
            where it is positive, also below `COHESION` of the cosines of each with its nearest
            look-alikes.
        most: images of a cluster; an item that has more is a cluster of its own.
    """
    count = len(items.anchors)
    cluster = np.arange(count)
    sums = basis.vectors[items.anchors] * items.sizes[:, None].astype(np.float32)
    sizes = items.sizes.copy()
    nearest = _nearest_cosines(basis)[items.anchors] * items.sizes
    here, there = _item_pairs(basis, items)
    for _round in range(MOST_ROUNDS):
        stop_if_requested()
        is_apart = (here != there) & (sizes[here] + sizes[there] <= most)
        here, there = here[is_apart], there[is_apart]
        if not len(here):
            break
        pairs = np.unique(here * count + there)
        here, there = pairs // count, pairs % count
        means = sums / np.maximum(sizes, 1).astype(np.float32)[:, None]
        alike = _products(means, here, there)
        level = nearest / np.maximum(sizes, 1)
        wanted = (
            np.maximum(least, COHESION * np.minimum(level[here], level[there]))
            if least > 0
            else least
        )
        is_near = alike >= wanted
        alike, here, there = alike[is_near], here[is_near], there[is_near]
        first, second = _mutual(here, there, alike, count)
        if not len(first):
            break
        into = np.arange(count)
        into[second] = first
        sums[first] += sums[second]
        sizes[first] += sizes[second]
        nearest[first] += nearest[second]
        cluster, here, there = into[cluster], into[here], into[there]
    return np.unique(cluster, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _products(vectors: Floats, here: Integers, there: Integers) -> Floats:
    """Inner products (p,) of pairs of vectors (n, d), in batches to save memory."""
    found = np.empty(len(here), dtype=np.float32)
    first, second = (
        np.empty((PAIRS_AT_ONCE, vectors.shape[1]), dtype=vectors.dtype) for _ in range(2)
    )
    for start in range(0, len(here), PAIRS_AT_ONCE):
        part = slice(start, min(start + PAIRS_AT_ONCE, len(here)))
        count = part.stop - start
        np.take(vectors, here[part], axis=0, out=first[:count], mode="clip")
        np.take(vectors, there[part], axis=0, out=second[:count], mode="clip")
        np.einsum("pd,pd->p", first[:count], second[:count], out=found[part])
    return found


def _nearest_cosines(basis: CollectionBasis) -> Floats:
    """Mean cosine (m,) of each anchor with the `NEAREST` anchors linked to it most closely."""
    cosines = basis.anchor_links.cosines
    first = max(cosines.shape[1] - NEAREST, 0)
    found: Floats = np.partition(cosines, first, axis=1)[:, first:].mean(axis=1)
    return found


def _item_pairs(basis: CollectionBasis, items: Items) -> tuple[Integers, Integers]:
    """Pairs (p,) of items of one key whose anchors are linked, both ways."""
    count, width = len(basis.anchors), int(items.keys.max(initial=0)) + 1
    codes = items.anchors * width + items.keys  # ascending
    links = basis.anchor_links
    near = links.positions[items.anchors].astype(np.int64)
    is_link = links.cosines[items.anchors] > 0
    here = np.repeat(np.arange(len(codes)), near.shape[1])[is_link.ravel()]
    wanted = (near * width + items.keys[:, None]).ravel()[is_link.ravel()]
    place = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
    is_there = codes[place] == wanted if len(codes) else no_flags()
    assert count >= 0
    here, place = here[is_there], place[is_there]
    return np.concatenate([here, place]), np.concatenate([place, here])


def _mutual(
    here: Integers, there: Integers, alike: Floats, count: int
) -> tuple[Integers, Integers]:
    """Pairs of mutual nearest neighbours; of equal ones the first."""
    order = np.lexsort((there, -alike, here))
    here, there = here[order], there[order]
    is_first = np.diff(here, prepend=-1) != 0
    best = np.full(count, -1)
    best[here[is_first]] = there[is_first]
    known = np.flatnonzero(best >= 0)
    mutual = known[(best[best[known]] == known) & (known < best[known])]
    return mutual, best[mutual]
