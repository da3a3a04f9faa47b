"""Time of an iteration relative to the bare backbone, and of test tasks, for each method."""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from engine.events import OnProgress, ProgressMeter, ignore_progress
from engine.training.arithmetic import device_of, keep_freed_memory, number_type
from engine.training.level_wise import PrototypePropagation
from research.data_sets.statistics import PAPER
from research.data_sets.stored import FewShotData
from research.generated_data import LIKE_PAPER, GeneratedSize, generated_data
from research.methods import METHODS, PPN, PPN_PLUS, MethodSettings, make_objective
from research.reports.time_table import MeasuredTime, time_table
from research.speed_jobs import BareIteration, Refresh, TestTask, Timed, TrainingIteration

WARM_UP = 2
"""Rounds that are not timed."""

REFRESH_ROUNDS = 5
"""One round in so many also times a refresh of the buffer, which is slow."""

LIMIT_OVER_BARE = 1.05
LIMIT_OVER_FLOAT32 = 0.55

_BARE_FLOAT32 = "bare float32"
_BARE = "bare"
_REFRESH = "refresh"
_TEST = "test "

Seconds = Mapping[str, Sequence[float]]
"""Seconds of each job by round."""


class TimedWork(Protocol):
    """Work that each round times."""

    def prepared(self, number: int) -> Timed:
        """Prepare a round; return the timed call."""


@dataclass(frozen=True)
class SpeedFigures:
    """Medians over rounds in which everything was timed in turn; ratios are medians of ratios.

    Attributes:
        device: "cpu" or "cuda".
        threads: of torch.
        precision: the default one of the backbone here, "bfloat16" or "float32".
        side: of the trained images in pixels.
        images: mean number of images of a PPN iteration.
        rounds: that were timed.
        bare_float32_s: forward, backward and Adam of Conv4 alone on the same images, in float32 and
            with torch's defaults otherwise.
        bare_s: the same in the precision, memory layout and with the Adam that training has.
        ours_s: a whole iteration of PPN: draw, augmentation, forward, loss, backward, Adam; without
            the buffer.
        over_bare: `ours_s` over `bare_s`.
        over_bare_float32: `ours_s` over `bare_float32_s`.
        refresh_images: images of a refresh of the buffer with a training set of the paper's size.
        refresh_images_per_s: speed of a refresh.
        refresh_interval: iterations between two refreshes.
        times: seconds of an iteration and of a test task for each row of the table.
    """

    device: str
    threads: int
    precision: str
    side: int
    images: float
    rounds: int
    bare_float32_s: float
    bare_s: float
    ours_s: float
    over_bare: float
    over_bare_float32: float
    refresh_images: int
    refresh_images_per_s: float
    refresh_interval: int
    times: tuple[MeasuredTime, ...]

    @property
    def refresh_s(self) -> float:
        """Seconds of a refresh, divided by the iterations between two."""
        return self.refresh_images / self.refresh_images_per_s / self.refresh_interval

    @property
    def limit_over_float32(self) -> float | None:
        """Limit of `over_bare_float32` where the device is fast in bfloat16; else None."""
        return LIMIT_OVER_FLOAT32 if self.precision == "bfloat16" else None

    def as_text(self) -> str:
        """Lines for a terminal."""
        against_float32 = (
            "" if self.limit_over_float32 is None else f" (limit {self.limit_over_float32})"
        )
        total = self.ours_s + self.refresh_s
        return (
            f"Conv4 at {self.side} px, {self.images:.0f} images an iteration, {self.threads} "
            f"threads, {self.device}, "
            f"{self.precision}; medians of {self.rounds} rounds\n\n"
            f"bare backbone, float32      {self.bare_float32_s:9.4f} s\n"
            f"bare backbone, {self.precision:<13}{self.bare_s:9.4f} s\n"
            f"our iteration of PPN        {self.ours_s:9.4f} s   {self.over_bare:.2f} x bare "
            f"{self.precision} (limit "
            f"{LIMIT_OVER_BARE}), {self.over_bare_float32:.2f} x bare float32{against_float32}\n"
            f"refresh of the buffer       {self.refresh_s:9.4f} s   {self.refresh_images:,} "
            "images at "
            f"{self.refresh_images_per_s:,.0f} images/s, once in {self.refresh_interval} "
            "iterations\n"
            f"both                        {total:9.4f} s   {total / self.bare_s:.2f} x bare "
            f"{self.precision}, "
            f"{total / self.bare_float32_s:.2f} x bare float32\n\n"
            + time_table(self.times).as_text()
        )


def measure_speed(
    size: GeneratedSize = LIKE_PAPER,
    *,
    rounds: int = 20,
    threads: int | None = None,
    settings: MethodSettings | None = None,
    on_progress: OnProgress = ignore_progress,
) -> SpeedFigures:
    """Time training iterations and test tasks in turn on generated data, 5-way 1-shot by default.

    Args:
        size: of the data.
        rounds: timed ones, at least 1.
        threads: of torch; what torch takes by itself when None.
        settings: of everything that is trained.
        on_progress: called with the rounds.

    Returns:
        What was measured.
    """
    settings = settings or MethodSettings()
    training = settings.training
    device = device_of(training.device)
    data = generated_data(size, training.side)
    keep_freed_memory()
    with _threads(threads):
        jobs = _jobs(data, settings)
        seconds = _timed(jobs, rounds, device, on_progress)
        in_use = torch.get_num_threads()
    return SpeedFigures(
        device=device.type,
        threads=in_use,
        precision=str(number_type(training.precision, device)).removeprefix("torch."),
        side=training.side,
        images=statistics.fmean(_images(jobs[PPN], rounds)),
        rounds=rounds,
        bare_float32_s=statistics.median(seconds[_BARE_FLOAT32]),
        bare_s=statistics.median(seconds[_BARE]),
        ours_s=statistics.median(seconds[PPN]),
        over_bare=_ratio(seconds[PPN], seconds[_BARE]),
        over_bare_float32=_ratio(seconds[PPN], seconds[_BARE_FLOAT32]),
        refresh_images=images_behind_buffer(settings.propagation.buffer_images),
        refresh_images_per_s=int((~data.is_test).sum()) / statistics.median(seconds[_REFRESH]),
        refresh_interval=settings.propagation.refresh_epochs
        * settings.propagation.epoch_iterations,
        times=tuple(_times(seconds)),
    )


def images_behind_buffer(most_of_a_class: int | None) -> int:
    """Training images of WS-ImageNet-Pure that a refresh embeds.

    Args:
        most_of_a_class: of each class; all when None. The paper has the images of a level, not of a
            class: an even distribution is assumed.
    """
    levels = PAPER["pure"].values()
    if most_of_a_class is None:
        return sum(level.training_images for level in levels)
    return sum(
        min(level.training_images, most_of_a_class * level.training_classes) for level in levels
    )


def _jobs(data: FewShotData, settings: MethodSettings) -> dict[str, TimedWork]:
    """All timed work, in this order."""
    training, training_set = settings.training, data.training_set()
    objectives = {method: make_objective(method, training_set, settings) for method in METHODS}
    iterations = {
        name: TrainingIteration(each, training_set.pixels, training)
        for name, each in objectives.items()
    }
    ppn, images = objectives[PPN], iterations[PPN].images
    assert isinstance(ppn, PrototypePropagation), "the method PPN is one"
    refresh = Refresh(ppn, training_set.pixels, training.side)
    refresh.prepared(0)()  # with an empty buffer nothing would be propagated
    jobs: dict[str, TimedWork] = {
        _BARE_FLOAT32: BareIteration(
            replace(training, precision="float32"), images, is_tuned=False
        ),
        _BARE: BareIteration(training, images, is_tuned=True),
        PPN: iterations.pop(PPN),
        **iterations,
        _REFRESH: refresh,
    }
    for row in (*METHODS, PPN_PLUS):
        jobs[_TEST + row] = TestTask(
            row, data, objectives[PPN if row == PPN_PLUS else row], settings
        )
    return jobs


def _images(ppn: TimedWork, rounds: int) -> list[int]:
    """Images of each round's iteration."""
    assert isinstance(ppn, TrainingIteration)
    return [len(ppn.draw(number)[0].images) for number in range(WARM_UP, WARM_UP + rounds)]


def _timed(
    jobs: Mapping[str, TimedWork], rounds: int, device: torch.device, on_progress: OnProgress
) -> Seconds:
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    meter = ProgressMeter(WARM_UP + rounds, on_progress, unit="rounds")
    for number in range(WARM_UP + rounds):
        counts = number >= WARM_UP
        for name, job in jobs.items():
            if name == _REFRESH and (not counts or (number - WARM_UP) % REFRESH_ROUNDS):
                continue
            elapsed_s = _seconds_of(job.prepared(number), device)
            if counts:
                seconds[name].append(elapsed_s)
        meter.advance()
    return seconds


def _seconds_of(timed: Timed, device: torch.device) -> float:
    _finish(device)
    started_s = time.perf_counter()
    timed()
    _finish(device)
    return time.perf_counter() - started_s


def _finish(device: torch.device) -> None:
    """Synchronise the GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _ratio(ours: Sequence[float], peer: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(ours, peer, strict=True))


def _times(seconds: Seconds) -> Iterator[MeasuredTime]:
    for row in (*METHODS, PPN_PLUS):
        training = seconds[PPN if row == PPN_PLUS else row]
        yield MeasuredTime(
            row, statistics.median(training), statistics.median(seconds[_TEST + row])
        )


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
