import math

import pytest
import torch

from research.baselines.cosine_classifier import CosineClassifier, cosine_scores, normalised


def classifier(seed: int = 0) -> CosineClassifier:
    """Three classes of width 4."""
    return CosineClassifier(4, 3, torch.Generator().manual_seed(seed))


def test_scores_by_hand() -> None:
    """Scores are scale times length times cosine.

    The cosine of (3, 4) with (2, 0) is 0.6 and with (0, -5) is -0.8; scale is 2, lengths are 1 and
    0.5.
    """
    directions = torch.tensor([[2.0, 0.0], [0.0, -5.0]])
    scores = cosine_scores(
        normalised(torch.tensor([[3.0, 4.0]])), directions, torch.tensor([1.0, 0.5])
    )
    assert scores[0].tolist() == pytest.approx([1.2, -0.8], rel=1e-4)


def test_only_directions_of_weights_count() -> None:
    """Scaling directions changes nothing, scaling lengths scales the scores."""
    embeddings = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    model = classifier()
    before = model(embeddings)
    with torch.no_grad():
        model.directions.mul_(7)
        assert torch.allclose(model(embeddings), before, atol=1e-6)
        model.lengths.mul_(3)
        assert torch.allclose(model(embeddings), 3 * before, atol=1e-5)


def test_initial_scores_are_those_of_a_linear_layer() -> None:
    """Initial lengths are those of the drawn weights, which are within 1/sqrt(d)."""
    model = classifier()
    embeddings = normalised(torch.randn(5, 4, generator=torch.Generator().manual_seed(1)))
    assert torch.allclose(model(embeddings), 2 * embeddings @ model.directions.T, atol=1e-4)
    assert model.directions.abs().max() <= 1 / math.sqrt(4)


def test_permuting_classes_permutes_scores() -> None:
    """Each class has its own weights only."""
    model = classifier()
    embeddings = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    order = [2, 0, 1]
    permuted = cosine_scores(normalised(embeddings), model.directions[order], model.lengths[order])
    assert torch.allclose(permuted, model(embeddings)[:, order])


def test_a_zero_embedding_scores_zero() -> None:
    """A zero embedding causes no division by zero."""
    assert classifier()(torch.zeros(1, 4)).tolist() == [[0.0, 0.0, 0.0]]


def test_weights_come_from_the_given_generator() -> None:
    """The same seed gives the same weights; the global generator is not used."""
    state = torch.get_rng_state()
    assert classifier().directions.equal(classifier().directions)
    assert not classifier().directions.equal(classifier(1).directions)
    assert torch.get_rng_state().equal(state)
