"""Partitions of images as arrays: which ones belong together, and the union of several such answers."""

from typing import Final

import numpy as np

from engine.everyday.blocks import Integers

ALONE: Final = -1  # the group of an image that belongs with no other


def all_alone(count: int) -> Integers:
    """(count,) of places none of which belongs with another; takes no memory, and is for reading only."""
    return np.broadcast_to(np.int64(ALONE), count)


def components(count: int, first: Integers, second: Integers) -> Integers:
    """(count,) lowest place that each place is connected with, by edges (e,) from `first` to `second`.

    Hooking and pointer jumping (Shiloach and Vishkin, 1982): few passes, however long the chains.
    """
    lowest = np.arange(count, dtype=np.int64)
    while True:
        ends = lowest[first], lowest[second]
        apart = np.flatnonzero(ends[0] != ends[1])
        if len(apart) == 0:
            return lowest
        low, high = np.minimum(*ends)[apart], np.maximum(*ends)[apart]
        np.minimum.at(lowest, high, low)
        while not np.array_equal(jumped := lowest[lowest], lowest):
            lowest = jumped


def groups_of(lowest: Integers) -> Integers:
    """(n,) numbered groups of places by their lowest one: ascending with it; `ALONE` where nothing else is there."""
    groups = np.full(len(lowest), ALONE, dtype=np.int64)
    members = np.flatnonzero(lowest != np.arange(len(lowest)))  # of millions few: no more is sorted
    firsts = np.unique(lowest[members])
    groups[members] = np.searchsorted(firsts, lowest[members])
    groups[firsts] = np.arange(len(firsts))
    return groups


def as_partition(groups: Integers) -> Integers:
    """(n,) the first place of each place's group, or the place itself: equal for equal partitions, however numbered."""
    places = np.arange(len(groups), dtype=np.int64)
    grouped = np.flatnonzero(groups != ALONE)
    _, first, group = np.unique(groups[grouped], return_index=True, return_inverse=True)
    places[grouped] = grouped[first][group.reshape(-1)]
    return places


def joined(*partitions: Integers) -> Integers:
    """(n,) the finest partition that keeps together what any of these (n,) keeps together."""
    edges = [_edges(partition) for partition in partitions if (partition != ALONE).any()]
    if not edges:
        return partitions[0]
    first, second = (np.concatenate([edge[end] for edge in edges]) for end in (0, 1))
    return groups_of(components(len(partitions[0]), first, second))


def _edges(partition: Integers) -> tuple[Integers, Integers]:
    """From every grouped place to the first one of its group."""
    places = np.flatnonzero(partition != ALONE)
    return as_partition(partition)[places], places.astype(np.int64)
