import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.config import assets_folder
from engine.errors import ModelError, UsageError
from engine.inference import cuda_driver, providers
from engine.inference.cuda_driver import CudaDevice, find_cuda_device
from engine.inference.providers import PROBE_MODEL, ProviderReport, _probe_result, choose_providers, probe_providers
from engine.inference.runtime import CPU_PROVIDER, CUDA_PROVIDER, open_session
from tests.support.backbones import write_tiny_backbone


def cuda_report(reason: str) -> Callable[[], ProviderReport]:
    return lambda: ProviderReport(CUDA_PROVIDER, "GPU 1", not reason, reason, 0.5)


def test_cpu_is_tried_for_real() -> None:
    """The CPU runs the shipped tiny model; every candidate that does not work has a reason."""
    reports = probe_providers()
    assert [report.name for report in reports] == [CUDA_PROVIDER, CPU_PROVIDER]
    assert reports[1].works
    assert reports[1].seconds > 0
    assert all(report.works != bool(report.reason) for report in reports)


def test_gpu_that_works_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a working GPU, auto and cuda take it, and cpu does not."""
    monkeypatch.setattr(providers, "_probe_cuda", cuda_report(""))
    for device in ("auto", "cuda"):
        choice = choose_providers(device)
        assert (choice.provider_names, choice.device_name, choice.reason) == (
            (CUDA_PROVIDER, CPU_PROVIDER),
            "GPU 1",
            "",
        )
        assert choice.is_gpu
    assert choose_providers("cpu").provider_names == (CPU_PROVIDER,)


def test_gpu_that_does_not_work_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a working GPU auto takes the CPU and says why; cuda is an error that says why."""
    monkeypatch.setattr(providers, "_probe_cuda", cuda_report("the cable is loose"))
    choice = choose_providers("auto")
    assert (choice.device_name, choice.reason, choice.is_gpu) == ("CPU", "the cable is loose", False)
    with pytest.raises(ModelError, match="the cable is loose"):
        choose_providers("cuda")


def test_unknown_device() -> None:
    """A device that is not offered is a usage error."""
    with pytest.raises(UsageError, match="tpu"):
        choose_providers("tpu")


def test_driver_without_usable_provider_has_a_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where a driver claims a GPU, it is really tried: it works or there is a reason, and nothing is printed."""
    monkeypatch.setattr(providers, "find_cuda_device", lambda: CudaDevice("GPU 1"))
    report = providers._probe_cuda()
    assert report.works != bool(report.reason)
    assert capfd.readouterr() == ("", "")


def fake_driver(*, status: int = 0, count: int = 1) -> SimpleNamespace:
    """Answer like the driver library, with one status and a count of GPUs."""

    def write_count(reference: Any) -> int:
        reference._obj.value = count
        return 0

    def write_name(name: Any, _size: int, _device: object) -> int:
        name.value = b"GPU 1"
        return 0

    return SimpleNamespace(
        cuInit=lambda _flags: status,
        cuDeviceGetCount=write_count,
        cuDeviceGet=lambda _device, _ordinal: 0,
        cuDeviceGetName=write_name,
    )


@pytest.mark.parametrize(
    ("driver", "device"),
    [
        (fake_driver(), CudaDevice(name="GPU 1")),
        (fake_driver(count=0), CudaDevice(reason="the NVIDIA driver finds no GPU")),
        (fake_driver(status=100), CudaDevice(reason="the NVIDIA driver finds no GPU")),
        (fake_driver(status=999), CudaDevice(reason="the NVIDIA driver answers with error 999")),
    ],
)
def test_driver_answers(driver: SimpleNamespace, device: CudaDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver's answers become a name or a reason."""
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: driver)
    assert find_cuda_device() == device


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a driver library the reason names it."""
    monkeypatch.setattr(cuda_driver, "_DRIVER_LIBRARY", "libno-such-driver.so")
    assert "libno-such-driver.so was not found" in find_cuda_device().reason


def test_rubbish_is_no_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file that is no model is a model error, and ONNX Runtime writes nothing by itself."""
    model = tmp_path / "model.onnx"
    model.write_bytes(b"rubbish")
    with pytest.raises(ModelError, match=r"model\.onnx"):
        open_session(model)
    with pytest.raises(ModelError, match="not there"):
        open_session(tmp_path / "none.onnx")
    assert capfd.readouterr() == ("", "")


def test_no_silent_fallback() -> None:
    """A provider that does not exist here is an error, not a quiet CPU session."""
    with pytest.raises(ModelError):
        open_session(assets_folder() / PROBE_MODEL, "NoSuchExecutionProvider")


def test_probe_is_the_tiny_backbone(tmp_path: Path) -> None:
    """The shipped probe is what `write_tiny_backbone` writes with width 4, so that it can be made again."""
    write_tiny_backbone(tmp_path / "probe.onnx", width=4)
    assert np.array_equal(
        _probe_result(tmp_path / "probe.onnx", CPU_PROVIDER), _probe_result(assets_folder() / PROBE_MODEL, CPU_PROVIDER)
    )
