"""`protoleaf experiment peers` on drawn pictures, by the engine's own methods."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.transfer import write_shapes


def test_table_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a method of another library no environment is created."""
    source, out = write_shapes(tmp_path / "shapes"), tmp_path / "figures.json"
    words = (
        "experiment",
        "peers",
        source,
        "--backbone",
        "leafnet",
        "--shots",
        "1",
        "--draws",
        "2",
        "--device",
        "cpu",
    )
    methods = ("--method", "everyday", "--method", "everyday-flat")
    output = done(capsys, *words, *methods, "--environment", tmp_path / "peers", "--out", out).out
    assert "shapes, leafnet, 1 shot: 8 classes, 64 images, 2 draws" in output
    assert [line.split("  ")[0] for line in output.splitlines()[4:]] == [
        "everyday model",
        "everyday model, flat",
    ]
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert [(each["method"], len(each["draws"])) for each in results] == [
        ("everyday", 2),
        ("everyday-flat", 2),
    ]
    assert not (tmp_path / "peers").exists()


def test_unknown_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, "experiment", "peers", tmp_path, "--method", "magic", status=2)
    assert "there is no such method" in line
    assert "laplacian-shot-centred" in line
