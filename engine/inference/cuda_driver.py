"""Asks the NVIDIA driver whether there is a GPU, before ONNX Runtime is tried: its reasons are the clearer ones."""

import ctypes
import sys
from dataclasses import dataclass
from typing import Final

_DRIVER_LIBRARY: Final = {"win32": "nvcuda.dll"}.get(sys.platform, "libcuda.so.1")
_NAME_BYTES: Final = 256
_NO_DEVICE: Final = 100
_DRIVER_MISMATCH: Final = 803


@dataclass(frozen=True)
class CudaDevice:
    """First GPU that the driver offers; `reason` says why there is none when `name` is empty."""

    name: str = ""
    reason: str = ""


def find_cuda_device() -> CudaDevice:
    """Ask the driver for its first GPU. Never raises."""
    try:
        driver = ctypes.CDLL(_DRIVER_LIBRARY)
    except OSError:
        return CudaDevice(reason=f"no NVIDIA driver is installed ({_DRIVER_LIBRARY} was not found)")
    count, device = ctypes.c_int(), ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status == _NO_DEVICE or (status == 0 and count.value == 0):
        return CudaDevice(reason="the NVIDIA driver finds no GPU")
    if status == _DRIVER_MISMATCH:
        return CudaDevice(reason="the NVIDIA driver and its library have different versions; restart the computer")
    name = ctypes.create_string_buffer(_NAME_BYTES)
    status = status or driver.cuDeviceGet(ctypes.byref(device), 0)
    status = status or driver.cuDeviceGetName(name, _NAME_BYTES, device)
    if status:
        return CudaDevice(reason=f"the NVIDIA driver answers with error {status}")
    return CudaDevice(name=name.value.decode("utf-8", "replace"))
