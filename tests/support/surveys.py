"""What the worker tells of the devices of computers that are not here."""

from dataclasses import replace
from typing import Final

from engine.runtime.devices.facts import PROVIDERS
from engine.runtime.providers import DeviceList, ProviderReport

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


WITHOUT_GPU: Final = DeviceList((NO_TENSORRT, NO_CUDA, CPU), "CPU", WHY)
WITH_GPU: Final = DeviceList((TENSORRT, CUDA, CPU), "NVIDIA H200")
