"""Asks the NVIDIA driver about its GPU, before ONNX Runtime is tried: its answers are the clearer ones.

Only questions that make no CUDA context, so that nothing is held on the device: the driver's library (libcuda), and
NVIDIA's management library (nvml) for the driver's version and the free memory.
"""

import ctypes
import sys
from typing import Any, Final

from engine.runtime.devices.facts import CudaDevice, DriverFacts, Version

DRIVER_LIBRARY: Final = {"win32": "nvcuda.dll"}.get(sys.platform, "libcuda.so.1")
_MANAGEMENT_LIBRARY: Final = {"win32": "nvml.dll"}.get(sys.platform, "libnvidia-ml.so.1")
# Room for what the driver writes, and its numbers of questions, from cuda.h.
_NAME_BYTES: Final = 256
_BUS_BYTES: Final = 32
_MAJOR: Final = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
_MINOR: Final = 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR


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
    version, management = _version(newest.value), _management()
    status = int(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)))
    device = None
    if status == 0 and count.value:
        status = int(driver.cuDeviceGet(ctypes.byref(handle), 0))
        device = _device(driver, handle, management) if status == 0 else None
    return DriverFacts(DRIVER_LIBRARY, True, status, count.value, version, _driver_version(management), device)


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


def _version(number: int) -> Version:
    """13020 is CUDA 13.2."""
    return number // 1000, number % 1000 // 10
