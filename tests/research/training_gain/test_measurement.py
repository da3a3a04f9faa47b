"""`protoleaf experiment training` on drawn pictures."""

from pathlib import Path

import pytest

from research.training_gain import measurement
from tests.support.command_line import done
from tests.support.transfer import write_shapes


@pytest.mark.slow
def test_a_gain_is_measured_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One shot is too few to train on; three are enough; a second run reads the folder."""
    shapes = write_shapes(tmp_path / "shapes")
    words: list[str | Path] = ["experiment", "training", shapes, "--draws", "1"]
    words += ["--shots", "1", "--shots", "3", "--setting", "iterations=1", "--setting", "side=32"]
    words += ["--runs", tmp_path / "runs"]
    one, three = (each["figures"] for each in done(capsys, *words, "--json").fields["trainings"])
    assert (one["trained"], three["trained"]) == (0.0, 1.0)
    assert one["after_everyday"] == one["before_everyday"]
    for figures in (one, three):
        assert all(
            0 <= figures[f"{when}_{name}"] <= 1
            for when in ("before", "after")
            for name in measurement.MEASURED
        )
    words_of_transfer: list[str | Path] = [
        "experiment",
        "transfer",
        shapes,
        "--draws",
        "1",
        "--shots",
        "3",
        "--elsewhere",
    ]
    (same,) = done(
        capsys, *words_of_transfer, "--method", "prototypes", "--no-coarse-labels", "--json"
    ).fields["cells"]
    assert three["before_prototypes"] == same["figures"]["top1"]["draws"][0]
    assert three["minutes"] > 0
    assert three["images_per_s_after"] > 0
    monkeypatch.setattr(measurement, "train", None)
    output = done(capsys, *words).out
    assert "leafnet, 1" in output
    assert "leafnet, 3" in output
