"""Weights come back out of exported files, and embeddings carry a temperature."""

from pathlib import Path

import onnx
import pytest
import torch

from engine.collection.models import find_model
from engine.errors import ModelError
from engine.training.onnx_conversion import read_model, read_propagation, weights_of
from engine.training.thawed.wrappers import ScaledEmbedding
from tests.support.backbones import write_tiny_backbone


def test_a_scaled_embedding_carries_the_temperature() -> None:
    """Plain squared distances are those of unit embeddings over the temperature.

    0.25 makes vectors twice as long.
    """
    scaled = ScaledEmbedding(torch.nn.Identity(), 0.25)
    assert scaled(torch.tensor([[0.6, 0.8]]))[0].tolist() == pytest.approx([1.2, 1.6])
    assert torch.pdist(scaled(torch.eye(2))).item() ** 2 == pytest.approx(2 / 0.25)


def test_propagation_comes_back_from_its_file() -> None:
    """Weights, steps and normalisation of the bundled file."""
    model = find_model()
    network = read_propagation(model.propagation)
    weights = weights_of(read_model(model.propagation))
    assert (network.steps, network.normalisation) == (1, "softmax")
    assert network.attention.embedding_width == model.card.embedding_width
    assert torch.equal(network.attention.h.weight, torch.from_numpy(weights["attention.h.weight"]))
    assert float(network.attention.logit_scale) == 1.0


def test_a_file_without_attention_is_refused(tmp_path: Path) -> None:
    """A backbone, a file that is no model, and a missing file are each refused with a message."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(ModelError, match="contains no attention weights"):
        read_propagation(tmp_path / "tiny.onnx")
    (tmp_path / "text.onnx").write_text("no model at all", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        read_propagation(tmp_path / "text.onnx")
    with pytest.raises(ModelError, match="cannot be read"):
        read_model(tmp_path / "gone.onnx")


def test_an_unknown_normalisation_is_refused(tmp_path: Path) -> None:
    """A file of a newer program may say something this one does not know."""
    model = onnx.load(str(find_model().propagation))
    for entry in model.metadata_props:
        entry.value = "sparsemax" if entry.key == "normalisation" else entry.value
    onnx.save(model, str(tmp_path / "new.onnx"))
    with pytest.raises(ModelError, match="contains no attention weights"):
        read_propagation(tmp_path / "new.onnx")
