"""`benchmark detection` on a few generated photos."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import protoleaf
from tests.support.detector_networks import write_detector
from tests.support.images import write_jpeg


@pytest.mark.slow
def test_all_parts_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The network, reading, and both together are timed; the verdict is ignored."""
    model, photos = write_detector(tmp_path / "discs.onnx"), tmp_path / "photos"
    photos.mkdir()
    for number in range(3):
        write_jpeg(photos / f"{number}.jpg", seed=number)
    found = protoleaf(capsys, "benchmark", "detection", model, photos, "--images", "2", "--json")
    fields = json.loads(found.out)
    assert fields["images"] == 2
    assert [part["name"] for part in fields["parts"]] == ["network", "reading", "run"]
    assert all(part["seconds"] > 0 for part in fields["parts"])
    assert fields["beyond_network"] >= fields["beyond_both"] > 0
