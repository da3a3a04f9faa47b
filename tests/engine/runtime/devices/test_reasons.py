"""Why experimental devices are not used, and what a failed trial means."""

from pathlib import Path

import pytest

from engine.runtime.devices.facts import CUDA_PROVIDER, EXPERIMENTAL, PROVIDERS, GpuFacts
from engine.runtime.devices.reasons import Attempt, is_out_of_memory, why_failed, why_not
from tests.support.gpu_facts import GOOD_FACTS, NO_DRIVER, facts_with

GUIDE = Path(__file__).parents[4] / "docs" / "gpu.md"


@pytest.mark.parametrize(
    ("device", "facts", "cause", "remedy"),
    [
        ("tensorrt", facts_with(providers=(CUDA_PROVIDER,)), "no_provider", "use the device auto"),
        ("tensorrt", facts_with(driver=NO_DRIVER), "no_driver", "install the NVIDIA driver"),
        ("coreml", GOOD_FACTS, "no_provider", "use the device auto"),
        ("directml", GpuFacts(system="win32"), "no_provider", "use the device auto"),
    ],
)
def test_other_devices(device: str, facts: GpuFacts, cause: str, remedy: str) -> None:
    """ONNX Runtime must be built with it; TensorRT needs what CUDA needs."""
    reason = why_not(device, facts)
    assert reason is not None
    assert reason.cause == cause
    assert remedy in reason.remedy
    assert f"`{cause}`" in GUIDE.read_text(encoding="utf-8")


def test_devices_worth_a_try() -> None:
    """Where ONNX Runtime is built with it, only a trial can tell."""
    assert why_not("cpu", GpuFacts()) is None
    assert why_not("cuda", GOOD_FACTS) is None
    for device in EXPERIMENTAL:
        assert why_not(device, facts_with(providers=(PROVIDERS[device], CUDA_PROVIDER))) is None


@pytest.mark.parametrize(
    ("attempt", "cause", "words"),
    [
        (Attempt(works=False, timed_out_s=60.0), "no_answer", "within 60 s"),
        (Attempt(works=False, signal=-11, message="Segmentation fault"), "crashed", "-11"),
        (
            Attempt(works=False, is_wrong=True, message="by up to 3.5"),
            "wrong_numbers",
            "by up to 3.5",
        ),
        (
            Attempt(works=False, message="CUDA failure 2: out of memory"),
            "out_of_memory",
            "122,880 MiB free",
        ),
        (
            Attempt(works=False, message="no kernel image"),
            "probe_failed",
            "CUDAExecutionProvider fails: no kernel",
        ),
    ],
)
def test_failed_trials(attempt: Attempt, cause: str, words: str) -> None:
    """A trial that failed has a cause, and one that went well has none."""
    reason = why_failed("cuda", attempt, GOOD_FACTS)
    assert reason is not None
    assert reason.cause == cause
    assert words in reason.words
    assert reason.remedy
    assert f"`{cause}`" in GUIDE.read_text(encoding="utf-8")
    assert why_failed("cuda", Attempt(works=True), GOOD_FACTS) is None


@pytest.mark.parametrize(
    ("message", "is_memory"),
    [
        ("CUDA error: out of memory", True),
        ("Failed to allocate memory for requested buffer of size 1073741824", True),
        ("CUDNN_STATUS_ALLOC_FAILED", True),
        ("CUDNN_STATUS_EXECUTION_FAILED", False),
        ("an illegal memory access was encountered", False),
    ],
)
def test_messages_about_memory(message: str, is_memory: bool) -> None:
    """A full memory is distinguished from other failures by what libraries say."""
    assert is_out_of_memory(message) == is_memory
