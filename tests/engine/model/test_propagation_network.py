import torch

from engine.model.propagation import PropagationNetwork
from tests.support.prototype_graphs import edges, random_attention, swapping_attention


def test_images_in_final_prototypes_out() -> None:
    """Eq. 3 to 6 in one pass, by hand: two images for the first parent, one each for the other and the child."""
    # P0: (2, 4) and (4, 4) average to (3, 4); then as in the propagation's test: final (3.168131, 2.823087)
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
    torch.testing.assert_close(outputs.weights, torch.tensor([0.663739, 0.336261]), atol=1e-6, rtol=0)
    torch.testing.assert_close(outputs.propagated[2], torch.tensor([3.336261, 1.646173]), atol=1e-5, rtol=0)
    torch.testing.assert_close(outputs.final[2], torch.tensor([3.168131, 2.823087]), atol=1e-5, rtol=0)
    assert outputs.has_final.tolist() == [True, True, True, False]


def test_gradients_reach_images_of_the_parents_and_the_attention() -> None:
    """The weakly labelled images of a parent help to shape the child's prototype: that is the paper's point."""
    embeddings = torch.tensor([[2.0, 4.0], [4.0, -3.0], [3.0, 4.0], [9.0, 9.0]], requires_grad=True)
    network = PropagationNetwork(random_attention(2))
    pairs = torch.tensor([0, 1, 2])
    outputs = network(embeddings, pairs, pairs, edges((0, 2), (1, 2)), torch.full((3,), 0.5))
    torch.autograd.backward(outputs.final[2].square().sum())
    assert embeddings.grad is not None
    assert embeddings.grad.abs().sum(dim=1).gt(0).tolist() == [True, True, True, False]
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in network.parameters())
