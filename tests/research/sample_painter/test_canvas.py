"""The layer that subjects are drawn on."""

import numpy as np
import pytest

from research.sample_painter.canvas import shifted


@pytest.mark.parametrize(
    ("down", "right", "expected"),
    [
        (0, 0, [[1, 2, 3], [4, 5, 6]]),
        (1, 0, [[1, 2, 3], [1, 2, 3]]),
        (0, -1, [[2, 3, 3], [5, 6, 6]]),
        (-1, 1, [[4, 4, 5], [4, 4, 5]]),
    ],
)
def test_a_shadow_leaves_at_an_edge_and_enters_at_none(
    down: int, right: int, expected: list[list[int]]
) -> None:
    """A stem at the lower edge throws no shadow at the upper edge."""
    field = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    assert shifted(field, down, right).tolist() == expected
