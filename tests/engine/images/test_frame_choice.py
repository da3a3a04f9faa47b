"""Which frames of a video become images."""

import numpy as np
import pytest

from engine.images.frame_choice import CHANGED, changes, evenly


@pytest.mark.parametrize(
    ("duration_s", "every_s", "most", "times"),
    [
        (5.0, 2.0, 30, [0, 2, 4]),
        (4.0, 2.0, 30, [0, 2]),  # no frame begins at the very end
        (4.033, 2.0, 30, [0, 2, 4]),
        (0.5, 2.0, 30, [0]),
        (0.0, 0.0, 30, [0]),
        (1.0, 0.0, 2, [0, 0.5]),
        (3600.0, 2.0, 3, [0, 1200, 2400]),
        (1.0, 1 / 3, 30, [0, 0.333, 0.667]),
    ],
)
def test_evenly(duration_s: float, every_s: float, most: int, times: list[float]) -> None:
    assert evenly(duration_s, every_s, most) == times


def test_a_change_counts_from_the_frame_that_was_taken() -> None:
    """A slow fade gives a frame once the change is large enough, not at each step."""
    levels = [0, 8, 16, CHANGED, CHANGED + 8, 2 * CHANGED]
    frames = [
        (number * 0.25, np.full((18, 32), level, np.uint8)) for number, level in enumerate(levels)
    ]
    assert changes(frames, 30) == [0, 0.75, 1.25]


def test_one_cell_is_enough_and_the_largest_changes_stay() -> None:
    frames = [np.zeros((18, 32), np.uint8) for _ in range(4)]
    for number, level in ((1, 30), (2, 200), (3, 90)):
        frames[number][9, 9] = level
    timed = [(float(number), frame) for number, frame in enumerate(frames)]
    assert changes(timed, 30) == [0, 1, 2, 3]
    assert changes(timed, 2) == [0, 2]
