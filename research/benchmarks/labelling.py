"""Labelling by keys at a person's pace, in the window: what was shown, what is on disk, and how long each card took."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import TIMEOUT_S, report_of
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


@dataclass(frozen=True)
class LabellingRun:
    """What happened in the window.

    Attributes:
        figures: of the keys.
        loaded_s: from the start of the process until all predictions were there.
        labelling_s: from then until the last key.
        predicted: class by image id, 0 where there is none, of evenly spread images, after the last fit.
    """

    figures: LabellingFigures
    loaded_s: float
    labelling_s: float
    predicted: Mapping[int, int]


def measure_labelling(images: int, *, keys: int = 300, per_s: float = 5) -> LabellingFigures:
    """Label in a window; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "project").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        path = synthetic_project(folder / "project", caches, images, sorted(drawn.rglob("*.jpg")))
        return label_in_window(path, caches, keys=keys, per_s=per_s).figures


def label_in_window(path: Path, caches: CacheFolders, *, keys: int, per_s: float) -> LabellingRun:
    """Open a project with embeddings and some labels in a window of its own process, and label by keys.

    Raises:
        ProtoleafError: the window ended without a report.
    """
    before, started_s = _labels(path), time.monotonic()
    report = report_of(
        ["-m", "research.window", str(path)], caches, REPORT_VARIABLE, {KEYS_VARIABLE: f"{keys} {per_s}"},
        timeout_s=TIMEOUT_S + keys / per_s,
    )  # fmt: skip
    after = _labels(path)
    new = {image_id: class_id for image_id, class_id in after.items() if before.get(image_id) != class_id}
    shown = {image_id: class_id for image_id, class_id in report["shown"]}  # noqa: C416 (lists are read from JSON)
    painted_ms = report["painted_ms"]
    figures = LabellingFigures(
        images=report["images"],
        keys=len(report["shown"]),
        on_disk=len(new),
        as_shown=sum(new.get(image_id) == class_id for image_id, class_id in shown.items()),
        painted_median_ms=statistics.median(painted_ms),
        painted_p99_ms=float(np.percentile(painted_ms, 99)),
        painted_longest_ms=max(painted_ms),
        predictions_s=report["predictions_s"],
    )
    loaded_s, last_key_s = (report[name] - started_s for name in ("loaded_s", "last_key_s"))
    return LabellingRun(figures, loaded_s, last_key_s - loaded_s, dict(report["predicted"]))


def _labels(path: Path) -> dict[int, int | None]:
    with Project.open(path, for_writing=False) as project:
        table = project.labels.table()
        return dict(zip(table.image_ids, table.class_ids, strict=True))
