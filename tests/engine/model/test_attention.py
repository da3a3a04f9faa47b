import pytest
import torch

from engine.model.propagation import Attention, Normalisation, attention_weights, softmax_over_parents
from tests.support.prototype_graphs import edges, prototypes, random_attention, swapping_attention


def test_the_score_is_the_cosine_of_the_transformed_prototypes() -> None:
    """Eq. 5 by hand: g keeps, h swaps."""
    # child (3, 4), parents (3, 4) and (4, -3), all of length 5
    # <(3, 4), (4, 3)> / 25 = 24 / 25 = 0.96;  <(3, 4), (-3, 4)> / 25 = 7 / 25 = 0.28
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0))
    weights = attention_weights(swapping_attention(), vectors, edges((0, 2), (1, 2)), "cosine")
    torch.testing.assert_close(weights, torch.tensor([0.96, 0.28]))


def test_the_edge_s_first_row_is_the_parent() -> None:
    """Of the two transformations, g acts on the child and h on the parent, not the other way round."""
    attention = Attention(2, 2)
    with torch.no_grad():
        attention.g.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
        attention.h.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    vectors = prototypes((0.0, 2.0), (5.0, 1.0))
    # child (5, 1): g gives (5, 0); parent (0, 2): h gives (2, 0); cosine 1. Swapped: g gives (0, 0) and cosine 0.
    assert attention_weights(attention, vectors, edges((0, 1)), "cosine").tolist() == [1.0]
    assert attention_weights(attention, vectors, edges((1, 0)), "cosine").tolist() == [0.0]


def test_softmax_shares_the_weight_over_the_parents_of_a_class() -> None:
    """Scores 0.96 and 0.28 by hand: 1 / (1 + exp(-0.68)) = 0.663739; a lone parent gets 1."""
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0), (1.0, 0.0))
    weights = attention_weights(swapping_attention(), vectors, edges((0, 2), (1, 2), (1, 3)))
    torch.testing.assert_close(weights, torch.tensor([0.663739, 0.336261, 1.0]), atol=1e-6, rtol=0)


def test_the_logit_scale_sharpens_the_softmax() -> None:
    """Scale 10 by hand: 1 / (1 + exp(-6.8)) = 0.998888."""
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0))
    weights = attention_weights(swapping_attention(logit_scale=10.0), vectors, edges((0, 2), (1, 2)))
    torch.testing.assert_close(weights, torch.tensor([0.998888, 0.001112]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("normalisation", ["softmax", "cosine"])
def test_a_parent_without_a_prototype_gets_no_weight(normalisation: Normalisation) -> None:
    """It has nothing to give, so under softmax the others share its part."""
    vectors = prototypes(None, (3.0, 4.0), (3.0, 4.0))
    weights = attention_weights(swapping_attention(), vectors, edges((0, 2), (1, 2)), normalisation)
    assert weights[0].item() == 0.0
    assert weights[1].item() == pytest.approx(1.0 if normalisation == "softmax" else 0.96)


@pytest.mark.parametrize("normalisation", ["softmax", "cosine"])
def test_a_zero_shot_class_listens_to_its_parents_evenly(normalisation: Normalisation) -> None:
    """Without a prototype of its own there is nothing to compare: three parents, one unusable, a half each."""
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), None, None)
    weights = attention_weights(swapping_attention(), vectors, edges((0, 3), (1, 3), (2, 3)), normalisation)
    torch.testing.assert_close(weights, torch.tensor([0.5, 0.5, 0.0]))


def test_weights_of_a_class_s_parents_sum_to_one() -> None:
    """Softmax on a random graph, for every class with a usable parent, however large the scores."""
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(300, generator=generator) * 200.0
    children = torch.randint(0, 40, (300,), generator=generator)
    usable = torch.rand(300, generator=generator) < 0.5
    weights = softmax_over_parents(scores, children, usable, 41)
    sums = torch.zeros(41).index_add(0, children, weights)
    has_usable = torch.zeros(41).index_add(0, children, usable.float()) > 0
    torch.testing.assert_close(sums, has_usable.float())
    assert not has_usable[40]
    assert not weights[~usable].any()


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_the_raw_cosine_stays_within_one(size: float) -> None:
    """For tiny and huge prototypes alike, up to rounding."""
    generator = torch.Generator().manual_seed(1)
    attention = random_attention(8)
    vectors = torch.randn(50, 8, generator=generator) * size
    vectors[1] = vectors[0]
    edge_index = torch.randint(0, 50, (2, 400), generator=generator)
    scores = attention(vectors, vectors, edge_index)
    assert scores.abs().max().item() <= 1.0 + 1e-6
    assert scores.abs().max().item() > 0.5


def test_gradients_reach_both_transformations() -> None:
    """With two parents to choose from; and they stay finite beside a zero-shot class."""
    attention = random_attention(2)
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), (1.0, 2.0), None)
    weights = attention_weights(attention, vectors, edges((0, 2), (1, 2), (0, 3), (1, 3), (3, 2)))
    torch.autograd.backward(weights[0])
    for linear in (attention.g, attention.h):
        assert linear.weight.grad is not None
        assert linear.weight.grad.isfinite().all()
        assert linear.weight.grad.abs().sum().item() > 0


def test_a_lone_parent_s_weight_cannot_change() -> None:
    """It is 1 whatever the score, so the gradient is exactly zero; between two parents it is not."""
    scores = torch.tensor([0.3, -0.2, 0.7], requires_grad=True)
    usable = torch.ones(3, dtype=torch.bool)
    weights = softmax_over_parents(scores, torch.tensor([0, 1, 1]), usable, 2)
    torch.autograd.backward((weights * torch.tensor([5.0, 1.0, 0.0])).sum())
    # w1 = 1 / (1 + exp(0.9)) = 0.289050, dw1/ds1 = w1 (1 - w1) = 0.205500
    assert scores.grad is not None
    torch.testing.assert_close(scores.grad, torch.tensor([0.0, 0.2055, -0.2055]), atol=1e-6, rtol=0)
    assert scores.grad[0].item() == 0.0


def test_initial_weights_are_small_and_leave_the_global_generator_alone() -> None:
    """N(0, 0.001²) from the given generator only: the same seed gives the same attention."""
    before = torch.get_rng_state()
    first, second = (Attention(64, generator=torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.h.weight, second.h.weight)
    assert not torch.equal(first.g.weight, first.h.weight)
    assert first.g.weight.std().item() == pytest.approx(0.001, rel=0.05)
    assert tuple(first.g.weight.shape) == (128, 64)
