"""Process start to visible window, memory and scrolling, each in a process of its own."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.collection.live import LiveCollection
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.new_folder import scratch_folder
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE: Final = "PROTOLEAF_STARTUP_REPORT"
"""Names a file: the window writes when it was visible and loaded, scrolls, writes memory and pauses, and ends."""
PICTURES_PER_CLASS: Final = 4
MANY_IMAGES: Final = 100_000
"""More may take more memory."""


@dataclass(frozen=True)
class StartupFigures:
    """Medians over rounds, each with a bare window, an empty project and the large project in turn.

    Attributes:
        bare_s, empty_s, large_s: process start to visible window.
        large_over_bare, large_over_empty: ratios within a round.
        predicted_s: process start until the first screen shows predictions, large project.
        loaded_s: process start until all predictions are there, large project.
        memory_mib: resident memory of the window's process after that and after scrolling, beyond embeddings that are
            mapped from a file; the largest round.
        scroll_pause_ms: longest time the GUI thread was busy while scrolling; the largest round.
    """

    images: int
    bare_s: float
    empty_s: float
    large_s: float
    large_over_bare: float
    large_over_empty: float
    predicted_s: float
    loaded_s: float
    memory_mib: float
    scroll_pause_ms: float
    limit_over_bare: float = 6.0
    limit_over_empty: float = 1.3
    limit_predicted_s: float = 2.0
    limit_loaded_s: float = 15.0
    limit_scroll_ms: float = 50
    limit_memory_mib: float = 350


def measure_startup(images: int = 100_000, *, rounds: int = 5) -> StartupFigures:
    """Time the window, of a project that was opened before; needs a display or Qt's offscreen platform."""
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        pictures = sorted(
            path
            for path in draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder.rglob("*.jpg")
        )
        large = synthetic_project(folder / "large", caches, images, pictures)
        _open_once(large, caches)
        empty = folder / "empty.protoleaf"
        new_project(empty).close()
        runs = [
            (_run(["-m", "research.window.bare_window"], caches), _run(["-m", "research.window", str(empty)], caches),
             _run(["-m", "research.window", str(large)], caches))
            for _ in range(rounds + 1)
        ][1:]  # fmt: skip  # the first round warms the file cache
    bare, empties, larges = zip(*runs, strict=True)
    return StartupFigures(
        images=images,
        bare_s=_median(bare, "visible_s"),
        empty_s=_median(empties, "visible_s"),
        large_s=_median(larges, "visible_s"),
        large_over_bare=statistics.median(c["visible_s"] / a["visible_s"] for a, _, c in runs),
        large_over_empty=statistics.median(c["visible_s"] / b["visible_s"] for _, b, c in runs),
        predicted_s=_median(larges, "predicted_s"),
        loaded_s=_median(larges, "loaded_s"),
        memory_mib=max(run["memory_mib"] for run in larges),
        scroll_pause_ms=max(run["scroll_pause_ms"] for run in larges),
        limit_memory_mib=350 if images <= MANY_IMAGES else 600,
    )


def _open_once(project: Path, caches: CacheFolders) -> None:
    """Open a project and close it again: whitening is made, and what an opening maps is written."""
    live = LiveCollection.open(project, caches)
    live.load_list()
    live.load()
    live.close()


def _median(runs: Sequence[dict[str, Any]], field: str) -> float:
    return statistics.median(run[field] for run in runs)


def _run(arguments: list[str], caches: CacheFolders) -> dict[str, Any]:
    """Start a process and read its report; times are seconds since just before it was started."""
    started_s = time.monotonic()
    fields = report_of(arguments, caches, REPORT_VARIABLE)
    return {name: value - started_s if name.endswith("_s") else value for name, value in fields.items()}
