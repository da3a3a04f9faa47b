"""Startup time, memory and scrolling of the window, and startup of commands."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.collection.live import LiveCollection
from engine.collection.new_project import new_project
from engine.config import CACHE_VARIABLE, LOGS_VARIABLE, CacheFolders
from engine.events import OnProgress, ignore_progress
from engine.new_folder import scratch_folder
from research.benchmarks.synthetic import synthetic_project
from research.benchmarks.window_process import report_of
from research.reference import CARDS, NUMPY, JudgedFigure, NumpyPass, judged, shown, within_budget
from research.sample_painter.collection import draw_collection

REPORT_VARIABLE = "PROTOLEAF_STARTUP_REPORT"
"""Path of the report.

Where set, the window reports when it is visible and loaded, scrolls, reports memory and pauses, and
ends.
"""
PICTURES_PER_CLASS = 4
BARE = "a bare window"
LIMIT_VISIBLE = 6
LIMIT_OVER_EMPTY = 1.5
LIMIT_PREDICTED = 4
LIMIT_LOADED = 9
LIMIT_MEMORY = 6
LIMIT_STEP = 5
EMPTY_PROGRAM = "python -c pass"
COMMANDS: Mapping[str, tuple[tuple[str, ...], float]] = {
    "processor time of --version": (("--version",), 15),
    "processor time of --help": (("--help",), 15),
    "classify, before it works": (("classify", "missing.protoleaf", "-o", "out.csv"), 62),
}
"""Arguments, and largest ratio to an empty program: 0.25 s and 1 s where that takes 0.016 s."""
Runs = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class StartupFigures:
    """Rounds with a bare window, an empty project, the large project and a numpy pass in turn.

    Attributes:
        images: of the large project.
        rows: process start to visible window, of all three; process start until the first screen
            shows predictions, and until all images are predicted; resident memory after that and
            after scrolling, memory-mapped embeddings excluded; a step of scrolling relative to
            painting bare cards, and the longest time that the GUI thread was blocked meanwhile;
            processor time of commands.
    """

    images: int
    rows: tuple[JudgedFigure, ...]


def measure_startup(
    images: int = 100_000,
    *,
    boxes: int = 0,
    rounds: int = 3,
    on_progress: OnProgress = ignore_progress,
) -> StartupFigures:
    """Time the window of a project opened before; needs a display or Qt's offscreen platform.

    Args:
        boxes: of each image.
    """
    with scratch_folder() as folder:
        caches = CacheFolders(folder / "cache")
        (folder / "large").mkdir()
        drawn = draw_collection(folder / "pictures", images_per_class=PICTURES_PER_CLASS).folder
        large = synthetic_project(
            folder / "large", caches, images, sorted(drawn.rglob("*.jpg")), boxes=boxes
        )
        _open_once(large, caches)
        empty, numpy_pass = folder / "empty.protoleaf", NumpyPass(images * (1 + boxes))
        new_project(empty).close()
        starts = (
            ["research.window.bare_window"],
            ["research.window", str(empty)],
            ["research.window", str(large)],
        )
        _run(starts[0], caches)  # this warms the file cache
        runs = [
            (*(_run(arguments, caches) for arguments in starts), numpy_pass.time_s())
            for _ in within_budget(rounds, on_progress)
        ]
        commands = tuple(command_rows(folder, rounds))
    return StartupFigures(images, (*rows_of(*zip(*runs, strict=True)), *commands))


def command_rows(folder: Path, rounds: int) -> Iterator[JudgedFigure]:
    """Processor time of `COMMANDS` over that of an empty program; `classify` of a missing project.

    Args:
        folder: for caches and logs.
        rounds: runs of each.
    """
    arguments = (["-c", "pass"], *(["-m", "app", *words] for words, _ in COMMANDS.values()))
    empty, *others = zip(
        *([_processor_s(each, folder) for each in arguments] for _ in range(rounds)), strict=True
    )
    for (name, (_, limit)), times in zip(COMMANDS.items(), others, strict=True):
        yield judged(name, times, empty, limit, against=EMPTY_PROGRAM)


def _processor_s(arguments: list[str], folder: Path) -> float:
    """User and system time, in seconds, of a Python process from its start to its end."""
    import resource  # POSIX only

    environment = {
        **os.environ,
        CACHE_VARIABLE: str(folder / "cache"),
        LOGS_VARIABLE: str(folder / "logs"),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)  # noqa: S603 (our own program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(
    bare: Runs, empty: Runs, large: Runs, passes_s: Sequence[float]
) -> Iterator[JudgedFigure]:
    """Figures of the reports of the three windows, relative to numpy passes."""

    def of(runs: Runs, name: str) -> list[float]:
        return [run[name] for run in runs]

    bare_s, empty_s, large_s = (of(runs, "visible_s") for runs in (bare, empty, large))
    with_pass, both = (
        [sum(each) for each in zip(bare_s, passes_s, strict=True)],
        f"{BARE} and {NUMPY}",
    )
    steps, cards = (
        [each for run in large for each in run[name]] for name in ("step_ms", "card_ms")
    )
    memory, least = of(large, "memory_mib"), of(bare, "memory_mib")
    yield judged("visible, empty project", empty_s, bare_s, LIMIT_VISIBLE, against=BARE)
    yield judged("visible, large project", large_s, bare_s, LIMIT_VISIBLE, against=BARE)
    yield judged("the same", large_s, empty_s, LIMIT_OVER_EMPTY, against="an empty project")
    yield judged(
        "first predictions", of(large, "predicted_s"), with_pass, LIMIT_PREDICTED, against=both
    )
    yield judged("all predictions", of(large, "loaded_s"), with_pass, LIMIT_LOADED, against=both)
    yield judged("memory", memory, least, LIMIT_MEMORY, against=BARE, unit="MiB", percentile=100)
    yield judged(
        "a step of scrolling, 95%",
        steps,
        cards,
        LIMIT_STEP,
        against=CARDS,
        unit="ms",
        percentile=95,
    )
    yield shown("longest pause while scrolling", of(large, "scroll_pause_ms"), "ms", percentile=100)


def _open_once(project: Path, caches: CacheFolders) -> None:
    """Open and close a project: computes whitening and writes the mapped caches."""
    live = LiveCollection.open(project, caches)
    live.load_list()
    live.load()
    live.close()


def _run(module: list[str], caches: CacheFolders) -> dict[str, Any]:
    """Start a module and read its report; times are seconds since its start."""
    started_s = time.monotonic()
    fields = report_of(["-m", *module], caches, REPORT_VARIABLE)
    return {
        name: value - started_s if name.endswith("_s") else value for name, value in fields.items()
    }
