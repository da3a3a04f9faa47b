"""Which libraries a GPU needs, and where they are found."""

from pathlib import Path

import pytest

from engine.runtime.devices import gather
from engine.runtime.devices.gather import (
    find_libraries,
    library_folders,
    load_gpu_libraries,
    needed_for_cuda,
)


def test_names_follow_the_version() -> None:
    """File and package names of CUDA 12 and 13, on Linux and Windows."""
    assert [library.file for library in needed_for_cuda(13, "linux")] == [
        "libcublas.so.13",
        "libcublasLt.so.13",
        "libcudart.so.13",
        "libcurand.so.10",
        "libcudnn.so.9",
    ]
    assert needed_for_cuda(12, "win32")[0].file == "cublas64_12.dll"
    assert [library.package for library in needed_for_cuda(12, "linux")][::4] == [
        "nvidia-cublas-cu12",
        "nvidia-cudnn-cu12",
    ]
    assert needed_for_cuda(13, "linux")[0].package == "nvidia-cublas"


def test_only_gpu_libraries_are_found(tmp_path: Path) -> None:
    """Libraries are known by their names; folders that are not there are passed over."""
    for name in (
        "libcublas.so.13",
        "libcublas.so.13.1.1.3",
        "libcudnn.so.9",
        "cudnn64_9.dll",
        "libc.so.6",
        "cublas.h",
    ):
        (tmp_path / name).touch()
    found = find_libraries([tmp_path / "none", tmp_path])
    assert found == {"libcublas.so.13", "libcudnn.so.9", "cudnn64_9.dll"}


def test_folders_of_the_environment_count(tmp_path: Path) -> None:
    """LD_LIBRARY_PATH on Linux and PATH on Windows are searched."""
    assert tmp_path in library_folders({"LD_LIBRARY_PATH": str(tmp_path)}, "linux")
    assert tmp_path in library_folders({"PATH": str(tmp_path)}, "win32")
    assert tmp_path not in library_folders({"PATH": str(tmp_path)}, "linux")


def test_python_packages_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's Python packages lie beside ONNX Runtime."""
    (tmp_path / "nvidia/cu13/lib").mkdir(parents=True)
    (tmp_path / "nvidia/cudnn/bin").mkdir(parents=True)
    monkeypatch.setattr(gather, "_packages_folder", lambda: tmp_path)
    folders = library_folders({}, "linux")
    assert {tmp_path / "nvidia/cu13/lib", tmp_path / "nvidia/cudnn/bin"} <= set(folders)


def test_loading_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """Loading prints nothing and never fails: what is missing shows when a session is opened."""
    load_gpu_libraries.cache_clear()
    load_gpu_libraries()
    assert capfd.readouterr() == ("", "")
