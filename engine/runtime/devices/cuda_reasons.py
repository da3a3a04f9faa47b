"""Why CUDA cannot be used, each cause as one small function over facts; the first that applies is the reason."""

from collections.abc import Callable
from typing import Final

from engine.runtime.devices.facts import GpuFacts, Reason, Version
from engine.runtime.devices.libraries import needed_for_cuda
from engine.runtime.devices.names import CUDA_PROVIDER

Cause = Callable[[GpuFacts], Reason | None]

_DRIVER_FOR: Final = {12: "525", 13: "580"}  # first driver branch that serves a CUDA major version
_CAPABILITY_FOR: Final[dict[int, Version]] = {12: (6, 0), 13: (7, 5)}  # oldest GPUs that the packages are built for
_DRIVER_PAGE: Final = "from nvidia.com/drivers or with your system's package manager"
USE_THE_CPU: Final = "nothing needs to be done: the CPU does the work"
"""True where the program chooses the device; the CPU does not step in for one that was asked for by name."""
# CUresult, from cuda.h.
_OUT_OF_MEMORY: Final = 2
_STUB: Final = 34
_UNAVAILABLE: Final = 46
_NO_DEVICE: Final = 100
_NOT_READY: Final = 802
_MISMATCH: Final = 803
_NO_COMPATIBILITY: Final = 804

_STATUS: Final = {
    _OUT_OF_MEMORY: ("the GPU has no memory left", "close other programs that use the GPU"),
    _STUB: (
        "the driver library that was found is a stub for building programs, not the driver",
        "take the CUDA toolkit's folder “stubs” off LD_LIBRARY_PATH",
    ),
    _UNAVAILABLE: (
        "another program holds the GPU for itself alone",
        "end that program, or set the GPU's compute mode back with `nvidia-smi -c 0`",
    ),
    _NOT_READY: (
        "the NVIDIA driver says that its GPUs are not ready yet",
        "start the service nvidia-fabricmanager, or wait for it",
    ),
    _MISMATCH: (
        "the NVIDIA driver and its library have different versions, as after an update",
        "restart the computer",
    ),
    _NO_COMPATIBILITY: (
        "the CUDA compatibility library does not serve this GPU",
        "take the package cuda-compat away, or update the NVIDIA driver itself",
    ),
}
"""Words and remedy for answers of the driver other than "ready"."""


def why_not_cuda(facts: GpuFacts) -> Reason | None:
    """The first cause for which CUDA cannot work here; None when it is worth a try."""
    return next((reason for cause in CAUSES if (reason := cause(facts)) is not None), None)


def unsupported_system(facts: GpuFacts) -> Reason | None:
    """There is no CUDA on macOS."""
    if facts.system in ("linux", "win32"):
        return None
    system = {"darwin": "macOS"}.get(facts.system, facts.system)
    return Reason("unsupported_system", f"CUDA does not exist on {system}", "use the device auto")


def container_without_gpus(facts: GpuFacts) -> Reason | None:
    """The computer has a GPU or its driver, but the container was not given it."""
    has_gpu = bool(facts.kernel_driver) or bool(facts.has_nvidia_hardware)
    if not facts.is_container or facts.device_nodes or facts.is_wsl or not has_gpu:
        return None
    return Reason(
        "container_without_gpus",
        "this is a container that was started without the computer's GPU",
        "install the NVIDIA Container Toolkit on the computer and start the container with `--gpus all`",
    )


def no_gpu(facts: GpuFacts) -> Reason | None:
    """Neither a driver nor a GPU."""
    if facts.driver.is_installed or facts.has_nvidia_hardware is not False or facts.is_wsl:
        return None
    hint = "; in a container, a GPU of the computer shows with `--gpus all`" if facts.is_container else ""
    return Reason(
        "no_gpu",
        f"this computer shows no NVIDIA GPU, and no NVIDIA driver is installed ({facts.driver.library} was not found)",
        USE_THE_CPU + hint,
    )


def no_driver(facts: GpuFacts) -> Reason | None:
    """The driver's library is not there."""
    if facts.driver.is_installed:
        return None
    seen = " although an NVIDIA GPU is in this computer" if facts.has_nvidia_hardware else ""
    where = "on Windows itself, not inside WSL" if facts.is_wsl else _DRIVER_PAGE
    needed = f" (version {_driver_for(facts)} or later)" if _driver_for(facts) else ""
    return Reason(
        "no_driver",
        f"no NVIDIA driver is installed{seen} ({facts.driver.library} was not found)",
        f"install the NVIDIA driver{needed} {where}, and restart",
    )


def no_permission(facts: GpuFacts) -> Reason | None:
    """The driver's device files are there, but not for this user."""
    closed = [node.path for node in facts.device_nodes if not node.is_accessible]
    if not closed or facts.driver.device_count:
        return None
    return Reason(
        "no_permission",
        f"this user may not use the GPU: no permission on {', '.join(closed)}",
        "add the user to the group that owns these files (often “video” or “render”) and log in again",
    )


def hidden_by_environment(facts: GpuFacts) -> Reason | None:
    """CUDA_VISIBLE_DEVICES leaves no GPU."""
    value = facts.visible_devices
    if value is None or facts.driver.device_count:
        return None
    shown = f"is “{value}”" if value.strip() else "is empty"
    return Reason(
        "hidden_by_environment",
        f"the variable CUDA_VISIBLE_DEVICES {shown} and leaves no GPU to this program",
        "unset CUDA_VISIBLE_DEVICES, or set it to 0",
    )


def driver_not_ready(facts: GpuFacts) -> Reason | None:
    """The driver answers with an error."""
    status = facts.driver.status
    if status in (0, _NO_DEVICE):
        return None
    default = (f"the NVIDIA driver answers with error {status}", "restart the computer; then update the NVIDIA driver")
    words, remedy = _STATUS.get(status, default)
    return Reason("driver_not_ready", words, remedy)


def no_device(facts: GpuFacts) -> Reason | None:
    """The driver works and has no GPU to offer."""
    if facts.driver.device_count:
        return None
    return Reason(
        "no_device",
        "the NVIDIA driver finds no GPU",
        "see whether the GPU sits and is powered well, and whether `nvidia-smi` lists it",
    )


def driver_too_old(facts: GpuFacts) -> Reason | None:
    """The driver serves an older CUDA than ONNX Runtime was built for."""
    found = facts.driver.cuda_version
    if not facts.cuda_major or not found[0] or found[0] >= facts.cuda_major:
        return None
    version = f"driver {facts.driver.version}, " if facts.driver.version else ""
    return Reason(
        "driver_too_old",
        f"the NVIDIA driver is too old: found {version}for CUDA {_dotted(found)}, needed "
        f"driver {_driver_for(facts)} or later, for CUDA {facts.cuda_major}",
        f"update the NVIDIA driver to {_driver_for(facts)} or later {_DRIVER_PAGE}",
    )


def capability_too_low(facts: GpuFacts) -> Reason | None:
    """The GPU is older than those that ONNX Runtime was built for."""
    device, needed = facts.driver.device, _CAPABILITY_FOR.get(facts.cuda_major)
    if device is None or needed is None or device.capability == (0, 0) or device.capability >= needed:
        return None
    return Reason(
        "capability_too_low",
        f"{device.name} has compute capability {_dotted(device.capability)}; packages for CUDA {facts.cuda_major} "
        f"need {_dotted(needed)} or higher",
        "install an onnxruntime-gpu package for CUDA 12, which serves older GPUs, or use the CPU"
        if facts.cuda_major > 12  # noqa: PLR2004 (the major version that the remedy names)
        else USE_THE_CPU,
    )


def wrong_package(facts: GpuFacts) -> Reason | None:
    """The ONNX Runtime that is imported was built without CUDA."""
    if CUDA_PROVIDER in facts.providers:
        return None
    others = [name for name in facts.packages if name != "onnxruntime-gpu"]
    if "onnxruntime-gpu" in facts.packages and others:
        both = " and ".join(("onnxruntime-gpu", *others))
        return Reason(
            "both_packages",
            f"{both} are both installed; they share one folder, and the one without CUDA won",
            f"pip uninstall {' '.join(facts.packages)}, then pip install onnxruntime-gpu",
        )
    installed = others[0] if others else "the ONNX Runtime that is installed"
    return Reason(
        "wrong_package",
        f"{installed} is built without CUDA",
        f"pip uninstall {' '.join(others) or 'onnxruntime'}, then pip install onnxruntime-gpu",
    )


def other_cuda(facts: GpuFacts) -> Reason | None:
    """CUDA libraries are there, but of another major version."""
    major, found = facts.cuda_major, _cuda_majors(facts)
    if not major or major in found or not found:
        return None
    have = " and ".join(str(number) for number in found)
    return Reason(
        "other_cuda",
        f"CUDA {have} libraries were found, but this ONNX Runtime is built for CUDA {major}",
        f'pip install "onnxruntime-gpu[cuda,cudnn]" brings CUDA {major} libraries, which may lie beside the others',
    )


def library_missing(facts: GpuFacts) -> Reason | None:
    """A library that CUDA needs was not found."""
    needed = needed_for_cuda(facts.cuda_major, facts.system) if facts.cuda_major else ()
    missing = [library for library in needed if library.file not in facts.libraries]
    if not missing:
        return None
    names = " and ".join(f"{library.name} ({library.file})" for library in missing)
    packages = " ".join(dict.fromkeys(library.package for library in missing))
    return Reason("library_missing", f"a library is missing: {names}", f"pip install {packages}")


CAUSES: Final[tuple[Cause, ...]] = (
    unsupported_system,
    container_without_gpus,
    no_gpu,
    no_driver,
    no_permission,
    hidden_by_environment,
    driver_not_ready,
    no_device,
    driver_too_old,
    capability_too_low,
    wrong_package,
    other_cuda,
    library_missing,
)
"""In the order in which they are told: what is further from the program comes first."""


def _cuda_majors(facts: GpuFacts) -> list[int]:
    """Major versions of the CUDA whose cuBLAS was found."""
    candidates = range(10, 20)
    return [
        major
        for major in candidates
        if any(library.file in facts.libraries for library in needed_for_cuda(major, facts.system)[:1])
    ]


def _driver_for(facts: GpuFacts) -> str:
    return _DRIVER_FOR.get(facts.cuda_major, "")


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
