"""Images that are parts of one file."""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.collection.folding.partitions import all_alone, groups_of
from engine.everyday.blocks import Flags, Integers
from engine.file_parts import WHOLE, is_within_picture, picture_part


def boxes_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a box, or a further thing, in a picture; (0,) where all are whole files."""
    return np.fromiter(map(is_within_picture, parts), dtype=np.bool_, count=len(parts))


def parts_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a part of a file; (0,) where all are whole files."""
    return np.fromiter((part != WHOLE for part in parts), dtype=np.bool_, count=len(parts))


def frames_among(parts: Sequence[str]) -> Flags:
    """(n,) whether each image is a frame of a video; (0,) where all are whole files."""
    return np.fromiter((part.startswith("t=") for part in parts), dtype=np.bool_, count=len(parts))


def same_file(paths: Sequence[str], parts: Sequence[str]) -> Integers:
    """(n,) number of the file of each image that has one in common with others; `ALONE` for all else."""
    if not parts:
        return all_alone(len(paths))
    first: dict[str, int] = {}
    lowest = [first.setdefault(path, place) for place, path in enumerate(paths)]
    return groups_of(np.array(lowest, dtype=np.int64))


def items_by_file(
    image_ids: Sequence[int], paths: Sequence[str], parts: Sequence[str]
) -> dict[str, Mapping[int, str]]:
    """The images of each file with their parts, by the path of the file; of files with more than one."""
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
    """Those of the images of a file that are pictures with boxes in them."""
    boxed = {picture_part(part) for part in items.values() if "xywh" in part}
    return [image_id for image_id, part in items.items() if part in boxed]
