"""Sequences: shots of one camera in one folder that follow each other within seconds, as bursts and camera traps make.

A clock that was never set says nothing: times before `FIRST_YEAR` or after `LAST_YEAR` count as unknown, as do those of
a second in which one camera seems to have taken more pictures than any can.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.folding.partitions import ALONE, all_alone
from engine.everyday.blocks import Integers

UNKNOWN_TIME: Final = np.iinfo(np.int64).min
FIRST_YEAR: Final = 1990  # before any digital camera wrote times into its files
LAST_YEAR: Final = 2100
_FIRST_S: Final = np.datetime64(f"{FIRST_YEAR}", "s").astype(np.int64)
_END_S: Final = np.datetime64(f"{LAST_YEAR + 1}", "s").astype(np.int64)
MOST_IN_A_SECOND: Final = 60  # shots of one camera. Chosen: the fastest write about so many.


@dataclass(frozen=True)
class ShotTimes:
    """When and with what n images were taken, in ascending image id."""

    seconds: Integers  # (n,) int64 since 1970 by the camera's clock, `UNKNOWN_TIME` where nothing says it
    sources: Integers  # (n,) int64, equal for images of one camera and folder

    @staticmethod
    def unknown(count: int) -> "ShotTimes":
        """Of images that no camera's clock tells; they take no memory, and are for reading only."""
        return ShotTimes(np.broadcast_to(np.int64(UNKNOWN_TIME), count), np.broadcast_to(np.int64(0), count))

    def own(self) -> "ShotTimes":
        """A copy that may be written to."""
        return ShotTimes(self.seconds.copy(), self.sources.copy())


def sound_seconds(seconds: Integers) -> Integers:
    """Seconds since 1970 (n,); `UNKNOWN_TIME` in place of years that no camera knew."""
    return np.where((seconds >= _FIRST_S) & (seconds < _END_S), seconds, UNKNOWN_TIME)


def sequences(shots: ShotTimes, most_seconds: int) -> Integers:
    """(n,) number of each image's sequence, by the time of its first shot; `ALONE` for images in none.

    Args:
        most_seconds: between two successive shots of a sequence.
    """
    order = _in_order(shots)
    if len(order) == 0:
        return all_alone(len(shots.seconds))
    found = np.full(len(shots.seconds), ALONE, dtype=np.int64)
    seconds, sources = shots.seconds[order], shots.sources[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(sources) != 0) | (np.diff(seconds) > most_seconds)
    number = np.cumsum(begins) - 1
    is_sequence = np.bincount(number) > 1
    renumbered = np.where(is_sequence, np.cumsum(is_sequence) - 1, ALONE)
    found[order] = renumbered[number]
    return found


def _in_order(shots: ShotTimes) -> Integers:
    """Places of the images with a sound time, by source and time."""
    known = np.flatnonzero(shots.seconds != UNKNOWN_TIME)
    order = known[np.lexsort((shots.seconds[known], shots.sources[known]))]
    if len(order) == 0:
        return order.astype(np.int64)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(shots.seconds[order]) != 0) | (np.diff(shots.sources[order]) != 0)
    moment = np.cumsum(is_new) - 1
    return order[np.bincount(moment)[moment] <= MOST_IN_A_SECOND].astype(np.int64)
