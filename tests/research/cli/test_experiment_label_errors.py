"""`protoleaf experiment label-errors` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done
from tests.support.transfer import write_shapes


@pytest.mark.slow
def test_tables_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text output, and JSON in a file, without the optional peer."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "label-errors", source, "--draws", "1", "--device", "cpu", "--no-peer")
    output = done(capsys, *words, "--backbone", "leafnet", "--out", tmp_path / "figures.json").out
    assert "48 labels of 8 classes, 1 draw" in output
    assert "What the program calls wrong" in output
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert (fields["backbone"], fields["classes"]) == ("leafnet", 8)
    assert len(fields["measured"]) == 6
