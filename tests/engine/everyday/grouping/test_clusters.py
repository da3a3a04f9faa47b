"""Clusters of look-alikes: worked out by hand, and beside plain average linkage."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.grouping.clusters import COHESION, Items, clusters_of, home_anchors, items_of

NONE = np.zeros(0, dtype=np.int64)


def basis_of(
    sizes: tuple[int, ...], *, noise: float = 0.15, width: int = 24, seed: int = 0
) -> CollectionBasis:
    """Groups of look-alikes of these sizes, one after the other."""
    generator = np.random.default_rng(seed)
    groups = np.repeat(generator.normal(size=(len(sizes), width)), sizes, axis=0)
    vectors = groups + noise * generator.normal(size=groups.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = collection_basis(
        np.arange(len(vectors)), to_fixed(vectors.astype(np.float32)), labelled=NONE
    )
    assert found is not None
    return found


def single_items(basis: CollectionBasis, keys: NDArray[np.int64]) -> Items:
    """Each image by itself."""
    anchors, _cosines = home_anchors(basis, np.arange(len(keys)))
    return items_of(anchors, keys)


def test_look_alikes_come_together_and_no_others() -> None:
    """Each group of look-alikes is one cluster, whatever its size."""
    sizes = (4, 16, 8, 32)
    basis = basis_of(sizes)
    items = single_items(basis, np.zeros(60, dtype=np.int64))
    cluster = clusters_of(basis, items, least=0.0, most=40)[items.item_of]
    assert [len(np.unique(part)) for part in np.split(cluster, np.cumsum(sizes)[:-1])] == [
        1,
        1,
        1,
        1,
    ]
    assert cluster.max() == 3


def test_no_cluster_is_larger_than_a_screen() -> None:
    """And none holds images of two keys."""
    basis = basis_of((50, 10))
    keys = np.arange(60) % 2
    items = single_items(basis, keys)
    cluster = clusters_of(basis, items, least=-1, most=12)[items.item_of]
    assert np.bincount(cluster).max() <= 12
    assert all(len(np.unique(keys[cluster == each])) == 1 for each in np.unique(cluster))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_plain_average_linkage(seed: int) -> None:
    """Merging the two most alike linked clusters, until none are alike enough, gives the same."""
    basis = basis_of((3, 3, 3), noise=0.9, seed=seed)
    items = single_items(basis, np.zeros(9, dtype=np.int64))
    linked = np.zeros((9, 9), dtype=bool)
    places = np.repeat(np.arange(9), basis.anchor_links.positions.shape[1])
    is_link = (basis.anchor_links.cosines > 0).ravel()
    linked[places[is_link], basis.anchor_links.positions.ravel()[is_link]] = True
    linked |= linked.T
    expected = _plain(basis.vectors, linked, least=0.1)
    found = clusters_of(basis, items, least=0.1, most=99)
    assert {tuple(np.flatnonzero(found == each)) for each in np.unique(found)} == expected


def _plain(
    vectors: NDArray[np.float32], linked: NDArray[np.bool_], *, least: float
) -> set[tuple[int, ...]]:
    """Merge the two linked clusters of the highest mean cosine, one pair after the other."""
    alike, clusters = vectors @ vectors.T, [[each] for each in range(len(vectors))]

    def mean(pair: tuple[list[int], list[int]]) -> float:
        first, second = pair
        return (
            float(alike[np.ix_(first, second)].mean())
            if linked[np.ix_(first, second)].any()
            else -1.0
        )

    while len(clusters) > 1:
        pair = max(itertools.combinations(clusters, 2), key=mean)
        if mean(pair) < least:
            break
        clusters = [each for each in clusters if each not in pair] + [sorted(pair[0] + pair[1])]
    return {tuple(each) for each in clusters}


def on_one_ground(
    kinds: int, *, on_white: int, each: int = 3, width: int = 48, noise: float = 0.2
) -> CollectionBasis:
    """Kinds of images, and others that share most of their look, as objects on white do."""
    generator = np.random.default_rng(0)
    centres, ground = generator.normal(size=(kinds + on_white, width)), generator.normal(size=width)
    centres[kinds:] = np.sqrt(0.4) * centres[kinds:] + np.sqrt(0.6) * ground
    vectors = np.repeat(centres, each, axis=0)
    vectors += noise * generator.normal(size=vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = collection_basis(
        np.arange(len(vectors)), to_fixed(vectors.astype(np.float32)), labelled=NONE
    )
    assert found is not None
    return found


@pytest.mark.parametrize(("cohesion", "mixed"), [(COHESION, 0), (0.0, 3)])
def test_b11_unlike_things_on_one_ground_do_not_come_together(
    cohesion: float, mixed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how alike the images around each are.

    An absolute measure alone puts those on white together.
    """
    monkeypatch.setattr("engine.everyday.grouping.clusters.COHESION", cohesion)
    basis, kind = on_one_ground(40, on_white=8), np.repeat(np.arange(48), 3)
    items = single_items(basis, np.zeros(len(kind), dtype=np.int64))
    cluster = clusters_of(basis, items, least=0.2, most=40)[items.item_of]
    on_white = np.unique(cluster[kind >= 40])
    assert sum(len(np.unique(kind[cluster == each])) > 1 for each in on_white) == mixed
    assert (len(np.unique(cluster)) == 48) == (mixed == 0)
