"""Device reports of simulated computers."""

from dataclasses import replace
from typing import Final

from engine.runtime.devices.facts import PROVIDERS
from engine.runtime.devices.reasons import why_not_cuda
from engine.runtime.providers import DeviceList, ProviderReport
from tests.support.gpu_facts import NO_DRIVER, facts_with

NO_GPU: Final = why_not_cuda(facts_with(driver=NO_DRIVER, has_nvidia_hardware=False))
assert NO_GPU is not None
WHY: Final = NO_GPU.words
REMEDY: Final = NO_GPU.remedy
CPU: Final = ProviderReport(
    "cpu", PROVIDERS["cpu"], "CPU", True, True, speed={"images_per_s": 850.4}
)
NO_CUDA: Final = ProviderReport("cuda", PROVIDERS["cuda"], "", False, False, "no_gpu", WHY, REMEDY)
NO_TENSORRT: Final = replace(NO_CUDA, device="tensorrt", name=PROVIDERS["tensorrt"])
CUDA: Final = ProviderReport(
    "cuda", PROVIDERS["cuda"], "NVIDIA H200", True, True, speed={"images_per_s": 12_000.0}
)
TENSORRT: Final = ProviderReport("tensorrt", PROVIDERS["tensorrt"], "TensorRT", True, True)


WITHOUT_GPU: Final = DeviceList((NO_TENSORRT, NO_CUDA, CPU), "CPU", WHY)
WITH_GPU: Final = DeviceList((TENSORRT, CUDA, CPU), "NVIDIA H200")
