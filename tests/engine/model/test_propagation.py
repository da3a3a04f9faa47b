"""Prototypes, attention, propagation and distances (Eq.

2 to 6) by numbers worked out by hand, and properties.
"""

import pytest
import torch

from engine.model.propagation import (
    Attention,
    Normalisation,
    PropagationNetwork,
    Prototypes,
    attention_weights,
    final_prototypes,
    initial_prototypes,
    log_probabilities,
    propagate,
    propagated_prototypes,
    softmax_over_parents,
    squared_distances,
)
from tests.support.prototype_graphs import edges, prototypes, random_attention, swapping_attention


def test_a_prototype_is_the_mean_over_the_class_s_images() -> None:
    """Eq. 3 by hand, with an image that counts for two classes and a class without images."""
    embeddings = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    image_positions, class_positions = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
    vectors, exists = initial_prototypes(embeddings, image_positions, class_positions, 3)
    # class 0: ((1, 2) + (3, 4)) / 2 = (2, 3); class 1: (3, 4); class 2: nothing
    torch.testing.assert_close(vectors, torch.tensor([[2.0, 3.0], [3.0, 4.0], [0.0, 0.0]]))
    assert exists.tolist() == [True, True, False]


def test_a_repeated_pair_counts_twice() -> None:
    """The mean is over pairs: whoever gives a pair twice weighs that image twice."""
    embeddings = torch.tensor([[0.0], [3.0]])
    vectors, _ = initial_prototypes(embeddings, torch.tensor([0, 1, 1]), torch.tensor([0, 0, 0]), 1)
    assert vectors.item() == 2.0  # (0 + 3 + 3) / 3


def test_no_images_at_all_give_no_prototypes() -> None:
    """An empty project has classes and no prototype."""
    nothing = torch.zeros(0, dtype=torch.int64)
    vectors, exists = initial_prototypes(torch.zeros(0, 4), nothing, nothing, 2)
    assert vectors.shape == (2, 4)
    assert not vectors.any()
    assert not exists.any()


def test_an_image_s_gradient_is_shared_over_its_class() -> None:
    """Each of k images moves the mean by 1 / k; an unused image by nothing."""
    embeddings = torch.zeros(3, 2, requires_grad=True)
    vectors, _ = initial_prototypes(embeddings, torch.tensor([0, 1]), torch.tensor([0, 0]), 2)
    torch.autograd.backward(vectors.sum())
    assert embeddings.grad is not None
    assert embeddings.grad.tolist() == [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]


def test_the_score_is_the_cosine_of_the_transformed_prototypes() -> None:
    """Eq. 5 by hand: g keeps, h swaps."""
    # child (3, 4), parents (3, 4) and (4, -3), all of length 5
    # <(3, 4), (4, 3)> / 25 = 24 / 25 = 0.96;  <(3, 4), (-3, 4)> / 25 = 7 / 25 = 0.28
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0))
    weights = attention_weights(swapping_attention(), vectors, edges((0, 2), (1, 2)), "cosine")
    torch.testing.assert_close(weights, torch.tensor([0.96, 0.28]))


def test_the_edge_s_first_row_is_the_parent() -> None:
    """Of the two transformations, g acts on the child and h on the parent, not vice versa."""
    attention = Attention(2, 2)
    with torch.no_grad():
        attention.g.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
        attention.h.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    vectors = prototypes((0.0, 2.0), (5.0, 1.0))
    # child (5, 1): g gives (5, 0); parent (0, 2): h gives (2, 0); cosine 1. Swapped: g gives (0, 0)
    # and cosine 0.
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
    weights = attention_weights(
        swapping_attention(logit_scale=10.0), vectors, edges((0, 2), (1, 2))
    )
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
    """Without a prototype of its own there is nothing to compare.

    Three parents, one unusable, a half each.
    """
    vectors = prototypes((3.0, 4.0), (4.0, -3.0), None, None)
    weights = attention_weights(
        swapping_attention(), vectors, edges((0, 3), (1, 3), (2, 3)), normalisation
    )
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
    """It is 1 whatever the score, so the gradient is exactly zero.

    Between two parents it is not.
    """
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


def test_the_propagated_prototype_is_the_weighted_sum_of_the_parents() -> None:
    """Eq. 4 by hand: 0.25 (1, 0) + 0.75 (0, 2) = (0.25, 1.5)."""
    sources = prototypes((1.0, 0.0), (0.0, 2.0), (9.0, 9.0))
    vectors, exists = propagated_prototypes(
        sources, edges((0, 2), (1, 2)), torch.tensor([0.25, 0.75])
    )
    torch.testing.assert_close(vectors, torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.25, 1.5]]))
    assert exists.tolist() == [False, False, True]


def test_the_final_prototype_blends_own_and_propagated() -> None:
    """Eq. 6 by hand with lambda 0.25: 0.25 (4, 0) + 0.75 (0, 8) = (1, 6).

    And what counts alone, counts fully.
    """
    initial = prototypes((4.0, 0.0), (4.0, 0.0), None, None)
    propagated = prototypes((0.0, 8.0), None, (0.0, 8.0), None)
    vectors, exists = final_prototypes(initial, propagated, 0.25)
    torch.testing.assert_close(
        vectors, torch.tensor([[1.0, 6.0], [4.0, 0.0], [0.0, 8.0], [0.0, 0.0]])
    )
    assert exists.tolist() == [True, True, True, False]


def test_lambda_may_differ_from_class_to_class() -> None:
    """0 takes the propagated prototype, 1 the initial one."""
    initial, propagated = prototypes((4.0, 0.0), (4.0, 0.0)), prototypes((0.0, 8.0), (0.0, 8.0))
    vectors, _ = final_prototypes(initial, propagated, torch.tensor([0.0, 1.0]))
    assert vectors.tolist() == [[0.0, 8.0], [4.0, 0.0]]


def test_equations_4_to_6_together() -> None:
    """By hand: softmax weights 0.663739 and 0.336261 (see the attention's test), lambda 0.5."""
    # P+ = 0.663739 (3, 4) + 0.336261 (4, -3) = (3.336261, 1.646173); P = ((3, 4) + P+) / 2 =
    # (3.168131, 2.823087)
    initial = prototypes((3.0, 4.0), (4.0, -3.0), (3.0, 4.0))
    result = propagate(swapping_attention(), initial, edges((0, 2), (1, 2)), 0.5)
    torch.testing.assert_close(
        result.propagated.vectors[2], torch.tensor([3.336261, 1.646173]), atol=1e-5, rtol=0
    )
    torch.testing.assert_close(
        result.final.vectors[2], torch.tensor([3.168131, 2.823087]), atol=1e-5, rtol=0
    )


def test_a_second_step_brings_the_grandparent() -> None:
    """A chain 8 > 4 > 0 in one dimension with lambda 0.5, by hand."""
    # step 1: B = (4 + 8) / 2 = 6, C = (0 + 4) / 2 = 2; step 2: B = (4 + 8) / 2 = 6, C = (0 + 6) / 2
    # = 3
    initial, chain, attention = (
        prototypes((8.0,), (4.0,), (0.0,), width=1),
        edges((0, 1), (1, 2)),
        random_attention(1),
    )
    assert propagate(attention, initial, chain, 0.5).final.vectors.flatten().tolist() == [
        8.0,
        6.0,
        2.0,
    ]
    assert propagate(attention, initial, chain, 0.5, steps=2).final.vectors.flatten().tolist() == [
        8.0,
        6.0,
        3.0,
    ]


@pytest.mark.parametrize("normalisation", ["softmax", "cosine"])
def test_a_zero_shot_grandchild_is_reached_in_two_steps(normalisation: Normalisation) -> None:
    """After one step it has no prototype and says so; after two it has its grandparent's."""
    initial, chain = prototypes((2.0, 1.0), None, None), edges((0, 1), (1, 2))
    once = propagate(random_attention(2), initial, chain, 0.5, normalisation=normalisation)
    assert once.final.exists.tolist() == [True, True, False]
    assert once.final.vectors.tolist() == [[2.0, 1.0], [2.0, 1.0], [0.0, 0.0]]
    twice = propagate(
        random_attention(2), initial, chain, 0.5, normalisation=normalisation, steps=2
    )
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
def test_permuting_the_classes_permutes_the_results(
    seed: int, normalisation: Normalisation
) -> None:
    """No class is special because of its position, nor an edge because of its place in the list."""
    initial, edge_index, lambda_ = _random_case(seed)
    attention = random_attention(4)
    generator = torch.Generator().manual_seed(seed + 100)
    order = torch.randperm(12, generator=generator)
    places = torch.empty_like(order).scatter(0, order, torch.arange(12))
    edge_order = torch.randperm(edge_index.shape[1], generator=generator)
    expected = propagate(
        attention, initial, edge_index, lambda_, steps=2, normalisation=normalisation
    )
    found = propagate(
        attention,
        Prototypes(initial.vectors[order], initial.exists[order]),
        places[edge_index][:, edge_order],
        lambda_[order],
        steps=2,
        normalisation=normalisation,
    )
    torch.testing.assert_close(
        found.final.vectors, expected.final.vectors[order], atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(found.weights, expected.weights[edge_order], atol=1e-5, rtol=1e-5)
    assert torch.equal(found.final.exists, expected.final.exists[order])


def test_an_isolated_class_is_unchanged() -> None:
    """Bit for bit, whatever lambda; and adding it changes nothing for the others."""
    initial, edge_index, lambda_ = _random_case(0)
    attention = random_attention(4)
    alone = torch.tensor([[0.1, -7.0, 3.3, 1e-8]])
    more = Prototypes(
        torch.cat([initial.vectors, alone]), torch.cat([initial.exists, torch.tensor([True])])
    )
    result = propagate(attention, more, edge_index, torch.cat([lambda_, torch.tensor([0.0])]))
    assert torch.equal(result.final.vectors[12], alone[0])
    torch.testing.assert_close(
        result.final.vectors[:12], propagate(attention, initial, edge_index, lambda_)[2].vectors
    )


def test_a_child_s_error_reaches_its_parent_s_prototype() -> None:
    """Paper, section 3.2: the error on a class is propagated back to its parents.

    And to no stranger.
    """
    vectors = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [7.0, 7.0]], requires_grad=True)
    initial = Prototypes(vectors, torch.ones(4, dtype=torch.bool))
    result = propagate(random_attention(2), initial, edges((0, 2), (1, 2)), 0.5)
    torch.autograd.backward(result.final.vectors[2].square().sum())
    assert vectors.grad is not None
    assert vectors.grad.isfinite().all()
    assert vectors.grad[:3].abs().sum(dim=1).gt(0).all()
    assert not vectors.grad[3].any()


def test_images_in_final_prototypes_out() -> None:
    """Eq. 3 to 6 in one pass, by hand.

    Two images for the first parent, one each for the other and the child.
    """
    # P0: (2, 4) and (4, 4) average to (3, 4); then as in the propagation's test: final (3.168131,
    # 2.823087)
    embeddings = torch.tensor([[2.0, 4.0], [4.0, 4.0], [4.0, -3.0], [3.0, 4.0]])
    network = PropagationNetwork(swapping_attention())
    outputs = network(
        embeddings,
        torch.tensor([0, 1, 2, 3]),
        torch.tensor([0, 0, 1, 2]),
        edges((0, 2), (1, 2)),
        torch.tensor([0.5, 0.5, 0.5, 0.5]),
    )
    assert outputs.initial.tolist() == [[3.0, 4.0], [4.0, -3.0], [3.0, 4.0], [0.0, 0.0]]
    assert outputs.has_initial.tolist() == [True, True, True, False]
    torch.testing.assert_close(
        outputs.weights, torch.tensor([0.663739, 0.336261]), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(
        outputs.propagated[2], torch.tensor([3.336261, 1.646173]), atol=1e-5, rtol=0
    )
    torch.testing.assert_close(
        outputs.final[2], torch.tensor([3.168131, 2.823087]), atol=1e-5, rtol=0
    )
    assert outputs.has_final.tolist() == [True, True, True, False]


def test_gradients_reach_images_of_the_parents_and_the_attention() -> None:
    """The weakly labelled images of a parent help to shape the child's prototype.

    That is the paper's point.
    """
    embeddings = torch.tensor([[2.0, 4.0], [4.0, -3.0], [3.0, 4.0], [9.0, 9.0]], requires_grad=True)
    network = PropagationNetwork(random_attention(2))
    pairs = torch.tensor([0, 1, 2])
    outputs = network(embeddings, pairs, pairs, edges((0, 2), (1, 2)), torch.full((3,), 0.5))
    torch.autograd.backward(outputs.final[2].square().sum())
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum(dim=1).gt(0).tolist() == [True, True, True, False]
    assert all(
        parameter.grad is not None and parameter.grad.any() for parameter in network.parameters()
    )


def test_probabilities_fall_with_the_squared_distance() -> None:
    """Eq. 2 by hand, squared distances 1 and 4: exp(-1) / (exp(-1) + exp(-4)) = 0.952574."""
    found = log_probabilities(
        torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    ).exp()
    torch.testing.assert_close(found, torch.tensor([[0.952574, 0.047426]]), atol=1e-6, rtol=0)


def test_the_temperature_divides_the_distance() -> None:
    """Temperature 3 by hand: 1 / (1 + exp(-1)) = 0.731059."""
    found = log_probabilities(
        torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]]), 3.0
    ).exp()
    torch.testing.assert_close(found, torch.tensor([[0.731059, 0.268941]]), atol=1e-6, rtol=0)


def test_distances_survive_a_common_offset() -> None:
    """Two points 1 apart stay so at 1000 from the origin, where |x|² loses that digit."""
    offset = torch.full((1, 64), 1000.0)
    step = torch.zeros(2, 64)
    step[1, 0] = 1.0
    found = squared_distances(offset, offset + step)
    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0]]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("distance", [1e-3, 1.0, 1e4])
def test_probabilities_sum_to_one_and_are_finite(distance: float) -> None:
    """Near and far; a far class is nearly impossible and never minus infinity twice."""
    generator = torch.Generator().manual_seed(0)
    found = log_probabilities(
        torch.randn(20, 8, generator=generator), torch.randn(5, 8, generator=generator) * distance
    )
    assert found.isfinite().all()
    torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(20))


def test_one_class_is_certain() -> None:
    """Among one class there is no doubt."""
    assert log_probabilities(torch.ones(3, 2), torch.zeros(1, 2)).tolist() == [[0.0]] * 3


def test_gradients_reach_the_prototypes() -> None:
    """The loss pulls the true class's prototype towards the image and pushes the other away."""
    # x = 0, prototypes 1 and -1, true class 0, both probabilities 1/2: dL/dp0 = 2 (1 - 1/2) (p0 -
    # x) = 1
    targets = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    torch.autograd.backward(-log_probabilities(torch.zeros(1, 1), targets)[0, 0])
    assert targets.grad is not None
    torch.testing.assert_close(targets.grad, torch.tensor([[1.0], [1.0]]))
