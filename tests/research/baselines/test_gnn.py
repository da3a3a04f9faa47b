from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from engine.errors import InputError
from engine.training.level_wise import EpisodeShape
from research.baselines import gnn
from research.baselines.baseline import baseline_sampler
from research.baselines.gnn import FewShotGnn, GnnDraw, GnnSettings
from research.baselines.graph_network import GraphNetworkSettings
from tests.support.few_shot_problems import as_input, colour_tasks, colour_training_set, train

Arrays = NDArray[np.float32]
SETTINGS = GnnSettings(
    max_ways=4, queries_per_class=6, network=GraphNetworkSettings(projected_width=16, edge_width=16)
)


def few_shot_gnn(
    *,
    level_wise: bool,
    backbone: nn.Module | None = None,
    width: int = 8,
    settings: GnnSettings = SETTINGS,
) -> FewShotGnn:
    """A small graph network, trained 4-way 1-shot."""
    sampler = baseline_sampler(
        colour_training_set(), EpisodeShape(4, 1, queries=8), level_wise=level_wise
    )
    return FewShotGnn(backbone or nn.Identity(), width, sampler, settings)


def test_a_draw_holds_one_task_with_few_queries() -> None:
    """Eight queries of each class are drawn, six are used, and rows have the right classes."""
    training_set = colour_training_set()
    draw = few_shot_gnn(level_wise=False).draw(np.random.default_rng(0))
    assert len(draw.images) == 4 + 4 * 6
    classes = training_set.class_positions[draw.images]
    assert len(set(classes[draw.support[:, 0]].tolist())) == 4
    assert np.array_equal(classes[draw.queries], classes[draw.support[draw.targets, 0]])


def test_level_wise_draws_come_from_all_levels() -> None:
    """One task at a time, of two, three or four classes, without images of other levels."""
    training_set = colour_training_set()
    objective, generator = few_shot_gnn(level_wise=True), np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        draw = objective.draw(generator)
        levels = set(training_set.levels[training_set.class_positions[draw.images]].tolist())
        assert len(levels) == 1
        seen.add((*levels, len(draw.support)))
        assert len(set(draw.slots.tolist())) == len(draw.support)
    assert {level for level, _ in seen} == {3, 4, 5}
    assert {count for _, count in seen} == {2, 3, 4}


def test_slots_are_drawn() -> None:
    """No class always gets the same slot in a label; otherwise slots would be learned."""
    objective, generator = few_shot_gnn(level_wise=False), np.random.default_rng(0)
    assert len({tuple(objective.draw(generator).slots.tolist()) for _ in range(30)}) > 10


def test_a_level_with_too_many_classes_gives_some() -> None:
    """With room for two classes, tasks are over two classes."""
    objective = few_shot_gnn(level_wise=True, settings=replace(SETTINGS, max_ways=2))
    generator = np.random.default_rng(0)
    assert {len(objective.draw(generator).support) for _ in range(20)} == {2}


def test_absent_classes_cannot_be_answered() -> None:
    """A task over two of four possible classes has two scores, those of its slots."""
    objective = few_shot_gnn(level_wise=False).eval()
    generator = torch.Generator().manual_seed(0)
    support, queries = (
        torch.randn(2, 1, 8, generator=generator),
        torch.randn(5, 8, generator=generator),
    )
    scores = objective.logits(support, queries, np.array([3, 1]))
    assert scores.shape == (5, 2)
    turned = objective.logits(support.flip(0), queries, np.array([1, 3]))
    assert torch.allclose(turned, scores.flip(1), atol=1e-5)


def test_predictions_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """One query at a time gives the same as all together."""
    objective = few_shot_gnn(level_wise=False)
    generator = np.random.default_rng(0)
    support = generator.normal(size=(2, 4, 1, 8)).astype(np.float32)
    queries = generator.normal(size=(2, 9, 8)).astype(np.float32)
    together = objective.predict(support, queries, seed=0)
    monkeypatch.setattr(gnn, "PAIRS_AT_ONCE", 1)
    assert np.array_equal(objective.predict(support, queries, seed=0), together)


def test_more_classes_than_it_was_made_for_are_refused() -> None:
    """Labels have four slots."""
    support, queries = (
        np.zeros((1, 5, 1, 8), dtype=np.float32),
        np.zeros((1, 2, 8), dtype=np.float32),
    )
    with pytest.raises(InputError, match=r"fewer classes.*at most 4, found 5"):
        few_shot_gnn(level_wise=False).predict(support, queries, seed=0)


def test_gradient_reaches_the_backbone() -> None:
    """Every support image and every query contributes to the gradient."""
    objective = few_shot_gnn(level_wise=True, backbone=nn.Flatten(), width=16 * 16 * 3)
    draw = objective.draw(np.random.default_rng(0))
    images = as_input(colour_training_set().pixels[draw.images]).requires_grad_()
    objective(images, draw).backward()
    assert images.grad is not None
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("level_wise", [False, True])
def test_learns_colours(level_wise: bool) -> None:
    """New colours are recognised far above the chance of a quarter, but not before training."""
    torch.manual_seed(1)
    mean_colour = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 8))
    objective = few_shot_gnn(level_wise=level_wise, backbone=mean_colour)
    before = colour_tasks(objective)
    assert (
        objective.predict(before.support, before.queries, seed=0) == before.targets
    ).mean() < 0.4
    train(objective, colour_training_set(), 150)
    after = colour_tasks(objective)
    assert (objective.predict(after.support, after.queries, seed=0) == after.targets).mean() > 0.8


def generated_tasks(
    generator: np.random.Generator, tasks: int, *, shots: int, queries: int
) -> tuple[Arrays, Arrays]:
    """Support (T, 4, shots, 8) and queries (T, 4 * queries, 8) of distinct, separated classes."""
    means = generator.normal(size=(tasks, 4, 1, 8))
    images = (means + 0.3 * generator.normal(size=(tasks, 4, shots + queries, 8))).astype(
        np.float32
    )
    return images[:, :, :shots], images[:, :, shots:].reshape(tasks, -1, 8)


def trained_on_generated_tasks(shots: int, iterations: int) -> FewShotGnn:
    """Train on a new task in each iteration, so that only comparisons can be learned."""
    torch.manual_seed(0)
    objective, generator = few_shot_gnn(level_wise=False).train(), np.random.default_rng(0)
    optimiser = torch.optim.Adam(objective.parameters(), 3e-3)
    rows = np.arange(4 * (shots + 3))
    for _ in range(iterations):
        support, queries = generated_tasks(generator, 1, shots=shots, queries=3)
        embeddings = torch.from_numpy(np.concatenate([support.reshape(-1, 8), queries[0]]))
        parts = rows[: 4 * shots].reshape(4, shots), rows[4 * shots :]
        draw = GnnDraw(rows, *parts, np.repeat(np.arange(4), 3), generator.permutation(4))
        loss = objective.loss(embeddings, draw)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return objective


@pytest.mark.slow
def test_learns_to_compare_images_at_five_shots() -> None:
    """New classes are far above the chance of a quarter, unless labels are uninformative."""
    shots = 5
    objective = trained_on_generated_tasks(shots, 200)
    support, queries = generated_tasks(np.random.default_rng(7), 40, shots=shots, queries=3)
    targets = np.repeat(np.arange(4), 3)
    assert (objective.predict(support, queries, seed=0) == targets).mean() > 0.7
    order = np.random.default_rng(9).permuted(np.tile(np.arange(4 * shots), (40, 1)), axis=1)
    shuffled = np.take_along_axis(support.reshape(40, -1, 8), order[:, :, None], axis=1).reshape(
        support.shape
    )
    assert 0.1 < (objective.predict(shuffled, queries, seed=0) == targets).mean() < 0.4


def test_the_order_of_several_shots_says_nothing() -> None:
    """The order of shots and of classes does not change the scores."""
    objective = few_shot_gnn(level_wise=False).eval()
    generator = torch.Generator().manual_seed(0)
    support, queries = (
        torch.randn(4, 5, 8, generator=generator),
        torch.randn(6, 8, generator=generator),
    )
    slots, order = np.array([2, 0, 3, 1]), [3, 1, 0, 2]
    scores = objective.logits(support, queries, slots)
    assert torch.allclose(objective.logits(support.flip(1), queries, slots), scores, atol=1e-5)
    assert torch.allclose(
        objective.logits(support[order], queries, slots[order]), scores[:, order], atol=1e-5
    )
