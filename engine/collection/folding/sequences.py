"""Sequences: shots of one camera and folder within seconds, as of bursts and camera traps.

The duration of a sequence is limited; a longer one is cut at its widest gaps. Frames at an even
interval over minutes are a time lapse, and in no sequence.

Times before `FIRST_YEAR` or after `LAST_YEAR`, of clocks that were never set, count as unknown; so
do times of a second in which one camera seems to have taken too many pictures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.folding.partitions import ALONE, all_alone

UNKNOWN_TIME = np.iinfo(np.int64).min
FIRST_YEAR = 1990  # before any digital camera wrote times into its files
LAST_YEAR = 2100
_FIRST_S = np.datetime64(f"{FIRST_YEAR}", "s").astype(np.int64)
_END_S = np.datetime64(f"{LAST_YEAR + 1}", "s").astype(np.int64)
MOST_IN_A_SECOND = 60  # shots of one camera. Chosen: the fastest cameras take about so many
LONGEST_SPANS = 10  # longest duration of a sequence, in longest gaps. Chosen
LEAST_LONGEST_S = 60  # lower bound of the longest duration
LAPSE_FRAMES = 6  # least number of frames of a time lapse. Chosen
LAPSE_S = 120  # shortest duration of a time lapse: no burst is as long and even. Chosen
LAPSE_REACH = 2  # longest gap in a time lapse, in longest gaps of a sequence. Chosen
LAPSE_TOLERANCE = 0.4  # relative difference of gaps in a time lapse. Chosen


@dataclass(frozen=True)
class ShotTimes:
    """Times and cameras of n images, in ascending image id."""

    seconds: Integers  # (n,) int64 since 1970, in UTC where the zone is known, or `UNKNOWN_TIME`
    clock_seconds: Integers  # (n,) the same by the camera's clock, without its zone
    sources: Integers  # (n,) int64, equal for images of one camera and folder

    @staticmethod
    def unknown(count: int) -> "ShotTimes":
        """Unknown times; read-only, without memory."""
        no_time = np.broadcast_to(np.int64(UNKNOWN_TIME), count)
        return ShotTimes(no_time, no_time, np.broadcast_to(np.int64(0), count))

    def own(self) -> "ShotTimes":
        """A writable copy."""
        return ShotTimes(self.seconds.copy(), self.clock_seconds.copy(), self.sources.copy())


def sound_seconds(seconds: Integers) -> Integers:
    """Seconds since 1970 (n,), with `UNKNOWN_TIME` for impossible years."""
    return np.where((seconds >= _FIRST_S) & (seconds < _END_S), seconds, UNKNOWN_TIME)


def sequences(shots: ShotTimes, most_seconds: int) -> Integers:
    """(n,) number of each image's sequence, by the time of its first shot, or `ALONE`.

    Args:
        most_seconds: between two successive shots of a sequence.
    """
    order = _in_order(shots)
    if len(order) == 0:
        return all_alone(len(shots.seconds))
    found = np.full(len(shots.seconds), ALONE, dtype=np.int64)
    seconds, sources = shots.seconds[order], shots.sources[order]
    is_other = np.diff(sources) != 0
    begins = np.append(True, is_other | (np.diff(seconds) > most_seconds))
    runs = np.append(True, is_other | (np.diff(seconds) > LAPSE_REACH * most_seconds))
    for run in _lasting(seconds, runs, LAPSE_S):
        begins[run] |= _lapse_begins(seconds[run])
    longest_s = max(LEAST_LONGEST_S, LONGEST_SPANS * most_seconds)
    for run in _lasting(seconds, begins, longest_s + 1):
        begins[run.start + np.array(_cuts(seconds[run], longest_s))] = True
    number = np.cumsum(begins) - 1
    is_sequence = np.bincount(number) > 1
    renumbered = np.where(is_sequence, np.cumsum(is_sequence) - 1, ALONE)
    found[order] = renumbered[number]
    return found


def _lasting(seconds: Integers, begins: Flags, least_s: int) -> list[slice]:
    """Slices of the runs of shots that last at least so many seconds."""
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(seconds))
    lasting = np.flatnonzero(seconds[ends - 1] - seconds[starts] >= least_s)
    return [slice(int(starts[place]), int(ends[place])) for place in lasting]


def _lapse_begins(seconds: Integers) -> Flags:
    """(n,) whether a shot is a frame of a time lapse, or the first one after it."""
    moments, first = np.unique(seconds, return_index=True)
    found = np.zeros(len(seconds), dtype=bool)
    gaps = np.diff(moments).tolist()
    start = 0
    while start < len(gaps):
        end = _even_end(gaps, start)
        is_long = moments[end] - moments[start] >= LAPSE_S
        if is_long and end - start + 1 >= LAPSE_FRAMES:
            found[first[start : end + 1]] = True
            if end + 1 < len(moments):
                found[first[end + 1]] = True  # the next one begins here
        start = max(end, start + 1)
    return found


def _even_end(gaps: Sequence[int], start: int) -> int:
    """End of the gaps from `start` that are about equally long."""
    shortest = longest = gaps[start]
    end = start + 1
    while end < len(gaps):
        shortest, longest = min(shortest, gaps[end]), max(longest, gaps[end])
        if longest - shortest > max(1.0, LAPSE_TOLERANCE * shortest):
            break
        end += 1
    return end


def _cuts(seconds: Integers, longest_s: int) -> list[int]:
    """Places to cut a sequence: the widest gap in the second half of each longest span."""
    found: list[int] = []
    at = 0
    while seconds[-1] - seconds[at] > longest_s:
        half, beyond = np.searchsorted(
            seconds, seconds[at] + np.array([longest_s // 2, longest_s]), side="right"
        )
        at = int(half + np.diff(seconds[half - 1 : beyond + 1]).argmax())
        found.append(at)
    return found


def _in_order(shots: ShotTimes) -> Integers:
    """Places of the images with a valid time, by source and time."""
    known = np.flatnonzero(shots.seconds != UNKNOWN_TIME)
    order = known[np.lexsort((shots.seconds[known], shots.sources[known]))]
    if len(order) == 0:
        return order.astype(np.int64)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(shots.seconds[order]) != 0) | (np.diff(shots.sources[order]) != 0)
    moment = np.cumsum(is_new) - 1
    return order[np.bincount(moment)[moment] <= MOST_IN_A_SECOND].astype(np.int64)
