"""Cost of many images without decoding: scan, add, back up, check, open, export, relink.

Each step runs in a process of its own, which reports its peak memory. For comparison it then does
the unavoidable part of the step by plain means, such as listing folders or copying bytes: the
limit.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE, LOGS_VARIABLE
from engine.errors import ProtoleafError
from engine.new_file import create_file
from engine.new_folder import scratch_folder
from research.benchmarks.files_steps import FILES_IN_FOLDER, STEPS, FilesFolder, StepFigures
from research.benchmarks.photos import png_of_few_colours

LIMIT_GROWTH = 1.3
"""Time per image in the largest collection, relative to the smallest."""

_SIZES = 4_000
"""Pictures get up to so many trailing bytes, so that file sizes differ as those of photos."""


@dataclass(frozen=True)
class FilesRun:
    """All steps with one number of images."""

    images: int
    project_bytes: int
    steps: tuple[StepFigures, ...]


@dataclass(frozen=True)
class FilesFigures:
    """Runs of several numbers of images, the smallest first.

    Attributes:
        runs: of each number.
        limit_growth: limit of `growth`.
    """

    runs: tuple[FilesRun, ...]
    limit_growth: float = LIMIT_GROWTH

    @property
    def growth(self) -> dict[str, float]:
        """Processor time per image in the last run over that in the first, by step."""
        first, last = self.runs[0], self.runs[-1]
        share = first.images / last.images
        return {
            small.name: large.cpu_s / max(small.cpu_s, 1e-3) * share
            for small, large in zip(first.steps, last.steps, strict=True)
        }

    @property
    def are_kept(self) -> bool:
        """Whether no step costs more per image in a larger collection."""
        return all(map(self.is_kept, self.growth))

    def is_kept(self, name: str) -> bool:
        """Whether a step is within the limit."""
        return self.growth[name] <= self.limit_growth

    def fields(self) -> dict[str, Any]:
        """Fields for JSON."""
        return {**asdict(self), "growth": self.growth, "are_kept": self.are_kept}


def measure_files(counts: Sequence[int] = (100_000,), *, only: Sequence[str] = ()) -> FilesFigures:
    """Make small files in many folders and run each step on them.

    Args:
        counts: numbers of images; each takes some 5 kB of disk while this runs.
        only: names of the steps to report; steps that these depend on run, too. By default all.

    Raises:
        ProtoleafError: a process failed; the message has the reason.
    """
    return FilesFigures(tuple(_run(count, only) for count in sorted(counts)))


def _run(count: int, only: Sequence[str]) -> FilesRun:
    with scratch_folder() as folder:
        place = FilesFolder(folder)
        _make_files(place.images, count)
        steps = tuple(_steps(place, only))
        return FilesRun(count, place.project.stat().st_size, steps)


def _make_files(folder: Path, count: int) -> None:
    """Write `count` pictures of a few hundred bytes, each with different content."""
    picture = png_of_few_colours(16, 16)
    for number in range(count):
        inner = folder / f"{number // FILES_IN_FOLDER:04d}"
        if number % FILES_IN_FOLDER == 0:
            inner.mkdir(parents=True)
        with create_file(inner / f"image-{number:07d}.png") as file:
            file.write(picture + b"%d" % number + bytes(number * 7919 % _SIZES))


def _steps(place: FilesFolder, only: Sequence[str]) -> Iterator[StepFigures]:
    for name, step in STEPS.items():
        if only and name not in only and not step.is_needed:
            continue
        figures = _in_a_process(place, name)
        if not only or name in only:
            yield figures


def _in_a_process(place: FilesFolder, name: str) -> StepFigures:
    environment = {
        **os.environ,
        CACHE_VARIABLE: str(place.folder / "cache"),
        BACKUPS_VARIABLE: str(place.folder / "backups"),
        LOGS_VARIABLE: str(place.folder / "logs"),
    }
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-m", "research.benchmarks.files_steps", str(place.folder), name],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ProtoleafError(
            "the step “{name}” failed", found=done.stderr.strip()[-300:] or "no message", name=name
        )
    return StepFigures(**json.loads(done.stdout))
