import pytest
import torch

from engine.model.propagation import Normalisation, Prototypes, final_prototypes, propagate, propagated_prototypes
from tests.support.prototype_graphs import edges, prototypes, random_attention, swapping_attention


def test_the_propagated_prototype_is_the_weighted_sum_of_the_parents() -> None:
    """Eq. 4 by hand: 0.25 (1, 0) + 0.75 (0, 2) = (0.25, 1.5)."""
    sources = prototypes((1.0, 0.0), (0.0, 2.0), (9.0, 9.0))
    vectors, exists = propagated_prototypes(sources, edges((0, 2), (1, 2)), torch.tensor([0.25, 0.75]))
    torch.testing.assert_close(vectors, torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.25, 1.5]]))
    assert exists.tolist() == [False, False, True]


def test_the_final_prototype_blends_own_and_propagated() -> None:
    """Eq. 6 by hand with lambda 0.25: 0.25 (4, 0) + 0.75 (0, 8) = (1, 6); and what counts alone, counts fully."""
    initial = prototypes((4.0, 0.0), (4.0, 0.0), None, None)
    propagated = prototypes((0.0, 8.0), None, (0.0, 8.0), None)
    vectors, exists = final_prototypes(initial, propagated, 0.25)
    torch.testing.assert_close(vectors, torch.tensor([[1.0, 6.0], [4.0, 0.0], [0.0, 8.0], [0.0, 0.0]]))
    assert exists.tolist() == [True, True, True, False]


def test_lambda_may_differ_from_class_to_class() -> None:
    """0 takes the propagated prototype, 1 the initial one."""
    initial, propagated = prototypes((4.0, 0.0), (4.0, 0.0)), prototypes((0.0, 8.0), (0.0, 8.0))
    vectors, _ = final_prototypes(initial, propagated, torch.tensor([0.0, 1.0]))
    assert vectors.tolist() == [[0.0, 8.0], [4.0, 0.0]]


def test_equations_4_to_6_together() -> None:
    """By hand: softmax weights 0.663739 and 0.336261 (see the attention's test), lambda 0.5."""
    # P+ = 0.663739 (3, 4) + 0.336261 (4, -3) = (3.336261, 1.646173); P = ((3, 4) + P+) / 2 = (3.168131, 2.823087)
    initial = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0))
    result = propagate(swapping_attention(), initial, edges((0, 2), (1, 2)), 0.5)
    torch.testing.assert_close(result.propagated.vectors[2], torch.tensor([3.336261, 1.646173]), atol=1e-5, rtol=0)
    torch.testing.assert_close(result.final.vectors[2], torch.tensor([3.168131, 2.823087]), atol=1e-5, rtol=0)


def test_a_second_step_brings_the_grandparent() -> None:
    """A chain 8 > 4 > 0 in one dimension with lambda 0.5, by hand."""
    # step 1: B = (4 + 8) / 2 = 6, C = (0 + 4) / 2 = 2; step 2: B = (4 + 8) / 2 = 6, C = (0 + 6) / 2 = 3
    initial, chain, attention = prototypes((8.0,), (4.0,), (0.0,), width=1), edges((0, 1), (1, 2)), random_attention(1)
    assert propagate(attention, initial, chain, 0.5).final.vectors.flatten().tolist() == [8.0, 6.0, 2.0]
    assert propagate(attention, initial, chain, 0.5, steps=2).final.vectors.flatten().tolist() == [8.0, 6.0, 3.0]


@pytest.mark.parametrize("normalisation", ["softmax", "cosine"])
def test_a_zero_shot_grandchild_is_reached_in_two_steps(normalisation: Normalisation) -> None:
    """After one step it has no prototype and says so; after two it has its grandparent's."""
    initial, chain = prototypes((2.0, 1.0), None, None), edges((0, 1), (1, 2))
    once = propagate(random_attention(2), initial, chain, 0.5, normalisation=normalisation)
    assert once.final.exists.tolist() == [True, True, False]
    assert once.final.vectors.tolist() == [[2.0, 1.0], [2.0, 1.0], [0.0, 0.0]]
    twice = propagate(random_attention(2), initial, chain, 0.5, normalisation=normalisation, steps=2)
    assert twice.final.exists.all()
    assert twice.final.vectors.tolist() == [[2.0, 1.0]] * 3


def test_fewer_than_one_step_is_refused() -> None:
    """No step at all would be no propagation."""
    with pytest.raises(ValueError, match="at least 1 step"):
        propagate(random_attention(2), prototypes((1.0, 0.0)), edges(), 0.5, steps=0)


def _random_case(seed: int) -> tuple[Prototypes, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    exists = torch.rand(12, generator=generator) < 0.8
    vectors = torch.randn(12, 4, generator=generator) * exists[:, None]
    ends = torch.randint(0, 12, (2, 20), generator=generator)
    keep = ends[0] != ends[1]
    edge_index = torch.stack([ends.amin(0), ends.amax(0)])[:, keep]
    return Prototypes(vectors, exists), edge_index, torch.rand(12, generator=generator)


@pytest.mark.parametrize("normalisation", ["softmax", "cosine"])
@pytest.mark.parametrize("seed", range(5))
def test_permuting_the_classes_permutes_the_results(seed: int, normalisation: Normalisation) -> None:
    """No class is special because of its position, nor an edge because of its place in the list."""
    initial, edge_index, lambda_ = _random_case(seed)
    attention = random_attention(4)
    generator = torch.Generator().manual_seed(seed + 100)
    order = torch.randperm(12, generator=generator)
    places = torch.empty_like(order).scatter(0, order, torch.arange(12))
    edge_order = torch.randperm(edge_index.shape[1], generator=generator)
    expected = propagate(attention, initial, edge_index, lambda_, steps=2, normalisation=normalisation)
    found = propagate(
        attention,
        Prototypes(initial.vectors[order], initial.exists[order]),
        places[edge_index][:, edge_order],
        lambda_[order],
        steps=2,
        normalisation=normalisation,
    )
    torch.testing.assert_close(found.final.vectors, expected.final.vectors[order], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.weights, expected.weights[edge_order], atol=1e-5, rtol=1e-5)
    assert torch.equal(found.final.exists, expected.final.exists[order])


def test_an_isolated_class_is_unchanged() -> None:
    """Bit for bit, whatever lambda; and adding it changes nothing for the others."""
    initial, edge_index, lambda_ = _random_case(0)
    attention = random_attention(4)
    alone = torch.tensor([[0.1, -7.0, 3.3, 1e-8]])
    more = Prototypes(torch.cat([initial.vectors, alone]), torch.cat([initial.exists, torch.tensor([True])]))
    result = propagate(attention, more, edge_index, torch.cat([lambda_, torch.tensor([0.0])]))
    assert torch.equal(result.final.vectors[12], alone[0])
    torch.testing.assert_close(result.final.vectors[:12], propagate(attention, initial, edge_index, lambda_)[2].vectors)


def test_a_child_s_error_reaches_its_parent_s_prototype() -> None:
    """Paper, section 3.2: the error on a class is propagated back to its parents; and to no stranger."""
    vectors = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [7.0, 7.0]], requires_grad=True)
    initial = Prototypes(vectors, torch.ones(4, dtype=torch.bool))
    result = propagate(random_attention(2), initial, edges((0, 2), (1, 2)), 0.5)
    torch.autograd.backward(result.final.vectors[2].square().sum())
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()
    assert vectors.grad[:3].abs().sum(dim=1).gt(0).all()
    assert not vectors.grad[3].any()
