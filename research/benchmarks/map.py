"""The map of 100,000 images: time to compute it, its quality, and time per frame."""

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.config import CacheFolders
from engine.map.make import make_map
from engine.new_folder import scratch_folder
from engine.project import Project
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.window.map_frames import REPORT_VARIABLE

LIMIT_MADE_S = 180.0  # on two cores
LIMIT_FRAME_MS = 16.0
LIMIT_PLACED_S = 20.0
MANY = 1_000_000


@dataclass(frozen=True)
class MapRow:
    """A figure and its limit."""

    name: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def line(self) -> str:
        """A line for a terminal."""
        limit = (
            ""
            if self.limit is None
            else f"   (limit {self.limit:g}{'' if self.is_kept else ', MISSED'})"
        )
        return f"{self.name:44} {self.value:8.2f} {self.unit:2}{limit}"

    @property
    def is_kept(self) -> bool:
        """Whether it is within its limit, if it has one."""
        return self.limit is None or self.value <= self.limit


@dataclass(frozen=True)
class MapFigures:
    """All rows."""

    images: int
    rows: tuple[MapRow, ...]

    @property
    def are_kept(self) -> bool:
        """Whether all are within their limits."""
        return all(row.is_kept for row in self.rows)

    def fields(self) -> dict[str, Any]:
        """Fields for JSON."""
        return {
            "images": self.images,
            "rows": [{**asdict(row), "is_kept": row.is_kept} for row in self.rows],
            "are_kept": self.are_kept,
        }


def measure_map(images: int = 100_000, *, many: int = MANY, in_window: bool = True) -> MapFigures:
    """Time computing, extending and painting a map.

    Args:
        many: points of a larger map; 0 for none.
    """
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        rows = [*_making(folder, caches, images)]
        if in_window:
            rows += _frames(caches, images)
            rows += _frames(caches, many) if many else []
            rows += _frames(caches, images, ratio=2)
    return MapFigures(images, tuple(rows))


def _making(folder: Path, caches: CacheFolders, images: int) -> list[MapRow]:
    path = synthetic_project(folder, caches, images)
    with Project.open(path, for_writing=False, is_backed_up=False) as project:
        start_s, start_cpu_s = time.monotonic(), time.process_time()
        made, _placed = make_map(project, caches)
        made_s, cpu_s = time.monotonic() - start_s, time.process_time() - start_cpu_s
        start_s = time.monotonic()
        make_map(project, caches)
        again_s = time.monotonic() - start_s
    assert len(made.image_ids) == images, "every image has a place"
    assert np.isfinite(made.places).all()
    return [
        MapRow(f"map of {images:,} images made", made_s, "s", LIMIT_MADE_S),
        MapRow("  of it on the processor, all cores", cpu_s, "s"),
        MapRow("looked at again, nothing new", again_s, "s", LIMIT_PLACED_S),
    ]


def _frames(caches: CacheFolders, points: int, *, ratio: int = 1) -> list[MapRow]:
    more = {"QT_SCALE_FACTOR": str(ratio), "QT_QPA_PLATFORM": "offscreen"}
    found = report_of(
        ["-m", "research.window.map_frames", str(points)], caches, REPORT_VARIABLE, more
    )
    where = f"{points:,} points" + (f", {100 * ratio} %" if ratio > 1 else "")
    every = [each for frames in found.values() for each in frames]
    by_kind = [
        MapRow(f"  {kind.replace('_', ', ')}", median(frames), "ms")
        for kind, frames in found.items()
    ]
    return [
        MapRow(f"a frame of {where}, median", median(every), "ms", LIMIT_FRAME_MS),
        *by_kind,
        MapRow("  99 %", float(np.percentile(every, 99)), "ms"),
    ]


def median(values: list[float]) -> float:
    """Median; NaN of an empty list."""
    return float(np.median(values)) if values else math.nan
