"""Partitions of images as arrays, and files with several images."""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.arrays import Flags, Integers
from engine.file_parts import WHOLE, is_within_picture, picture_part

ALONE = -1  # group of an image that is in no group


def all_alone(count: int) -> Integers:
    """(count,) of `ALONE`; read-only, without memory."""
    return np.broadcast_to(np.int64(ALONE), count)


def components(count: int, first: Integers, second: Integers) -> Integers:
    """(count,) lowest place of each connected component, by edges (e,).

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
    """(n,) group numbers from the lowest place of each component; `ALONE` for single places."""
    groups = np.full(len(lowest), ALONE, dtype=np.int64)
    members = np.flatnonzero(lowest != np.arange(len(lowest)))  # of millions few: no more is sorted
    firsts = np.unique(lowest[members])
    groups[members] = np.searchsorted(firsts, lowest[members])
    groups[firsts] = np.arange(len(firsts))
    return groups


def as_partition(groups: Integers) -> Integers:
    """(n,) first place of each place's group: equal for equal partitions."""
    places = np.arange(len(groups), dtype=np.int64)
    grouped = np.flatnonzero(groups != ALONE)
    _, first, group = np.unique(groups[grouped], return_index=True, return_inverse=True)
    places[grouped] = grouped[first][group.reshape(-1)]
    return places


def joined(*partitions: Integers) -> Integers:
    """(n,) the finest partition that is coarser than all of these (n,)."""
    edges = [_edges(partition) for partition in partitions if (partition != ALONE).any()]
    if not edges:
        return partitions[0]
    first, second = (np.concatenate([edge[end] for edge in edges]) for end in (0, 1))
    return groups_of(components(len(partitions[0]), first, second))


def _edges(partition: Integers) -> tuple[Integers, Integers]:
    """Edges from the first place of each group to its places."""
    places = np.flatnonzero(partition != ALONE)
    return as_partition(partition)[places], places.astype(np.int64)


def boxes_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a box or another object in a picture; (0,) for whole files."""
    return np.fromiter(map(is_within_picture, parts), dtype=np.bool_, count=len(parts))


def parts_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a part of a file; (0,) if all are whole files."""
    return np.fromiter((part != WHOLE for part in parts), dtype=np.bool_, count=len(parts))


def frames_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a frame of a video; (0,) if all are whole files."""
    return np.fromiter((part.startswith("t=") for part in parts), dtype=np.bool_, count=len(parts))


def same_file(paths: Sequence[str], parts: Sequence[str]) -> Integers:
    """(n,) group of images of one file; `ALONE` for all others."""
    if not parts:
        return all_alone(len(paths))
    first: dict[str, int] = {}
    lowest = [first.setdefault(path, place) for place, path in enumerate(paths)]
    return groups_of(np.array(lowest, dtype=np.int64))


def items_by_file(
    image_ids: Sequence[int], paths: Sequence[str], parts: Sequence[str]
) -> dict[str, Mapping[int, str]]:
    """Images and their parts by path of the file, for files with more than one image."""
    if not parts:
        return {}
    divided = {
        paths[place] for place, part in enumerate(parts) if part
    }  # few among many whole files
    found: dict[str, dict[int, str]] = {path: {} for path in divided}
    for image_id, path, part in zip(image_ids, paths, parts, strict=True):
        if path in divided:
            found[path][image_id] = part
    return {path: items for path, items in found.items() if len(items) > 1}


def pictures_with_boxes(items: Mapping[int, str]) -> list[int]:
    """Those of the images of a file that have boxes in them."""
    boxed = {picture_part(part) for part in items.values() if "xywh" in part}
    return [image_id for image_id, part in items.items() if part in boxed]
