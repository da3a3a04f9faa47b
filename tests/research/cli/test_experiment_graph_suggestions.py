"""`protoleaf experiment graph-suggestions` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done
from tests.support.transfer import write_shapes


@pytest.mark.slow
def test_tables_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text output, and JSON in a file."""
    source = write_shapes(tmp_path / "shapes")
    words = (
        "experiment",
        "graph-suggestions",
        source,
        "--shots",
        "2",
        "--draws",
        "1",
        "--device",
        "cpu",
    )
    output = done(capsys, *words, "--backbone", "leafnet", "--out", tmp_path / "figures.json").out
    assert "8 classes, 2 shots, 1 draws" in output
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert fields["backbone"] == "leafnet"
    assert (
        fields["edges"]["leaves among them"]["at_3"]
        >= fields["edges"]["leaves among them"]["chance_at_1"]
    )
