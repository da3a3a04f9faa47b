"""`protoleaf experiment unknown` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done
from tests.support.transfer import write_shapes


@pytest.mark.slow
def test_tables_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON have the same figures."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "unknown", source, "--shots", "2", "--draws", "1", "--device", "cpu")
    text = done(capsys, *words, "--backbone", "leafnet", "--out", tmp_path / "figures.json").out
    assert "the program's own threshold, in %; shapes, leafnet, 1 draw" in text
    fields = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert [outcome["name"] for outcome in fields["outcomes"]][:2] == [
        "near, 2",
        "session fine, 2 each",
    ]
    assert f"{fields['outcomes'][0]['auroc']['similarity']:.3f}" in text
