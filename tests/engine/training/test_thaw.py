"""An exported backbone becomes a network again that can be trained on."""

from pathlib import Path

import onnx
import onnxruntime
import pytest
import torch

from engine.collection.models import find_model
from engine.errors import ModelError
from engine.model.backbone import UnitEmbedding
from engine.training.onnx_weights import read_propagation, read_weights
from engine.training.thaw import ScaledEmbedding, thawed_leaf_net
from tests.support.backbones import write_tiny_backbone

IMAGES = torch.randn(4, 3, 48, 48, generator=torch.Generator().manual_seed(0))


def test_a_thawed_network_does_what_the_file_does() -> None:
    """In evaluation mode on any images; in training mode on those it was measured on."""
    path = find_model().backbone
    network = UnitEmbedding(thawed_leaf_net(path, IMAGES)).eval()
    others = torch.randn(3, 3, 64, 40, generator=torch.Generator().manual_seed(1))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        for images in (IMAGES, others):
            expected = torch.from_numpy(session.run(None, {"images": images.numpy()})[0])
            torch.testing.assert_close(network(images), expected, atol=1e-5, rtol=1e-4)
        before = network(IMAGES)
        torch.testing.assert_close(network.train()(IMAGES), before, atol=1e-5, rtol=1e-4)


def test_a_file_of_another_network_is_refused(tmp_path: Path) -> None:
    """The message names what it looked for."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(
        ModelError, match=r"expected backbone.backbone.stages.0.weight of shape \(32, 3, 3, 3\), found nothing"
    ):
        thawed_leaf_net(tmp_path / "tiny.onnx", IMAGES)


def test_a_scaled_embedding_carries_the_temperature() -> None:
    """Plain squared distances are those of unit embeddings over the temperature: 0.25 makes vectors twice as long."""
    scaled = ScaledEmbedding(torch.nn.Identity(), 0.25)
    assert scaled(torch.tensor([[0.6, 0.8]]))[0].tolist() == pytest.approx([1.2, 1.6])
    assert torch.pdist(scaled(torch.eye(2))).item() ** 2 == pytest.approx(2 / 0.25)


def test_propagation_comes_back_from_its_file() -> None:
    """Weights, steps and normalisation of the bundled file."""
    model = find_model()
    network = read_propagation(model.propagation)
    weights = read_weights(model.propagation)
    assert (network.steps, network.normalisation) == (1, "softmax")
    assert network.attention.embedding_width == model.card.embedding_width
    assert torch.equal(network.attention.h.weight, torch.from_numpy(weights["attention.h.weight"]))
    assert float(network.attention.logit_scale) == 1.0


def test_a_file_without_attention_is_refused(tmp_path: Path) -> None:
    """A backbone is no propagation file, a file that is no model is none either, and none at all is a message too."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    with pytest.raises(ModelError, match="holds no attention"):
        read_propagation(tmp_path / "tiny.onnx")
    (tmp_path / "text.onnx").write_text("no model at all", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        read_propagation(tmp_path / "text.onnx")
    with pytest.raises(ModelError, match="cannot be read"):
        read_weights(tmp_path / "gone.onnx")


def test_an_unknown_normalisation_is_refused(tmp_path: Path) -> None:
    """A file of a newer program may say something this one does not know."""
    model = onnx.load(str(find_model().propagation))
    for entry in model.metadata_props:
        entry.value = "sparsemax" if entry.key == "normalisation" else entry.value
    onnx.save(model, str(tmp_path / "new.onnx"))
    with pytest.raises(ModelError, match="holds no attention"):
        read_propagation(tmp_path / "new.onnx")
