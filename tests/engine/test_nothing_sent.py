"""Environment variables set before libraries load, in every process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.backbones.messages import ExamineFile
from engine.config import CACHE_VARIABLE, FOLDERS, SWITCHES, make_folders, settle
from engine.errors import ModelError
from engine.runtime.devices.child import try_in_child
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.training import arithmetic
from engine.worker.limits import call_child, usual_limits

TELLS = "import json, os; print(json.dumps(dict(os.environ)))"


def environment_after(program: str, **variables: str) -> dict[str, str]:
    """Variables of a new interpreter after some lines."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{TELLS}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("own", ["0", "", "false", "no"])
@pytest.mark.parametrize(
    "start", ["import engine", "import runpy; runpy.run_path('app/__main__.py', run_name='start')"]
)
def test_a_persons_setting_switches_nothing_on(start: str, own: str) -> None:
    """Importing the engine overrides it, as does the packaged program."""
    found = environment_after(start, **dict.fromkeys(SWITCHES, own))
    assert {name: found[name] for name in SWITCHES} == SWITCHES


def test_children_inherit_it() -> None:
    """A child with our environment has them."""
    child = (
        f"import engine, subprocess, sys; subprocess.run([sys.executable, '-c', {TELLS!r}]); "
        f"sys.exit()"
    )
    found = environment_after(child, ORT_DISABLE_TELEMETRY="0")
    assert found["ORT_DISABLE_TELEMETRY"] == "1"


def test_children_that_are_started_by_hand_get_it() -> None:
    """Device trials and examined networks have them from the start."""
    says = (
        "import os, sys; sys.stdin.readline(); sys.exit('disabled ' + "
        "os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    command = [sys.executable, "-S", "-c", says]
    assert try_in_child("cpu", command=command).attempt.message == "disabled 1"
    limits = usual_limits()
    with pytest.raises(ModelError, match="disabled 1"):
        call_child(ExamineFile(Path("net.onnx"), limits), limits, command=command)


def test_this_test_has_it() -> None:
    """Tests load libraries too."""
    assert {name: os.environ[name] for name in SWITCHES} == SWITCHES


def test_folders_lie_in_our_cache_unless_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caches of libraries are below ours, unless the user chose a folder."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    environment = {"TRITON_CACHE_DIR": "own"}
    settle(environment)
    assert environment.pop("TRITON_CACHE_DIR") == "own"
    for variable in FOLDERS.keys() - {"TRITON_CACHE_DIR"}:
        assert Path(environment[variable]).parent == tmp_path / "libraries"


def test_programs_that_import_the_engine_keep_their_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The laboratory has its own matplotlib configuration.

    That of notebooks stays.
    """
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    program = "import protoleaf; protoleaf.category_graph"
    assert "MPLCONFIGDIR" not in environment_after(program)
    assert environment_after("import research")["MPLCONFIGDIR"].endswith("matplotlib")


def test_settling_makes_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Printing the version creates no cache."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    settle({})
    assert list(tmp_path.iterdir()) == []


def test_a_gpu_finds_the_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are created before a GPU is used, because torch creates the last component only."""
    folders = {variable: tmp_path / "cache" / name for variable, name in FOLDERS.items()}
    for variable, folder in folders.items():
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert arithmetic.device_of("auto").type == "cpu"
    assert not any(folder.exists() for folder in folders.values())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert arithmetic.device_of("auto").type == "cuda"
    assert all(folder.is_dir() for folder in folders.values())


def test_folders_that_cannot_be_made_cost_nothing(tmp_path: Path) -> None:
    """A full or read-only disk is ignored."""
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    make_folders({variable: str(tmp_path / "file" / name) for variable, name in FOLDERS.items()})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "no folder"


def test_the_library_is_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own switch is set when it loads, and the variable again if removed."""
    import onnxruntime

    asked: list[str] = []
    monkeypatch.setattr(onnxruntime, "disable_telemetry_events", lambda: asked.append("off"))
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    load_onnxruntime.cache_clear()
    assert load_onnxruntime() is onnxruntime
    assert (asked, os.environ["ORT_DISABLE_TELEMETRY"]) == (["off"], "1")
