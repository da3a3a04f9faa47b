"""The affine map at the end of the bundled backbone."""

import numpy as np
import pytest
from numpy.typing import NDArray

from research.embedding_head import LAST_DIRECTIONS, LAST_SHARE, SHRINKAGE, WHITENING, fit_head

WIDTHS = (3, 2, 6)


def _features(count: int = 4000) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Four classes; within them the first direction scatters ten times as much as others."""
    generator = np.random.default_rng(0)
    targets = np.arange(count) % 4
    means = generator.normal(size=(4, sum(WIDTHS)))
    scatter = np.ones(sum(WIDTHS))
    scatter[0] = 10
    features = means[targets] + generator.normal(size=(count, sum(WIDTHS))) * scatter
    return features.astype(np.float32), targets.astype(np.int64)


def test_scatter_within_classes_becomes_more_even() -> None:
    """The variance v of an early direction becomes v / (v + 0.1 mean v) ** WHITENING."""
    features, targets = _features()
    embedded = fit_head(features, targets, WIDTHS).apply(features.astype(np.float64))[:, :5]
    inner = (
        embedded - np.stack([embedded[targets == each].mean(axis=0) for each in range(4)])[targets]
    )
    variances = np.sort(np.linalg.eigvalsh(inner.T @ inner / len(inner)))
    mean = (100 + 4) / 5
    expected = sorted(each / (each + SHRINKAGE * mean) ** WHITENING for each in (1, 1, 1, 1, 100))
    assert variances == pytest.approx(expected, rel=0.08)


def test_of_the_last_stage_only_what_tells_classes_apart_is_kept() -> None:
    """Four classes differ in three directions; the part of the last stage has half the length."""
    features, targets = _features()
    head = fit_head(features, targets, WIDTHS)
    assert head.matrix.shape == (5 + min(LAST_DIRECTIONS, 4), sum(WIDTHS))
    assert not head.matrix[:5, 5:].any()
    assert not head.matrix[5:, :5].any()
    lengths = np.linalg.norm(head.apply(features.astype(np.float64))[:, 5:], axis=1).mean()
    early = np.linalg.norm(head.apply(features.astype(np.float64))[:, :5], axis=1).mean()
    assert lengths / early == pytest.approx(LAST_SHARE, rel=0.01)


def test_the_mean_image_lies_in_the_middle() -> None:
    """Otherwise embeddings would have a common direction."""
    features, targets = _features()
    assert fit_head(features, targets, WIDTHS).apply(features.astype(np.float64)).mean(
        axis=0
    ) == pytest.approx(np.zeros(9), abs=1e-6)
