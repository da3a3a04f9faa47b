from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import ModelError
from engine.everyday.prototypical.prototypes import (
    OUTPUT_NAMES,
    PropagationResult,
    PropagationSession,
)
from engine.model.propagation import Attention, Normalisation, PropagationNetwork
from engine.training.export import export_propagation, random_graph
from tests.support.prototype_graphs import random_attention

WIDTH = 8
VARIANTS: tuple[tuple[Normalisation, int], ...] = (("softmax", 1), ("softmax", 2), ("cosine", 2))
Exported = tuple[PropagationNetwork[Attention], PropagationSession]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: f"{variant[0]}-{variant[1]}")
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A network and the session of its exported file."""
    normalisation, steps = request.param
    network = PropagationNetwork(
        random_attention(WIDTH), steps=steps, normalisation=normalisation
    ).eval()
    path = tmp_path_factory.mktemp("model") / "propagation.onnx"
    export_propagation(network, path)
    return network, PropagationSession(path)


def _run_both(
    exported: Exported, inputs: tuple[torch.Tensor, ...]
) -> tuple[PropagationResult, PropagationResult]:
    network, session = exported
    with torch.no_grad():
        ours = PropagationResult(*(output.numpy() for output in network(*inputs)))
    embeddings, images, classes, edge_index, lambda_ = (value.numpy() for value in inputs)
    return ours, session.run(embeddings, images, classes, edge_index, lambda_)


def _assert_same(ours: PropagationResult, theirs: PropagationResult) -> None:
    for name in OUTPUT_NAMES:
        expected, found = getattr(ours, name), getattr(theirs, name)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_onnx_does_what_torch_does_on_random_graphs(exported: Exported, seed: int) -> None:
    """One formula: the file agrees with the functions it was made from, whatever the sizes."""
    generator = torch.Generator().manual_seed(seed)
    sizes = np.random.default_rng(seed)
    images, pairs, classes, edge_count = (
        int(sizes.integers(2, limit)) for limit in (60, 90, 40, 80)
    )
    _assert_same(
        *_run_both(
            exported, random_graph(generator, images, pairs, classes, edge_count, width=WIDTH)
        )
    )


@pytest.mark.parametrize(
    ("images", "pairs", "classes", "edge_count"),
    [(0, 0, 5, 4), (6, 9, 5, 0), (0, 0, 1, 0), (3, 3, 1, 0), (1, 1, 2, 1), (4, 0, 3, 2)],
    ids=["no images", "no edges", "nothing", "one class", "all ones", "no labels"],
)
def test_onnx_does_what_torch_does_at_the_edges(
    exported: Exported, images: int, pairs: int, classes: int, edge_count: int
) -> None:
    """Sizes of zero and one, where exporters tend to bake in what they saw."""
    generator = torch.Generator().manual_seed(0)
    ours, theirs = _run_both(
        exported, random_graph(generator, images, pairs, classes, edge_count, width=WIDTH)
    )
    _assert_same(ours, theirs)
    assert theirs.final.shape == (classes, WIDTH)
    assert theirs.weights.shape == (edge_count,)


def test_a_zero_shot_chain_is_followed_for_as_many_steps_as_the_file_has(
    exported: Exported,
) -> None:
    """Class 0 has an image; 1 to 3 hang below each other without one."""
    session = exported[1]
    image = np.arange(WIDTH, dtype=np.float32)
    chain = np.array([[0, 1, 2], [1, 2, 3]])
    result = session.run(
        image[None], np.array([0]), np.array([0]), chain, np.full(4, 0.5, np.float32)
    )
    reached = session.steps + 1
    assert result.has_final.tolist() == [place < reached for place in range(4)]
    np.testing.assert_allclose(result.final[:reached], np.tile(image, (reached, 1)), rtol=1e-6)
    assert not result.final[reached:].any()


def test_many_images_of_one_class_lose_no_term(exported: Exported) -> None:
    """The sum over a class must not depend on threads (ScatterND would drop terms here)."""
    generator = np.random.default_rng(0)
    embeddings = generator.uniform(1.0, 2.0, size=(200_000, WIDTH)).astype(np.float32)
    positions = np.arange(len(embeddings))
    result = exported[1].run(
        embeddings,
        positions,
        np.zeros_like(positions),
        np.zeros((2, 0), np.int64),
        np.ones(1, np.float32),
    )
    np.testing.assert_allclose(
        result.initial[0], embeddings.mean(axis=0, dtype=np.float64), rtol=1e-3
    )


def test_the_file_says_how_it_propagates(exported: Exported) -> None:
    """Width, steps and normalisation travel with the file."""
    network, session = exported
    assert (session.embedding_width, session.steps) == (WIDTH, network.steps)
    assert session.normalisation == network.normalisation


def test_embeddings_of_another_width_are_refused(exported: Exported) -> None:
    """A project with another backbone needs another propagation file.

    The message names both widths.
    """
    nothing = np.zeros(0, np.int64)
    with pytest.raises(ModelError, match=f"width {WIDTH}.*384"):
        exported[1].run(
            np.zeros((0, 384), np.float32),
            nothing,
            nothing,
            nothing.reshape(2, 0),
            np.ones(1, np.float32),
        )


@pytest.mark.parametrize("position", [-1, 2])
def test_a_position_outside_is_refused(exported: Exported, position: int) -> None:
    """Also a negative one, which ONNX would count from the end."""
    embeddings, one = np.ones((2, WIDTH), np.float32), np.array([0])
    no_edges, lambda_ = np.zeros((2, 0), np.int64), np.ones(2, np.float32)
    wrong = np.array([position])
    with pytest.raises(ValueError, match="image_positions"):
        exported[1].run(embeddings, wrong, one, no_edges, lambda_)
    with pytest.raises(ValueError, match="class_positions"):
        exported[1].run(embeddings, one, wrong, no_edges, lambda_)
    with pytest.raises(ValueError, match="edge_index"):
        exported[1].run(embeddings, one, one, np.array([[0], [position]]), lambda_)


def test_pairs_of_unequal_length_are_refused(exported: Exported) -> None:
    """Each pair has an image and a class."""
    with pytest.raises(ValueError, match="1 images but 2 classes"):
        exported[1].run(
            np.ones((1, WIDTH), np.float32),
            np.array([0]),
            np.array([0, 0]),
            np.zeros((2, 0), np.int64),
            np.ones(1, np.float32),
        )


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The path is in the message."""
    with pytest.raises(ModelError, match=r"missing.*none\.onnx"):
        PropagationSession(tmp_path / "none.onnx")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """A file that is no ONNX gives a message, not a crash."""
    path = tmp_path / "damaged.onnx"
    path.write_bytes(b"not a model")
    with pytest.raises(ModelError, match="cannot be loaded"):
        PropagationSession(path)


def test_another_model_is_refused(tmp_path: Path) -> None:
    """A sound ONNX file with other inputs is no propagation file."""
    from onnx import TensorProto, helper

    value = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
        for name in ("images", "embeddings")
    ]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["images"], ["embeddings"])], "g", value[:1], value[1:]
    )
    path = tmp_path / "backbone.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(
        ModelError, match=r"backbone\.onnx is not a propagation file.*images -> embeddings"
    ):
        PropagationSession(path)
