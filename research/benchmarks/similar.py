"""Time to rank a collection by similarity to an image, compared with a numpy product."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.collection.models import find_model
from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.in_use import ImageSimilarity
from research.benchmarks.synthetic import synthetic_embeddings

CLASSES = 200


@dataclass(frozen=True)
class SimilarityFigures:
    """Seconds; medians over rounds.

    Attributes:
        whitened_s, plain_s: cosines and ranking of all images, in the whitened space and in the
            plain one.
        product_s: product of the same embeddings in float32 with one vector by numpy, without
            ranking.
        half_product_s: the same with float16 embeddings.
        copy_s: copying the stored float16 embeddings: the bound by memory bandwidth.
        limit_s: target of `whitened_s`.
    """

    images: int
    width: int
    whitened_s: float
    plain_s: float
    product_s: float
    half_product_s: float
    copy_s: float
    limit_s: float = 0.1

    @property
    def is_kept(self) -> bool:
        """Whether the limit is met."""
        return self.whitened_s <= self.limit_s


def measure_similarity(images: int = 100_000, *, rounds: int = 7) -> SimilarityFigures:
    """Time it on synthetic embeddings of known spread."""
    width = find_model().card.embedding_width
    drawn = synthetic_embeddings(images, width, classes=CLASSES).embeddings
    kept, is_filled = to_fixed(drawn), np.ones(images, dtype=bool)
    basis = collection_basis(np.arange(images), kept, labelled=np.zeros(0, dtype=np.int64))
    assert basis is not None, "drawn images differ"
    asked = drawn[:1]
    halves = drawn.astype(np.float16)
    return SimilarityFigures(
        images=images,
        width=width,
        whitened_s=_median_s(
            lambda: np.argsort(
                -ImageSimilarity(basis).cosines(kept, is_filled, asked), kind="stable"
            ),
            rounds,
        ),
        plain_s=_median_s(
            lambda: np.argsort(-ImageSimilarity().cosines(kept, is_filled, asked), kind="stable"),
            rounds,
        ),
        product_s=_median_s(lambda: drawn @ asked[0], rounds),
        half_product_s=_median_s(lambda: halves @ asked[0].astype(np.float16), 1),
        copy_s=_median_s(kept.copy, rounds),
    )


def _median_s(work: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        started_s = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started_s)
    return statistics.median(taken)
