"""`protoleaf experiment similar` and `duplicates` on drawn pictures."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import done
from tests.support.transfer import write_shapes


@pytest.mark.slow
def test_copies_are_counted_by_every_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stricter rule of the same kind finds no more than a looser one."""
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "duplicates", source, "--backbone", "leafnet", "--device", "cpu")
    fields = json.loads(done(capsys, *words, "--json").out)
    recalls = {each["name"]: each["recall"] for each in fields["rules"]}
    assert recalls["embeddings, cosine from 0.98"] <= recalls["embeddings, cosine from 0.9"]
    assert recalls["perceptual hash, 4 bits"] <= recalls["perceptual hash, 12 bits"]
    assert all(0 <= each["precision"] <= 1 for each in fields["rules"])
    assert "copies found, in %; shapes" in done(capsys, *words).out


@pytest.mark.slow
def test_similarity_in_both_spaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_shapes(tmp_path / "shapes")
    words = ("experiment", "similar", source, "--backbone", "leafnet", "--device", "cpu", "--json")
    spaces = {each["space"]: each for each in json.loads(done(capsys, *words).out)["spaces"]}
    assert spaces.keys() == {"plain", "whitened"}
    assert all(0.2 < each["one"] <= 1 for each in spaces.values())
