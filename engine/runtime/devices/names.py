"""Devices that people can ask for, and ONNX Runtime's names of them."""

import sys
from typing import Final

from engine.errors import UsageError

CPU_PROVIDER: Final = "CPUExecutionProvider"
CUDA_PROVIDER: Final = "CUDAExecutionProvider"
TENSORRT_PROVIDER: Final = "TensorrtExecutionProvider"
COREML_PROVIDER: Final = "CoreMLExecutionProvider"
DIRECTML_PROVIDER: Final = "DmlExecutionProvider"

PROVIDERS: Final = {
    "cpu": CPU_PROVIDER,
    "cuda": CUDA_PROVIDER,
    "tensorrt": TENSORRT_PROVIDER,
    "coreml": COREML_PROVIDER,
    "directml": DIRECTML_PROVIDER,
}
"""Execution provider by device."""

AUTO: Final = "auto"
DEVICES: Final = (AUTO, *PROVIDERS)
ON_DEMAND: Final = frozenset({"tensorrt"})
"""Devices that only run when asked for by name: TensorRT builds an engine for minutes before its first image."""

_KNOWN: Final = {
    "linux": ("tensorrt", "cuda", "cpu"),
    "win32": ("tensorrt", "cuda", "directml", "cpu"),
    "darwin": ("coreml", "cpu"),
}


def check_device(device: str) -> None:
    """Refuse a device that nobody knows, before long work starts.

    Raises:
        UsageError: there is no such device.
    """
    if device not in DEVICES:
        raise UsageError("there is no such device", expected=", ".join(DEVICES), found=device or "nothing")


def devices_of(system: str = sys.platform) -> tuple[str, ...]:
    """Devices that can exist on a system, the fastest first; the CPU is the last."""
    return _KNOWN.get(system, ("cpu",))
