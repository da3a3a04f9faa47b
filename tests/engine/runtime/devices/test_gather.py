"""Facts from files, environment and packages, below a folder as root of the file system."""

import sys
from pathlib import Path

import pytest

from engine.runtime.devices import gather
from engine.runtime.devices.facts import CPU_PROVIDER, DeviceNode
from engine.runtime.devices.gather import gather_facts
from tests.support.gpu_facts import DRIVER


def write(path: Path, text: str = "") -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def put_on_bus(root: Path, *, vendor: str, kind: str) -> None:
    """Put a device on the PCI bus."""
    folder = root / "sys/bus/pci/devices" / f"0000:{vendor}:{kind}"
    write(folder / "vendor", vendor + "\n")
    write(folder / "class", kind + "\n")


def test_an_empty_computer(tmp_path: Path) -> None:
    """Without files nothing is claimed, and an unseen bus is unknown, not empty."""
    facts = gather_facts(tmp_path, {})
    assert (facts.is_container, facts.is_wsl, facts.has_nvidia_hardware) == (False, False, None)
    assert (facts.kernel_driver, facts.device_nodes, facts.visible_devices) == ("", (), None)


def test_what_files_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Container, bus, kernel module and device files are found; the driver is asked."""
    write(tmp_path / ".dockerenv")
    put_on_bus(tmp_path, vendor="0x8086", kind="0x030000")
    put_on_bus(tmp_path, vendor="0x10de", kind="0x030200")
    write(
        tmp_path / "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 07:00:00 UTC 2025\n"
        "GCC version: 13.2\n",
    )
    node = write(tmp_path / "dev/nvidia0")
    write(tmp_path / "dev/nvidia-caps/cap1")
    monkeypatch.setattr(gather, "query_driver", lambda: DRIVER)
    facts = gather_facts(tmp_path, {"CUDA_VISIBLE_DEVICES": ""})
    assert facts.is_container
    assert facts.has_nvidia_hardware is True
    assert facts.kernel_driver == "580.65.06"
    assert facts.device_nodes == (DeviceNode(str(node), True),)
    assert facts.visible_devices == ""
    assert facts.driver == DRIVER


def test_other_hardware_is_no_gpu(tmp_path: Path) -> None:
    """A sound device of NVIDIA and a graphics card of somebody else are no NVIDIA GPU."""
    put_on_bus(tmp_path, vendor="0x10de", kind="0x040300")
    put_on_bus(tmp_path, vendor="0x1002", kind="0x030000")
    assert gather_facts(tmp_path, {}).has_nvidia_hardware is False


@pytest.mark.parametrize("variable", ["container", "KUBERNETES_SERVICE_HOST"])
def test_containers_by_their_environment(tmp_path: Path, variable: str) -> None:
    """Some containers show only in the environment."""
    assert gather_facts(tmp_path, {variable: "x"}).is_container


def test_this_computer() -> None:
    """The real facts name this system and an ONNX Runtime that has the CPU."""
    facts = gather_facts()
    assert facts.system == sys.platform
    assert CPU_PROVIDER in facts.providers
    assert facts.packages
