"""Find the folds of an open collection: a `FoldInput` is made on the project's thread.

Folds are found from cached content hashes, times of shots, fingerprints and embeddings, on any
thread. Pictures are read by `engine.collection.folding.fingerprints` alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Integers
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.folding.duplicates import copies, same_content
from engine.collection.folding.fingerprints import cached_fingerprints
from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import (
    ALONE,
    boxes_among,
    frames_among,
    joined,
    parts_among,
    same_file,
)
from engine.collection.folding.sequences import ShotTimes, sequences, sound_seconds
from engine.config import CacheFolders
from engine.images.fingerprint import NO_HASH
from engine.images.fingerprint_cache import Fingerprints
from engine.project import Change, Project
from engine.project.actions import action

SECONDS_SETTING = "burst_seconds"
USUAL_SECONDS = 5  # between shots of a burst; for camera traps 60 to 120 are usual
MOST_SECONDS = 86_400


def burst_seconds(project: Project) -> int:
    """Longest time between two shots of a sequence; 0 for no sequences."""
    value = project.policies.setting(SECONDS_SETTING, USUAL_SECONDS)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 (NaN)
    return int(min(max(value, 0), MOST_SECONDS)) if is_number else USUAL_SECONDS


def set_burst_seconds(project: Project, seconds: int) -> Change:
    """Choose the longest time between shots of a sequence: one action.

    Raises:
        ProjectReadOnlyError: the project is read-only.
    """
    called = action("burst_seconds_set", seconds=seconds)
    return project.policies.set_setting(SECONDS_SETTING, min(max(seconds, 0), MOST_SECONDS), called)


@dataclass(frozen=True)
class FoldInput:
    """Snapshot to find folds from."""

    image_ids: Integers  # (n,) ascending
    paths: Sequence[str]  # (n,) as stored
    parts: Sequence[str]  # (n,) of the files; () if all images are whole files
    content_keys: NDArray[np.bytes_]  # (n,) as `ImageList.content_keys`
    times: ShotTimes
    rows: Integers  # (n,) rows of the embeddings, -1 for images without
    embeddings: NDArray[np.int16]  # (r, d)
    most_seconds: int


def fold_input(
    project: Project, embedded: EmbeddedImages, most_seconds: int | None = None
) -> FoldInput:
    """Make the input; `most_seconds` is by default that of the project."""
    images, store = embedded.images, embedded.store
    rows = (
        np.full(len(images.ids), -1, dtype=np.int64) if len(store.image_ids) == 0 else embedded.rows
    )
    if len(store.image_ids) and not (is_ready := embedded.is_ready).all():
        rows = np.where(is_ready, rows, -1)
    seconds = burst_seconds(project) if most_seconds is None else most_seconds
    times = _shot_times(project, images.ids) if seconds > 0 else ShotTimes.unknown(len(images.ids))
    return FoldInput(
        images.ids,
        images.paths,
        images.known_parts,
        images.content_keys,
        times,
        rows,
        store.embeddings,
        seconds,
    )


def find_folds(given: FoldInput, prints: Fingerprints) -> Folds:
    """Find images with the same bytes, near-duplicates, and sequences; deterministic.

    Boxes are in no fold, but are held out with all of their photo's fold. Parts of files are copies
    only if the files are identical.

    Args:
        prints: cached fingerprints of the n pictures.
    """
    in_time, in_box = sequences(given.times, given.most_seconds), boxes_among(given.parts)
    if (
        is_frame := frames_among(given.parts)
    ).any():  # a clip is one sequence, whatever its camera's clock says
        in_time = joined(in_time, np.where(is_frame, same_file(given.paths, given.parts), ALONE))
    is_part = parts_among(
        given.parts
    )  # pages of one layout and frames of one scene look alike without being copies
    bits = np.where(is_part, NO_HASH, prints.bits) if is_part.any() else prints.bits
    alike = copies(bits, given.times.clock_seconds, given.embeddings, given.rows)
    twins = joined(same_content(given.content_keys), alike)
    found = joined(np.where(in_box, ALONE, in_time)) if in_box.any() else in_time
    groups = joined(twins, found)
    together = (
        joined(groups, in_time, same_file(given.paths, given.parts)) if in_box.any() else groups
    )
    times = given.times.seconds
    return Folds(given.image_ids, groups, twins, found, prints.sharpness, times, together).folded()


def folds_now(
    project: Project,
    embedded: EmbeddedImages,
    caches: CacheFolders,
    most_seconds: int | None = None,
) -> Folds:
    """Find the folds of a project from its caches."""
    given = fold_input(project, embedded, most_seconds)
    return find_folds(given, cached_fingerprints(given.content_keys, caches))


def sequence_names(project: Project) -> dict[int, str]:
    """Name of the sequence of each image in one: `s12` if image 12 is its first shot."""
    most_seconds = burst_seconds(project)
    if most_seconds == 0:
        return {}
    image_ids = np.array(project.images.table().ids, dtype=np.int64)
    times = _shot_times(project, image_ids)
    found = sequences(times, most_seconds)
    order = np.lexsort((times.seconds, found))
    order = order[found[order] != ALONE]
    _, first, place = np.unique(found[order], return_index=True, return_inverse=True)
    names = [f"s{image_id}" for image_id in image_ids[order[first]].tolist()]
    return dict(
        zip(image_ids[order].tolist(), (names[each] for each in place.tolist()), strict=True)
    )


def _shot_times(project: Project, image_ids: Integers) -> ShotTimes:
    """Times and sources of images (n,) in ascending id order."""
    shots = np.array(project.details.shot_times(), dtype=np.int64).reshape(-1, 4)
    if len(shots) == 0:
        return ShotTimes.unknown(len(image_ids))
    times = ShotTimes.unknown(len(image_ids)).own()
    shots = shots[np.isin(shots[:, 0], image_ids)]
    places = np.searchsorted(image_ids, shots[:, 0])
    times.seconds[places], times.clock_seconds[places] = (
        sound_seconds(shots[:, 1]),
        sound_seconds(shots[:, 2]),
    )
    times.sources[places] = shots[:, 3]
    return times
