"""Duration of a backup of a large project, and latency of labels meanwhile."""

import statistics
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import BackupReason, Project
from engine.project.backups.taking import take_backup
from engine.project.clock import present_time
from engine.project.connection import Connection
from engine.project.file.on_disk import address
from research.benchmarks.synthetic import synthetic_project

ROUNDS = 5
LABELS_ALONE = 300
PAUSE_S = 0.02
"""Between two labels, shorter than any user's pause, so that the backup finds no idle project."""


@dataclass(frozen=True)
class BackupFigures:
    """Seconds of the whole backup; milliseconds of single labels by another thread.

    Attributes:
        images, labels: of the project.
        backup_s: median of copying, sealing, checking and writing, while labels are set.
        size_mb: of the backup.
        alone_median_ms, alone_p99_ms, alone_longest_ms: a label without a backup.
        beside_median_ms, beside_p99_ms, beside_longest_ms: a label during backups.
        limit_longest_ms: target of the project.
    """

    images: int
    labels: int
    backup_s: float
    size_mb: float
    alone_median_ms: float
    alone_p99_ms: float
    alone_longest_ms: float
    beside_median_ms: float
    beside_p99_ms: float
    beside_longest_ms: float
    limit_longest_ms: float = 100.0


def measure_backup(
    images: int = 100_000, labels: int = 20_000, *, rounds: int = ROUNDS
) -> BackupFigures:
    """Label continuously on one thread; make backups on another."""
    with scratch_folder() as folder:
        (folder / "collection").mkdir()
        path = synthetic_project(folder / "collection", CacheFolders(folder / "cache"), images)
        with Project.open(path, is_backed_up=False) as project:
            ids = list(project.images.table().ids)
            classes = list(project.classes.graph.classes())
            _label_many(project, ids[:labels], classes)
            alone = _times(project, ids, classes, threading.Event(), LABELS_ALONE)
            done = threading.Event()
            taken: list[float] = []
            sizes: list[int] = []
            maker = threading.Thread(target=_back_up, args=(path, rounds, taken, sizes, done))
            maker.start()
            beside = _times(project, ids, classes, done, None)
            maker.join()
    return BackupFigures(
        images,
        labels,
        statistics.median(taken),
        sizes[-1] / 1e6,
        *_in_ms(alone),
        *_in_ms(beside),
    )


def _label_many(project: Project, image_ids: list[int], classes: list[int]) -> None:
    """Label images by one action each; commit to disk after each hundred."""
    for start in range(0, len(image_ids), 100):
        with project.history.one_step():
            for place, image_id in enumerate(image_ids[start : start + 100]):
                project.labels.set([image_id], classes[(start + place) % len(classes)])


def _back_up(
    project: Path, rounds: int, taken: list[float], sizes: list[int], done: threading.Event
) -> None:
    try:
        for _ in range(rounds):
            started_s = time.perf_counter()
            with closing(Connection(project, address(project, "mode=ro"))) as source:
                made = take_backup(
                    source,
                    project.parent,
                    project=project,
                    reason=BackupReason.QUARTER_HOUR,
                    when=present_time(),
                )
            taken.append(time.perf_counter() - started_s)
            sizes.append(made.stat().st_size)
    finally:
        done.set()


def _times(
    project: Project, ids: list[int], classes: list[int], done: threading.Event, count: int | None
) -> list[float]:
    """Seconds of each label: `count` labels, or at least one until the backups are done."""
    times: list[float] = []
    while not times or (not done.is_set() and (count is None or len(times) < count)):
        image_id, class_id = ids[len(times) * 7919 % len(ids)], classes[len(times) % len(classes)]
        started_s = time.perf_counter()
        project.labels.set([image_id], class_id)
        times.append(time.perf_counter() - started_s)
        time.sleep(PAUSE_S)
    return times


def _in_ms(times: list[float]) -> tuple[float, float, float]:
    """Median, 99th percentile, longest."""
    ordered = sorted(times)
    return (
        1000 * statistics.median(ordered),
        1000 * ordered[int(0.99 * len(ordered))],
        1000 * ordered[-1],
    )
