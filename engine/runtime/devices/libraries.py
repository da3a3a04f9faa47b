"""Finds and loads the libraries that ONNX Runtime's GPU parts need: CUDA, cuDNN, TensorRT."""

import contextlib
import ctypes
import functools
import importlib.util
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.config import make_folders
from engine.runtime.devices.names import TENSORRT_PROVIDER
from engine.runtime.onnx_runtime import load_onnxruntime

_LIBRARY: Final = re.compile(
    r"(lib)?(cublas|cublasLt|cudart|curand|cufft|cudnn|nvinfer|nvonnxparser)(\.so\.\d+|(64)?_\d+\.dll)", re.ASCII
)
_SYSTEM_FOLDERS: Final = (
    "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib",
    "/usr/local/cuda/lib64", "/usr/lib/wsl/lib", "/lib64", "/lib/x86_64-linux-gnu",
)  # fmt: skip
_LOADER_SETTINGS: Final = Path("/etc/ld.so.conf.d")
_PACKAGE_FOLDERS: Final = ("nvidia/*/lib", "nvidia/*/bin", "nvidia/*/bin/*", "tensorrt_libs", "torch/lib")
_TENSORRT: Final = ("libnvinfer.so.10", "libnvonnxparser.so.10")
_TENSORRT_DLLS: Final = ("nvinfer_10.dll", "nvonnxparser_10.dll")


@dataclass(frozen=True)
class Library:
    """A library that a GPU needs: its name for people, its file, and the Python package that brings it."""

    name: str
    file: str
    package: str


def needed_for_cuda(major: int, system: str) -> tuple[Library, ...]:
    """Libraries without which ONNX Runtime's CUDA part does not start.

    Args:
        system: "linux" or "win32".
    """
    suffix = "" if major >= 13 else f"-cu{major}"  # noqa: PLR2004 (NVIDIA renamed its packages with CUDA 13)
    table = (
        ("cuBLAS", "cublas", major, f"nvidia-cublas{suffix}"),
        ("cuBLASLt", "cublasLt", major, f"nvidia-cublas{suffix}"),
        ("the CUDA runtime", "cudart", major, f"nvidia-cuda-runtime{suffix}"),
        ("cuRAND", "curand", 10, f"nvidia-curand{suffix}"),
        ("cuDNN", "cudnn", 9, f"nvidia-cudnn-cu{major}"),
    )
    return tuple(Library(name, _file(stem, number, system), package) for name, stem, number, package in table)


def needed_for_tensorrt(major: int, system: str) -> tuple[Library, ...]:
    """Libraries that TensorRT needs besides those of CUDA."""
    files = _TENSORRT_DLLS if system == "win32" else _TENSORRT
    return tuple(Library("TensorRT", file, f"tensorrt-cu{major}") for file in files)


def _file(stem: str, number: int, system: str) -> str:
    return f"{stem}64_{number}.dll" if system == "win32" else f"lib{stem}.so.{number}"


def find_libraries(folders: Iterable[Path]) -> frozenset[str]:
    """File names of the GPU libraries in some folders; nothing is loaded. Never raises."""
    found: set[str] = set()
    for folder in folders:
        with contextlib.suppress(OSError):
            found |= {file.name for file in folder.iterdir() if _LIBRARY.fullmatch(file.name)}
    return frozenset(found)


def library_folders(environment: Mapping[str, str], system: str = sys.platform) -> tuple[Path, ...]:
    """Folders where ONNX Runtime looks for GPU libraries: Python packages, the environment's path, the system's."""
    packages = _packages_folder()
    folders = [folder for pattern in _PACKAGE_FOLDERS for folder in sorted(packages.glob(pattern))]
    path = environment.get("PATH" if system == "win32" else "LD_LIBRARY_PATH", "")
    folders += [Path(entry) for entry in path.split(os.pathsep) if entry]
    if system != "win32":
        folders += [*map(Path, _SYSTEM_FOLDERS), *_loader_folders()]
    return tuple(dict.fromkeys(folders))


def _packages_folder() -> Path:
    """The folder that ONNX Runtime lies in; NVIDIA's packages lie beside it."""
    found = importlib.util.find_spec("onnxruntime")
    return Path(found.origin).parent.parent if found and found.origin else Path()


def _loader_folders() -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for settings in sorted(_LOADER_SETTINGS.glob("*.conf")):
            lines = settings.read_text(encoding="utf-8", errors="replace").splitlines()
            yield from (Path(line.strip()) for line in lines if line.strip().startswith("/"))


@functools.cache
def load_gpu_libraries(provider: str) -> None:
    """Load what a GPU needs from Python packages, where the system's loader does not look.

    Never raises and prints nothing. What cannot be loaded shows when the session is opened.
    """
    make_folders()
    onnxruntime = load_onnxruntime()
    # The loader prints its findings; standard output may be a channel of events, so they are caught.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(OSError, RuntimeError, AttributeError):
        onnxruntime.preload_dlls()
    if provider == TENSORRT_PROVIDER:
        folder = _packages_folder() / "tensorrt_libs"
        for name in _TENSORRT_DLLS if sys.platform == "win32" else _TENSORRT:
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(folder / name))
