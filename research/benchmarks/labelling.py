"""Labelling by keys in the window: labels shown and on disk, and time per card."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import TIMEOUT_S, report_of
from research.reference import KEY, NUMPY, JudgedFigure, NumpyPass, judged, shown
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE = "PROTOLEAF_LABELLING_REPORT"
KEYS_VARIABLE = "PROTOLEAF_LABELLING_KEYS"
PICTURES_PER_CLASS = 4
LIMIT_KEY = 2.5
LIMIT_KEY_95 = 3.5
LIMIT_PREDICTIONS = 5


@dataclass(frozen=True)
class LabellingFigures:
    """Results of one run.

    Attributes:
        images: of the project.
        keys: presses, 1 and Enter in turn.
        on_disk: labels added to the project file when the window has closed.
        as_shown: of these, labels for the image and the class that were on the screen when the key
            went down.
        rows: from the scheduled time of a key until the next card, its frame and the inspector were
            painted; from each of the last five keys until all predictions are up to date.
    """

    images: int
    keys: int
    on_disk: int
    as_shown: int
    rows: tuple[JudgedFigure, ...]

    @property
    def are_labels_kept(self) -> bool:
        """Whether every label was stored, and stored correctly."""
        return self.on_disk == self.as_shown == self.keys


@dataclass(frozen=True)
class LabellingRun:
    """Course of a run in the window.

    Attributes:
        figures: of the keys.
        loaded_s: from the start of the process until all images were predicted.
        labelling_s: from then until the last key.
        predictions_s: from the last key until all predictions are up to date.
        predicted: class by image id, 0 where there is none, of evenly spread images, after the last
            fit.
    """

    figures: LabellingFigures
    loaded_s: float
    labelling_s: float
    predictions_s: float
    predicted: Mapping[int, int]


def measure_labelling(
    images: int, *, boxes: int = 0, keys: int = 300, per_s: float = 5
) -> LabellingFigures:
    """Label in a window; needs a display or Qt's offscreen platform.

    Args:
        boxes: of each image.
    """
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "project").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        path = synthetic_project(
            folder / "project", caches, images, sorted(drawn.rglob("*.jpg")), boxes=boxes
        )
        return label_in_window(
            path, caches, NumpyPass(images * (1 + boxes)), keys=keys, per_s=per_s
        ).figures


def label_in_window(
    path: Path,
    caches: CacheFolders,
    numpy_pass: NumpyPass,
    *,
    keys: int,
    per_s: float,
    unpaced: int = 4,
) -> LabellingRun:
    """Open a labelled project with embeddings in a window process, and label by keys.

    Args:
        path: the project.
        caches: caches with its embeddings.
        numpy_pass: of the same number of images.
        keys: total number of keys.
        per_s: keys a second.
        unpaced: number of last keys that wait until all predictions are up to date.

    Raises:
        ProtoleafError: the window ended without a report.
    """
    before, pace = _labels(path), {KEYS_VARIABLE: f"{keys} {per_s} {unpaced}"}
    with numpy_pass.around() as passes_s:
        started_s = time.monotonic()
        report = report_of(
            ["-m", "research.window", str(path)],
            caches,
            REPORT_VARIABLE,
            pace,
            timeout_s=TIMEOUT_S + keys / per_s,
        )
    after = _labels(path)
    new = {
        image_id: class_id
        for image_id, class_id in after.items()
        if before.get(image_id) != class_id
    }
    shown_to = {image_id: class_id for image_id, class_id in report["shown"]}  # noqa: C416 (lists are read from JSON)
    figures = LabellingFigures(
        images=report["images"],
        keys=len(report["shown"]),
        on_disk=len(new),
        as_shown=sum(new.get(image_id) == class_id for image_id, class_id in shown_to.items()),
        rows=(
            *key_rows("key to next card", report["painted_ms"], report["bare_ms"]),
            judged(
                "predictions after a key",
                report["predictions_s"],
                passes_s,
                LIMIT_PREDICTIONS,
                against=NUMPY,
            ),
        ),
    )
    loaded_s, last_key_s = (report[name] - started_s for name in ("loaded_s", "last_key_s"))
    predictions_s = report["predictions_s"][-1]
    return LabellingRun(
        figures, loaded_s, last_key_s - loaded_s, predictions_s, dict(report["predicted"])
    )


def key_rows(
    name: str, painted_ms: Sequence[float], bare_ms: Sequence[float], limit: float = LIMIT_KEY
) -> tuple[JudgedFigure, ...]:
    """Time from a key until its effect is painted, relative to the minimum."""
    return (
        judged(f"{name}, median", painted_ms, bare_ms, limit, against=KEY, unit="ms"),
        judged(
            f"{name}, 95%", painted_ms, bare_ms, LIMIT_KEY_95, against=KEY, unit="ms", percentile=95
        ),
        shown(f"{name}, 99%", painted_ms, "ms", percentile=99),
        shown(f"{name}, longest", painted_ms, "ms", percentile=100),
    )


def _labels(path: Path) -> dict[int, int | None]:
    with Project.open(path, for_writing=False) as project:
        table = project.labels.table()
        return dict(zip(table.image_ids, table.class_ids, strict=True))
