"""The torch module: prototypes by hand, batches, gradients, and invalid input."""

import math
from typing import Any

import pytest
import torch
from easyfsl.methods import PrototypicalNetworks
from easyfsl.utils import evaluate
from torch import Tensor, nn

from engine.model.propagation import Attention
from protoleaf import PrototypePropagationNetwork


def task(
    tasks: int = 2, classes: int = 4, shots: int = 3, width: int = 8
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    support = torch.randn(tasks, classes * shots, width, generator=generator)
    labels = torch.arange(classes).repeat_interleave(shots).expand(tasks, -1)
    return support, labels, torch.randn(tasks, 5, width, generator=generator)


def test_prototypes_are_those_of_the_equations() -> None:
    """Leaves (1, 0) and (0, 1) below (3, 3): P = P0 / 2 + P+ / 2, where P+ is the parent's P0."""
    edges = torch.tensor([[2, 2], [0, 1]])
    network = PrototypePropagationNetwork(edge_index=edges, lambda_=0.5)
    network.process_support_set(
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 3.0]]), torch.tensor([0, 1, 2])
    )
    assert network.prototypes.tolist() == [[2.0, 1.5], [1.5, 2.0], [3.0, 3.0]]
    farther = math.exp(-0.5)  # squared distances 0 and 0.5
    expected = [1 / (1 + farther), farther / (1 + farther), 0]
    assert network(torch.tensor([[2.0, 1.5]])).exp()[0].tolist() == pytest.approx(expected)


def test_a_class_without_images_takes_those_below_it() -> None:
    network = PrototypePropagationNetwork(
        edge_index=torch.tensor([[3, 2, 2], [2, 0, 1]]), lambda_=1.0
    )
    network.process_support_set(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1]))
    assert network.prototypes[2:].tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize("edges", [None, torch.tensor([[4, 4, 5, 5], [0, 1, 2, 3]])])
def test_a_batch_is_its_tasks(edges: Tensor | None) -> None:
    support, labels, queries = task()
    network = PrototypePropagationNetwork(nn.Linear(8, 6), edge_index=edges)
    network.process_support_set(support, labels)
    together = network(queries)
    for each in range(len(support)):
        network.process_support_set(support[each], labels[each])
        assert torch.allclose(network(queries[each]), together[each], atol=1e-5)


def test_gradients_reach_backbone_attention_and_lambda() -> None:
    support, labels, queries = task()
    lambda_ = torch.tensor(0.5, requires_grad=True)
    network = PrototypePropagationNetwork(nn.Linear(8, 6), attention=Attention(6), lambda_=lambda_)
    network.process_support_set(support, labels)
    network(queries).exp().square().sum().backward()
    parts = [lambda_, *network.parameters()]
    assert all(part.grad is not None and part.grad.abs().sum() > 0 for part in parts)


def test_it_moves_with_its_prototypes() -> None:
    support, labels, queries = task()
    network = PrototypePropagationNetwork()
    network.process_support_set(support, labels)
    assert network.to(torch.float64)(queries.double()).dtype == torch.float64
    assert not network.is_transductive()
    assert network.state_dict() == {"attention.logit_scale": torch.tensor(1.0)}


def test_the_evaluation_of_easyfsl_runs_on_it() -> None:
    """As on its own classifiers; with lambda 1 the module is Prototypical Networks."""
    support, labels, queries = task(tasks=4, width=16)
    truth = torch.arange(5) % 4
    tasks: Any = [(*each, truth, []) for each in zip(support, labels, queries, strict=True)]
    network = PrototypePropagationNetwork(lambda_=1.0)
    expected = evaluate(PrototypicalNetworks(nn.Identity()), tasks, "cpu", use_tqdm=False)
    assert evaluate(network, tasks, "cpu", use_tqdm=False) == expected


def test_what_cannot_be_used_is_refused() -> None:
    support, labels, queries = task()
    with pytest.raises(RuntimeError, match="process_support_set"):
        PrototypePropagationNetwork()(queries)
    with pytest.raises(ValueError, match=r"expected labels \(n,\)"):
        PrototypePropagationNetwork().process_support_set(support, labels[0])
    network = PrototypePropagationNetwork(edge_index=torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="cycle"):
        network.process_support_set(support, labels)
