"""Device reports of simulated computers."""

from dataclasses import replace

from engine.runtime.devices.facts import PROVIDERS
from engine.runtime.devices.reasons import why_not_cuda
from engine.runtime.providers import DeviceList, ProviderReport
from tests.support.gpu_facts import NO_DRIVER, facts_with

NO_GPU = why_not_cuda(facts_with(driver=NO_DRIVER, has_nvidia_hardware=False))
assert NO_GPU is not None
WHY = NO_GPU.words
REMEDY = NO_GPU.remedy
CPU = ProviderReport("cpu", PROVIDERS["cpu"], "CPU", True, True, speed={"images_per_s": 850.4})
NO_CUDA = ProviderReport("cuda", PROVIDERS["cuda"], "", False, False, "no_gpu", WHY, REMEDY)
NO_TENSORRT = replace(NO_CUDA, device="tensorrt", name=PROVIDERS["tensorrt"])
CUDA = ProviderReport(
    "cuda", PROVIDERS["cuda"], "NVIDIA H200", True, True, speed={"images_per_s": 12_000.0}
)
TENSORRT = ProviderReport("tensorrt", PROVIDERS["tensorrt"], "TensorRT", True, True)


WITHOUT_GPU = DeviceList((NO_TENSORRT, NO_CUDA, CPU), "CPU", WHY)
WITH_GPU = DeviceList((TENSORRT, CUDA, CPU), "NVIDIA H200")
