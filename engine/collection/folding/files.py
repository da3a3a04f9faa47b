"""Images that are parts of one file."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.collection.folding.partitions import Integers, all_alone, groups_of
from engine.file_parts import file_part, is_within_picture


def boxes_among(parts: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) whether each image is a box, or a further thing, in a picture; (0,) where all are whole files."""
    return np.fromiter(map(is_within_picture, parts), dtype=np.bool_, count=len(parts))


def same_file(paths: Sequence[str], parts: Sequence[str]) -> Integers:
    """(n,) number of the file of each image that has one in common with others; `ALONE` for all else."""
    if not parts:
        return all_alone(len(paths))
    first: dict[str, int] = {}
    lowest = [first.setdefault(path, place) for place, path in enumerate(paths)]
    return groups_of(np.array(lowest, dtype=np.int64))


def pictures_with_boxes(paths: Sequence[str], parts: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) whether there are boxes in a picture; (0,) where there are none at all."""
    found = {
        (path, file_part(part).picture.text) for path, part in zip(paths, parts, strict=bool(parts)) if "xywh" in part
    }
    if not found:
        return np.zeros(0, dtype=np.bool_)
    return np.fromiter((key in found for key in zip(paths, parts, strict=True)), dtype=np.bool_, count=len(parts))
