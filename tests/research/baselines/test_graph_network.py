import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from research.baselines.graph_network import (
    GraphBlock,
    GraphNetwork,
    GraphNetworkSettings,
    adjacency,
    node_pairs,
)

WAYS, SHOTS, WIDTH = 3, 2, 5
LABELS = functional.one_hot(torch.arange(WAYS).repeat_interleave(SHOTS), WAYS).float()
QUERY_LABEL = torch.full((WAYS,), 1 / WAYS)


def random(*shape: int, seed: int = 0) -> Tensor:
    """Normal numbers."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def network(seed: int = 0) -> GraphNetwork:
    """A small network with non-trivial batch statistics, in evaluation mode."""
    settings = GraphNetworkSettings(projected_width=6, edge_width=8)
    result = GraphNetwork(WIDTH, WAYS, settings, torch.Generator().manual_seed(seed))
    for some in range(5):
        result(
            random(WAYS * SHOTS, WIDTH, seed=some),
            LABELS,
            random(4, WIDTH, seed=9 + some),
            QUERY_LABEL,
        )
    return result.eval()


def plain_adjacency(edge_scores: nn.Module, nodes: Tensor) -> Tensor:
    """Every pair scored in both directions and with itself, as in the authors' code; (n, n)."""
    scores: Tensor = edge_scores((nodes[:, None] - nodes).abs())
    return scores.masked_fill(torch.eye(len(nodes), dtype=torch.bool), float("-inf")).softmax(dim=1)


def plain_forward(model: GraphNetwork, support: Tensor, query: Tensor) -> Tensor:
    """The published network for one query, without shortcuts; (max_ways,)."""
    features = model.projection(torch.cat([support, query[None]]))
    nodes = torch.cat([features, torch.cat([LABELS, QUERY_LABEL[None]])], dim=1)
    for block, norm in zip(model.hidden, model.norms, strict=True):
        assert isinstance(block, GraphBlock)
        around = plain_adjacency(block.edge_scores, nodes) @ nodes
        added = norm(block.linear(torch.cat([nodes, around], dim=1)))
        nodes = torch.cat([nodes, functional.leaky_relu(added)], dim=1)
    around = plain_adjacency(model.last.edge_scores, nodes) @ nodes
    results: Tensor = model.last.linear(torch.cat([nodes, around], dim=1))
    return results[-1]


def test_pairs_of_four_nodes() -> None:
    """Each pair once, those with the last node at the end."""
    assert node_pairs(4).T.tolist() == [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]


def test_adjacency_by_hand() -> None:
    """Weights are a softmax of the scores.

    Scores 0 for (0, 1), log 3 for (0, 2) and log 1 for (1, 2): node 0 has weights 1/4 and 3/4.
    """
    weights = adjacency(torch.tensor([[0.0, math.log(3), 0.0]]), 3)
    expected = torch.tensor([[[0.0, 0.25, 0.75], [0.5, 0.0, 0.5], [0.75, 0.25, 0.0]]])
    assert torch.allclose(weights, expected)


def test_adjacency_rows_sum_to_one() -> None:
    """Whatever the scores; the diagonal is zero."""
    weights = adjacency(10 * random(4, 15), 6)
    assert torch.allclose(weights.sum(dim=2), torch.ones(4, 6))
    assert (weights.diagonal(dim1=1, dim2=2) == 0).all()


def test_equals_the_published_network() -> None:
    """Sharing edges between queries and skipping unused results changes no result."""
    model, support, queries = (
        network(),
        random(WAYS * SHOTS, WIDTH, seed=50),
        random(7, WIDTH, seed=51),
    )
    with torch.no_grad():
        expected = torch.stack([plain_forward(model, support, query) for query in queries])
        assert torch.allclose(model(support, LABELS, queries, QUERY_LABEL), expected, atol=1e-5)


def test_the_order_of_support_images_does_not_matter() -> None:
    """Nodes have no position, only labels."""
    model, support, queries = (
        network(),
        random(WAYS * SHOTS, WIDTH, seed=50),
        random(7, WIDTH, seed=51),
    )
    order = [3, 0, 5, 2, 1, 4]
    with torch.no_grad():
        expected = model(support, LABELS, queries, QUERY_LABEL)
        permuted = model(support[order], LABELS[order], queries, QUERY_LABEL)
    assert torch.allclose(permuted, expected, atol=1e-5)


def test_labels_matter() -> None:
    """Permuted labels change the scores."""
    model, support, queries = (
        network(),
        random(WAYS * SHOTS, WIDTH, seed=50),
        random(7, WIDTH, seed=51),
    )
    with torch.no_grad():
        turned = model(support, LABELS.roll(1, dims=1), queries, QUERY_LABEL)
        assert not torch.allclose(turned, model(support, LABELS, queries, QUERY_LABEL), atol=1e-3)


def test_weights_come_from_the_given_generator() -> None:
    """The same seed gives the same network; the global generator is not used."""
    state = torch.get_rng_state()
    first, same, other = network(), network(), network(1)
    assert first.last.linear.weight.equal(same.last.linear.weight)
    assert not first.last.linear.weight.equal(other.last.linear.weight)
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize("queries", [1, 6])
def test_gradient_reaches_every_weight_in_training(queries: int) -> None:
    """Every layer, support image and query contributes to the result."""
    model = network().train()
    support, query = (
        random(6, WIDTH, seed=1).requires_grad_(),
        random(queries, WIDTH, seed=2).requires_grad_(),
    )
    functional.cross_entropy(
        model(support, LABELS, query, QUERY_LABEL), torch.arange(queries) % WAYS
    ).backward()  # type: ignore[no-untyped-call]
    # The bias of an edge score cancels in the softmax, and that of a layer in the batch norm.
    weights = [parameter for name, parameter in model.named_parameters() if name.endswith("weight")]
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in weights)
    assert support.grad is not None
    assert (support.grad.abs().sum(dim=1) > 0).all()
    assert query.grad is not None
    assert (query.grad.abs().sum(dim=1) > 0).all()
