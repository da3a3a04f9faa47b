"""The driver's answers, from a faked driver and management library."""

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from engine.runtime.devices import gather
from engine.runtime.devices.facts import CudaDevice, DriverFacts
from engine.runtime.devices.gather import DRIVER_LIBRARY, query_driver

CAPABILITY = {75: 9, 76: 0}


def put(reference: Any, value: int) -> int:
    """Write through a pointer that was passed by reference, and say that all is well."""
    reference._obj.value = value  # noqa: SLF001 (the C structure that ctypes points to)
    return 0


def fill(buffer: Any, text: bytes) -> int:
    """Write text into a buffer, and say that all is well."""
    buffer.value = text
    return 0


def fake_driver(*, status: int = 0, count: int = 1) -> SimpleNamespace:
    """Answer like libcuda, with one status and a count of GPUs."""
    return SimpleNamespace(
        cuDriverGetVersion=lambda version: put(version, 13020),
        cuInit=lambda _flags: status,
        cuDeviceGetCount=lambda found: put(found, count),
        cuDeviceGet=put,
        cuDeviceGetName=lambda name, _size, _handle: fill(name, b"GPU 1"),
        cuDeviceTotalMem_v2=lambda memory, _handle: put(memory, 8 << 30),
        cuDeviceGetAttribute=lambda value, number, _handle: put(value, CAPABILITY[number]),
        cuDeviceGetPCIBusId=lambda bus, _size, _handle: fill(bus, b"0000:17:00.0"),
    )


def fake_management(*, status: int = 0) -> SimpleNamespace:
    """Answer like NVIDIA's management library."""

    def tell_memory(_handle: object, memory: Any) -> int:
        memory._obj.free = 3 << 30  # noqa: SLF001 (the C structure that ctypes points to)
        return status

    return SimpleNamespace(
        nvmlInit_v2=lambda: 0,
        nvmlSystemGetDriverVersion=lambda text, _size: fill(text, b"580.65.06"),
        nvmlDeviceGetHandleByPciBusId_v2=lambda bus, _handle: (
            0 if bus.value == b"0000:17:00.0" else 1
        ),
        nvmlDeviceGetMemoryInfo=tell_memory,
    )


def install(
    monkeypatch: pytest.MonkeyPatch, driver: SimpleNamespace, management: SimpleNamespace | None
) -> None:
    """Let these be the libraries that are loaded."""

    def load(name: str) -> SimpleNamespace:
        library = driver if name == DRIVER_LIBRARY else management
        if library is None:
            raise OSError(name)
        return library

    monkeypatch.setattr(ctypes, "CDLL", load)


def test_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, capability, memory and versions come from the two libraries."""
    install(monkeypatch, fake_driver(), fake_management())
    assert query_driver() == DriverFacts(
        DRIVER_LIBRARY,
        True,
        0,
        1,
        (13, 2),
        "580.65.06",
        CudaDevice("GPU 1", (9, 0), 8 << 30, 3 << 30),
    )


@pytest.mark.parametrize("management", [None, fake_management(status=3)])
def test_unknown_free_memory(
    monkeypatch: pytest.MonkeyPatch, management: SimpleNamespace | None
) -> None:
    """Without an answer about the memory it is unknown; the rest is reported."""
    install(monkeypatch, fake_driver(), management)
    device = query_driver().device
    assert device == CudaDevice("GPU 1", (9, 0), 8 << 30, None)


@pytest.mark.parametrize(("status", "count"), [(100, 0), (0, 0), (803, 0), (999, 1)])
def test_no_usable_gpu(monkeypatch: pytest.MonkeyPatch, status: int, count: int) -> None:
    """An error or no GPU is a status or a count, never an exception."""
    install(monkeypatch, fake_driver(status=status, count=count), fake_management())
    found = query_driver()
    assert (found.is_installed, found.status, found.device) == (True, status, None)
    assert found.version == "580.65.06"


def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the facts say so and name it."""
    monkeypatch.setattr(gather, "DRIVER_LIBRARY", "libno-such-driver.so")
    assert query_driver() == DriverFacts("libno-such-driver.so")
