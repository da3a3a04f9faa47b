"""Progress, and images by class, folder, month, camera and place."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from engine.collation import natural_key
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus, counts_of, shown_classes
from engine.graph.category_graph import CategoryGraph
from engine.project.records import ImageDetails
from engine.report.figures import CollectionCounts, CountRow, Day, WorkProgress

MOST_FOLDERS: Final = 40
"""Folders are counted at the deepest level that has at most so many."""
FIRST_YEAR: Final = (
    1826  # of the first photograph; cameras whose clock was never set name earlier ones
)
PLACE_DECIMALS: Final = 1  # of a degree: about ten kilometres


def progress_of(state: CollectionState, given: Sequence[tuple[str, date, int]]) -> WorkProgress:
    """How far the work is.

    Args:
        state: labels and predictions.
        given: labels of each person on each day.
    """
    is_free = state.label_class == NO_CLASS
    status = state.status
    is_ready = is_free & (status == ImageStatus.READY) & (state.best_class != NO_CLASS)
    failed = is_free & (status == ImageStatus.FAILED)
    is_unknown = is_ready & state.is_unknown
    is_sure = is_ready & ~state.is_unknown & (state.safe_class != NO_CLASS)
    by_person, by_day = Counter[str](), Counter[date]()
    for who, day, count in given:
        by_person[who] += count
        by_day[day] += count
    images, labelled = len(state.image_ids), int((~is_free).sum())
    sure, unknown, unreadable = int(is_sure.sum()), int(is_unknown.sum()), int(failed.sum())
    unsure = int(is_ready.sum()) - sure - unknown
    return WorkProgress(
        images=images,
        labelled=labelled,
        sure=sure,
        unsure=unsure,
        unknown=unknown,
        waiting=images - labelled - sure - unsure - unknown - unreadable,
        unreadable=unreadable,
        to_review=images - labelled - unreadable,
        by_person=tuple(sorted(by_person.items(), key=lambda each: (-each[1], each[0]))),
        by_day=tuple(Day(day, count) for day, count in sorted(by_day.items())),
    )


def counts_by(
    state: CollectionState, graph: CategoryGraph, details: Iterable[ImageDetails]
) -> CollectionCounts:
    """Images by what is known of them."""
    is_labelled = state.label_class != NO_CLASS
    labelled_ids = set(state.image_ids[is_labelled].tolist())
    folders = _by_folder(state.paths, is_labelled.tolist())
    months, cameras, places = _Tally(), _Tally(), _Tally()
    ids = set(state.image_ids.tolist())
    for each in details:
        if each.image_id not in ids:
            continue
        has_label = each.image_id in labelled_ids
        if each.taken_at is not None and each.taken_at.year >= FIRST_YEAR:
            months.count(f"{each.taken_at:%Y-%m}", is_labelled=has_label)
        if each.camera:
            cameras.count(each.camera, is_labelled=has_label)
        if (place := _place(each)) is not None:
            places.count(place, is_labelled=has_label)
    return CollectionCounts(
        _by_class(state, graph), folders, months.rows(lambda row: row.name), cameras.rows(_most_first),
        places.rows(_most_first),
    )  # fmt: skip


class _Tally:
    """Images and labels by name."""

    def __init__(self) -> None:
        self._images, self._labelled = Counter[str](), Counter[str]()

    def count(self, name: str, *, is_labelled: bool) -> None:
        self._images[name] += 1
        self._labelled[name] += is_labelled

    def rows(self, order: Callable[[CountRow], object]) -> tuple[CountRow, ...]:
        rows = [CountRow(name, count, self._labelled[name]) for name, count in self._images.items()]
        return tuple(sorted(rows, key=order))  # type: ignore[arg-type]


def _most_first(row: CountRow) -> tuple[int, str]:
    return -row.images, row.name


def _by_class(state: CollectionState, graph: CategoryGraph) -> tuple[CountRow, ...]:
    shown = counts_of(shown_classes(state.label_class, state.best_class, state.is_unknown))
    rows = [
        CountRow(graph.shown_name(each), n, state.shot_counts.get(each, 0), each)
        for each, n in shown.items()
        if each in graph
    ]
    return tuple(sorted(rows, key=_most_first))


def _by_folder(paths: Sequence[str], is_labelled: Sequence[bool]) -> tuple[CountRow, ...]:
    """The depth is the deepest at which folders are few, at least that of the first branching."""
    parts = [PurePosixPath(path).parts[:-1] for path in paths]
    depth, deepest = 1, max(map(len, parts), default=0)
    while depth < deepest:
        deeper = {each[: depth + 1] for each in parts}
        if len(deeper) > MOST_FOLDERS and len({each[:depth] for each in parts}) > 1:
            break
        depth += 1
    tally = _Tally()
    for each, has_label in zip(parts, is_labelled, strict=True):
        tally.count("/".join(each[:depth]).replace("//", "/") or ".", is_labelled=has_label)
    return tally.rows(lambda row: natural_key(row.name))


def _place(details: ImageDetails) -> str | None:
    """`46.9, 8.2`: degrees north and east; None where the place is unknown or is none on earth."""
    if details.latitude is None or details.longitude is None:
        return None
    if not (
        np.isfinite((details.latitude, details.longitude)).all() and abs(details.latitude) <= 90  # noqa: PLR2004 (the poles)
    ):
        return None
    if abs(details.longitude) > 180:  # noqa: PLR2004 (half around the earth)
        return None
    rounded = (
        round(value, PLACE_DECIMALS) + 0.0 for value in (details.latitude, details.longitude)
    )  # no -0.0
    return ", ".join(f"{value:.{PLACE_DECIMALS}f}" for value in rounded)
