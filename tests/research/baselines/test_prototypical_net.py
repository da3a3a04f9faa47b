import math

import numpy as np
import pytest
import torch
from torch import nn

from engine.model.backbone import Conv4
from engine.training.level_wise import EpisodeShape, LevelTask, LevelWiseDraw
from research.baselines.baseline import baseline_sampler
from research.baselines.prototypical_net import PrototypicalNet
from tests.support.few_shot_problems import as_input, colour_tasks, colour_training_set, train


def net(*, level_wise: bool = False, backbone: nn.Module | None = None) -> PrototypicalNet:
    """A prototypical network on the coloured classes, 4-way 2-shot."""
    sampler = baseline_sampler(colour_training_set(), EpisodeShape(4, 2), level_wise=level_wise)
    return PrototypicalNet(backbone or nn.Identity(), sampler)


def draw_of(*tasks: LevelTask, images: int) -> LevelWiseDraw:
    """A draw of given tasks; classes and edges do not affect the loss."""
    nothing = np.zeros(0, dtype=np.int64)
    return LevelWiseDraw(np.arange(images), tasks, nothing, nothing.reshape(2, 0))


def two_class_task(first_row: int = 0) -> LevelTask:
    """Two support images of each of two classes, then one query of the second class."""
    rows = np.arange(first_row, first_row + 5)
    return LevelTask(5, np.array([3, 7]), rows[:4].reshape(2, 2), rows[4:], np.array([1]))


def test_loss_by_hand() -> None:
    """Means (1, 0) and (0, 3); the query (0, 0) is 1 and 9 away: -log(e^-9 / (e^-1 + e^-9))."""
    embeddings = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 4.0], [0.0, 0.0]])
    loss = net().loss(embeddings, draw_of(two_class_task(), images=5))
    assert loss.item() == pytest.approx(8 + math.log1p(math.exp(-8)), rel=1e-5)


def test_levels_add_up() -> None:
    """The loss of two tasks is the sum of the losses of each."""
    embeddings = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    first, second = two_class_task(), two_class_task(5)
    both = net().loss(embeddings, draw_of(first, second, images=10))
    alone = [net().loss(embeddings, draw_of(task, images=10)) for task in (first, second)]
    assert both.item() == pytest.approx(sum(loss.item() for loss in alone), rel=1e-6)


def test_permuting_classes_permutes_scores() -> None:
    """Classes differ by their support only."""
    generator = torch.Generator().manual_seed(0)
    support, queries = (
        torch.randn(2, 4, 2, 3, generator=generator),
        torch.randn(2, 5, 3, generator=generator),
    )
    order = [2, 0, 3, 1]
    scores = net().scores(support, queries, [])
    assert torch.allclose(
        net().scores(support[:, order], queries, []), scores[:, :, order], atol=1e-5
    )


def test_prediction_by_hand() -> None:
    """The nearest mean wins, not the nearest image."""
    support = np.array([[[[0.0], [10.0]], [[8.0], [9.0]]]], dtype=np.float32)
    queries = np.array([[[6.0], [7.0]]], dtype=np.float32)
    assert net().predict(support, queries, seed=0).tolist() == [[0, 1]]


def test_gradient_reaches_the_backbone_from_support_and_queries() -> None:
    """Every image of an episode contributes; small embeddings avoid a saturated softmax."""
    objective = net(level_wise=True, backbone=nn.Flatten())
    draw = objective.draw(np.random.default_rng(0))
    images = as_input(colour_training_set().pixels[draw.images]).mul(0.01).requires_grad_()
    objective(images, draw).backward()
    assert images.grad is not None
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize("level_wise", [False, True])
def test_learns_colours(level_wise: bool) -> None:
    """The loss halves within thirty iterations, and new colours are recognised."""
    torch.manual_seed(0)
    objective = net(level_wise=level_wise, backbone=Conv4(16, 8))
    losses = train(objective, colour_training_set(), 30)
    tasks = colour_tasks(objective)
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:2])
    assert (objective.predict(tasks.support, tasks.queries, seed=0) == tasks.targets).mean() > 0.9
