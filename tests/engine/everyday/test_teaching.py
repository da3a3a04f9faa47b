"""Which images to label first: worked out by hand, and beside a plain greedy choice."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage import basis as basis_module
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.teaching import teach_first

NONE = np.zeros(0, dtype=np.int64)


def _collection(
    sizes: tuple[int, ...], *, noise: float = 0.15, width: int = 24
) -> NDArray[np.int16]:
    """Groups of look-alikes of these sizes, one after the other."""
    generator = np.random.default_rng(0)
    groups = np.repeat(generator.normal(size=(len(sizes), width)), sizes, axis=0)
    vectors = groups + noise * generator.normal(size=groups.shape)
    return to_fixed((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))


def _basis(embeddings: NDArray[np.int16], labelled: NDArray[np.int64] = NONE) -> CollectionBasis:
    found = collection_basis(np.arange(len(embeddings)), embeddings, labelled=labelled)
    assert found is not None
    return found


def _order(
    basis: CollectionBasis,
    uncertainty: NDArray[np.float32],
    *,
    labelled: NDArray[np.int64] = NONE,
    left_out: NDArray[np.int64] = NONE,
) -> NDArray[np.int32]:
    return teach_first(basis, uncertainty, labelled=labelled, left_out=left_out)


def _unknown(count: int) -> NDArray[np.float32]:
    return np.ones(count, dtype=np.float32)


def _plain_greedy(
    basis: CollectionBasis,
    uncertainty: NDArray[np.float32],
    labelled: NDArray[np.int64],
    left_out: NDArray[np.int64],
) -> list[int]:
    """The same by trying every image at every step."""
    alike = np.maximum(basis.vectors @ basis.vectors.T, 0)
    covered = alike[labelled].max(axis=0, initial=0)
    free = np.setdiff1d(np.arange(len(alike)), np.concatenate([labelled, left_out])).tolist()
    weights = np.zeros(len(alike), dtype=np.float32)
    sure = 1 - uncertainty[free]
    weights[free] = 1 - sure * sure.mean()
    order = []
    while free:
        best = max(free, key=lambda place: float(np.maximum(alike[place] - covered, 0) @ weights))
        covered = np.maximum(covered, alike[best])
        free.remove(best)
        order.append(best)
    return order


def test_largest_group_first_and_every_group_once() -> None:
    """One image of each group comes before a second of any.

    A group of more images comes earlier.
    """
    sizes = (4, 16, 8, 32)
    group_of = np.repeat(np.arange(4), sizes)
    order = _order(_basis(_collection(sizes)), _unknown(60))
    assert group_of[order[:4]].tolist() == [3, 1, 2, 0]
    assert sorted(order.tolist()) == list(range(60))


def test_what_is_labelled_speaks_for_its_look_alikes() -> None:
    """Neither labelled nor left-out images are asked about.

    Look-alikes of the labelled one come after other groups.
    """
    sizes = (4, 16, 8, 32)
    group_of = np.repeat(np.arange(4), sizes)
    labelled, left_out = np.array([30]), np.array([40, 41])
    basis = _basis(_collection(sizes), labelled)
    order = _order(basis, _unknown(60), labelled=labelled, left_out=left_out)
    assert group_of[order[:3]].tolist() == [1, 2, 0]
    assert len(order) == 57
    assert not np.isin([30, 40, 41], order).any()


def test_where_the_model_is_sure_labels_teach_little() -> None:
    """The largest group comes last once the model is certain of all its images."""
    sizes = (40, 60, 50, 64)
    group_of = np.repeat(np.arange(4), sizes)
    uncertainties = np.where(group_of == 3, np.float32(0), np.float32(0.5))
    order = _order(_basis(_collection(sizes)), uncertainties)
    assert sorted(group_of[order[:4]].tolist()) == [0, 1, 2, 3]
    assert group_of[order[3]] == 3


@pytest.mark.parametrize("labelled", [[], [3, 17, 50]])
def test_as_a_plain_greedy_choice(labelled: list[int]) -> None:
    """Looking gains up only when they may be the largest changes nothing."""
    rows = np.array(labelled, dtype=np.int64)
    basis = _basis(_collection((10, 20, 30), noise=0.8), rows)
    uncertainties = np.random.default_rng(1).random(60).astype(np.float32)
    left_out = np.array([5])
    order = _order(basis, uncertainties, labelled=rows, left_out=left_out)
    assert order.tolist() == _plain_greedy(basis, uncertainties, rows, left_out)


def test_more_images_than_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anchors come first, by one of each group; every other image follows."""
    monkeypatch.setattr(basis_module, "MOST_ANCHORS", 40)
    sizes = (10, 80, 30)
    group_of = np.repeat(np.arange(3), sizes)
    basis = _basis(_collection(sizes))
    assert len(basis.anchors) == 40
    order = _order(basis, _unknown(120))
    assert group_of[order[:3]].tolist() == [1, 2, 0]
    assert sorted(order[:40].tolist()) == basis.anchors.tolist()
    assert sorted(order.tolist()) == list(range(120))


def test_nothing_left_to_label() -> None:
    """All labelled: an empty order."""
    rows = np.arange(12)
    basis = _basis(_collection((12,)), rows)
    assert len(_order(basis, _unknown(12), labelled=rows)) == 0
