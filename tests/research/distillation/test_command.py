"""The distillation command: from a file, a teacher and photos to a new file."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.model_card import card_path, read_card
from engine.runtime.eight_bit import eight_bit_path
from research.distillation.command import main
from tests.support.backbones import SIDE, write_tiny_backbone


def test_a_file_of_the_same_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other weights, the same size; the card names the training data."""
    start, teacher, photos = (
        tmp_path / "start.onnx",
        tmp_path / "teacher.onnx",
        tmp_path / "photos" / "mint",
    )
    write_tiny_backbone(start)
    write_tiny_backbone(teacher, width=24, seed=1)
    photos.mkdir(parents=True)
    for number, pixels in enumerate(
        np.random.default_rng(0).integers(0, 256, (30, SIDE, SIDE, 3), dtype=np.uint8)
    ):
        Image.fromarray(pixels).save(photos / f"{number}.png")
    main(start, tmp_path / "out", [f"{photos.parent}:20:2"], iterations=2, teacher=str(teacher))
    model = tmp_path / "out" / "start.onnx"
    assert model.stat().st_size == start.stat().st_size
    assert model.read_bytes() != start.read_bytes()
    assert read_card(model).training_data.endswith(
        f"Distilled from {teacher} on 40 views of photos."
    )
    assert eight_bit_path(model).is_file()
    assert card_path(model).is_file()
    assert '"iteration": 2' in capsys.readouterr().out
