from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from research.baselines.task_fitting import (
    FittingDraw,
    FittingSettings,
    draw_fitting,
    fitted_scores,
)

SETTINGS = FittingSettings(epochs=30)


def problem(
    width: int, *, tasks: int = 3, ways: int = 3, shots: int = 3
) -> tuple[Tensor, Tensor, FittingDraw]:
    """Random support and queries, with initial weights and orders."""
    generator = torch.Generator().manual_seed(0)
    support = torch.randn(tasks, ways, shots, width, generator=generator)
    queries = torch.randn(tasks, 5, width, generator=generator)
    sources = [np.random.default_rng((1, task)) for task in range(tasks)]
    return support, queries, draw_fitting(support.shape, SETTINGS.epochs, sources)


def fitted_one_by_one(
    support: Tensor, queries: Tensor, directions: Tensor, orders: Tensor
) -> Tensor:
    """Fit one task at a time, in all d coordinates, in small batches, as in the authors' code."""
    images = support.flatten(0, 1)
    images = images / (images.norm(dim=1, keepdim=True) + 1e-5)
    targets = torch.arange(len(support)).repeat_interleave(support.shape[1])
    directions = directions.clone().requires_grad_()
    lengths = directions.detach().norm(dim=1).requires_grad_()
    descent = torch.optim.SGD(
        [directions, lengths], 0.01, momentum=0.9, dampening=0.9, weight_decay=0.001
    )
    for order in orders:
        for batch in order.split(4):
            weights = lengths[:, None] * directions / directions.norm(dim=1, keepdim=True)
            loss = functional.cross_entropy(2 * images[batch] @ weights.T, targets[batch])
            descent.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            descent.step()
    weights = lengths[:, None] * directions / directions.norm(dim=1, keepdim=True)
    return (2 * queries / (queries.norm(dim=1, keepdim=True) + 1e-5) @ weights.T).detach()


@pytest.mark.parametrize(
    "width", [40, 7], ids=["more numbers than images", "fewer numbers than images"]
)
def test_all_tasks_at_once_equal_a_loop(width: int) -> None:
    """Fitting all tasks in the span of the support set equals the authors' loop."""
    support, queries, draw = problem(width)
    scores = fitted_scores(support, queries, draw, SETTINGS)
    for task in range(len(support)):
        directions, orders = (
            torch.from_numpy(draw.directions[task]),
            torch.from_numpy(draw.orders[task]),
        )
        expected = fitted_one_by_one(support[task], queries[task], directions, orders)
        assert torch.allclose(scores[task], expected, atol=2e-5)


def test_fitting_moves_the_scores() -> None:
    """Thirty epochs change the scores by more than rounding errors."""
    support, queries, draw = problem(40)
    unfitted = fitted_scores(support, queries, draw, replace(SETTINGS, epochs=0))
    assert (fitted_scores(support, queries, draw, SETTINGS) - unfitted).abs().max() > 0.05


def test_permuting_classes_permutes_scores() -> None:
    """With weights and batches permuted alike, classes are only renamed."""
    support, queries, draw = problem(12, ways=3, shots=2)
    order = np.array([2, 0, 1])
    new_places = np.argsort(order)[np.arange(6) // 2] * 2 + np.arange(6) % 2
    permuted = FittingDraw(draw.directions[:, order], new_places[draw.orders])
    scores = fitted_scores(support, queries, draw, SETTINGS)
    assert torch.allclose(
        fitted_scores(support[:, order], queries, permuted, SETTINGS),
        scores[:, :, order],
        atol=1e-4,
    )


def test_identical_support_images_do_no_harm() -> None:
    """Images of deficient rank leave unused directions in the basis."""
    support, queries, draw = problem(12)
    support[:, :, 1:] = support[:, :, :1]
    assert fitted_scores(support, queries, draw, SETTINGS).isfinite().all()


def test_every_epoch_shows_every_image_once() -> None:
    """Orders are permutations that differ between epochs and between tasks."""
    orders = problem(4)[2].orders
    assert orders.shape == (3, 30, 9)
    assert (np.sort(orders, axis=2) == np.arange(9)).all()
    assert len({tuple(order) for order in orders.reshape(-1, 9).tolist()}) > 80
