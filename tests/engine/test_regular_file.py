"""Pipes, devices and the like are refused before they are opened."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.files import NotRegularError, TooLargeError, open_regular, read_regular, require_regular

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)  # socket paths have at most 107 bytes
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("s")
        yield tmp_path / "s"


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_bytes(b"file,class\n")
    assert read_regular(file) == b"file,class\n"
    with open_regular(file) as opened:
        assert opened.read(4) == b"file"


def test_a_link_to_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_bytes(b"1")
    (tmp_path / "latest.csv").symlink_to("list.csv")
    assert read_regular(tmp_path / "latest.csv") == b"1"


@on_posix
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "list.csv")
    with pytest.raises(NotRegularError, match="a pipe, not a file"):
        open_regular(tmp_path / "list.csv")


@on_posix
def test_a_pipe_that_takes_the_place_of_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "list.csv")
    monkeypatch.setattr("engine.files.require_regular", lambda _: None)
    with pytest.raises(NotRegularError, match="a pipe, not a file"):
        open_regular(tmp_path / "list.csv")


@on_posix
def test_a_socket_is_refused(listening: Path) -> None:
    with pytest.raises(NotRegularError, match="a socket, not a file"):
        read_regular(listening)


@on_posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused(device: str) -> None:
    if not Path(device).exists():
        pytest.skip("this machine has no such device")
    with pytest.raises(NotRegularError, match="a device, not a file"):
        require_regular(Path(device))


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="this system has no /proc")
def test_a_file_of_the_kernel_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "list.csv"
    link.symlink_to("/proc/self/status")
    with pytest.raises(NotRegularError, match="a virtual file of the system"):
        read_regular(link)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotRegularError, match="a folder, not a file"):
        open_regular(tmp_path)


def test_a_name_without_a_file_is_reported_as_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none.csv")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    with file.open("wb") as opened:
        opened.truncate(5_000_000)
    with pytest.raises(TooLargeError, match=r"5\.0 MB, and at most 1\.0 MB are read"):
        read_regular(file, at_most=1_000_000)
    assert len(read_regular(file, at_most=5_000_000)) == 5_000_000
