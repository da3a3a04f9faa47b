"""Propagation from guessed parents in training."""

import pytest
import torch

from engine.model.propagation import Attention, Prototypes
from engine.training.guessed_parents import START_SCALE, GuessedParents

OTHERS = Prototypes(
    torch.tensor([[0.0, 0], [4, 0], [0, 4], [9, 9]]), torch.tensor([True, True, True, False])
)
ALL = torch.ones(4, dtype=torch.bool)


def attention() -> Attention:
    """One that weighs all alike."""
    found = Attention(2, 2)
    for linear in (found.g, found.h):
        torch.nn.init.zeros_(linear.weight)
    return found


def test_nearer_prototypes_weigh_more() -> None:
    """By hand: class 0 at (1, 0) has two others, at distances 9 and 17; half of it is its own."""
    found = GuessedParents()(attention(), torch.tensor([[1.0, 0]]), torch.tensor([0]), OTHERS, ALL)
    near, far = torch.tensor([-9 * START_SCALE, -17 * START_SCALE]).softmax(dim=0).tolist()
    assert found[0].tolist() == pytest.approx([0.5 + 2 * near, 2 * far], abs=1e-4)


def test_what_is_left_out_or_has_no_prototype_gives_nothing() -> None:
    """With the only other one left out, a class keeps its own."""
    guessed, own = GuessedParents(), torch.tensor([[1.0, 0]])
    kept = torch.tensor([True, False, False, True])
    assert torch.equal(guessed(attention(), own, torch.tensor([0]), OTHERS, kept), own)
    assert torch.equal(guessed(attention(), own, torch.tensor([0]), OTHERS, ~ALL), own)


def test_everything_is_learned() -> None:
    """A gradient reaches the scales, lambda, attention and the class's own prototype."""
    guessed, of_edges = (
        GuessedParents(),
        Attention(2, 2, generator=torch.Generator().manual_seed(0)),
    )
    own = torch.tensor([[1.0, 0], [3, 1]], requires_grad=True)
    torch.autograd.backward(
        guessed(of_edges, own, torch.tensor([0, 1]), OTHERS, ALL).square().sum()
    )
    for parameter in (*guessed.parameters(), of_edges.g.weight, of_edges.h.weight, own):
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0
