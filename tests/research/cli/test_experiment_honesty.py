"""`protoleaf experiment honesty` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.transfer import write_shapes

QUICK = ("--shots", "1", "--draws", "1", "--device", "cpu", "--backbone", "leafnet")


@pytest.mark.slow
def test_tables_curve_and_resuming(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON and a figure; a second run reads the stages from the folder of runs."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "honesty", source, *QUICK, "--runs", tmp_path / "runs")
    extra = ("--replay", "4", "--out", tmp_path / "figures.json", "--curve", tmp_path / "curve")
    output = done(capsys, *words, *extra).out
    assert (
        "the program, shares in % (95 % interval by draws); shapes, leafnet, 8 classes, 1 draw"
        in output
    )
    assert "review by group: claimed of the unlabelled rest" in output
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert fields.pop("about") == "Written by Protoleaf"
    assert [session["way"] for session in fields["sessions"]] == ["teach-first", "groups"]
    assert {path.suffix for path in (tmp_path / "curve").iterdir()} == {".csv", ".png", ".svg"}
    assert done(capsys, *words, "--replay", "0", "--json").fields["stages"] == fields["stages"]
    other = done(capsys, *words, "--replay", "0", "--elsewhere", "--labels", "bulk").out
    assert "labels from train, the collection is val, labels: bulk, 1 draw" in other
    assert {path.parent.name for path in (tmp_path / "runs").rglob("*.json")} == {
        "random",
        "bulk-elsewhere",
    }


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message has the alternatives, before anything is embedded."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "honesty", source, *QUICK)
    assert "random, teach-first, bulk" in refused(capsys, *words, "--labels", "best", status=2)
    nothing = refused(capsys, *words, "--no-stages", "--replay", "0", status=2)
    assert "there is nothing to measure" in nothing
    no_sessions = refused(capsys, *words, "--replay", "0", "--curve", tmp_path, status=2)
    assert "--curve draws sessions" in no_sessions
    (source / "val" / "Shapes").rename(source / "val" / "Forms")
    assert "nothing in val can be scored" in refused(capsys, *words, "--elsewhere")
    assert "train" in refused(capsys, "experiment", "honesty", tmp_path / "none")
