"""Start of the program: window or command; on Windows ONNX Runtime is loaded before Qt."""

import builtins
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from app.__main__ import _names_a_project, leave_root, main, open_window


class _QtReachedError(Exception):
    """Raised in place of importing Qt."""


def test_onnxruntime_comes_before_qt_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Qt its library cannot be loaded there."""
    loaded, real_import = [], builtins.__import__

    def stop_at_qt(name: str, *rest: Any, **more: Any) -> ModuleType:
        if name.partition(".")[0] == "PySide6":
            raise _QtReachedError
        return real_import(name, *rest, **more)

    monkeypatch.setattr("app.__main__.sys", SimpleNamespace(platform="win32", argv=["protoleaf"]))
    monkeypatch.setattr(
        "engine.runtime.onnx_runtime.load_onnxruntime", lambda: loaded.append("onnxruntime")
    )
    monkeypatch.setattr(builtins, "__import__", stop_at_qt)
    with pytest.raises(_QtReachedError):
        open_window(None)
    assert loaded == ["onnxruntime"]


@pytest.mark.parametrize(
    ("word", "is_project"),
    [("birds.protoleaf", True), ("folder/a b.protoleaf", True), ("doctor", False)],
)
def test_the_first_word_decides(word: str, is_project: bool) -> None:
    """A project file opens the window, everything else is a command."""
    assert _names_a_project(word) is is_project


@pytest.mark.parametrize("more", ["b.protoleaf", "--json"])
def test_the_window_opens_one_project(more: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments after the project are a usage error; nothing is opened."""
    assert main(["a.protoleaf", more]) == 2
    error = capsys.readouterr().err
    assert error.startswith("protoleaf: ")
    assert error.endswith(f"expected nothing after a.protoleaf, found {more}\n")


def test_a_command_runs_without_a_window(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown command is rejected by the command line, with its status."""
    assert main(["no-such-command"]) == 2
    assert "no-such-command" in capsys.readouterr().err


@pytest.mark.parametrize("starts_in_root", [True, False])
def test_file_dialogs_begin_at_home_rather_than_in_the_root(
    starts_in_root: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for programs started from a menu; a chosen working directory stays."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    monkeypatch.chdir(chosen.anchor if starts_in_root else chosen)
    leave_root()
    assert Path.cwd() == (tmp_path if starts_in_root else chosen)


def test_without_qt_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands work without Qt, which is an optional dependency."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert main([]) == 2
    assert "pip install 'protoleaf[app]'" in capsys.readouterr().err
