"""The affine cut that ends a converted backbone."""

import numpy as np
import pytest

from research.converted_head import LARGEST, Photos, fit_cut


def _photos(seed: int, scatter: tuple[float, ...]) -> Photos:
    """Sixty classes of ten photos in five dimensions, whose means vary along the first three."""
    generator = np.random.default_rng(seed)
    means = generator.normal(size=(60, 5)) * [3, 2, 1, 0, 0] + 7
    targets = np.repeat(np.arange(60), 10)
    return means[targets] + generator.normal(size=(600, 5)) * scatter, targets


def test_directions_that_vary_are_kept() -> None:
    """Three of five directions: those in which classes differ, centred by all collections."""
    head = fit_cut([_photos(0, (0.1,) * 5), _photos(1, (0.1,) * 5)], 3)
    assert head.matrix.shape == (3, 5)
    assert np.abs(head.matrix[:, 3:]).max() < 0.05 * np.abs(head.matrix).max()
    assert head.mean == pytest.approx([7] * 5, abs=1)
    assert np.abs(head.matrix).max() == pytest.approx(LARGEST)


def test_scatter_within_classes_counts_less() -> None:
    """Along the first axis photos of one class scatter ten times as much as along the second."""
    head = fit_cut([_photos(0, (1.0, 0.1, 0.1, 0.1, 0.1))], 3)
    first, second = np.linalg.norm(head.matrix, axis=0)[:2]
    assert 2 * first < second


def test_collections_count_the_same() -> None:
    """A hundredfold of photos in one collection changes little."""
    one, other = _photos(0, (0.1,) * 5), _photos(1, (0.1,) * 5)
    many = np.tile(other[0], (100, 1)), np.tile(other[1], 100)
    few, more = fit_cut([one, other], 2), fit_cut([one, many], 2)
    assert np.abs(few.matrix.T @ few.matrix) == pytest.approx(
        np.abs(more.matrix.T @ more.matrix), rel=0.05, abs=0.05
    )
