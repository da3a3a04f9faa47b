"""Review in the window at 100,000 images: single decisions and whole groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.labelling import key_rows
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.reference import KEY, NUMPY, JudgedFigure, NumpyPass, judged, shown
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE = "PROTOLEAF_REVIEW_REPORT"
KEYS_VARIABLE = "PROTOLEAF_REVIEW_KEYS"
PICTURES_PER_CLASS = 4
MINUTE_S = 60
LIMIT_DECISIONS = 500  # a minute, at the given rate of groups
LIMIT_GROUP = 3.5
LIMIT_PAUSE = 2
LIMIT_ORDER = 8  # computed in the background: only a large slowdown is noticed


@dataclass(frozen=True)
class ReviewFigures:
    """Results of one run.

    Attributes:
        images: of the project.
        keys: single decisions.
        groups: decisions on groups.
        group_images: in all these groups.
        on_disk: images whose label in the project file has changed.
        as_shown: of these, with the class that was on the screen when the key went down.
        decisions_a_minute: images decided by groups in a minute at this rate.
        rows: from the scheduled time of a key until the next card or group was painted; the longest
            time that the event loop was blocked between two decisions; how long a queue of groups
            was computed in the background.
    """

    images: int
    keys: int
    groups: int
    group_images: int
    on_disk: int
    as_shown: int
    decisions_a_minute: float
    rows: tuple[JudgedFigure, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """Names of what is missed, rows aside."""
        is_kept = {
            "labels": self.on_disk == self.as_shown == self.keys + self.group_images,
            "decisions a minute": self.decisions_a_minute >= LIMIT_DECISIONS,
        }
        return tuple(name for name, kept in is_kept.items() if not kept)


def measure_review(
    images: int, *, keys: int = 150, per_s: float = 5, groups: int = 20, groups_per_s: float = 1
) -> ReviewFigures:
    """Review in a window; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "project").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        path = synthetic_project(folder / "project", caches, images, sorted(drawn.rglob("*.jpg")))
        before = _labels(path)
        pace = f"{keys} {per_s} {groups} {groups_per_s}"
        with NumpyPass(images).around() as passes_s:
            report = report_of(
                ["-m", "research.window", str(path)], caches, REPORT_VARIABLE, {KEYS_VARIABLE: pace}
            )
        after = _labels(path)
    return figures_of(images, {**report, "passes_s": passes_s}, before, after)


def figures_of(
    images: int,
    report: Mapping[str, Any],
    before: Mapping[int, int | None],
    after: Mapping[int, int | None],
) -> ReviewFigures:
    """Figures of a window's report and of the labels on disk before and after."""
    single = {image_id: class_id for image_id, class_id in report["shown"]}  # noqa: C416 (lists are read from JSON)
    in_groups = {image_id: class_id for ids, class_id in report["answers"] for image_id in ids}
    new = {
        image_id: class_id
        for image_id, class_id in after.items()
        if before.get(image_id) != class_id
    }
    keys, passes_s = len(report["shown"]), report["passes_s"]
    bare_ms, pauses_ms = report["bare_ms"], report["pauses_ms"]
    return ReviewFigures(
        images=images,
        keys=keys,
        groups=len(report["answers"]),
        group_images=sum(len(ids) for ids, _class_id in report["answers"]),
        on_disk=len(new),
        as_shown=sum(
            new.get(image_id) == class_id for image_id, class_id in {**single, **in_groups}.items()
        ),
        decisions_a_minute=MINUTE_S * len(in_groups) / report["groups_s"],
        rows=(
            *key_rows("key to next card", report["single_ms"], bare_ms[:keys]),
            *key_rows("key to next group", report["group_ms"], bare_ms[keys:], LIMIT_GROUP),
            judged(
                "pause of the window, 95%",
                pauses_ms,
                bare_ms,
                LIMIT_PAUSE,
                against=KEY,
                unit="ms",
                percentile=95,
            ),
            shown("pause of the window, longest", pauses_ms, "ms", percentile=100),
            judged("group order", report["orders_s"], passes_s, LIMIT_ORDER, against=NUMPY),
        ),
    )


def _labels(path: Path) -> dict[int, int | None]:
    with Project.open(path, for_writing=False) as project:
        table = project.labels.table()
        return dict(zip(table.image_ids, table.class_ids, strict=True))
