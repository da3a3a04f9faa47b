"""Sequences: shots of one camera in one folder that follow each other within seconds, as bursts and camera traps make.

One decision settles a sequence, so it has a longest span, and frames at an even interval over minutes are in none: they
are a time lapse, and show what came and went. A longer one is cut where its shots are farthest apart.

A clock that was never set says nothing: times before `FIRST_YEAR` or after `LAST_YEAR` count as unknown, as do those of
a second in which one camera seems to have taken more pictures than any can.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.folding.partitions import ALONE, all_alone
from engine.everyday.blocks import Flags, Integers

UNKNOWN_TIME: Final = np.iinfo(np.int64).min
FIRST_YEAR: Final = 1990  # before any digital camera wrote times into its files
LAST_YEAR: Final = 2100
_FIRST_S: Final = np.datetime64(f"{FIRST_YEAR}", "s").astype(np.int64)
_END_S: Final = np.datetime64(f"{LAST_YEAR + 1}", "s").astype(np.int64)
MOST_IN_A_SECOND: Final = 60  # shots of one camera. Chosen: the fastest write about so many.
LONGEST_SPANS: Final = 10  # times the seconds between two shots that a sequence may last. Chosen.
LEAST_LONGEST_S: Final = 60  # that any sequence may last
LAPSE_FRAMES: Final = 6  # at an even interval, from which on they may be a time lapse. Chosen.
LAPSE_S: Final = 120  # that they last at least: no burst is as long and as even. Chosen.
LAPSE_REACH: Final = (
    2  # times the seconds of a sequence that may be between frames of a time lapse. Chosen.
)
LAPSE_TOLERANCE: Final = (
    0.4  # of an interval: by so much the longest differs from the shortest. Chosen.
)


@dataclass(frozen=True)
class ShotTimes:
    """When and with what n images were taken, in ascending image id."""

    seconds: Integers  # (n,) int64 since 1970, in UTC where the file has a zone, `UNKNOWN_TIME` without a time
    clock_seconds: Integers  # (n,) the same by the camera's clock, whatever its zone
    sources: Integers  # (n,) int64, equal for images of one camera and folder

    @staticmethod
    def unknown(count: int) -> "ShotTimes":
        """Of images that no camera's clock tells; they take no memory, and are for reading only."""
        no_time = np.broadcast_to(np.int64(UNKNOWN_TIME), count)
        return ShotTimes(no_time, no_time, np.broadcast_to(np.int64(0), count))

    def own(self) -> "ShotTimes":
        """A copy that may be written to."""
        return ShotTimes(self.seconds.copy(), self.clock_seconds.copy(), self.sources.copy())


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
    """Places of the runs of shots, by where they begin, that last so many seconds at least."""
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(seconds))
    lasting = np.flatnonzero(seconds[ends - 1] - seconds[starts] >= least_s)
    return [slice(int(starts[place]), int(ends[place])) for place in lasting]


def _lapse_begins(seconds: Integers) -> Flags:
    """(n,) whether a shot is a frame of a time lapse, and so no sequel to the shot before it."""
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
                found[first[end + 1]] = True  # the next one begins anew
        start = max(end, start + 1)
    return found


def _even_end(gaps: Sequence[int], start: int) -> int:
    """The place behind the last of the gaps that are about as long as those before them."""
    shortest = longest = gaps[start]
    end = start + 1
    while end < len(gaps):
        shortest, longest = min(shortest, gaps[end]), max(longest, gaps[end])
        if longest - shortest > max(1.0, LAPSE_TOLERANCE * shortest):
            break
        end += 1
    return end


def _cuts(seconds: Integers, longest_s: int) -> list[int]:
    """Places where a sequence is cut: at the widest gap of the second half of the longest span, again and again."""
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
    """Places of the images with a sound time, by source and time."""
    known = np.flatnonzero(shots.seconds != UNKNOWN_TIME)
    order = known[np.lexsort((shots.seconds[known], shots.sources[known]))]
    if len(order) == 0:
        return order.astype(np.int64)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(shots.seconds[order]) != 0) | (np.diff(shots.sources[order]) != 0)
    moment = np.cumsum(is_new) - 1
    return order[np.bincount(moment)[moment] <= MOST_IN_A_SECOND].astype(np.int64)
