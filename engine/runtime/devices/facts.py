"""Facts about a computer's GPU before it is tried, as plain data, so that reasons are testable."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.errors import UsageError
from engine.texts import Message, enumerated

CPU_PROVIDER = "CPUExecutionProvider"
CUDA_PROVIDER = "CUDAExecutionProvider"

PROVIDERS = {
    "cpu": CPU_PROVIDER,
    "cuda": CUDA_PROVIDER,
    "tensorrt": "TensorrtExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "directml": "DmlExecutionProvider",
}
"""Execution provider by device."""

AUTO = "auto"
DEVICES = (AUTO, *PROVIDERS)
EXPERIMENTAL = {"tensorrt": "TensorRT", "coreml": "CoreML", "directml": "DirectML"}
"""Devices that were never run on real hardware, with display names: used only on request."""

_KNOWN = {
    "linux": ("cuda", "tensorrt", "cpu"),
    "win32": ("cuda", "tensorrt", "directml", "cpu"),
    "darwin": ("coreml", "cpu"),
}


def check_device(device: str) -> None:
    """Raise `UsageError` for an unknown device, before long work starts."""
    if device not in DEVICES:
        raise UsageError(
            "there is no such device", expected=enumerated(DEVICES), found=device or "nothing"
        )


def devices_of(system: str = sys.platform) -> tuple[str, ...]:
    """Devices that can exist on a system, the preferred first; the CPU is the last."""
    return _KNOWN.get(system, ("cpu",))


Version = tuple[int, int]


@dataclass(frozen=True)
class DeviceNode:
    """A device file of the driver, such as /dev/nvidia0, and this user's access to it."""

    path: str
    is_accessible: bool


@dataclass(frozen=True)
class CudaDevice:
    """The first GPU that the NVIDIA driver offers."""

    name: str  # for people: "NVIDIA H200"
    capability: Version = (0, 0)  # compute capability, (9, 0)
    memory_bytes: int = 0  # of the device, in all
    # Free memory; None when the driver does not report it
    free_bytes: int | None = None


@dataclass(frozen=True)
class DriverFacts:
    """Facts from the NVIDIA driver."""

    library: str = "libcuda.so.1"  # name of the driver's library
    is_installed: bool = False  # whether that library can be loaded
    status: int = 0  # the driver's answer to "are you ready?"; 0 is yes
    device_count: int = 0  # GPUs that it offers to this process
    cuda_version: Version = (0, 0)  # newest CUDA that it serves; (0, 0) when unknown
    version: str = ""  # its own version, "580.65.06"; empty when unknown
    device: CudaDevice | None = None  # the first GPU


@dataclass(frozen=True)
class GpuFacts:
    """Everything that the reasons are made from."""

    system: str = "linux"  # "linux", "win32" or "darwin"
    is_container: bool = False  # whether this process runs in a container
    is_wsl: bool = False  # whether this is Linux inside Windows, whose driver is the one of Windows
    # Whether an NVIDIA GPU is on the bus; None when that cannot be seen
    has_nvidia_hardware: bool | None = None
    kernel_driver: str = ""  # version of the loaded kernel module; empty when none is
    device_nodes: tuple[DeviceNode, ...] = ()  # the driver's device files
    visible_devices: str | None = None  # value of CUDA_VISIBLE_DEVICES; None when it is not set
    driver: DriverFacts = field(default_factory=DriverFacts)  # from the NVIDIA driver
    # Versions of the installed ONNX Runtime packages by name
    packages: Mapping[str, str] = field(default_factory=dict)
    # Execution providers that the imported ONNX Runtime was built with
    providers: tuple[str, ...] = ()
    built_for_cuda: str = ""  # CUDA version that it was built for, "13.0"; empty when for none
    # File names of the CUDA and cuDNN libraries that were found
    libraries: frozenset[str] = frozenset()

    @property
    def cuda_major(self) -> int:
        """Major version of the CUDA that ONNX Runtime was built for; 0 when for none."""
        first = self.built_for_cuda.split(".", 1)[0]
        return int(first) if first.isdigit() else 0


@dataclass(frozen=True)
class Reason:
    """Why a device cannot be used."""

    cause: str  # short name, the same in docs/gpu.md
    words: str  # the reason, as a sentence without a full stop
    remedy: str  # what the person can do


def make_reason(cause: str, words: str, remedy: str, **fields: object) -> Reason:
    """A reason of two templates and the values in them."""
    templates = (
        text if isinstance(text, Message) else Message(text, fields) for text in (words, remedy)
    )
    return Reason(cause, *templates)
