"""Disk errors that no other code turns into a message are caught at the top."""

import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine import full_disk
from engine.cli.main import main
from engine.collection import new_project as new_project_module
from engine.collection.new_project import new_project
from engine.errors import ModelError
from engine.runtime.devices.child import Speed, TryDevice
from tests.support.command_line import refused
from tests.support.served import served

FULL = OSError(errno.ENOSPC, "No space left on device")


def behind(error: Exception) -> Exception:
    """An error caused by a full disk that does not say so."""
    found = ModelError("the network cannot be converted", found="tiny.onnx")
    found.__cause__ = error
    return found


@pytest.mark.parametrize(
    "error", [FULL, behind(FULL), RuntimeError("write failed: No space left on device")]
)
def test_a_command_says_that_the_disk_is_full(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """Whatever the library raised: one line, no traceback."""

    def refuse(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(new_project_module, "new_project", refuse)
    message = refused(capsys, "new", tmp_path / "birds.protoleaf")
    assert "the disk is full" in message
    assert "Free some space" in message


def test_an_error_without_a_reason_is_judged_by_what_is_free(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite's "disk I/O error" is a full disk if nothing is free, else a bug."""

    def refuse(*_arguments: object, **_options: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(new_project_module, "new_project", refuse)
    with pytest.raises(sqlite3.OperationalError):
        main(["new", str(tmp_path / "birds.protoleaf")])
    monkeypatch.setattr(full_disk, "free_bytes", lambda _: 4096)
    assert "the disk is full: found" in refused(capsys, "new", tmp_path / "birds.protoleaf")


@pytest.mark.parametrize("error", [FULL, behind(FULL)])
def test_the_worker_says_that_the_disk_is_full(error: Exception) -> None:
    """A message instead of a traceback."""

    def refuse(*_arguments: object) -> Speed:
        raise error

    answer = served(TryDevice("cpu"), handlers={TryDevice: refuse})
    assert answer.status == 1
    assert "the disk is full" in answer.ending.message


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_output_that_does_not_fit_is_one_line(tmp_path: Path) -> None:
    """Also for output redirected to a full disk."""
    new_project(tmp_path / "birds.protoleaf").close()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "app", "check", str(tmp_path / "birds.protoleaf")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("protoleaf: the disk is full")
    assert done.stderr.count("\n") == 1


def test_a_project_that_cannot_be_opened_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project created without space to open it is removed, so the command can be repeated."""
    path = tmp_path / "birds.protoleaf"

    def refuse(*_arguments: object, **_options: object) -> None:
        raise full_disk.disk_full(path)

    with monkeypatch.context() as patch:
        patch.setattr("engine.project.project.Project.open", refuse)
        with pytest.raises(full_disk.DiskFullError):
            new_project(path)
    assert list(tmp_path.iterdir()) == []
    new_project(path).close()
