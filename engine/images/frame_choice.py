"""Choice of video frames: one every so many seconds, or those where the picture changes."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Pixels

SMALL = (32, 18)  # width and height of the picture by which frames are compared
SAME_S = 0.0005
"""Tolerance of a frame's start: containers round times to milliseconds."""
# between two frames that are compared. Chosen: nothing of interest is in view for less.
SAMPLED_S = 0.25
CHANGED = 24
"""Levels of 255 by which one of the 32 x 18 cells of a frame must differ from the last chosen
frame.

Chosen: a cell is 60 x 60 pixels of a frame of 1920 x 1080, which averages noise. Not tested on trap
clips."""
_DECIMALS = 3  # of seconds


def evenly(duration_s: float, every_s: float, most: int) -> list[float]:
    """Seconds from the start at a fixed interval, or evenly spread if these exceed `most`."""
    if duration_s <= 0:
        return [0.0]
    step = max(every_s, duration_s / most)
    # no frame begins at the very end
    count = max(1, min(most, int(np.ceil(duration_s / step - 1e-6))))
    return [round(number * step, _DECIMALS) for number in range(count)]


def changes(frames: Iterable[tuple[float, Pixels]], most: int) -> list[float]:
    """Seconds of the first frame and of the largest changes since the last chosen frame.

    Args:
        frames: seconds and small gray picture, (18, 32) uint8, of each frame that is compared.
        most: so many frames at most.
    """
    taken: list[tuple[float, float]] = []  # change and seconds
    before: NDArray[np.int16] | None = None
    for seconds, small in frames:
        cells = small.astype(np.int16)
        change = float("inf") if before is None else float(np.abs(cells - before).max())
        if change >= CHANGED:
            taken.append((change, seconds))
            before = cells
    largest = sorted(taken, key=lambda each: (-each[0], each[1]))[:most]
    return sorted(round(seconds, _DECIMALS) for _, seconds in largest)
