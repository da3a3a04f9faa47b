"""Why a device cannot be used: by the facts before it is tried, and by the outcome after."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from engine.runtime.devices.facts import (
    CUDA_PROVIDER,
    EXPERIMENTAL,
    PROVIDERS,
    GpuFacts,
    Reason,
    Version,
    make_reason,
)
from engine.runtime.devices.gather import needed_for_cuda
from engine.texts import Message, enumerated, listed, marked

_MEMORY_SIGNS = (
    "out of memory",
    "out_of_memory",
    "outofmemory",
    "alloc_failed",
    "failed to allocate",
    "bfcarena",
    "bad_alloc",
    "8007000e",
    "not enough memory",
    "cudaerrormemoryallocation",
)
_ANOTHER_DEVICE = Message("use the device auto or cpu")


@dataclass(frozen=True)
class Attempt:
    """How trying a device on the probe model ended."""

    works: bool  # it ran and its numbers are those of the CPU
    message: str = ""  # error of the library
    is_wrong: bool = False  # it ran, with wrong numbers
    signal: int = 0  # signal that killed the child process, or its exit status; 0 for a normal exit
    timed_out_s: float = 0.0  # how long was waited without an answer; 0 when it answered
    seconds: float = 0.0  # from nothing to the first result


def why_not(device: str, facts: GpuFacts) -> Reason | None:
    """Why a device cannot work here, by the facts alone; None when it is worth a try."""
    if device == "cpu":
        return None
    if device in {"cuda", "tensorrt"} and (reason := why_not_cuda(facts)) is not None:
        return reason
    if PROVIDERS[device] in facts.providers:
        return None
    return make_reason(
        "no_provider",
        "the ONNX Runtime that is installed is built without {name}",
        "use the device auto",
        name=EXPERIMENTAL[device],
    )


def why_failed(device: str, attempt: Attempt, facts: GpuFacts) -> Reason | None:
    """Why the trial of a device failed although the facts allowed it; None when it works."""
    if attempt.works:
        return None
    if attempt.timed_out_s:
        return make_reason(
            "no_answer",
            "the trial gave no result within {seconds:.0f} s",
            "try again: the first start reads large libraries from the disk; embedding itself "
            "waits longer",
            seconds=attempt.timed_out_s,
        )
    if attempt.signal:
        return make_reason(
            "crashed",
            "the trial process died (status {status})",
            "update the driver of the GPU and ONNX Runtime; until then the CPU is used",
            status=attempt.signal,
        )
    if attempt.is_wrong:
        return make_reason(
            "wrong_numbers",
            "its results differ from those of the CPU ({message})",
            "update the driver of the GPU; it is not used until then",
            message=attempt.message,
        )
    if is_out_of_memory(attempt.message):
        gpu = facts.driver.device
        words, free_bytes = "the memory of the GPU is full", gpu.free_bytes if gpu else None
        if free_bytes is not None:
            words = "the memory of the GPU is full ({free_mib:,.0f} MiB free)"
        return make_reason(
            "out_of_memory",
            words,
            "close other programs that use the GPU; `nvidia-smi` lists them",
            free_mib=(free_bytes or 0) / 2**20,
        )
    return make_reason(
        "probe_failed",
        "{provider} fails: {message}",
        "use the device cpu, and report this line",
        provider=PROVIDERS[device],
        message=attempt.message or Message("without a message"),
    )


def remedy_by_name(remedy: str) -> str:
    """Remedy where the device was requested by name: another device, or what helps this one."""
    if remedy.startswith("use the device"):
        return remedy
    if remedy == USE_THE_CPU:
        return _ANOTHER_DEVICE
    if (
        isinstance(remedy, Message) and remedy.fields.get("remedy") == USE_THE_CPU
    ):  # and a hint behind it
        return Message(remedy.template, {"remedy": _ANOTHER_DEVICE})
    return Message("{first}, or {remedy}", {"first": _ANOTHER_DEVICE, "remedy": remedy})


def is_out_of_memory(message: str) -> bool:
    """Whether a library's message reports too little device memory."""
    lowered = message.lower()
    return any(sign in lowered for sign in _MEMORY_SIGNS)


_DRIVER_FOR = {12: "525", 13: "580"}  # first driver branch that serves a CUDA major version
_CAPABILITY_FOR: dict[int, Version] = {12: (6, 0), 13: (7, 5)}
"""Oldest GPUs that the packages are built for."""
_DRIVER_PAGE = Message("from nvidia.com/drivers or with your system's package manager")
USE_THE_CPU = Message("nothing needs to be done: the CPU is used")
"""True for an automatic choice; for a device requested by name the CPU does not replace it."""
# CUresult, from cuda.h.
_NO_DEVICE = 100

_STATUS = {
    2: ("the GPU has no memory left", "close other programs that use the GPU"),
    34: (
        "the driver library that was found is a stub for building programs, not the driver",
        "remove the CUDA toolkit's folder “stubs” from LD_LIBRARY_PATH",
    ),
    46: (
        "another program has exclusive use of the GPU",
        "close that program, or reset the GPU's compute mode with `nvidia-smi -c 0`",
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
        "remove the package cuda-compat, or update the NVIDIA driver",
    ),
}
"""Words and remedy for answers of the driver other than "ready"."""
_OTHER_STATUS = (
    "the NVIDIA driver answers with error {status}",
    "restart the computer; then update the NVIDIA driver",
)


def why_not_cuda(facts: GpuFacts) -> Reason | None:
    """The first cause for which CUDA cannot work, the most fundamental first; None to try it."""
    return next(
        chain(_of_computer(facts), _of_access(facts), _of_versions(facts), _of_packages(facts)),
        None,
    )


def _of_computer(facts: GpuFacts) -> Iterator[Reason]:
    """No CUDA on this system, no GPU in this computer or container, or no driver."""
    driver, has_hardware = facts.driver, facts.has_nvidia_hardware
    if facts.system not in {"linux", "win32"}:
        system = {"darwin": "macOS"}.get(facts.system, facts.system)
        yield make_reason(
            "unsupported_system",
            "CUDA does not exist on {system}",
            "use the device auto",
            system=system,
        )
    if (
        facts.is_container
        and not (facts.device_nodes or facts.is_wsl)
        and (facts.kernel_driver or has_hardware)
    ):
        yield make_reason(
            "container_without_gpus",
            "this is a container that was started without the computer's GPU",
            "install the NVIDIA Container Toolkit on the computer and start the container with "
            "`--gpus all`",
        )
    if driver.is_installed:
        return
    if has_hardware is False and not facts.is_wsl:
        hint = Message(
            "{remedy}; a container needs `--gpus all` to use the computer's GPU",
            {"remedy": USE_THE_CPU},
        )
        yield make_reason(
            "no_gpu",
            "this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({library} was "
            "not found)",
            hint if facts.is_container else USE_THE_CPU,
            library=driver.library,
        )
    words = "no NVIDIA driver is installed ({library} was not found)"
    if has_hardware:
        words = (
            "no NVIDIA driver is installed although an NVIDIA GPU is in this computer "
            "({library} was not found)"
        )
    remedy = "install the NVIDIA driver {where}, and restart"
    if needed := _driver_for(facts):
        remedy = "install the NVIDIA driver (version {needed} or later) {where}, and restart"
    where = Message("on Windows itself, not inside WSL") if facts.is_wsl else _DRIVER_PAGE
    yield make_reason(
        "no_driver", words, remedy, library=driver.library, needed=needed, where=where
    )


def _of_access(facts: GpuFacts) -> Iterator[Reason]:
    """The driver is there and offers no GPU."""
    driver, value = facts.driver, facts.visible_devices
    closed = [node.path for node in facts.device_nodes if not node.is_accessible]
    if closed and not driver.device_count:
        yield make_reason(
            "no_permission",
            "this user may not use the GPU: no permission on {files}",
            "add the user to the group that owns these files (often “video” or “render”) and log "
            "in again",
            files=enumerated(closed),
        )
    if value is not None and not driver.device_count:
        words = "the variable CUDA_VISIBLE_DEVICES is empty and leaves no GPU to this program"
        if value.strip():
            words = (
                "the variable CUDA_VISIBLE_DEVICES is “{value}” and leaves no GPU to this program"
            )
        yield make_reason(
            "hidden_by_environment",
            words,
            "unset CUDA_VISIBLE_DEVICES, or set it to 0",
            value=value,
        )
    if driver.status not in {0, _NO_DEVICE}:
        words, remedy = _STATUS.get(driver.status, _OTHER_STATUS)
        yield make_reason("driver_not_ready", words, remedy, status=driver.status)
    if not driver.device_count:
        yield make_reason(
            "no_device",
            "the NVIDIA driver finds no GPU",
            "check that the GPU is seated and powered, and that `nvidia-smi` lists it",
        )


def _of_versions(facts: GpuFacts) -> Iterator[Reason]:
    """Driver or GPU are older than what ONNX Runtime was built for."""
    found, major, device = facts.driver.cuda_version, facts.cuda_major, facts.driver.device
    if major and found[0] and found[0] < major:
        words = (
            "the NVIDIA driver is too old: found driver {version}, for CUDA {found}, "
            "needed driver {needed} or later, for CUDA {major}"
            if facts.driver.version
            else "the NVIDIA driver is too old: found for CUDA {found}, "
            "needed driver {needed} or later, for CUDA {major}"
        )
        yield make_reason(
            "driver_too_old",
            words,
            "update the NVIDIA driver to {needed} or later {where}",
            version=facts.driver.version,
            found=_dotted(found),
            needed=_driver_for(facts),
            major=major,
            where=_DRIVER_PAGE,
        )
    needed = _CAPABILITY_FOR.get(major, (0, 0))
    if device is not None and (0, 0) != device.capability < needed:
        remedy = marked(
            "install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the "
            "CPU"
        )
        yield make_reason(
            "capability_too_low",
            "{device} has compute capability {found}; packages for CUDA {major} need {needed} or "
            "higher",
            remedy if major > 12 else USE_THE_CPU,  # noqa: PLR2004
            device=device.name,
            found=_dotted(device.capability),
            major=major,
            needed=_dotted(needed),
        )


def _of_packages(facts: GpuFacts) -> Iterator[Reason]:
    """ONNX Runtime was built without CUDA, or lacks libraries."""
    major, others = facts.cuda_major, [name for name in facts.packages if name != "onnxruntime-gpu"]
    if CUDA_PROVIDER not in facts.providers and "onnxruntime-gpu" in facts.packages and others:
        yield make_reason(
            "both_packages",
            "{packages} are both installed; they share one folder, and the one without CUDA won",
            "pip uninstall {named}, then pip install onnxruntime-gpu",
            packages=listed(("onnxruntime-gpu", *others)),
            named=" ".join(facts.packages),
        )
    if CUDA_PROVIDER not in facts.providers:
        yield make_reason(
            "wrong_package",
            "{package} is built without CUDA"
            if others
            else "the ONNX Runtime that is installed is built without CUDA",
            "pip uninstall {named}, then pip install onnxruntime-gpu",
            package=next(iter(others), ""),
            named=" ".join(others) or "onnxruntime",
        )
    found = _cuda_majors(facts)
    if major and found and major not in found:
        yield make_reason(
            "other_cuda",
            "CUDA {found} libraries were found, but this ONNX Runtime is built for CUDA {major}",
            'pip install "onnxruntime-gpu[cuda,cudnn]" installs CUDA {major} libraries, which '
            "can coexist with the others",
            found=listed(map(str, found)),
            major=major,
        )
    needed = needed_for_cuda(major, facts.system) if major else ()
    if missing := [library for library in needed if library.file not in facts.libraries]:
        names = listed(f"{library.name} ({library.file})" for library in missing)
        packages = " ".join(dict.fromkeys(library.package for library in missing))
        yield make_reason(
            "library_missing",
            "a library is missing: {names}",
            "pip install {packages}",
            names=names,
            packages=packages,
        )


def _cuda_majors(facts: GpuFacts) -> list[int]:
    """Major versions of the CUDA whose cuBLAS was found."""
    cublas = {major: needed_for_cuda(major, facts.system)[0].file for major in range(10, 20)}
    return [major for major, file in cublas.items() if file in facts.libraries]


def _driver_for(facts: GpuFacts) -> str:
    return _DRIVER_FOR.get(facts.cuda_major, "")


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
