"""Embedding on a GPU: end to end, decoding alone, the network alone, and agreement with CPU."""

import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.runtime.backbone import BackboneSession
from engine.runtime.backbone_input import Preparation, input_output, pooled
from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER
from engine.runtime.devices.gather import query_driver
from engine.runtime.devices.settings import DeviceSettings, provider_options
from engine.runtime.eight_bit import cosines
from engine.runtime.sessions import BoundRuns, open_session, plain_run, usable_cores
from research.benchmarks.device_settings import read_settings
from research.benchmarks.photos import KINDS, draw_photos
from research.benchmarks.rates import RateTriple, decode_all, measure_rates
from research.gpu_report.networks import (
    ACCURATE,
    FAST,
    NETWORKS,
    VIT,
    Network,
    device_choice,
    network,
    scratch_path,
)
from research.gpu_report.part import Measurement
from research.gpu_report.rows import Detail, NotMeasuredError, ReportRow
from research.gpu_report.sizes import Sizes
from research.gpu_report.timing import median_s

SWITCHES = (
    "batch=32",
    "batch=64",
    "batch=256",
    "batch=512",
    "channels_last=yes",
    "cuda_graphs=yes",
    "tf32=no",
    "io_binding=no",
    "spare_memory=no",
    "algorithm_search=EXHAUSTIVE",
)
SWITCHES_OF_VIT = ("batch=256", "batch=512", "cuda_graphs=yes", "tf32=no")
_MIB = 2**20
_SLOWER = 4
"""Divisor of the number of photos for the vision transformer on the CPU."""


def measurements(sizes: Sizes) -> Sequence[Measurement]:
    """End to end by each device, then the network alone with each CUDA switch; slowest last."""
    devices = [
        *((name, device) for name in (FAST, ACCURATE) for device in ("cuda", "cpu")),
        (VIT, "cuda"),
    ]
    last = [(VIT, "cpu"), *((name, "tensorrt") for name in NETWORKS)]
    switched = [(name, switch) for switch in ("defaults", *SWITCHES) for name in (FAST, ACCURATE)]
    switched += [(VIT, switch) for switch in ("defaults", *SWITCHES_OF_VIT)]
    return [
        *(_measurement(name, device, sizes) for name, device in devices),
        *(
            Measurement(
                f"{name} by cuda: network with {switch}", partial(_with_switch, name, switch, sizes)
            )
            for name, switch in switched
        ),
        *(_measurement(name, device, sizes) for name, device in last),
    ]


def _measurement(name: str, device: str, sizes: Sizes) -> Measurement:
    return Measurement(f"{name} by {device}: end to end", partial(_end_to_end, name, device, sizes))


@cache
def _photos(copies: int, pictures: int) -> tuple[Path, ...]:
    """Photos of 500 x 375 pixels, each with different content."""
    kind = replace(KINDS["small"], pictures=pictures, copies=copies)
    return tuple(draw_photos(scratch_path() / "photos", kind))


def _used_mib() -> float | None:
    """GPU memory in use by all programs; None where the driver does not report it."""
    device = query_driver().device
    return (
        None
        if device is None or device.free_bytes is None
        else (device.memory_bytes - device.free_bytes) / _MIB
    )


def _end_to_end(name: str, device: str, sizes: Sizes) -> ReportRow:
    choice = device_choice(device)
    most = None if choice.is_gpu else sizes.cpu_photos // (_SLOWER if name == VIT else 1)
    files = _photos(sizes.copies, sizes.pictures)[:most]
    before = _used_mib()
    made = network(name)
    session = BackboneSession(made.file, made.card, choice)
    images = decode_all(files, made.card, workers=session.parallel_runs)
    rates = _median_rates([measure_rates(files, images, session) for _round in range(4)][1:])
    after = _used_mib()
    if session.notice:
        raise NotMeasuredError(session.notice)
    found = session.embed(images[: sizes.compared])
    details: dict[str, Detail] = {
        "decoding alone": rates.decode,
        "network alone": rates.inference,
        "share of the smaller": rates.share_of_limit,
        "preparing pixels alone": _prepared_per_s(images, session, sizes.rounds),
        "cosine with the CPU in float32, smallest": float(
            cosines(found, _on_cpu(made, images[: sizes.compared])).min()
        ),
        "batch": session.batch_size,
        "workers": session.parallel_runs,
        "cores": usable_cores(),
        "files": len(files),
        "eight bits": session.is_eight_bit,
    }
    if choice.is_gpu and before is not None and after is not None:
        details["GPU memory, MiB"] = after - before
    return ReportRow("", rates.pipeline, "images/s", details)


def _median_rates(rounds: Sequence[RateTriple]) -> RateTriple:
    return RateTriple(
        decode=statistics.median(one.decode for one in rounds),
        inference=statistics.median(one.inference for one in rounds),
        pipeline=statistics.median(one.pipeline for one in rounds),
    )


def _prepared_per_s(images: NDArray[np.uint8], session: BackboneSession, rounds: int) -> float:
    """Images a second from pixels to float32 input, on the threads of a session."""
    preparation, batch = Preparation(session.card), session.batch_size
    parts = [images[start : start + batch] for start in range(0, len(images), batch)]
    with ThreadPoolExecutor(session.parallel_runs) as pool:
        return len(images) / median_s(lambda: list(pool.map(preparation.prepare, parts)), rounds)


def _on_cpu(made: Network, images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Embeddings by the CPU in float32, never by the 8-bit companion."""
    session = open_session(made.file, CPU_PROVIDER)
    ends = input_output(session, made.card)
    prepared = Preparation(made.card).prepare(images).astype(ends.input_type, copy=False)
    return pooled(plain_run(session, ends.input_name, ends.output_name)(prepared), made.card)


def _with_switch(name: str, switch: str, sizes: Sizes) -> ReportRow:
    """The network alone: with inputs copied to the GPU each time, and with resident inputs."""
    choice = device_choice("cuda")
    settings = read_settings(() if switch == "defaults" else (switch,))
    made = network(name)
    choice = replace(choice, settings=settings)
    before = _used_mib()
    session = BackboneSession(made.file, made.card, choice)
    batch, side = session.batch_size, made.card.input_side
    images = np.random.default_rng(0).integers(0, 256, (batch, side, side, 3), dtype=np.uint8)
    one_s = median_s(lambda: session.embed(images), sizes.rounds)
    if session.notice:
        raise NotMeasuredError(session.notice)
    after = _used_mib()
    details: dict[str, Detail] = {
        "batch": batch,
        "one worker with preparing and copies, images/s": batch / one_s,
        "cosine with the CPU in float32, smallest": float(
            cosines(
                session.embed(images[: sizes.compared]), _on_cpu(made, images[: sizes.compared])
            ).min()
        ),
    }
    if before is not None and after is not None:
        details["GPU memory, MiB"] = after - before
    return ReportRow(
        "",
        batch / resident_run_s(made.file, made, settings, batch, sizes.rounds),
        "images/s",
        details,
    )


def resident_run_s(
    file: Path, made: Network, settings: DeviceSettings, batch: int, rounds: int
) -> float:
    """Seconds of one run of a network on the GPU whose input and output stay there.

    Args:
        file: the network, or another one with the same input and output.
        made: the same network with its card.
        settings: switches of the device.
        batch: images of a run.
        rounds: timed rounds.
    """
    options = provider_options(CUDA_PROVIDER, settings)
    session = open_session(file, CUDA_PROVIDER, provider_options=options)
    ends = input_output(session, made.card)
    runs = BoundRuns(
        session,
        ends.input_name,
        ends.output_name,
        batch,
        memory="cuda",
        is_fixed=settings.cuda_graphs,
    )
    side = made.card.input_side
    images = np.random.default_rng(0).integers(0, 256, (batch, side, side, 3), dtype=np.uint8)
    prepared = Preparation(made.card).prepare(images).astype(ends.input_type, copy=False)
    runs(prepared)
    with runs._buffers(prepared) as buffers:  # noqa: SLF001 (the same buffers as in the product, without the copies)

        def work() -> None:
            session.run_with_iobinding(buffers.binding)
            buffers.binding.synchronize_outputs()

        return median_s(work, 4 * rounds)
