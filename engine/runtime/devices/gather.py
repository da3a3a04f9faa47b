"""Gathers the facts about this computer's GPU: files, environment, packages, and the driver's answers.

The NVIDIA driver is asked before ONNX Runtime is tried: its answers are the clearer ones. Only questions that make no
CUDA context, so that nothing is held on the device: libcuda, and nvml for the driver's version and the free memory.
"""

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from engine.runtime.devices.facts import CudaDevice, DeviceNode, DriverFacts, GpuFacts
from engine.runtime.devices.libraries import find_libraries, library_folders
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.versions import RUNTIME_PACKAGES

_NVIDIA: Final = "0x10de"  # vendor on the PCI bus
_DISPLAY_CLASSES: Final = ("0x0300", "0x0302")  # graphics cards with and without an output
_KERNEL_VERSION: Final = re.compile(r"\b\d{3,}\.\d+(?:\.\d+)?\b")
_CONTAINER_SIGNS: Final = (".dockerenv", "run/.containerenv")
_NODE_PATTERNS: Final = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm")
DRIVER_LIBRARY: Final = {"win32": "nvcuda.dll"}.get(sys.platform, "libcuda.so.1")
_MANAGEMENT_LIBRARY: Final = {"win32": "nvml.dll"}.get(sys.platform, "libnvidia-ml.so.1")
# Room for what the driver writes, and its numbers of questions, from cuda.h.
_NAME_BYTES: Final = 256
_BUS_BYTES: Final = 32
_MAJOR: Final = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
_MINOR: Final = 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR


def gather_facts(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> GpuFacts:
    """Look at this computer. Loads ONNX Runtime and the driver's library, runs nothing on the GPU. Never raises."""
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
        driver=ask_driver(),
        packages=runtime_packages(),
        providers=tuple(onnxruntime.get_available_providers()),
        built_for_cuda=str(getattr(onnxruntime, "cuda_version", "") or ""),
        libraries=find_libraries(library_folders(variables)),
    )


def is_container(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether this process runs in a container: Docker, Podman, Kubernetes or systemd say so."""
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
    """Version of NVIDIA's kernel module, by what it tells under /proc; empty when it is not loaded."""
    found = _KERNEL_VERSION.search(_text(root / "proc/driver/nvidia/version"))
    return found.group() if found else ""


def device_nodes(root: Path) -> tuple[DeviceNode, ...]:
    """The driver's device files."""
    paths = [path for pattern in _NODE_PATTERNS for path in sorted((root / "dev").glob(pattern))]
    return tuple(DeviceNode(str(path), os.access(path, os.R_OK | os.W_OK)) for path in paths)


def runtime_packages() -> dict[str, str]:
    """Installed ONNX Runtime packages, version by name. They share one folder, so there should be one."""
    found = {}
    for name in RUNTIME_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


class _Memory(ctypes.Structure):
    """nvmlMemory_t: bytes in all, free, used."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


def ask_driver() -> DriverFacts:
    """Ask the driver for its version and its first GPU. Never raises."""
    driver = _load(DRIVER_LIBRARY)
    if driver is None:
        return DriverFacts(DRIVER_LIBRARY)
    count, newest, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(newest))
    cuda_version, management = (newest.value // 1000, newest.value % 1000 // 10), _management()  # 13020 is CUDA 13.2
    status = int(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)))
    device = None
    if status == 0 and count.value:
        status = int(driver.cuDeviceGet(ctypes.byref(handle), 0))
        device = _device(driver, handle, management) if status == 0 else None
    return DriverFacts(DRIVER_LIBRARY, True, status, count.value, cuda_version, _driver_version(management), device)


def _device(driver: Any, handle: ctypes.c_int, management: Any) -> CudaDevice:
    name, memory = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_size_t()
    driver.cuDeviceGetName(name, _NAME_BYTES, handle)
    driver.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)
    capability = (_attribute(driver, _MAJOR, handle), _attribute(driver, _MINOR, handle))
    free_bytes = _free_bytes(driver, handle, management)
    return CudaDevice(name.value.decode("utf-8", "replace") or "NVIDIA GPU", capability, memory.value, free_bytes)


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
    """The management library, ready to be asked; None when there is none."""
    library = _load(_MANAGEMENT_LIBRARY)
    return None if library is None or library.nvmlInit_v2() else library


def _load(name: str) -> Any:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
