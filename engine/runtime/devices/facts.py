"""What is known of a computer's GPU before anything is tried on it. Plain facts, so that reasons can be tested."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Version = tuple[int, int]


@dataclass(frozen=True)
class DeviceNode:
    """A device file of the driver, such as /dev/nvidia0, and whether this user may read and write it."""

    path: str
    is_accessible: bool


@dataclass(frozen=True)
class CudaDevice:
    """The first GPU that the NVIDIA driver offers.

    Attributes:
        name: for people: "NVIDIA H200".
        capability: compute capability, (9, 0).
        memory_bytes: of the device, in all.
        free_bytes: of it, not used by any program; None when the driver does not say.
    """

    name: str
    capability: Version = (0, 0)
    memory_bytes: int = 0
    free_bytes: int | None = None


@dataclass(frozen=True)
class DriverFacts:
    """What the NVIDIA driver says.

    Attributes:
        library: name of the driver's library.
        is_installed: whether that library can be loaded.
        status: the driver's answer to "are you ready?"; 0 is yes.
        device_count: GPUs that it offers to this process.
        cuda_version: newest CUDA that it serves; (0, 0) when unknown.
        version: its own version, "580.65.06"; empty when unknown.
        device: the first GPU.
    """

    library: str = "libcuda.so.1"
    is_installed: bool = False
    status: int = 0
    device_count: int = 0
    cuda_version: Version = (0, 0)
    version: str = ""
    device: CudaDevice | None = None


@dataclass(frozen=True)
class GpuFacts:
    """Everything that the reasons are made from.

    Attributes:
        system: "linux", "win32" or "darwin".
        is_container: whether this process runs in a container.
        is_wsl: whether this is Linux inside Windows, whose driver is the one of Windows.
        has_nvidia_hardware: whether an NVIDIA GPU is on the bus; None when that cannot be seen.
        kernel_driver: version of the loaded kernel module; empty when none is.
        device_nodes: the driver's device files.
        visible_devices: value of CUDA_VISIBLE_DEVICES; None when it is not set.
        driver: what the driver says.
        packages: versions of the installed ONNX Runtime packages by name.
        providers: execution providers that the imported ONNX Runtime was built with.
        built_for_cuda: CUDA version that it was built for, "13.0"; empty when for none.
        libraries: file names of the CUDA, cuDNN and TensorRT libraries that were found.
    """

    system: str = "linux"
    is_container: bool = False
    is_wsl: bool = False
    has_nvidia_hardware: bool | None = None
    kernel_driver: str = ""
    device_nodes: tuple[DeviceNode, ...] = ()
    visible_devices: str | None = None
    driver: DriverFacts = field(default_factory=DriverFacts)
    packages: Mapping[str, str] = field(default_factory=dict)
    providers: tuple[str, ...] = ()
    built_for_cuda: str = ""
    libraries: frozenset[str] = frozenset()

    @property
    def cuda_major(self) -> int:
        """Major version of the CUDA that ONNX Runtime was built for; 0 when for none."""
        first = self.built_for_cuda.split(".", 1)[0]
        return int(first) if first.isdigit() else 0


@dataclass(frozen=True)
class Reason:
    """Why a device cannot be used.

    Attributes:
        cause: short name, the same in docs/gpu.md.
        words: the reason, as a sentence without a full stop.
        remedy: what the person can do.
    """

    cause: str
    words: str
    remedy: str
