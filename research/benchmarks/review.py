"""Review in the window: single decisions and whole groups at 100,000 images, each figure beside its limit."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE: Final = "PROTOLEAF_REVIEW_REPORT"
KEYS_VARIABLE: Final = "PROTOLEAF_REVIEW_KEYS"
PICTURES_PER_CLASS: Final = 4
MINUTE_S: Final = 60


@dataclass(frozen=True)
class ReviewFigures:
    """What one run showed.

    Attributes:
        images: of the project.
        keys: single decisions.
        groups: decisions on groups.
        group_images: in these groups together.
        on_disk: images whose label in the project file is not that from before.
        as_shown: of these, with the class that was on the screen when the key went down.
        decisions_a_minute: images decided by groups in a minute at this pace.
        single_median_ms, single_p99_ms: from the moment a key was due until the next card was painted.
        group_median_ms, group_p99_ms: the same until the next group was painted.
        pause_ms: the longest time that the window heard nothing.
        order_s: the longest time that a queue of groups was being made, beside all else.
    """

    images: int
    keys: int
    groups: int
    group_images: int
    on_disk: int
    as_shown: int
    decisions_a_minute: float
    single_median_ms: float
    single_p99_ms: float
    group_median_ms: float
    group_p99_ms: float
    pause_ms: float
    order_s: float
    limit_decisions: float = 500
    limit_median_ms: float = 30
    limit_p99_ms: float = 60
    limit_pause_ms: float = 50
    limit_order_s: float = 2

    @property
    def missed(self) -> tuple[str, ...]:
        """Names of the figures that miss their limits."""
        decided = self.keys + self.group_images
        is_kept = {
            "labels": self.on_disk == self.as_shown == decided,
            "decisions a minute": self.decisions_a_minute >= self.limit_decisions,
            "median": max(self.single_median_ms, self.group_median_ms) <= self.limit_median_ms,
            "99th percentile": max(self.single_p99_ms, self.group_p99_ms) <= self.limit_p99_ms,
            "pause": self.pause_ms <= self.limit_pause_ms,
            "group order": self.order_s <= self.limit_order_s,
        }
        return tuple(name for name, kept in is_kept.items() if not kept)


def measure_review(
    images: int, *, keys: int = 300, per_s: float = 5, groups: int = 40, groups_per_s: float = 1
) -> ReviewFigures:
    """Review in a window; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "project").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        path = synthetic_project(folder / "project", caches, images, sorted(drawn.rglob("*.jpg")))
        before = _labels(path)
        pace = f"{keys} {per_s} {groups} {groups_per_s}"
        report = report_of(["-m", "research.window", str(path)], caches, REPORT_VARIABLE, {KEYS_VARIABLE: pace})
        after = _labels(path)
    return figures_of(images, report, before, after)


def figures_of(
    images: int, report: Mapping[str, Any], before: Mapping[int, int | None], after: Mapping[int, int | None]
) -> ReviewFigures:
    """The figures of a report, and of the labels on disk before and after."""
    shown = {image_id: class_id for image_id, class_id in report["shown"]}  # noqa: C416 (lists are read from JSON)
    in_groups = {image_id: class_id for ids, class_id in report["answers"] for image_id in ids}
    new = {image_id: class_id for image_id, class_id in after.items() if before.get(image_id) != class_id}
    single, group = report["single_ms"], report["group_ms"]
    return ReviewFigures(
        images=images,
        keys=len(report["shown"]),
        groups=len(report["answers"]),
        group_images=sum(len(ids) for ids, _class_id in report["answers"]),
        on_disk=len(new),
        as_shown=sum(new.get(image_id) == class_id for image_id, class_id in {**shown, **in_groups}.items()),
        decisions_a_minute=MINUTE_S * len(in_groups) / report["spent_s"]["groups"],
        single_median_ms=statistics.median(single),
        single_p99_ms=float(np.percentile(single, 99)),
        group_median_ms=statistics.median(group),
        group_p99_ms=float(np.percentile(group, 99)),
        pause_ms=max(report["pause_ms"].values()),
        order_s=report["order_s"],
    )


def _labels(path: Path) -> dict[int, int | None]:
    with Project.open(path, for_writing=False) as project:
        table = project.labels.table()
        return dict(zip(table.image_ids, table.class_ids, strict=True))
