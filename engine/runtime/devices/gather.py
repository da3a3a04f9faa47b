"""Gather facts about this computer's GPU: files, environment, packages, and the driver.

The NVIDIA driver is queried before ONNX Runtime is tried: its answers are the clearer ones. Only
queries that make no CUDA context, so that nothing is held on the device: libcuda, and nvml for the
driver's version and the free memory.
"""

import contextlib
import ctypes
import functools
import importlib.util
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine.config import make_folders
from engine.runtime.devices.facts import CudaDevice, DeviceNode, DriverFacts, GpuFacts
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.versions import RUNTIME_PACKAGES

_LIBRARY = re.compile(
    r"(lib)?(cublas|cublasLt|cudart|curand|cufft|cudnn)(\.so\.\d+|(64)?_\d+\.dll)", re.ASCII
)
_SYSTEM_FOLDERS = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib",
    "/usr/local/cuda/lib64",
    "/usr/lib/wsl/lib",
    "/lib64",
    "/lib/x86_64-linux-gnu",
)
_LOADER_SETTINGS = Path("/etc/ld.so.conf.d")
_PACKAGE_FOLDERS = ("nvidia/*/lib", "nvidia/*/bin", "nvidia/*/bin/*", "torch/lib")


@dataclass(frozen=True)
class Library:
    """A library that a GPU needs: display name, file, and the Python package that contains it."""

    name: str
    file: str
    package: str


def needed_for_cuda(major: int, system: str) -> tuple[Library, ...]:
    """Libraries without which ONNX Runtime's CUDA part does not start, on "linux" or "win32"."""
    suffix = "" if major >= 13 else f"-cu{major}"  # noqa: PLR2004
    table = (
        ("cuBLAS", "cublas", major, f"nvidia-cublas{suffix}"),
        ("cuBLASLt", "cublasLt", major, f"nvidia-cublas{suffix}"),
        ("the CUDA runtime", "cudart", major, f"nvidia-cuda-runtime{suffix}"),
        ("cuRAND", "curand", 10, f"nvidia-curand{suffix}"),
        ("cuDNN", "cudnn", 9, f"nvidia-cudnn-cu{major}"),
    )
    return tuple(
        Library(name, _file(stem, number, system), package) for name, stem, number, package in table
    )


def _file(stem: str, number: int, system: str) -> str:
    return f"{stem}64_{number}.dll" if system == "win32" else f"lib{stem}.so.{number}"


def find_libraries(folders: Iterable[Path]) -> frozenset[str]:
    """File names of the GPU libraries in some folders; nothing is loaded. Never raises."""
    found: set[str] = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            found |= {file.name for file in folder.iterdir() if _LIBRARY.fullmatch(file.name)}
    return frozenset(found)


def library_folders(environment: Mapping[str, str], system: str = sys.platform) -> tuple[Path, ...]:
    """Folders where ONNX Runtime looks for GPU libraries: packages, environment, system."""
    packages = _packages_folder()
    folders = [folder for pattern in _PACKAGE_FOLDERS for folder in sorted(packages.glob(pattern))]
    path = environment.get("PATH" if system == "win32" else "LD_LIBRARY_PATH", "")
    folders += [Path(entry) for entry in path.split(os.pathsep) if entry]
    if system != "win32":
        folders += [*map(Path, _SYSTEM_FOLDERS), *_loader_folders()]
    return tuple(dict.fromkeys(folders))


def _packages_folder() -> Path:
    """The folder of ONNX Runtime and of NVIDIA's packages."""
    found = importlib.util.find_spec("onnxruntime")
    return Path(found.origin).parent.parent if found and found.origin else Path()


def _loader_folders() -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for settings in sorted(_LOADER_SETTINGS.glob("*.conf")):
            lines = settings.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (Path(line.strip()) for line in lines if line.strip().startswith("/"))


@functools.cache
def load_gpu_libraries() -> None:
    """Load what a GPU needs from Python packages, where the system's loader does not look.

    Never raises and prints nothing. What cannot be loaded shows when the session is opened.
    """
    make_folders()
    onnxruntime = load_onnxruntime()
    # The loader prints its findings; standard output may be a channel of events.
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(OSError, RuntimeError, AttributeError),
    ):
        onnxruntime.preload_dlls()


_NVIDIA = "0x10de"  # vendor on the PCI bus
_DISPLAY_CLASSES = ("0x0300", "0x0302")  # graphics cards with and without an output
_KERNEL_VERSION = re.compile(r"\b\d{3,}\.\d+(?:\.\d+)?\b")
_CONTAINER_SIGNS = (".dockerenv", "run/.containerenv")
_NODE_PATTERNS = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm")
DRIVER_LIBRARY = {"win32": "nvcuda.dll"}.get(sys.platform, "libcuda.so.1")
_MANAGEMENT_LIBRARY = {"win32": "nvml.dll"}.get(sys.platform, "libnvidia-ml.so.1")
# Room for what the driver writes, and its numbers of questions, from cuda.h.
_NAME_BYTES = 256
_BUS_BYTES = 32
_MAJOR = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
_MINOR = 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR


def gather_facts(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> GpuFacts:
    """Gather all facts. Loads ONNX Runtime and the driver, never the GPU, never raises."""
    onnxruntime = load_onnxruntime()
    variables = os.environ if environment is None else environment
    return GpuFacts(
        system=sys.platform,
        is_container=is_container(root, variables),
        is_wsl=(root / "dev/dxg").exists(),
        has_nvidia_hardware=has_nvidia_hardware(root),
        kernel_driver=kernel_driver(root),
        device_nodes=device_nodes(root),
        visible_devices=variables.get("CUDA_VISIBLE_DEVICES"),
        driver=query_driver(),
        packages=dict(_runtime_packages()),
        providers=tuple(onnxruntime.get_available_providers()),
        built_for_cuda=str(getattr(onnxruntime, "cuda_version", "") or ""),
        libraries=find_libraries(library_folders(variables)),
    )


def is_container(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether this process runs in a container (Docker, Podman, Kubernetes, systemd)."""
    signs = any((root / sign).exists() for sign in _CONTAINER_SIGNS)
    return signs or "container" in environment or "KUBERNETES_SERVICE_HOST" in environment


def has_nvidia_hardware(root: Path) -> bool | None:
    """Whether an NVIDIA GPU is on the PCI bus; None when the bus cannot be seen."""
    devices = root / "sys/bus/pci/devices"
    try:
        folders = list(devices.iterdir())
    except OSError:
        return None
    return any(
        _text(folder / "vendor") == _NVIDIA and _text(folder / "class").startswith(_DISPLAY_CLASSES)
        for folder in folders
    )


def kernel_driver(root: Path) -> str:
    """Version of NVIDIA's kernel module from /proc; empty when it is not loaded."""
    found = _KERNEL_VERSION.search(_text(root / "proc/driver/nvidia/version"))
    return found.group() if found else ""


def device_nodes(root: Path) -> tuple[DeviceNode, ...]:
    """The driver's device files."""
    paths = [path for pattern in _NODE_PATTERNS for path in sorted((root / "dev").glob(pattern))]
    return tuple(DeviceNode(str(path), os.access(path, os.R_OK | os.W_OK)) for path in paths)


def _runtime_packages() -> Iterator[tuple[str, str]]:
    """Installed ONNX Runtime packages with versions. They share one folder: there should be one."""
    for name in RUNTIME_PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            yield name, version(name)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


class _Memory(ctypes.Structure):
    """nvmlMemory_t: bytes in all, free, used."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


def query_driver() -> DriverFacts:
    """Ask the driver for its version and its first GPU. Never raises."""
    driver = _load(DRIVER_LIBRARY)
    if driver is None:
        return DriverFacts(DRIVER_LIBRARY)
    count, newest, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(newest))
    # 13020 is CUDA 13.2
    cuda_version, management = ((newest.value // 1000, newest.value % 1000 // 10), _management())
    status = int(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)))
    device = None
    if status == 0 and count.value:
        status = int(driver.cuDeviceGet(ctypes.byref(handle), 0))
        device = _device(driver, handle, management) if status == 0 else None
    return DriverFacts(
        DRIVER_LIBRARY, True, status, count.value, cuda_version, _driver_version(management), device
    )


def _device(driver: Any, handle: ctypes.c_int, management: Any) -> CudaDevice:
    name, memory = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_size_t()
    driver.cuDeviceGetName(name, _NAME_BYTES, handle)
    driver.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)
    capability = (_attribute(driver, _MAJOR, handle), _attribute(driver, _MINOR, handle))
    free_bytes = _free_bytes(driver, handle, management)
    return CudaDevice(
        name.value.decode("utf-8", "replace") or "NVIDIA GPU", capability, memory.value, free_bytes
    )


def _attribute(driver: Any, number: int, handle: ctypes.c_int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, handle)
    return value.value


def _free_bytes(driver: Any, handle: ctypes.c_int, management: Any) -> int | None:
    """Free memory of the same GPU: the two libraries number GPUs differently, the bus does not."""
    bus, found, memory = ctypes.create_string_buffer(_BUS_BYTES), ctypes.c_void_p(), _Memory()
    if management is None or driver.cuDeviceGetPCIBusId(bus, _BUS_BYTES, handle):
        return None
    if management.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(found)):
        return None
    if management.nvmlDeviceGetMemoryInfo(found, ctypes.byref(memory)):
        return None
    return int(memory.free)


def _driver_version(management: Any) -> str:
    text = ctypes.create_string_buffer(_NAME_BYTES)
    if management is None or management.nvmlSystemGetDriverVersion(text, _NAME_BYTES):
        return ""
    return text.value.decode("ascii", "replace")


def _management() -> Any:
    """The management library, initialised; None when there is none."""
    library = _load(_MANAGEMENT_LIBRARY)
    return None if library is None or library.nvmlInit_v2() else library


def _load(name: str) -> Any:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
