"""Progress and counts by hand; invalid metadata is ignored."""

import math
from datetime import date, datetime
from pathlib import Path

import numpy as np

from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from engine.project.records import ImageDetails
from engine.report.counting import MAX_FOLDERS, counts_by, progress_of
from engine.report.figures import CountRow
from tests.support.reports import AUK, BIRD, GULL, zoo

READY, WAITING, FAILED = (
    int(each) for each in (ImageStatus.READY, ImageStatus.WAITING, ImageStatus.FAILED)
)


def state_of(
    paths: list[str], labels: list[int], best: list[int], safe: list[int], status: list[int]
) -> CollectionState:
    """A state of some images, the fifth unknown."""
    count = len(paths)
    unknown = np.arange(count) == 4
    return CollectionState(
        Path("/p"),
        np.arange(1, count + 1),
        paths,
        np.array(labels),
        np.array(best),
        np.ones(count, dtype=np.float32),
        np.array(safe),
        np.ones(count, dtype=np.float32),
        unknown,
        np.array(status, dtype=np.uint8),
        {GULL: 1},
        {},
    )


def test_parts_of_the_work_add_up() -> None:
    """Labelled, certain, uncertain, unknown, pending and failed are all images."""
    state = state_of(
        [f"a/{n}.jpg" for n in range(7)],
        [GULL, UNKNOWN, *[NO_CLASS] * 5],
        [GULL, GULL, GULL, AUK, AUK, NO_CLASS, NO_CLASS],
        [GULL, GULL, BIRD, NO_CLASS, GULL, NO_CLASS, NO_CLASS],
        [READY, READY, READY, READY, READY, WAITING, FAILED],
    )
    given = [
        ("bo", date(2026, 3, 1), 1),
        ("ada", date(2026, 3, 1), 1),
        ("ada", date(2026, 3, 2), 4),
    ]
    progress = progress_of(state, given)
    parts = (
        progress.labelled,
        progress.sure,
        progress.unsure,
        progress.unknown,
        progress.waiting,
        progress.unreadable,
    )
    assert parts == (2, 1, 1, 1, 1, 1)
    assert sum(parts) == progress.images == 7
    assert progress.to_review == 4
    assert progress.by_person == (("ada", 5), ("bo", 1))
    assert [(day.day, labels) for day, labels in progress.by_day] == [(1, 2), (2, 4)]


def test_counts_of_hostile_details() -> None:
    """Years before photography, invalid coordinates and removed images do not count."""
    state = state_of(
        ["a/1.jpg", "a/2.jpg", "b/3.jpg"],
        [GULL, NO_CLASS, NO_CLASS],
        [GULL] * 3,
        [GULL] * 3,
        [READY] * 3,
    )
    in_use = datetime(2024, 5, 3)  # noqa: DTZ001 (a camera's clock)
    never_set = datetime(1799, 1, 1)  # noqa: DTZ001
    details = [
        ImageDetails(1, 0, taken_at=in_use, camera="Reconyx", latitude=46.94, longitude=-0.01),
        ImageDetails(2, 0, taken_at=never_set, camera="Reconyx", latitude=95.0, longitude=8.0),
        ImageDetails(3, 0, taken_at=datetime(2024, 4, 1), latitude=math.nan, longitude=8.0),  # noqa: DTZ001
        ImageDetails(99, 0, camera="gone"),
    ]
    counts = counts_by(state, zoo(), details)
    assert counts.by_month == (CountRow("2024-04", 1, 0), CountRow("2024-05", 1, 1))
    assert counts.by_camera == (CountRow("Reconyx", 2, 1),)
    assert counts.by_place == (CountRow("46.9, 0.0", 1, 1),)
    assert counts.by_folder == (CountRow("a", 2, 1), CountRow("b", 1, 0))
    assert counts.by_class == (CountRow("Gull", 3, 1, GULL),)


def test_folders_as_deep_as_they_are_few() -> None:
    """A common prefix is skipped; a level of hundreds is not split."""
    paths = [f"photos/2024/site {n % 3}/day {n}/x.jpg" for n in range(MAX_FOLDERS * 2)]
    count = len(paths)
    state = state_of(
        paths, [NO_CLASS] * count, [NO_CLASS] * count, [NO_CLASS] * count, [WAITING] * count
    )
    assert [row.name for row in counts_by(state, zoo(), []).by_folder] == [
        f"photos/2024/site {n}" for n in range(3)
    ]
