"""Why a device cannot be used: before it is tried, by the facts; and after it was tried, by what happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from engine.runtime.devices.facts import (
    COREML_PROVIDER,
    CUDA_PROVIDER,
    DIRECTML_PROVIDER,
    PROVIDERS,
    TENSORRT_PROVIDER,
    GpuFacts,
    Reason,
    Version,
)
from engine.runtime.devices.gather import needed_for_cuda, needed_for_tensorrt

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
    message: str = ""  # error of the library
    is_wrong: bool = False  # it ran, with wrong numbers
    signal: int = 0  # number of the signal that killed the child process, or its exit status; 0 when it ended well
    timed_out_s: float = 0.0  # how long was waited in vain; 0 when it answered
    seconds: float = 0.0  # from nothing to the first result


def why_not(device: str, facts: GpuFacts) -> Reason | None:
    """Why a device cannot work here, by the facts alone; None when it is worth a try."""
    if device == "cpu":
        return None
    if device in _SYSTEM_OF:
        return _why_not_system_device(device, facts)
    return why_not_cuda(facts) or (_why_not_tensorrt(facts) if device == "tensorrt" else None)


def _why_not_tensorrt(facts: GpuFacts) -> Reason | None:
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


def _why_not_system_device(device: str, facts: GpuFacts) -> Reason | None:
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
    if attempt.timed_out_s:
        return Reason(
            "no_answer",
            f"the trial gave no result within {attempt.timed_out_s:.0f} s",
            "try again: the first start reads large libraries from the disk; embedding itself waits longer",
        )
    if attempt.signal:
        return Reason(
            "crashed",
            f"the trial process died (status {attempt.signal})",
            "update the driver of the GPU and ONNX Runtime; until then the CPU does the work",
        )
    if attempt.is_wrong:
        return Reason(
            "wrong_numbers",
            f"its results differ from those of the CPU ({attempt.message})",
            "update the driver of the GPU; it is not used until then",
        )
    if is_out_of_memory(attempt.message):
        gpu = facts.driver.device
        free = f" ({gpu.free_bytes / 2**20:,.0f} MiB free)" if gpu and gpu.free_bytes is not None else ""
        return Reason(
            "out_of_memory",
            f"the memory of the GPU is full{free}",
            "close other programs that use the GPU; `nvidia-smi` lists them",
        )
    words = f"{PROVIDERS[device]} fails: {attempt.message or 'without a message'}"
    return Reason("probe_failed", words, "use the device cpu, and tell us this line")


def remedy_by_name(remedy: str) -> str:
    """What to do where the device was requested by name: take another, or do what helps this one."""
    if remedy.startswith("use the device"):
        return remedy
    if remedy.startswith(USE_THE_CPU):
        return _ANOTHER_DEVICE + remedy.removeprefix(USE_THE_CPU)
    return f"{_ANOTHER_DEVICE}, or {remedy}"


def is_out_of_memory(message: str) -> bool:
    """Whether a library's message says that the memory of the device is too small."""
    lowered = message.lower()
    return any(sign in lowered for sign in _MEMORY_SIGNS)


_DRIVER_FOR: Final = {12: "525", 13: "580"}  # first driver branch that serves a CUDA major version
_CAPABILITY_FOR: Final[dict[int, Version]] = {12: (6, 0), 13: (7, 5)}  # oldest GPUs that the packages are built for
_DRIVER_PAGE: Final = "from nvidia.com/drivers or with your system's package manager"
USE_THE_CPU: Final = "nothing needs to be done: the CPU does the work"
"""True where the program chooses the device; the CPU does not step in for one that was requested by name."""
# CUresult, from cuda.h.
_NO_DEVICE: Final = 100

_STATUS: Final = {
    2: ("the GPU has no memory left", "close other programs that use the GPU"),
    34: (
        "the driver library that was found is a stub for building programs, not the driver",
        "take the CUDA toolkit's folder “stubs” off LD_LIBRARY_PATH",
    ),
    46: (
        "another program holds the GPU for itself alone",
        "end that program, or set the GPU's compute mode back with `nvidia-smi -c 0`",
    ),
    802: (
        "the NVIDIA driver says that its GPUs are not ready yet",
        "start the service nvidia-fabricmanager, or wait for it",
    ),
    803: (
        "the NVIDIA driver and its library have different versions, as after an update",
        "restart the computer",
    ),
    804: (
        "the CUDA compatibility library does not serve this GPU",
        "take the package cuda-compat away, or update the NVIDIA driver itself",
    ),
}
"""Words and remedy for answers of the driver other than "ready"."""


def why_not_cuda(facts: GpuFacts) -> Reason | None:
    """The first cause for which CUDA cannot work here, furthest from the program first; None when it is worth a try."""
    return next(chain(_of_computer(facts), _of_access(facts), _of_versions(facts), _of_packages(facts)), None)


def _of_computer(facts: GpuFacts) -> Iterator[Reason]:
    """No CUDA on this system, no GPU in this computer or container, or no driver."""
    driver, has_hardware = facts.driver, facts.has_nvidia_hardware
    if facts.system not in {"linux", "win32"}:
        system = {"darwin": "macOS"}.get(facts.system, facts.system)
        yield Reason("unsupported_system", f"CUDA does not exist on {system}", "use the device auto")
    if facts.is_container and not (facts.device_nodes or facts.is_wsl) and (facts.kernel_driver or has_hardware):
        yield Reason(
            "container_without_gpus",
            "this is a container that was started without the computer's GPU",
            "install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`",
        )
    if driver.is_installed:
        return
    if has_hardware is False and not facts.is_wsl:
        hint = "; in a container, a GPU of the computer shows with `--gpus all`" if facts.is_container else ""
        yield Reason(
            "no_gpu",
            f"this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({driver.library} was not found)",
            USE_THE_CPU + hint,
        )
    seen = " although an NVIDIA GPU is in this computer" if has_hardware else ""
    where = "on Windows itself, not inside WSL" if facts.is_wsl else _DRIVER_PAGE
    needed = f" (version {_driver_for(facts)} or later)" if _driver_for(facts) else ""
    yield Reason(
        "no_driver",
        f"no NVIDIA driver is installed{seen} ({driver.library} was not found)",
        f"install the NVIDIA driver{needed} {where}, and restart",
    )


def _of_access(facts: GpuFacts) -> Iterator[Reason]:
    """The driver is there and offers no GPU."""
    driver, value = facts.driver, facts.visible_devices
    closed = [node.path for node in facts.device_nodes if not node.is_accessible]
    if closed and not driver.device_count:
        yield Reason(
            "no_permission",
            f"this user may not use the GPU: no permission on {', '.join(closed)}",
            "add the user to the group that owns these files (often “video” or “render”) and log in again",
        )
    if value is not None and not driver.device_count:
        shown = f"is “{value}”" if value.strip() else "is empty"
        yield Reason(
            "hidden_by_environment",
            f"the variable CUDA_VISIBLE_DEVICES {shown} and leaves no GPU to this program",
            "unset CUDA_VISIBLE_DEVICES, or set it to 0",
        )
    if driver.status not in {0, _NO_DEVICE}:
        words = f"the NVIDIA driver answers with error {driver.status}"
        default = (words, "restart the computer; then update the NVIDIA driver")
        yield Reason("driver_not_ready", *_STATUS.get(driver.status, default))
    if not driver.device_count:
        yield Reason(
            "no_device",
            "the NVIDIA driver finds no GPU",
            "see whether the GPU sits and is powered well, and whether `nvidia-smi` lists it",
        )


def _of_versions(facts: GpuFacts) -> Iterator[Reason]:
    """Driver or GPU are older than what ONNX Runtime was built for."""
    found, major, device = facts.driver.cuda_version, facts.cuda_major, facts.driver.device
    if major and found[0] and found[0] < major:
        version = f"driver {facts.driver.version}, " if facts.driver.version else ""
        yield Reason(
            "driver_too_old",
            f"the NVIDIA driver is too old: found {version}for CUDA {_dotted(found)}, needed "
            f"driver {_driver_for(facts)} or later, for CUDA {major}",
            f"update the NVIDIA driver to {_driver_for(facts)} or later {_DRIVER_PAGE}",
        )
    needed = _CAPABILITY_FOR.get(major, (0, 0))
    if device is not None and (0, 0) != device.capability < needed:
        older = "install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU"
        yield Reason(
            "capability_too_low",
            f"{device.name} has compute capability {_dotted(device.capability)}; packages for CUDA {major} "
            f"need {_dotted(needed)} or higher",
            older if major > 12 else USE_THE_CPU,  # noqa: PLR2004 (the major version that the remedy names)
        )


def _of_packages(facts: GpuFacts) -> Iterator[Reason]:
    """ONNX Runtime was built without CUDA, or lacks libraries."""
    major, others = facts.cuda_major, [name for name in facts.packages if name != "onnxruntime-gpu"]
    if CUDA_PROVIDER not in facts.providers and "onnxruntime-gpu" in facts.packages and others:
        both = " and ".join(("onnxruntime-gpu", *others))
        yield Reason(
            "both_packages",
            f"{both} are both installed; they share one folder, and the one without CUDA won",
            f"pip uninstall {' '.join(facts.packages)}, then pip install onnxruntime-gpu",
        )
    if CUDA_PROVIDER not in facts.providers:
        yield Reason(
            "wrong_package",
            f"{others[0] if others else 'the ONNX Runtime that is installed'} is built without CUDA",
            f"pip uninstall {' '.join(others) or 'onnxruntime'}, then pip install onnxruntime-gpu",
        )
    found = _cuda_majors(facts)
    if major and found and major not in found:
        yield Reason(
            "other_cuda",
            f"CUDA {' and '.join(map(str, found))} libraries were found, but this ONNX Runtime is built for CUDA "
            f"{major}",
            f'pip install "onnxruntime-gpu[cuda,cudnn]" brings CUDA {major} libraries, which may lie beside the others',
        )
    needed = needed_for_cuda(major, facts.system) if major else ()
    if missing := [library for library in needed if library.file not in facts.libraries]:
        names = " and ".join(f"{library.name} ({library.file})" for library in missing)
        packages = " ".join(dict.fromkeys(library.package for library in missing))
        yield Reason("library_missing", f"a library is missing: {names}", f"pip install {packages}")


def _cuda_majors(facts: GpuFacts) -> list[int]:
    """Major versions of the CUDA whose cuBLAS was found."""
    cublas = {major: needed_for_cuda(major, facts.system)[0].file for major in range(10, 20)}
    return [major for major, file in cublas.items() if file in facts.libraries]


def _driver_for(facts: GpuFacts) -> str:
    return _DRIVER_FOR.get(facts.cuda_major, "")


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
