"""Labelling by keys at a person's pace, in the window: what was shown, what is on disk, and how long each card took."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE: Final = "PROTOLEAF_LABELLING_REPORT"
KEYS_VARIABLE: Final = "PROTOLEAF_LABELLING_KEYS"
PICTURES_PER_CLASS: Final = 4


@dataclass(frozen=True)
class LabellingFigures:
    """What one run showed.

    Attributes:
        images: of the project.
        keys: presses, 1 and Enter in turn.
        on_disk: labels in the project file after the window was closed, more than before.
        as_shown: of these, labels for the image and the class that were on the screen when the key went down.
        painted_median_ms, painted_p99_ms, painted_longest_ms: from the moment a key was due until the next card was
            painted with its frame, and the inspector with it.
        predictions_s: from the last key until every image has a prediction that knows all labels.
    """

    images: int
    keys: int
    on_disk: int
    as_shown: int
    painted_median_ms: float
    painted_p99_ms: float
    painted_longest_ms: float
    predictions_s: float
    limit_median_ms: float = 30
    limit_p99_ms: float = 60
    limit_predictions_s: float = 1.5

    @property
    def are_kept(self) -> bool:
        """Whether nothing was lost or mistaken and every limit is kept."""
        return (
            self.on_disk == self.as_shown == self.keys
            and self.painted_median_ms <= self.limit_median_ms
            and self.painted_p99_ms <= self.limit_p99_ms
            and self.predictions_s <= self.limit_predictions_s
        )


def measure_labelling(images: int, *, keys: int = 300, per_s: float = 5) -> LabellingFigures:
    """Label in a window; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "project").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        path = synthetic_project(folder / "project", caches, images, sorted(drawn.rglob("*.jpg")))
        before = _labels(path)
        report = report_of(
            ["-m", "research.window", str(path)], caches, REPORT_VARIABLE, {KEYS_VARIABLE: f"{keys} {per_s}"}
        )
        after = _labels(path)
    new = {image_id: class_id for image_id, class_id in after.items() if before.get(image_id) != class_id}
    shown = {image_id: class_id for image_id, class_id in report["shown"]}  # noqa: C416 (lists are read from JSON)
    painted_ms = report["painted_ms"]
    return LabellingFigures(
        images=images,
        keys=len(report["shown"]),
        on_disk=len(new),
        as_shown=sum(new.get(image_id) == class_id for image_id, class_id in shown.items()),
        painted_median_ms=statistics.median(painted_ms),
        painted_p99_ms=float(np.percentile(painted_ms, 99)),
        painted_longest_ms=max(painted_ms),
        predictions_s=report["predictions_s"],
    )


def _labels(path: Path) -> dict[int, int | None]:
    with Project.open(path, for_writing=False) as project:
        table = project.labels.table()
        return dict(zip(table.image_ids, table.class_ids, strict=True))
