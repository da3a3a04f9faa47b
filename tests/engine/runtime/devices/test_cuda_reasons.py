"""Every cause for which CUDA is not used, from faked facts, and each explained in docs/gpu.md."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.runtime.devices.facts import CPU_PROVIDER, DeviceNode, GpuFacts
from engine.runtime.devices.reasons import why_not_cuda
from tests.support.gpu_facts import GOOD_FACTS, GPU, NO_DRIVER, driver_with, facts_with

GUIDE = Path(__file__).parents[4] / "docs" / "gpu.md"
CLOSED = (DeviceNode("/dev/nvidia0", False), DeviceNode("/dev/nvidiactl", False))
NO_GPU_OFFERED = driver_with(status=100, device_count=0, device=None)
CPU_ONLY = facts_with(providers=(CPU_PROVIDER,), built_for_cuda="")
BOTH_PACKAGES = {"onnxruntime-gpu": "1.31.1", "onnxruntime": "1.31.1"}
CUDA_12 = frozenset(
    {"libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12", "libcurand.so.10", "libcudnn.so.9"}
)

CASES: dict[str, tuple[GpuFacts, str, str, str]] = {
    "macOS": (
        facts_with(system="darwin"),
        "unsupported_system",
        "CUDA does not exist on macOS",
        "auto",
    ),
    "container, kernel driver loaded": (
        facts_with(is_container=True, device_nodes=(), driver=NO_DRIVER),
        "container_without_gpus",
        "started without the computer's GPU",
        "--gpus all",
    ),
    "container, GPU on the bus": (
        facts_with(is_container=True, device_nodes=(), kernel_driver="", driver=NO_DRIVER),
        "container_without_gpus",
        "container",
        "NVIDIA Container Toolkit",
    ),
    "nothing at all": (
        facts_with(has_nvidia_hardware=False, kernel_driver="", device_nodes=(), driver=NO_DRIVER),
        "no_gpu",
        "shows no NVIDIA GPU, and no NVIDIA driver is installed (libcuda.so.1 was not found)",
        "nothing",
    ),
    "nothing in a container": (
        facts_with(
            is_container=True,
            has_nvidia_hardware=False,
            kernel_driver="",
            device_nodes=(),
            driver=NO_DRIVER,
        ),
        "no_gpu",
        "no NVIDIA driver",
        "--gpus all",
    ),
    "GPU without driver": (
        facts_with(kernel_driver="", device_nodes=(), driver=NO_DRIVER),
        "no_driver",
        "although an NVIDIA GPU is in this computer",
        "version 580 or later",
    ),
    "bus cannot be seen": (
        facts_with(has_nvidia_hardware=None, kernel_driver="", device_nodes=(), driver=NO_DRIVER),
        "no_driver",
        "no NVIDIA driver is installed (libcuda.so.1",
        "install the NVIDIA driver",
    ),
    "WSL without driver": (
        facts_with(is_wsl=True, has_nvidia_hardware=False, device_nodes=(), driver=NO_DRIVER),
        "no_driver",
        "no NVIDIA driver",
        "on Windows itself",
    ),
    "no permission": (
        facts_with(device_nodes=CLOSED, driver=NO_GPU_OFFERED),
        "no_permission",
        "no permission on /dev/nvidia0, /dev/nvidiactl",
        "group",
    ),
    "hidden, empty": (
        facts_with(visible_devices="", driver=NO_GPU_OFFERED),
        "hidden_by_environment",
        "CUDA_VISIBLE_DEVICES is empty",
        "unset",
    ),
    "hidden, minus one": (
        facts_with(visible_devices="-1", driver=NO_GPU_OFFERED),
        "hidden_by_environment",
        "CUDA_VISIBLE_DEVICES is “-1”",
        "unset",
    ),
    "library and driver differ": (
        facts_with(driver=driver_with(status=803, device_count=0, device=None)),
        "driver_not_ready",
        "different versions",
        "restart",
    ),
    "held by another program": (
        facts_with(driver=driver_with(status=46, device_count=0, device=None)),
        "driver_not_ready",
        "another program has",
        "nvidia-smi -c 0",
    ),
    "stub": (
        facts_with(driver=driver_with(status=34, device_count=0, device=None)),
        "driver_not_ready",
        "stub",
        "LD_LIBRARY_PATH",
    ),
    "unknown status": (
        facts_with(driver=driver_with(status=999, device_count=0, device=None)),
        "driver_not_ready",
        "error 999",
        "restart",
    ),
    "driver finds none": (
        facts_with(driver=NO_GPU_OFFERED),
        "no_device",
        "finds no GPU",
        "nvidia-smi",
    ),
    "old driver": (
        facts_with(driver=driver_with(cuda_version=(12, 4), version="550.54.15")),
        "driver_too_old",
        "found driver 550.54.15, for CUDA 12.4, needed driver 580 or later, for CUDA 13",
        "580",
    ),
    "old GPU": (
        facts_with(driver=driver_with(device=replace(GPU, name="Tesla V100", capability=(7, 0)))),
        "capability_too_low",
        "Tesla V100 has compute capability 7.0; packages for CUDA 13 need 7.5",
        "CUDA 12",
    ),
    "package for the CPU": (
        replace(CPU_ONLY, packages={"onnxruntime": "1.31.1"}),
        "wrong_package",
        "onnxruntime is built without CUDA",
        "pip uninstall onnxruntime, then pip install onnxruntime-gpu",
    ),
    "both packages": (
        replace(CPU_ONLY, packages=BOTH_PACKAGES),
        "both_packages",
        "both installed",
        "pip uninstall onnxruntime-gpu onnxruntime, then pip install onnxruntime-gpu",
    ),
    "CUDA 12 beside a build for 13": (
        facts_with(libraries=CUDA_12),
        "other_cuda",
        "CUDA 12 libraries were found, but",
        "onnxruntime-gpu[cuda,cudnn]",
    ),
    "no cuDNN": (
        facts_with(libraries=GOOD_FACTS.libraries - {"libcudnn.so.9"}),
        "library_missing",
        "cuDNN (libcudnn.so.9)",
        "pip install nvidia-cudnn-cu13",
    ),
    "no cuBLAS at all": (
        facts_with(libraries=GOOD_FACTS.libraries - {"libcublas.so.13", "libcublasLt.so.13"}),
        "library_missing",
        "cuBLAS (libcublas.so.13) and cuBLASLt (libcublasLt.so.13)",
        "pip install nvidia-cublas",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cause(name: str) -> None:
    """The facts lead to one cause, with words and a remedy that name what was found."""
    facts, cause, words, remedy = CASES[name]
    reason = why_not_cuda(facts)
    assert reason is not None
    assert reason.cause == cause
    assert words in reason.words
    assert remedy in reason.remedy


def test_nothing_speaks_against_a_good_computer() -> None:
    """No reason where all is well, also with a newer driver, in a container, with CUDA 12."""
    assert why_not_cuda(GOOD_FACTS) is None
    assert why_not_cuda(facts_with(driver=driver_with(cuda_version=(14, 1)))) is None
    assert why_not_cuda(facts_with(is_container=True)) is None
    assert why_not_cuda(facts_with(visible_devices="0")) is None
    twelve = facts_with(
        built_for_cuda="12.8", libraries=CUDA_12, driver=driver_with(cuda_version=(12, 4))
    )
    assert why_not_cuda(twelve) is None


def test_windows_libraries() -> None:
    """On Windows the DLLs are looked for by their own names."""
    reason = why_not_cuda(
        facts_with(system="win32", device_nodes=(), libraries=frozenset({"cublas64_13.dll"}))
    )
    assert reason is not None
    assert reason.cause == "library_missing"
    assert "cuDNN (cudnn64_9.dll)" in reason.words
    assert "cublas64_13.dll" not in reason.words


@pytest.mark.parametrize("cause", sorted({case[1] for case in CASES.values()}))
def test_the_guide_explains_it(cause: str) -> None:
    """Each cause has an entry in docs/gpu.md."""
    assert f"`{cause}`" in GUIDE.read_text(encoding="utf-8")
