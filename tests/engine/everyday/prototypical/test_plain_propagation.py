"""The propagation that ships for backbones nobody trained one for.

Any width, no parameters, the torch formula.
"""

import numpy as np
import pytest
import torch

from engine.backbones.model_files import width_agnostic_propagation
from engine.errors import ModelError
from engine.everyday.prototypical.prototypes import OUTPUT_NAMES, PropagationSession
from engine.model.propagation import PlainAttention, PropagationNetwork
from engine.training.export import random_graph


@pytest.fixture(scope="module")
def session() -> PropagationSession:
    """The shipped file."""
    return PropagationSession(width_agnostic_propagation())


@pytest.mark.parametrize("width", [1, 2, 7, 384, 2048])
@pytest.mark.parametrize("sizes", [(30, 40, 12, 20), (0, 0, 1, 0), (0, 0, 3, 3), (4, 4, 5, 0)])
def test_onnx_does_what_torch_does_at_every_width(
    session: PropagationSession, width: int, sizes: tuple[int, int, int, int]
) -> None:
    """The shipped file agrees with the functions it was made from."""
    inputs = random_graph(torch.Generator().manual_seed(width), *sizes, width=width)
    with torch.no_grad():
        expected = PropagationNetwork(PlainAttention()).eval()(*inputs)
    found = session.run(*(value.numpy() for value in inputs))
    for name in OUTPUT_NAMES:
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name).numpy(), rtol=1e-4, atol=1e-5
        )


def test_it_has_no_width_and_no_parameters(session: PropagationSession) -> None:
    """Nothing in it was learned, so it says nothing about a width.

    An array that is no table is refused.
    """
    assert session.embedding_width is None
    assert (session.steps, session.normalisation) == (1, "softmax")
    assert not list(PropagationNetwork(PlainAttention()).parameters())
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(ModelError, match="does not fit"):
        session.run(
            np.zeros(4, np.float32),
            nothing,
            nothing,
            np.zeros((2, 0), np.int64),
            np.ones(1, np.float32),
        )


def test_attention_by_hand() -> None:
    """Cosine of child and parent as they are: (1, 0) and (1, 1) share an angle of 45 degrees."""
    vectors = torch.tensor([[1.0, 0.0], [2.0, 2.0]])
    edges = torch.tensor([[1, 1], [0, 1]])
    assert PlainAttention()(vectors, vectors, edges).tolist() == pytest.approx(
        [0.5**0.5, 1.0], abs=1e-6
    )


def test_a_childs_own_image_draws_it_to_the_likelier_parent(session: PropagationSession) -> None:
    """Two parents, one of them like the child: by hand, softmax over the cosines 1 and 0."""
    embeddings = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    positions = np.arange(3, dtype=np.int64)
    edges = np.array([[0, 1], [2, 2]], dtype=np.int64)
    found = session.run(embeddings, positions, positions, edges, np.full(3, 0.5, dtype=np.float32))
    share = np.e / (np.e + 1)
    assert found.weights == pytest.approx([share, 1 - share], abs=1e-5)
    assert found.final[2] == pytest.approx([0.5 + share / 2, (1 - share) / 2], abs=1e-5)
