"""Progress, and number of images by class, folder, month, camera and place."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import PurePosixPath

from engine.collation import natural_key
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus, counts_of, shown_classes
from engine.graph.category_graph import CategoryGraph
from engine.project.records import ImageDetails
from engine.report.figures import CollectionCounts, CountRow, WorkProgress

MAX_FOLDERS = 40
"""Folders are counted at the deepest level that has at most so many."""
FIRST_YEAR = 1826
"""Year of the first photograph; cameras whose clock was never set write earlier ones."""
PLACE_DECIMALS = 1  # of a degree: about ten kilometres


def progress_of(state: CollectionState, given: Sequence[tuple[str, date, int]]) -> WorkProgress:
    """Count images by state.

    Args:
        state: labels and predictions.
        given: number of labels by person and day.
    """
    is_free = state.label_class == NO_CLASS
    is_ready = is_free & (state.status == ImageStatus.READY) & (state.best_class != NO_CLASS)
    is_sure = is_ready & ~state.is_unknown & (state.safe_class != NO_CLASS)
    by_person, by_day = Counter[str](), Counter[date]()
    for who, day, count in given:
        by_person[who] += count
        by_day[day] += count
    images, labelled = len(is_free), int((~is_free).sum())
    ready, sure = int(is_ready.sum()), int(is_sure.sum())
    unknown = int((is_ready & state.is_unknown).sum())
    unreadable = int((is_free & (state.status == ImageStatus.FAILED)).sum())
    return WorkProgress(
        images=images,
        labelled=labelled,
        sure=sure,
        unsure=ready - sure - unknown,
        unknown=unknown,
        waiting=images - labelled - ready - unreadable,
        unreadable=unreadable,
        to_review=images - labelled - unreadable,
        by_person=tuple(sorted(by_person.items(), key=lambda each: (-each[1], each[0]))),
        by_day=tuple(sorted(by_day.items())),
    )


def counts_by(
    state: CollectionState, graph: CategoryGraph, details: Iterable[ImageDetails]
) -> CollectionCounts:
    """Count images by class and metadata."""
    is_labelled = state.label_class != NO_CLASS
    labelled = dict(zip(state.image_ids.tolist(), is_labelled.tolist(), strict=True))
    months, cameras, places = _Tally(), _Tally(), _Tally()
    for each in details:
        if each.image_id not in labelled:
            continue
        has_label = labelled[each.image_id]
        if each.taken_at is not None and each.taken_at.year >= FIRST_YEAR:
            months.count(f"{each.taken_at:%Y-%m}", has_label)
        if each.camera:
            cameras.count(each.camera, has_label)
        if (place := _place(each)) is not None:
            places.count(place, has_label)
    return CollectionCounts(
        _by_class(state, graph),
        _by_folder(state.paths, is_labelled.tolist()),
        tuple(sorted(months.rows(), key=lambda row: row.name)),
        _most_first(cameras.rows()),
        _most_first(places.rows()),
    )


class _Tally:
    """Images and labels by name."""

    def __init__(self) -> None:
        self._images, self._labelled = Counter[str](), Counter[str]()

    def count(self, name: str, labels: int) -> None:
        self._images[name] += 1
        self._labelled[name] += labels

    def rows(self) -> list[CountRow]:
        return [CountRow(name, count, self._labelled[name]) for name, count in self._images.items()]


def _most_first(rows: Iterable[CountRow]) -> tuple[CountRow, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.images, row.name)))


def _by_class(state: CollectionState, graph: CategoryGraph) -> tuple[CountRow, ...]:
    shown = counts_of(shown_classes(state.label_class, state.best_class, state.is_unknown))
    return _most_first(
        CountRow(graph.shown_name(each), count, state.shot_counts.get(each, 0), each)
        for each, count in shown.items()
        if each in graph
    )


def _by_folder(paths: Sequence[str], is_labelled: Sequence[bool]) -> tuple[CountRow, ...]:
    """Count at the deepest level with few folders, at least at that of the first branching."""
    parts = [PurePosixPath(path).parts[:-1] for path in paths]
    depth, deepest = 1, max(map(len, parts), default=0)
    while depth < deepest:
        deeper = {each[: depth + 1] for each in parts}
        if len(deeper) > MAX_FOLDERS and len({each[:depth] for each in parts}) > 1:
            break
        depth += 1
    tally = _Tally()
    for each, has_label in zip(parts, is_labelled, strict=True):
        tally.count("/".join(each[:depth]).replace("//", "/") or ".", has_label)
    return tuple(sorted(tally.rows(), key=lambda row: natural_key(row.name)))


def _place(details: ImageDetails) -> str | None:
    """`46.9, 8.2`: degrees north and east; None without a valid position."""
    north, east = details.latitude, details.longitude
    if north is None or east is None:
        return None
    if not (abs(north) <= 90 and abs(east) <= 180):  # noqa: PLR2004 (also NaN)
        return None
    rounded = (round(value, PLACE_DECIMALS) + 0.0 for value in (north, east))  # no -0.0
    return ", ".join(f"{value:.{PLACE_DECIMALS}f}" for value in rounded)
