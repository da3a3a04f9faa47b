import pytest
import torch

from engine.model.propagation import log_probabilities, squared_distances


def test_probabilities_fall_with_the_squared_distance() -> None:
    """Eq. 2 by hand: squared distances 1 and 4, so exp(-1) / (exp(-1) + exp(-4)) = 1 / (1 + exp(-3)) = 0.952574."""
    found = log_probabilities(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])).exp()
    torch.testing.assert_close(found, torch.tensor([[0.952574, 0.047426]]), atol=1e-6, rtol=0)


def test_the_temperature_divides_the_distance() -> None:
    """Temperature 3 by hand: 1 / (1 + exp(-1)) = 0.731059."""
    found = log_probabilities(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]]), 3.0).exp()
    torch.testing.assert_close(found, torch.tensor([[0.731059, 0.268941]]), atol=1e-6, rtol=0)


def test_distances_survive_a_common_offset() -> None:
    """Two points 1 apart stay 1 apart when both are 1000 away from the origin, where |x|² has lost that digit."""
    offset = torch.full((1, 64), 1000.0)
    step = torch.zeros(2, 64)
    step[1, 0] = 1.0
    found = squared_distances(offset, offset + step)
    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0]]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("distance", [1e-3, 1.0, 1e4])
def test_probabilities_sum_to_one_and_are_finite(distance: float) -> None:
    """Near and far; a far class is nearly impossible and never minus infinity over minus infinity."""
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
    """The loss pulls the true class's prototype towards the image and pushes the other away, by hand."""
    # x = 0, prototypes 1 and -1, true class 0, both probabilities 1/2: dL/dp0 = 2 (1 - 1/2) (p0 - x) = 1
    targets = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    torch.autograd.backward(-log_probabilities(torch.zeros(1, 1), targets)[0, 0])
    assert targets.grad is not None
    torch.testing.assert_close(targets.grad, torch.tensor([[1.0], [1.0]]))
