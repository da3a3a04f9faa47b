"""Similarity search in the plain and the whitened space: mean average precision."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.in_use import ImageSimilarity

EVERY = 3  # one image in so many is a query
SEVERAL = 3  # images of one class that are a query together
DRAWS = 5  # of these for each class

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class SimilarityOutcome:
    """Results of one space; shares in [0, 1].

    Attributes:
        one: mean average precision of the images of the same class, by one image.
        first_ten: share of the same class among the ten most similar.
        several: mean average precision by the mean of three images of a class.
        several_by_best: the same, by the largest similarity to the three.
    """

    space: str
    one: float
    first_ten: float
    several: float
    several_by_best: float


def measure_similarity_spaces(
    embeddings: Vectors, classes: NDArray[np.int64]
) -> tuple[SimilarityOutcome, ...]:
    """Measure both spaces.

    Args:
        embeddings: (n, d) of length 1.
        classes: (n,).
    """
    kept = to_fixed(embeddings)
    basis = collection_basis(np.arange(len(kept)), kept, labelled=np.zeros(0, dtype=np.int64))
    spaces: dict[str, CollectionBasis | None] = {"plain": None, "whitened": basis}
    return tuple(_outcome(name, kept, classes, basis) for name, basis in spaces.items())


def _outcome(
    space: str, kept: NDArray[np.int16], classes: NDArray[np.int64], basis: CollectionBasis | None
) -> SimilarityOutcome:
    is_filled = np.ones(len(kept), dtype=bool)
    floats = kept.astype(np.float32) / np.float32(32767)

    def order_of(asked: NDArray[np.int64]) -> NDArray[np.float32]:
        return ImageSimilarity(basis).cosines(kept, is_filled, floats[asked])

    def best_of(asked: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.max([order_of(asked[place : place + 1]) for place in range(len(asked))], axis=0)

    single = [np.array([place]) for place in range(0, len(kept), EVERY)]
    several = _draws(classes)
    found = [_precision(order_of(asked), asked, classes) for asked in single]
    return SimilarityOutcome(
        space,
        float(np.mean([each[0] for each in found])),
        float(np.mean([each[1] for each in found])),
        _mean(order_of, several, classes),
        _mean(best_of, several, classes),
    )


def _mean(
    order_of: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    several: list[NDArray[np.int64]],
    classes: NDArray[np.int64],
) -> float:
    return float(np.mean([_precision(order_of(asked), asked, classes)[0] for asked in several]))


def _draws(classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    generator = np.random.default_rng(0)
    members = [np.flatnonzero(classes == each) for each in np.unique(classes)]
    return [
        generator.choice(each, SEVERAL, replace=False)
        for each in members
        for _ in range(DRAWS)
        if len(each) > SEVERAL
    ]


def _precision(
    alike: NDArray[np.float32], asked: NDArray[np.int64], classes: NDArray[np.int64]
) -> tuple[float, float]:
    """Average precision, and the share of the right class among the first ten."""
    alike = alike.copy()
    alike[asked] = -np.inf
    order = np.argsort(-alike, kind="stable")[: len(alike) - len(asked)]
    is_right = classes[order] == classes[asked[0]]
    if not is_right.any():
        return 0.0, 0.0
    precision = np.cumsum(is_right) / np.arange(1, len(order) + 1)
    return float(precision[is_right].mean()), float(is_right[:10].mean())
