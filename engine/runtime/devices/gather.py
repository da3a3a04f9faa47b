"""Gathers the facts about this computer's GPU: files, environment, packages, and the driver's answers."""

import os
import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from engine.runtime.devices.cuda_driver import ask_driver
from engine.runtime.devices.facts import DeviceNode, GpuFacts
from engine.runtime.devices.libraries import find_libraries, library_folders
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.versions import RUNTIME_PACKAGES

_NVIDIA: Final = "0x10de"  # vendor on the PCI bus
_DISPLAY_CLASSES: Final = ("0x0300", "0x0302")  # graphics cards with and without an output
_KERNEL_VERSION: Final = re.compile(r"\b\d{3,}\.\d+(?:\.\d+)?\b")
_CONTAINER_SIGNS: Final = (".dockerenv", "run/.containerenv")
_NODE_PATTERNS: Final = ("nvidia[0-9]*", "nvidiactl", "nvidia-uvm")


def gather_facts(root: Path = Path("/"), environment: Mapping[str, str] | None = None) -> GpuFacts:
    """Look at this computer. Loads ONNX Runtime and the driver's library, runs nothing on the GPU. Never raises."""
    onnxruntime = load_onnxruntime()
    variables = os.environ if environment is None else environment
    return GpuFacts(
        system=sys.platform,
        is_container=is_container(root, variables),
        is_wsl=(root / "dev/dxg").exists(),
        has_nvidia_hardware=has_nvidia_hardware(root),
        kernel_driver=kernel_driver(root),
        device_nodes=device_nodes(root),
        visible_devices=variables.get("CUDA_VISIBLE_DEVICES"),
        driver=ask_driver(),
        packages=runtime_packages(),
        providers=tuple(onnxruntime.get_available_providers()),
        built_for_cuda=str(getattr(onnxruntime, "cuda_version", "") or ""),
        libraries=find_libraries(library_folders(variables)),
    )


def is_container(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether this process runs in a container: Docker, Podman, Kubernetes or systemd say so."""
    signs = any((root / sign).exists() for sign in _CONTAINER_SIGNS)
    return signs or "container" in environment or "KUBERNETES_SERVICE_HOST" in environment


def has_nvidia_hardware(root: Path) -> bool | None:
    """Whether an NVIDIA GPU is on the PCI bus; None when the bus cannot be seen."""
    devices = root / "sys/bus/pci/devices"
    try:
        folders = list(devices.iterdir())
    except OSError:
        return None
    return any(_text(folder / "vendor") == _NVIDIA and _is_display(folder) for folder in folders)


def _is_display(folder: Path) -> bool:
    return _text(folder / "class").startswith(_DISPLAY_CLASSES)


def kernel_driver(root: Path) -> str:
    """Version of NVIDIA's kernel module, by what it tells under /proc; empty when it is not loaded."""
    found = _KERNEL_VERSION.search(_text(root / "proc/driver/nvidia/version"))
    return found.group() if found else ""


def device_nodes(root: Path) -> tuple[DeviceNode, ...]:
    """The driver's device files."""
    paths = [path for pattern in _NODE_PATTERNS for path in sorted((root / "dev").glob(pattern))]
    return tuple(DeviceNode(str(path), os.access(path, os.R_OK | os.W_OK)) for path in paths)


def runtime_packages() -> dict[str, str]:
    """Installed ONNX Runtime packages, version by name. They share one folder, so there should be one."""
    found = {}
    for name in RUNTIME_PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
