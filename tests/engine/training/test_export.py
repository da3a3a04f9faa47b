import copy
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn

from engine.errors import ModelError, StorageError
from engine.model.propagation import PropagationNetwork
from engine.model_card import BackboneCard, card_path, read_card
from engine.training.export import (
    HALF_WEIGHTS_TOLERANCE,
    TOLERANCE,
    compare,
    export_backbone,
    export_propagation,
    relative_difference,
)
from engine.training.onnx_conversion import store_weights_as_half
from research.leaf_net import LeafNet
from tests.support.prototype_graphs import random_attention

WIDTHS = (8, 16)
CARD = BackboneCard(
    name="small",
    input_side=16,
    mean=(0.5, 0.5, 0.5),
    std=(0.2, 0.2, 0.2),
    embedding_width=sum(WIDTHS),
)


class WrongWhenExported(nn.Module):
    """A module whose exported form is a hundredth off: the fault that the check is there for."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, sum(WIDTHS))

    def forward(self, images: Tensor) -> Tensor:
        """Average, then a linear map."""
        embeddings: Tensor = self.linear(images.mean(dim=(2, 3)))
        return embeddings * 1.01 if torch.compiler.is_exporting() else embeddings


class FixedBatch(nn.Module):
    """A module that bakes the example's batch size into the file."""

    def forward(self, images: Tensor) -> Tensor:
        """Average, times the batch size of the example."""
        return images.mean(dim=(2, 3)).repeat(1, 8)[:, : sum(WIDTHS)] * int(images.shape[0])


def _small_backbone() -> LeafNet:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LeafNet(WIDTHS, (1, 1), stem_width=8)


def _embed(path: Path, images: Tensor) -> Tensor:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return torch.from_numpy(session.run(["embeddings"], {"images": images.numpy()})[0])


@pytest.fixture(scope="module")
def backbones(tmp_path_factory: pytest.TempPathFactory) -> tuple[LeafNet, Path, Path]:
    """A backbone in training, as its export must leave it; its files in full and half precision."""
    folder, backbone = tmp_path_factory.mktemp("models"), _small_backbone()
    full, half = folder / "full.onnx", folder / "half.onnx"
    assert export_backbone(backbone, full, CARD).largest_difference <= TOLERANCE
    assert (
        export_backbone(backbone, half, CARD, half_weights=True).largest_difference
        <= HALF_WEIGHTS_TOLERANCE
    )
    return backbone, full, half


@pytest.mark.slow
def test_a_backbone_comes_with_its_card_and_nothing_else(
    backbones: tuple[LeafNet, Path, Path],
) -> None:
    """Model and card lie side by side, and no temporary file stays behind."""
    _, full, _ = backbones
    assert read_card(full) == CARD
    assert {path.name for path in full.parent.iterdir()} == {
        "full.onnx",
        "full.card.json",
        "half.onnx",
        "half.card.json",
    }
    plain = full.parent / "plain"
    plain.touch()
    mode = plain.stat().st_mode
    plain.unlink()
    assert (
        full.stat().st_mode == mode
    )  # as readable as any other file; installed models serve every user


@pytest.mark.slow
def test_a_backbone_takes_any_batch_and_size(backbones: tuple[LeafNet, Path, Path]) -> None:
    """Sizes that the export never saw, in torch and in ONNX."""
    trained, full, _ = backbones
    backbone = copy.deepcopy(trained).eval()
    generator = torch.Generator().manual_seed(9)
    for shape in ((1, 3, 33, 21), (7, 3, 64, 64)):
        images = torch.randn(shape, generator=generator)
        with torch.no_grad():
            torch.testing.assert_close(_embed(full, images), backbone(images), rtol=1e-4, atol=1e-5)


def test_half_weights_halve_the_file_and_keep_the_embeddings(
    backbones: tuple[LeafNet, Path, Path],
) -> None:
    """What is saved is weights, what is lost is rounding."""
    _, full, half = backbones
    assert (
        half.stat().st_size < 0.7 * full.stat().st_size
    )  # the graph itself weighs some in so small a network
    images = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(1))
    exact, rounded = _embed(full, images), _embed(half, images)
    assert 0 < (exact - rounded).abs().max() <= HALF_WEIGHTS_TOLERANCE * exact.abs().max()


@pytest.mark.slow
def test_half_weights_cost_no_speed(backbones: tuple[LeafNet, Path, Path], tmp_path: Path) -> None:
    """ONNX Runtime folds every cast while loading: what it runs has none left."""
    import onnx

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "as_loaded.onnx")
    onnxruntime.InferenceSession(backbones[2], options, providers=["CPUExecutionProvider"])
    stored = {node.op_type for node in onnx.load(backbones[2]).graph.node}
    loaded = {node.op_type for node in onnx.load(tmp_path / "as_loaded.onnx").graph.node}
    assert "Cast" in stored
    assert "Cast" not in loaded


def test_a_weight_beyond_half_precision_is_refused() -> None:
    """It would become infinite."""
    from onnx import helper, numpy_helper

    large = numpy_helper.from_array(np.full(1000, 1e6, np.float32), "large")
    graph = helper.make_graph([], "g", [], [], initializer=[large])
    with pytest.raises(ModelError, match=r"does not fit into float16.*large"):
        store_weights_as_half(graph)


def test_an_export_tells_nothing_of_the_machine_it_was_made_on(
    backbones: tuple[LeafNet, Path, Path],
) -> None:
    """No stack trace, no path, no class of ours inside the file."""
    content = backbones[1].read_bytes()
    assert b".py" not in content
    assert str(Path(__file__).parents[3]).encode() not in content


def test_exporting_leaves_the_module_as_it_was(backbones: tuple[LeafNet, Path, Path]) -> None:
    """A module in training stays in training, with the same weights and statistics."""
    backbone, before = backbones[0], _small_backbone().state_dict()
    assert backbone.training
    assert all(torch.equal(value, before[name]) for name, value in backbone.state_dict().items())


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", [WrongWhenExported(), FixedBatch()], ids=["wrong by 1%", "fixed batch"]
)
def test_a_wrong_export_is_refused_and_leaves_no_file(tmp_path: Path, module: nn.Module) -> None:
    """The check runs before the file gets its name."""
    with pytest.raises(ModelError):
        export_backbone(module, tmp_path / "wrong.onnx", CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_refused_export_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    """A failed save must leave the last good state, card included."""
    path = tmp_path / "good.onnx"
    path.write_bytes(b"the good one")
    card_path(path).write_text("its card")
    with pytest.raises(ModelError, match=r"at most 0\.0001, found 0\.01"):
        export_backbone(WrongWhenExported(), path, CARD)
    assert path.read_bytes() == b"the good one"
    assert card_path(path).read_text() == "its card"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_card_of_another_width_is_refused(tmp_path: Path) -> None:
    """Inference trusts the card."""
    with pytest.raises(ModelError, match="card does not fit"):
        export_backbone(LeafNet((8, 12), (1, 1)), tmp_path / "wrong.onnx", CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_wrong_propagation_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attention that is exported with its sign turned: nothing is written."""
    network = PropagationNetwork(random_attention(8))
    right = network.attention.forward

    def turned(children: Tensor, parents: Tensor, edge_index: Tensor) -> Tensor:
        scores = right(children, parents, edge_index)
        return -scores if torch.compiler.is_exporting() else scores

    monkeypatch.setattr(network.attention, "forward", turned)
    with pytest.raises(ModelError, match="does not match the torch model"):
        export_propagation(network, tmp_path / "wrong.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def propagation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an attention."""
    path = tmp_path_factory.mktemp("propagation") / "propagation.onnx"
    agreement = export_propagation(PropagationNetwork(random_attention(8)), path)
    assert agreement.largest_difference <= agreement.tolerance == TOLERANCE
    return path


@pytest.mark.slow
def test_a_file_is_compared_with_the_module_at_hand(propagation: Path) -> None:
    """The file of one attention is not the file of another."""
    inputs = (
        torch.ones(3, 8),
        torch.arange(3),
        torch.arange(3),
        torch.tensor([[0, 1], [2, 2]]),
        torch.zeros(3),
    )
    inputs[0][1, 0] = -5.0
    other = PropagationNetwork(random_attention(8, seed=1)).eval()
    with torch.no_grad(), pytest.raises(ModelError, match="does not match"):
        compare(propagation, other, [inputs], tolerance=TOLERANCE)


@pytest.mark.slow
def test_a_folder_that_refuses_is_a_message(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        export_propagation(
            PropagationNetwork(random_attention(8)), tmp_path / "file" / "propagation.onnx"
        )


@pytest.mark.parametrize(
    ("found", "expected", "difference"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.2),  # 0.5 / 2.5
        ([0.0], [0.0], 0.0),
        ([True, False], [True, True], float("inf")),
        ([True], [True], 0.0),
        ([1.0], [1.0, 2.0], float("inf")),
    ],
)
def test_the_relative_difference_by_hand(
    found: list[float], expected: list[float], difference: float
) -> None:
    """Relative to the largest expected value; a yes-no output or a shape is right or wrong."""
    assert relative_difference(np.array(found), np.array(expected)) == pytest.approx(difference)


@pytest.mark.slow
def test_a_value_that_is_no_number_is_refused(propagation: Path) -> None:
    """Not-a-number compares with nothing, so the limit must not let it through."""
    nothing = torch.zeros(0, dtype=torch.int64)
    broken = (
        torch.full((1, 8), float("nan")),
        torch.zeros(1, dtype=torch.int64),
        torch.zeros(1, dtype=torch.int64),
        nothing.reshape(2, 0),
        torch.ones(1),
    )
    with torch.no_grad(), pytest.raises(ModelError, match="found nan"):
        compare(
            propagation,
            PropagationNetwork(random_attention(8)).eval(),
            [broken],
            tolerance=TOLERANCE,
        )
