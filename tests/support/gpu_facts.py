"""Facts about a computer with working CUDA, to be changed one by one."""

from dataclasses import replace
from typing import Any

from engine.runtime.devices.facts import (
    CPU_PROVIDER,
    CUDA_PROVIDER,
    PROVIDERS,
    CudaDevice,
    DeviceNode,
    DriverFacts,
    GpuFacts,
)
from engine.runtime.devices.gather import needed_for_cuda

GPU = CudaDevice("NVIDIA H200", (9, 0), 140 * 2**30, 120 * 2**30)
DRIVER = DriverFacts("libcuda.so.1", True, 0, 1, (13, 0), "580.65.06", GPU)
GOOD_FACTS = GpuFacts(
    system="linux",
    has_nvidia_hardware=True,
    kernel_driver="580.65.06",
    device_nodes=(DeviceNode("/dev/nvidia0", True), DeviceNode("/dev/nvidiactl", True)),
    driver=DRIVER,
    packages={"onnxruntime-gpu": "1.31.1"},
    providers=(PROVIDERS["tensorrt"], CUDA_PROVIDER, CPU_PROVIDER),
    built_for_cuda="13.0",
    libraries=frozenset(library.file for library in needed_for_cuda(13, "linux")),
)


def facts_with(**changes: Any) -> GpuFacts:
    """The facts with some changed."""
    return replace(GOOD_FACTS, **changes)


def driver_with(**changes: Any) -> DriverFacts:
    """The driver with some results changed."""
    return replace(DRIVER, **changes)


NO_DRIVER = DriverFacts("libcuda.so.1")
