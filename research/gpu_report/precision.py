"""Networks alone in reduced precision: in torch, and as a float16 file in ONNX Runtime."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.runtime.devices.settings import DeviceSettings
from engine.runtime.eight_bit import cosines
from engine.runtime.half_precision import write_half
from engine.training.thawed.network import thawed
from research.gpu_report.embedding import resident_run_s
from research.gpu_report.networks import (
    ACCURATE,
    FAST,
    NETWORKS,
    VIT,
    device_choice,
    network,
    scratch_path,
    torch_gpu,
    vision_transformer,
)
from research.gpu_report.part import Measurement
from research.gpu_report.rows import Detail, ReportRow
from research.gpu_report.sizes import Sizes
from research.gpu_report.timing import median_s, no_wait

_MIB = 2**20
MODES = ("float32", "TF32", "bfloat16 autocast", "float16 autocast")
WHOLE = ("bfloat16", "float16")
"""Modes in which weights are cast, too."""
HALF_SWITCHES = (
    DeviceSettings(),
    DeviceSettings(channels_last=True),
    DeviceSettings(cuda_graphs=True),
)


def measurements(sizes: Sizes) -> Sequence[Measurement]:
    """Each network in each precision, and the CPU in float32."""
    planned = []
    for name in NETWORKS:
        planned += [
            Measurement(
                f"{name} in torch on the GPU: {mode}", partial(_in_torch, name, mode, sizes)
            )
            for mode in MODES + WHOLE
        ]
        planned.append(
            Measurement(
                f"{name} in torch on the CPU: float32", partial(_in_torch_on_cpu, name, sizes)
            )
        )
    for name in (FAST, ACCURATE, VIT):
        planned += [
            Measurement(
                f"{name} by cuda as a float16 file: {_named(switches)}",
                partial(_half_file, name, switches, sizes),
            )
            for switches in HALF_SWITCHES
        ]
    return planned


def _named(settings: DeviceSettings) -> str:
    return (
        "channels last"
        if settings.channels_last
        else "CUDA graphs"
        if settings.cuda_graphs
        else "defaults"
    )


def _module(name: str) -> nn.Module:
    """A torch network: of its ONNX graph, or timm's own."""
    return vision_transformer() if name == VIT else thawed(network(name).file).eval()


def _images(name: str, count: int) -> Tensor:
    """Random images (count, 3, side, side) float32, distributed as the network's inputs."""
    side = 224 if name == VIT else network(name).card.input_side
    return torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(0))


@contextmanager
def tensor_float(is_on: bool) -> Iterator[None]:
    """Allow float32 products and convolutions on tensor cores with a 10-bit mantissa (TF32)."""
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_on
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


def _in_torch(name: str, mode: str, sizes: Sizes) -> ReportRow:
    device = torch_gpu()
    kind = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(mode, torch.float32)
    images = _images(name, sizes.batch)
    module = _module(name)
    expected = _expected(name, sizes.compared)
    module.to(device, kind, memory_format=torch.channels_last)  # type: ignore[call-overload]
    placed = images.to(device, kind).contiguous(memory_format=torch.channels_last)
    torch.cuda.reset_peak_memory_stats()
    low = torch.bfloat16 if mode.startswith("bfloat16") else torch.float16
    with tensor_float(mode == "TF32"), torch.autocast("cuda", low, enabled="autocast" in mode):
        found = _embedded(module, placed[: sizes.compared])
        seconds = median_s(
            lambda: _embedded_there(module, placed), 4 * sizes.rounds, torch.cuda.synchronize
        )
    details: dict[str, Detail] = {
        "batch": sizes.batch,
        "cosine with the CPU in float32, smallest": float(
            cosines(found.numpy(), expected.numpy()).min()
        ),
        "GPU memory, MiB": torch.cuda.max_memory_allocated() / _MIB,
    }
    return ReportRow("", sizes.batch / seconds, "images/s", details)


def _in_torch_on_cpu(name: str, sizes: Sizes) -> ReportRow:
    module, images = _module(name), _images(name, sizes.cpu_batch)
    seconds = median_s(lambda: _embedded_there(module, images), sizes.rounds, no_wait)
    return ReportRow(
        "",
        sizes.cpu_batch / seconds,
        "images/s",
        {"batch": sizes.cpu_batch, "threads": torch.get_num_threads()},
    )


@cache
def _expected(name: str, count: int) -> Tensor:
    """Embeddings by the CPU in float32 of the first of the random images."""
    return _embedded(_module(name), _images(name, count))


@torch.inference_mode()
def _embedded_there(module: nn.Module, images: Tensor) -> Tensor:
    found: Tensor = module(images)
    return found.flatten(1)


def _embedded(module: nn.Module, images: Tensor) -> Tensor:
    return _embedded_there(module, images).float().cpu()


def _half_file(name: str, settings: DeviceSettings, sizes: Sizes) -> ReportRow:
    """The mixed form of a file: layers in float16, pooling and both ends in float32."""
    device_choice("cuda")
    made, batch = network(name), min(sizes.batch, 128)
    file = scratch_path() / f"{name}.half.onnx"
    if not file.exists():
        write_half(made.file, file)
    seconds = resident_run_s(file, made, settings, batch, sizes.rounds)
    agreement = half_agreement(made.file, file, name, sizes.compared)
    return ReportRow(
        "",
        batch / seconds,
        "images/s",
        {"batch": batch, "cosine with the CPU in float32, smallest": agreement},
    )


def half_agreement(file: Path, half: Path, name: str, count: int) -> float:
    """Smallest cosine between a float16 file on the GPU and its original on the CPU."""
    from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER

    images = np.asarray(_images(name, count))
    found, expected = (
        _run(path, kind, images) for path, kind in ((half, CUDA_PROVIDER), (file, CPU_PROVIDER))
    )
    return float(cosines(found, expected).min())


def _run(file: Path, provider: str, images: NDArray[np.float32]) -> NDArray[np.float32]:
    from engine.runtime.sessions import open_session, run_session

    session = open_session(file, provider)
    return run_session(session, {session.get_inputs()[0].name: images})[0]
