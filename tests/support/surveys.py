"""What the worker tells of the devices of computers that are not here."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from engine.runtime.devices.names import PROVIDERS
from engine.runtime.providers import ProviderReport

WHY: Final = "this computer shows no NVIDIA GPU, and no NVIDIA driver is installed (libcuda.so.1 was not found)"
REMEDY: Final = "nothing needs to be done: the CPU does the work"
CPU: Final = ProviderReport("cpu", PROVIDERS["cpu"], "CPU", True, True, speed={"images_per_s": 850.4})
NO_CUDA: Final = ProviderReport("cuda", PROVIDERS["cuda"], "", False, False, "no_gpu", WHY, REMEDY)
NO_TENSORRT: Final = replace(NO_CUDA, device="tensorrt", name=PROVIDERS["tensorrt"])
CUDA: Final = ProviderReport(
    "cuda", PROVIDERS["cuda"], "NVIDIA H200", True, True, speed={"images_per_s": 12_000.0}
)  # fmt: skip
TENSORRT: Final = ProviderReport(
    "tensorrt", PROVIDERS["tensorrt"], "NVIDIA H200 by TensorRT", False, False, "on_demand", "not tried", "ask for it"
)


def result_of(*reports: ProviderReport, name: str, reason: str = "") -> Mapping[str, Any]:
    """The worker's last event."""
    return {"event": "result", "devices": [asdict(report) for report in reports], "name": name, "reason": reason}


WITHOUT_GPU: Final = result_of(NO_TENSORRT, NO_CUDA, CPU, name="CPU", reason=WHY)
WITH_GPU: Final = result_of(TENSORRT, CUDA, CPU, name="NVIDIA H200")
