"""Why a device cannot be used: before it is tried, by the facts; and after it was tried, by what happened."""

from dataclasses import dataclass
from typing import Final

from engine.runtime.devices.cuda_reasons import USE_THE_CPU, why_not_cuda
from engine.runtime.devices.facts import GpuFacts, Reason
from engine.runtime.devices.libraries import needed_for_tensorrt
from engine.runtime.devices.names import COREML_PROVIDER, DIRECTML_PROVIDER, PROVIDERS, TENSORRT_PROVIDER

_MEMORY_SIGNS: Final = (
    "out of memory", "out_of_memory", "outofmemory", "alloc_failed", "failed to allocate", "bfcarena",
    "bad_alloc", "8007000e", "not enough memory", "cudaerrormemoryallocation",
)  # fmt: skip
_ANOTHER_DEVICE: Final = "use the device auto or cpu"
_SYSTEM_OF: Final = {"coreml": ("darwin", "CoreML", "macOS"), "directml": ("win32", "DirectML", "Windows")}
_PACKAGE_OF: Final = {"coreml": "onnxruntime", "directml": "onnxruntime-directml"}


@dataclass(frozen=True)
class Attempt:
    """How trying a device on the probe model ended."""

    works: bool  # it ran and its numbers are those of the CPU
    message: str = ""  # what the library said when it failed
    is_wrong: bool = False  # it ran, with wrong numbers
    signal: int = 0  # number of the signal that killed the child process, or its exit status; 0 when it ended well
    timed_out_s: float = 0.0  # how long was waited in vain; 0 when it answered
    seconds: float = 0.0  # from nothing to the first result


def why_not(device: str, facts: GpuFacts) -> Reason | None:
    """Why a device cannot work here, by the facts alone; None when it is worth a try."""
    if device == "cpu":
        return None
    if device in _SYSTEM_OF:
        return why_not_system_device(device, facts)
    return why_not_cuda(facts) or (why_not_tensorrt(facts) if device == "tensorrt" else None)


def why_not_tensorrt(facts: GpuFacts) -> Reason | None:
    """What TensorRT lacks where CUDA works."""
    if TENSORRT_PROVIDER not in facts.providers:
        return Reason(
            "no_tensorrt", "the ONNX Runtime that is installed is built without TensorRT", "use the device cuda"
        )
    needed = needed_for_tensorrt(facts.cuda_major, facts.system)
    missing = [library.file for library in needed if library.file not in facts.libraries]
    if not missing:
        return None
    return Reason(
        "no_tensorrt",
        f"TensorRT is not installed: {' and '.join(missing)} not found",
        f"pip install {needed[0].package}, or use the device cuda",
    )


def why_not_system_device(device: str, facts: GpuFacts) -> Reason | None:
    """CoreML belongs to macOS, DirectML to Windows, and each to a package of ONNX Runtime."""
    system, name, system_name = _SYSTEM_OF[device]
    if facts.system != system:
        return Reason("unsupported_system", f"{name} exists on {system_name} only", "use the device auto")
    if {"coreml": COREML_PROVIDER, "directml": DIRECTML_PROVIDER}[device] in facts.providers:
        return None
    return Reason(
        f"no_{device}",
        f"the ONNX Runtime that is installed is built without {name}",
        f"pip uninstall {' '.join(facts.packages) or 'onnxruntime-gpu'}, then pip install {_PACKAGE_OF[device]}",
    )


def why_failed(device: str, attempt: Attempt, facts: GpuFacts) -> Reason | None:
    """Why the trial of a device failed, although the facts spoke for it; None when it works."""
    if attempt.works:
        return None
    causes = (_timed_out, _crashed, _wrong_numbers, _out_of_memory)
    found = next((reason for cause in causes if (reason := cause(attempt, facts)) is not None), None)
    words = f"{PROVIDERS[device]} fails: {attempt.message or 'without a message'}"
    return found or Reason("probe_failed", words, "use the device cpu, and tell us this line")


def remedy_by_name(remedy: str) -> str:
    """What to do where the device was asked for by name: take another, or do what helps this one."""
    if remedy.startswith("use the device"):
        return remedy
    if remedy.startswith(USE_THE_CPU):
        return _ANOTHER_DEVICE + remedy.removeprefix(USE_THE_CPU)
    return f"{_ANOTHER_DEVICE}, or {remedy}"


def is_out_of_memory(message: str) -> bool:
    """Whether a library's message says that the memory of the device is too small."""
    lowered = message.lower()
    return any(sign in lowered for sign in _MEMORY_SIGNS)


def _timed_out(attempt: Attempt, _facts: GpuFacts) -> Reason | None:
    if not attempt.timed_out_s:
        return None
    return Reason(
        "no_answer",
        f"the trial gave no result within {attempt.timed_out_s:.0f} s",
        "try again: the first start reads large libraries from the disk; embedding itself waits longer",
    )


def _crashed(attempt: Attempt, _facts: GpuFacts) -> Reason | None:
    if not attempt.signal:
        return None
    return Reason(
        "crashed",
        f"the trial process died (status {attempt.signal})",
        "update the driver of the GPU and ONNX Runtime; until then the CPU does the work",
    )


def _wrong_numbers(attempt: Attempt, _facts: GpuFacts) -> Reason | None:
    if not attempt.is_wrong:
        return None
    return Reason(
        "wrong_numbers",
        f"its results differ from those of the CPU ({attempt.message})",
        "update the driver of the GPU; it is not used until then",
    )


def _out_of_memory(attempt: Attempt, facts: GpuFacts) -> Reason | None:
    if not is_out_of_memory(attempt.message):
        return None
    device = facts.driver.device
    free = f" ({device.free_bytes / 2**20:,.0f} MiB free)" if device and device.free_bytes is not None else ""
    return Reason(
        "out_of_memory",
        f"the memory of the GPU is full{free}",
        "close other programs that use the GPU; `nvidia-smi` lists them",
    )
