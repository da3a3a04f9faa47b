"""`protoleaf experiment teach` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.transfer import write_shapes

QUICK = ("--method", "teach-first", "--method", "random", "--draws", "2", "--device", "cpu")


@pytest.mark.slow
def test_tables_curve_and_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and a figure; a second run reads everything from the folder of runs."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "teach", source, *QUICK, "--runs", tmp_path / "runs")
    output = done(
        capsys, *words, "--out", tmp_path / "figures.json", "--curve", tmp_path / "curve"
    ).out
    assert "leafnet, 8 classes, 57 images, 2 draws" in output
    assert "Teach first minus each" in output
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert fields.pop("about") == "Written by Protoleaf"
    assert [method["method"] for method in fields["methods"]] == ["teach-first", "random"]
    assert {path.name for path in (tmp_path / "curve").iterdir()} == {
        "accuracy-against-labels.png",
        "accuracy-against-labels.svg",
    }
    (kept,) = (tmp_path / "runs").rglob("random.jsonl")
    kept.write_text(
        kept.read_text(encoding="utf-8").replace('"classes": ', '"classes": 9'), encoding="utf-8"
    )
    again = done(capsys, *words, "--json").fields["methods"]
    assert min(again[1]["figures"]["classes"]["mean"]) >= 90  # stored results are reused
    assert done(capsys, *words, "--again", "--json").fields == fields


def test_an_unknown_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the known methods, before anything is read."""
    assert "typiclust" in refused(
        capsys, "experiment", "teach", tmp_path, "--method", "typi", status=2
    )
