"""Training a backbone: a PPN iteration and the bare network, in each precision and layout."""

from collections.abc import Callable, Sequence
from functools import cache, partial

import torch

from engine.training.arithmetic import keep_freed_memory
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import place
from engine.training.settings import Precision, TrainingSettings
from research.data_sets.stored import FewShotData
from research.generated_data import GeneratedSize, generated_data
from research.gpu_report.networks import torch_gpu
from research.gpu_report.part import Measurement
from research.gpu_report.precision import tensor_float
from research.gpu_report.rows import Detail, ReportRow
from research.gpu_report.sizes import Sizes
from research.gpu_report.timing import median_s, no_wait
from research.methods import PPN, MethodSettings, make_objective
from research.speed_jobs import BareIteration, Refresh, TestTask, TrainingIteration

_ITERATIONS = 8
"""Iterations of a round, each of other images."""
_CYCLE = 64
"""Number of distinct draws, used in turn."""
BARE: tuple[tuple[str, Precision, bool, bool], ...] = (
    ("float32, as torch has it", "float32", False, False),
    ("float32, channels last, fused Adam", "float32", True, False),
    ("TF32, channels last, fused Adam", "float32", True, True),
    ("bfloat16, as torch has it", "bfloat16", False, True),
    ("bfloat16, channels last, fused Adam", "bfloat16", True, True),
)
"""Name, precision, whether layout and Adam are those of the loop, and TF32."""
OURS: tuple[tuple[str, Precision, bool], ...] = (
    ("float32", "float32", False),
    ("TF32", "float32", True),
    ("bfloat16", "bfloat16", True),
)

COMPILED: tuple[Precision, ...] = ("bfloat16", "float32")


def measurements(sizes: Sizes) -> Sequence[Measurement]:
    """The bare network, a PPN iteration, its parts, and compiled; then the CPU."""
    planned = []
    for device, where in (("cuda", "GPU"), ("cpu", "CPU")):
        bare, ours = (BARE, OURS) if device == "cuda" else (BARE[1::3], OURS[::2])
        planned += [
            Measurement(
                f"bare Conv4 on the {where}: {name}",
                partial(_bare, device, kind, tuned, tf32, sizes),
            )
            for name, kind, tuned, tf32 in bare
        ]
        planned += [
            Measurement(
                f"iteration of PPN on the {where}: {name}",
                partial(_ours, device, kind, tf32, sizes),
            )
            for name, kind, tf32 in ours
        ]
    planned += [
        Measurement("draw and augmentation alone, on the CPU", partial(_drawn, sizes)),
        Measurement("refresh of the buffer on the GPU", partial(_refresh, "cuda", sizes)),
        Measurement("refresh of the buffer on the CPU", partial(_refresh, "cpu", sizes)),
        Measurement("test task of PPN on the GPU", partial(_test_task, sizes)),
    ]
    return planned + _compiled(sizes)


def _compiled(sizes: Sizes) -> list[Measurement]:
    """Measurements with `torch.compile`, last, as compiling is slow."""
    return [
        Measurement(
            f"bare Conv4 on the GPU: {kind}, compiled",
            partial(_bare, "cuda", kind, True, True, sizes, compiles=True),
        )
        for kind in COMPILED
    ] + [
        Measurement(
            f"iteration of PPN on the GPU: {kind}, compiled",
            partial(_ours, "cuda", kind, True, sizes, compiles=True),
        )
        for kind in COMPILED[:1]
    ]


@cache
def _data(size: GeneratedSize, side: int) -> FewShotData:
    keep_freed_memory()
    return generated_data(size, side)


def _settings(
    device: str, precision: Precision, sizes: Sizes, *, compiles: bool = False
) -> MethodSettings:
    training = TrainingSettings(
        side=sizes.side, device=device, precision=precision, compiles=compiles
    )
    return MethodSettings(training=training)


def _iteration(
    settings: MethodSettings, sizes: Sizes
) -> tuple[PrototypePropagation, TrainingIteration]:
    """PPN on its device with a filled buffer, and its iteration."""
    data = _data(sizes.data, sizes.side)
    objective = make_objective(PPN, data.training_set(), settings)
    assert isinstance(objective, PrototypePropagation), "the method PPN is one"
    place(objective, settings.training)
    Refresh(objective, data.training_set().pixels, sizes.side).prepared(0)()
    return objective, TrainingIteration(objective, data.training_set().pixels, settings.training)


def _placed(device: str) -> tuple[str, bool]:
    """The device if it works, and whether it is a GPU."""
    if device == "cuda":
        torch_gpu()
    return device, device == "cuda"


def _row(seconds: float, images: float, is_gpu: bool) -> ReportRow:
    details: dict[str, Detail] = {"images": images, "images/s": images / seconds}
    if is_gpu:
        details["GPU memory, MiB"] = torch.cuda.max_memory_allocated() / 2**20
    else:
        details["threads"] = torch.get_num_threads()
    return ReportRow("", 1000 * seconds, "ms an iteration", details)


def _bare(
    device: str,
    precision: Precision,
    is_tuned: bool,
    tf32: bool,
    sizes: Sizes,
    *,
    compiles: bool = False,
) -> ReportRow:
    device, is_gpu = _placed(device)
    _objective, source = _iteration(_settings(device, precision, sizes), sizes)
    settings = _settings(device, precision, sizes, compiles=compiles)
    job = BareIteration(settings.training, source.images, is_tuned=is_tuned)
    prepared = [job.prepared(number) for number in range(_ITERATIONS)]
    images = sum(len(source.draw(number)[0].images) for number in range(_ITERATIONS)) / _ITERATIONS
    with tensor_float(tf32):
        seconds = (
            median_s(lambda: [work() for work in prepared], sizes.rounds, _finish(is_gpu))
            / _ITERATIONS
        )
    return _row(seconds, images, is_gpu)


def _ours(
    device: str, precision: Precision, tf32: bool, sizes: Sizes, *, compiles: bool = False
) -> ReportRow:
    device, is_gpu = _placed(device)
    _objective, iteration = _iteration(
        _settings(device, precision, sizes, compiles=compiles), sizes
    )
    numbers = iter(range(1_000_000))

    def work() -> None:
        for _ in range(_ITERATIONS):
            iteration.prepared(next(numbers) % _CYCLE)()

    images = sum(len(iteration.draw(number)[0].images) for number in range(_CYCLE)) / _CYCLE
    with tensor_float(tf32):
        seconds = median_s(work, sizes.rounds, _finish(is_gpu)) / _ITERATIONS
    return _row(seconds, images, is_gpu)


def _drawn(sizes: Sizes) -> ReportRow:
    _objective, iteration = _iteration(_settings("cpu", "float32", sizes), sizes)
    seconds = (
        median_s(lambda: [iteration.images(number) for number in range(_ITERATIONS)], sizes.rounds)
        / _ITERATIONS
    )
    return ReportRow("", 1000 * seconds, "ms an iteration", {"threads": torch.get_num_threads()})


def _refresh(device: str, sizes: Sizes) -> ReportRow:
    device, is_gpu = _placed(device)
    settings = _settings(device, "auto", sizes)
    objective, _iteration_of = _iteration(settings, sizes)
    pixels = _data(sizes.data, sizes.side).training_set().pixels
    seconds = median_s(
        Refresh(objective, pixels, sizes.side).prepared(0), sizes.rounds, _finish(is_gpu)
    )
    return ReportRow(
        "",
        len(pixels) / seconds,
        "images/s",
        {"images": len(pixels), "precision": str(objective.precision)},
    )


def _test_task(sizes: Sizes) -> ReportRow:
    torch_gpu()
    settings = _settings("cuda", "auto", sizes)
    objective, _iteration_of = _iteration(settings, sizes)
    task = TestTask(PPN, _data(sizes.data, sizes.side), objective.eval(), settings)
    prepared = [task.prepared(number) for number in range(_ITERATIONS)]
    seconds = (
        median_s(lambda: [work() for work in prepared], sizes.rounds, torch.cuda.synchronize)
        / _ITERATIONS
    )
    return ReportRow("", 1000 * seconds, "ms a task")


def _finish(is_gpu: bool) -> Callable[[], None]:
    return torch.cuda.synchronize if is_gpu else no_wait
