"""Find the folds of an open collection: the project's thread makes a `FoldInput`, any thread finds.

What it takes is there already: hashes of contents, times of shots, fingerprints in their cache, embeddings. Pictures
are read by `engine.collection.folding.looking` alone.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedded_images import EmbeddedImages
from engine.collection.folding.duplicates import copies, same_content
from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import ALONE, joined
from engine.collection.folding.sequences import ShotTimes, seconds_of, sequences
from engine.config import CacheFolders
from engine.everyday.blocks import Integers
from engine.images.fingerprint_cache import FingerprintCache
from engine.project import Change, Project
from engine.project.actions import action

SECONDS_SETTING: Final = "burst_seconds"
USUAL_SECONDS: Final = 5  # between shots of a burst; people with camera traps use 60 to 120
MOST_SECONDS: Final = 86_400


def burst_seconds(project: Project) -> int:
    """The most seconds between two shots of a sequence; 0 for no sequences at all."""
    value = project.policies.setting(SECONDS_SETTING, USUAL_SECONDS)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 (NaN)
    return int(min(max(value, 0), MOST_SECONDS)) if is_number else USUAL_SECONDS


def set_burst_seconds(project: Project, seconds: int) -> Change:
    """Choose the most seconds between shots of a sequence: one action that can be undone.

    Raises:
        ProjectReadOnlyError: the project is open for reading only.
    """
    with project.history.one_step(action("burst_seconds_set", seconds=seconds)) as step:
        project.policies.set_setting(SECONDS_SETTING, min(max(seconds, 0), MOST_SECONDS))
    return step.change


@dataclass(frozen=True)
class FoldInput:
    """Everything that folds are found by, as of one moment; arrays that are never changed."""

    image_ids: Integers  # (n,) ascending
    paths: Sequence[str]  # (n,) as stored
    content_hashes: Sequence[bytes | None]  # (n,)
    shots: Sequence[tuple[int, str | None, str]]  # id, time and camera of images whose file was read, ascending
    rows: Integers  # (n,) rows of the embeddings, -1 for images without
    embeddings: NDArray[np.int16]  # (r, d)
    most_seconds: int


def fold_input(project: Project, embedded: EmbeddedImages, most_seconds: int | None = None) -> FoldInput:
    """What folds are found by; by default with the project's seconds between shots."""
    images, store = embedded.images, embedded.store
    has_rows = len(store.image_ids) > 0
    rows = np.where(embedded.is_ready, embedded.rows, -1) if has_rows else np.full(len(images.ids), -1, dtype=np.int64)
    seconds = burst_seconds(project) if most_seconds is None else most_seconds
    shots = project.details.shot_times() if seconds > 0 else []
    hashes = list(images.content_hashes)
    return FoldInput(images.ids, images.paths, hashes, shots, rows, store.embeddings, seconds)


def find_folds(given: FoldInput, caches: CacheFolders) -> Folds:
    """Images with the same bytes, copies, and sequences; the same for the same input."""
    with closing(FingerprintCache(caches.fingerprints)) as cache:
        prints = cache.get_many(given.content_hashes)
    times = _shot_times(given.image_ids, given.paths, given.shots)
    found = sequences(times, given.most_seconds)
    alike = copies(prints.bits, times.seconds, given.embeddings, given.rows)
    twins = joined(same_content(given.content_hashes), alike)
    groups = joined(twins, found)
    return Folds(given.image_ids, groups, twins, found, prints.sharpness, times.seconds)


def sequence_names(project: Project) -> dict[int, str]:
    """Name of the sequence of every image that is in one: `s12` where image 12 is its first shot."""
    most_seconds = burst_seconds(project)
    if most_seconds == 0:
        return {}
    table = project.images.table()
    image_ids = np.array(table.ids, dtype=np.int64)
    times = _shot_times(image_ids, table.paths, project.details.shot_times())
    found = sequences(times, most_seconds)
    order = np.lexsort((times.seconds, found))
    order = order[found[order] != ALONE]
    _, first, place = np.unique(found[order], return_index=True, return_inverse=True)
    names = [f"s{image_id}" for image_id in image_ids[order[first]].tolist()]
    return dict(zip(image_ids[order].tolist(), (names[each] for each in place.tolist()), strict=True))


def _shot_times(image_ids: Integers, paths: Sequence[str], shots: Sequence[tuple[int, str | None, str]]) -> ShotTimes:
    times = ShotTimes.unknown(len(image_ids))
    if not shots or not len(image_ids):
        return times
    ids, texts, cameras = zip(*shots, strict=True)
    places = np.minimum(np.searchsorted(image_ids, np.array(ids)), len(image_ids) - 1)
    is_there = image_ids[places] == np.array(ids)
    times.seconds[places[is_there]] = seconds_of(np.array(list(map(_clock_text, texts)), "datetime64[s]"))[is_there]
    sources: dict[tuple[str, str], int] = {}
    for place, camera, is_listed in zip(places.tolist(), cameras, is_there.tolist(), strict=True):
        if is_listed:
            source = camera, paths[place].rpartition("/")[0]
            times.sources[place] = sources.setdefault(source, len(sources))
    return times


def _clock_text(text: str | None) -> str:
    """`2024-05-01T10:00:00` of a stored time: what the camera's clock showed, in whatever time zone; or no time."""
    clock = (text or "")[: len("2024-05-01T10:00:00")]
    try:
        np.datetime64(clock, "s")
    except ValueError:
        return "NaT"
    return clock or "NaT"
