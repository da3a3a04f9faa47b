"""Chooses the device that embeds: every candidate is tried on a tiny model, and a refusal always has a reason."""

import contextlib
import ctypes
import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.config import assets_folder
from engine.errors import ModelError, UsageError
from engine.inference.cuda_driver import find_cuda_device
from engine.inference.runtime import CPU_PROVIDER, CUDA_PROVIDER, open_session, run_session

DEVICES: Final = ("auto", "cpu", "cuda")
PROBE_MODEL: Final = "models/probe.onnx"
_PROBE_SHAPE: Final = (1, 3, 32, 32)
_PROBE_TOLERANCE: Final = 1e-2  # GPUs multiply in reduced precision; nonsense is off by far more


@dataclass(frozen=True)
class ProviderReport:
    """What trying one execution provider showed.

    Attributes:
        name: ONNX Runtime's name of the provider.
        device_name: for people: "CPU", "NVIDIA H200".
        works: whether the tiny model ran on it and gave the right numbers.
        reason: why not; empty when it works.
        seconds: time from nothing to the first result.
    """

    name: str
    device_name: str
    works: bool
    reason: str
    seconds: float


@dataclass(frozen=True)
class ProviderChoice:
    """The provider to use; `reason` says why a GPU is not used (empty when one is, or the CPU was asked for)."""

    provider: str
    device_name: str
    reason: str = ""

    @property
    def provider_names(self) -> tuple[str, ...]:
        """The provider and the CPU, which takes over operators that it lacks."""
        return tuple(dict.fromkeys((self.provider, CPU_PROVIDER)))

    @property
    def is_gpu(self) -> bool:
        """Whether work is done beside the CPU, so that decoding overlaps with it for free."""
        return self.provider != CPU_PROVIDER


def probe_providers() -> tuple[ProviderReport, ...]:
    """Try every execution provider that this program can use, the preferred one first."""
    return (_probe_cuda(), _probe_cpu())


def choose_providers(device: str = "auto") -> ProviderChoice:
    """Choose where to run.

    Args:
        device: "cpu", "cuda", or "auto": a GPU that works, else the CPU.

    Raises:
        UsageError: there is no such device.
        ModelError: "cuda" was asked for and does not work here; says why.
    """
    if device not in DEVICES:
        raise UsageError("there is no such device", expected=", ".join(DEVICES), found=device)
    if device == "cpu":
        return ProviderChoice(CPU_PROVIDER, "CPU")
    report = _probe_cuda()
    if report.works:
        return ProviderChoice(CUDA_PROVIDER, report.device_name)
    if device == "cuda":
        raise ModelError(f"no GPU can be used: {report.reason}", remedy="use the device auto or cpu")
    return ProviderChoice(CPU_PROVIDER, "CPU", report.reason)


def _probe_cpu() -> ProviderReport:
    return _timed(CPU_PROVIDER, "CPU", lambda: _try_provider(CPU_PROVIDER))


def _probe_cuda() -> ProviderReport:
    import onnxruntime

    if CUDA_PROVIDER not in onnxruntime.get_available_providers():
        return ProviderReport(CUDA_PROVIDER, "", False, "the installed ONNX Runtime is built without CUDA", 0.0)
    device = find_cuda_device()
    if not device.name:
        return ProviderReport(CUDA_PROVIDER, "", False, device.reason, 0.0)
    return _timed(CUDA_PROVIDER, device.name, _try_cuda)


def _timed(provider: str, device_name: str, attempt: Callable[[], str]) -> ProviderReport:
    started_s = time.perf_counter()
    reason = attempt()
    return ProviderReport(provider, device_name, not reason, reason, time.perf_counter() - started_s)


def _try_cuda() -> str:
    import onnxruntime

    # The loader prints its findings; standard output may be a channel of events, so they are caught.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(OSError, RuntimeError):
        onnxruntime.preload_dlls()
    reason = _try_provider(CUDA_PROVIDER)
    return (_missing_library() or reason) if reason else ""


def _try_provider(provider: str) -> str:
    """Run the tiny model; return why it does not work, or nothing when it does."""
    model = assets_folder() / PROBE_MODEL
    try:
        result, expected = _probe_result(model, provider), _probe_result(model, CPU_PROVIDER)
    except ModelError as error:
        return str(error)
    if not np.allclose(result, expected, rtol=_PROBE_TOLERANCE, atol=_PROBE_TOLERANCE):
        return f"{provider} gives wrong numbers"
    return ""


def _probe_result(model: Path, provider: str) -> NDArray[np.float32]:
    session = open_session(model, provider)
    images = np.linspace(-1, 1, int(np.prod(_PROBE_SHAPE)), dtype=np.float32).reshape(_PROBE_SHAPE)
    return run_session(session, {session.get_inputs()[0].name: images})[0]


def _missing_library() -> str:
    """Name the library that ONNX Runtime's CUDA part cannot find; empty when all are there."""
    import onnxruntime

    name = "onnxruntime_providers_cuda.dll" if sys.platform == "win32" else "libonnxruntime_providers_cuda.so"
    try:
        ctypes.CDLL(str(Path(onnxruntime.__file__).parent / "capi" / name))
    except OSError as error:
        # "undefined symbol" only means that it was loaded alone, without its host
        return "" if "undefined symbol" in str(error) else f"a CUDA library is missing: {error}"
    return ""
