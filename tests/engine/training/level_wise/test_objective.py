import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.training.level_wise import (
    EpisodeShape,
    LevelTask,
    LevelWiseDraw,
    LevelWiseSettings,
    PrototypePropagation,
    edges_between,
)
from engine.training.training_set import TrainingSet
from tests.support.category_graphs import PAIRS, CornerBackbone, Lookup, images_with, two_branches
from tests.support.few_shot_problems import colour_training_set

BUFFERED = [[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]] + [[9.0, 9.0]] * 8
"""Embeddings of the images behind the buffer.

Means (1, 0) and (0, 3) of the coarse classes, (9, 9) of the others.
"""

COUNTS = (2, 1, 2, 2, 2, 2)

EMBEDDINGS = torch.tensor(
    [
        [3.0, 0.0],  # support of class 2
        [0.0, 1.0],  # support of class 4
        [1.0, 1.0],  # query of class 2
        [0.0, 2.0],  # query of class 4
        [0.0, 0.0],  # class 0
        [1.0, 2.0],  # class 0
        [0.0, 1.0],  # class 1
    ]
)


def ints(*values: int) -> NDArray[np.int64]:
    """Positions."""
    return np.array(values, dtype=np.int64)


FEW_SHOT = LevelTask(
    4, ints(2, 4), support=ints(0, 1).reshape(2, 1), queries=ints(2, 3), targets=ints(0, 1)
)
COARSE = LevelTask(
    3, ints(0, 1), support=ints().reshape(2, 0), queries=ints(4, 5, 6), targets=ints(0, 0, 1)
)
DRAW = LevelWiseDraw(np.arange(7), (FEW_SHOT, COARSE), ints(0, 1, 2, 4), np.array([[0, 1], [2, 3]]))

COARSE_LOSS = (math.log1p(math.exp(-8)) + math.log1p(math.exp(2)) + math.log1p(math.exp(2))) / 3
"""Prototypes (1, 0), (0, 3).

(0, 0) is 1 and 9 away, (1, 2) 4 and 2, (0, 1) of the second class 2 and 4.
"""


def network(
    lambda_: float, training_set: TrainingSet | None = None, **changes: object
) -> PrototypePropagation:
    """PPN on the two branches with the buffer filled, 2-way 1-shot."""
    settings = replace(
        LevelWiseSettings(EpisodeShape(2, 1), lambda_=lambda_, hidden_width=2),
        **changes,  # type: ignore[arg-type]
    )
    objective = PrototypePropagation(
        CornerBackbone(), 2, training_set or two_branches(COUNTS, PAIRS), settings
    )
    objective.buffer.refresh(Lookup(torch.tensor(BUFFERED)))
    return objective


def with_plain_cosine(objective: PrototypePropagation) -> PrototypePropagation:
    """Attention that compares prototypes as they are."""
    for linear in (objective.attention.g, objective.attention.h):
        nn.init.eye_(linear.weight)
    return objective


def test_algorithm_1_by_hand_without_own_images() -> None:
    """Lambda 0: P of the few-shot classes is P+, the parents' buffered (1, 0) and (0, 3).

    The query (1, 1) is 1 and 5 away, (0, 2) of the second class 5 and 1.
    """
    few_shot_loss = math.log1p(math.exp(-4))
    assert network(0.0).loss(EMBEDDINGS, DRAW).item() == pytest.approx(
        few_shot_loss + COARSE_LOSS, rel=1e-5
    )


def test_algorithm_1_by_hand_with_own_images() -> None:
    """Lambda 0.5: P is halfway between (3, 0) and (1, 0), and between (0, 1) and (0, 3).

    (2, 0) and (0, 2).

    The query (1, 1) is 2 from both, (0, 2) of the second class 8 and 0. Coarse classes have no
    parents: P is P0.
    """
    few_shot_loss = (math.log(2) + math.log1p(math.exp(-8))) / 2
    assert network(0.5).loss(EMBEDDINGS, DRAW).item() == pytest.approx(
        few_shot_loss + COARSE_LOSS, rel=1e-5
    )


def test_two_parents_by_hand() -> None:
    """Class 4 below both: P0 (0, 1) has cosines 0 and 1 with them, so P+ is (1, 3e) / (1 + e)."""
    objective = with_plain_cosine(network(0.0))
    draw = replace(DRAW, tasks=(FEW_SHOT,), edge_index=np.array([[0, 0, 1], [2, 3, 3]]))
    first = 1 / (1 + math.e)
    mixed = (first, 3 * (1 - first))
    own = 1 - mixed[0], 1 - mixed[1]
    far = (
        own[0] ** 2 + own[1] ** 2
    ) - 1  # of (1, 1) to the wrong prototype, less that to the right one, (1, 0)
    gap = 5 - (mixed[0] ** 2 + (2 - mixed[1]) ** 2)  # the same of (0, 2)
    expected = (math.log1p(math.exp(-far)) + math.log1p(math.exp(-gap))) / 2
    assert objective.loss(EMBEDDINGS, draw).item() == pytest.approx(expected, rel=1e-5)


def test_two_parents_teach_the_attention() -> None:
    """With one parent there is nothing to weigh; with two, both linear layers learn."""
    for edge_index, learns in (([[0, 1], [2, 3]], False), ([[0, 0, 1], [2, 3, 3]], True)):
        objective = with_plain_cosine(network(0.0))
        torch.autograd.backward(
            objective.loss(EMBEDDINGS, replace(DRAW, edge_index=np.array(edge_index)))
        )
        for linear in (objective.attention.g, objective.attention.h):
            assert linear.weight.grad is not None
            assert bool(linear.weight.grad.abs().max() > 1e-6) is learns


def test_levels_add_up() -> None:
    """The loss is the sum over levels, each with the mean over its queries.

    A lone level's task is not there.
    """
    objective = network(0.5)
    both = objective.loss(EMBEDDINGS, DRAW).item()
    assert both - objective.loss(
        EMBEDDINGS, replace(DRAW, tasks=(FEW_SHOT,))
    ).item() == pytest.approx(COARSE_LOSS, rel=1e-5)


@pytest.mark.parametrize("lambda_", [0.0, 0.5])
def test_gradient_reaches_the_backbone(lambda_: float) -> None:
    """Through every query always.

    Through support images when lambda lets them into the prototype.
    """
    objective = network(lambda_)
    images = images_with(EMBEDDINGS).requires_grad_()
    torch.autograd.backward(objective(images, DRAW))
    assert images.grad is not None
    reached = images.grad.flatten(1).abs().sum(dim=1) > 1e-6
    assert reached.tolist() == [lambda_ > 0] * 2 + [True] * 5
    factor = objective.backbone.factor
    assert isinstance(factor, Tensor)
    assert factor.grad is not None
    assert (factor.grad.abs() > 1e-6).all()


def test_buffered_prototypes_carry_no_gradient() -> None:
    """The buffer is data: no parameter, no gradient.

    And support images take the place of buffered few-shot ones.
    """
    objective = network(0.5)
    torch.autograd.backward(objective(images_with(EMBEDDINGS), DRAW))
    assert not objective.buffer.vectors.requires_grad
    assert objective.buffer.vectors.grad is None
    assert "buffer.vectors" in objective.state_dict()
    before = objective.loss(EMBEDDINGS, DRAW)
    objective.buffer.vectors[2:] += 100.0
    assert torch.equal(objective.loss(EMBEDDINGS, DRAW), before)
    objective.buffer.vectors[0] += 0.1
    assert not torch.equal(objective.loss(EMBEDDINGS, DRAW), before)


@pytest.mark.parametrize("seed", range(3))
def test_permuting_classes_changes_nothing(seed: int) -> None:
    """Positions are names only: the loss is the same under any numbering of the classes."""
    generator = np.random.default_rng(seed)
    objective = with_plain_cosine(network(0.5))
    draw = replace(DRAW, edge_index=np.array([[0, 0, 1], [2, 3, 3]]))
    before = objective.loss(EMBEDDINGS, draw).item()
    renamed = generator.permutation(6)
    classes = np.sort(renamed[draw.classes])
    edge_index = edges_between(renamed[draw.classes[draw.edge_index]], classes, 6)
    tasks = tuple(replace(task, classes=renamed[task.classes]) for task in draw.tasks)
    vectors = objective.buffer.vectors.clone()
    objective.buffer.vectors[torch.from_numpy(renamed)] = vectors
    after = objective.loss(EMBEDDINGS, LevelWiseDraw(draw.images, tasks, classes, edge_index))
    assert after.item() == pytest.approx(before, rel=1e-5)


def test_swapping_classes_within_a_task_changes_nothing() -> None:
    """The order of a task's classes, with its targets, is free."""
    swapped = LevelTask(
        4, ints(4, 2), support=ints(1, 0).reshape(2, 1), queries=ints(2, 3), targets=ints(1, 0)
    )
    losses = [
        network(0.5).loss(EMBEDDINGS, replace(DRAW, tasks=(task, COARSE)))
        for task in (FEW_SHOT, swapped)
    ]
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-6)


def test_coarse_classes_with_a_lambda_of_their_own() -> None:
    """With 1 above 0 and half for coarse classes, class 0 is halfway between (1, 0) and (0, 3).

    (0.5, 1.5).

    Its distances become 2.5 of 9, 0.5 of 2, and 0.5 to the wrong side of 4; few-shot classes keep
    lambda 0.
    """
    draw = replace(DRAW, edge_index=np.array([[1, 0, 1], [0, 2, 3]]))
    coarse_loss = (
        math.log1p(math.exp(-6.5)) + math.log1p(math.exp(-1.5)) + math.log1p(math.exp(3.5))
    ) / 3
    loss = network(0.0, coarse_lambda=0.5).loss(EMBEDDINGS, draw)
    assert loss.item() == pytest.approx(math.log1p(math.exp(-4)) + coarse_loss, rel=1e-5)


def test_fresh_share_by_hand() -> None:
    """A quarter of (0, 0) and (0, 1), three of the buffered (1, 0) and (0, 3).

    (0.75, 0) and (0, 2.5), also as P+.
    """
    task = LevelTask(
        3, ints(0, 1), support=ints(4, 6).reshape(2, 1), queries=ints(5), targets=ints(0)
    )
    draw = replace(DRAW, tasks=(FEW_SHOT, task))
    few_shot_loss = (math.log1p(math.exp(1.0625 - 3.25)) + math.log1p(math.exp(0.25 - 4.5625))) / 2
    coarse_loss = math.log1p(math.exp(4.0625 - 1.25))
    objective = network(0.0, fresh_share=0.25)
    assert objective.loss(EMBEDDINGS, draw).item() == pytest.approx(
        few_shot_loss + coarse_loss, rel=1e-5
    )


@pytest.mark.parametrize("fresh_share", [0.0, 0.25])
def test_fresh_share_lets_errors_of_children_reach_images_of_parents(fresh_share: float) -> None:
    """Without it the parents' images teach at their own level only, through queries."""
    task = LevelTask(
        3, ints(0, 1), support=ints(4, 6).reshape(2, 1), queries=ints(5), targets=ints(0)
    )
    embeddings = EMBEDDINGS.clone().requires_grad_()
    torch.autograd.backward(
        network(0.0, fresh_share=fresh_share).loss(
            embeddings, replace(DRAW, tasks=(FEW_SHOT, task))
        )
    )
    assert embeddings.grad is not None
    assert (embeddings.grad[[4, 6]].abs().sum(dim=1) > 1e-6).tolist() == [fresh_share > 0] * 2


def test_several_support_images_are_averaged() -> None:
    """Eq. 3: (3, 0) and (5, 2) make (4, 1)."""
    task = LevelTask(
        4, ints(2, 4), support=ints(0, 1, 2, 3).reshape(2, 2), queries=ints(4), targets=ints(0)
    )
    embeddings = torch.tensor([[3.0, 0.0], [5.0, 2.0], [0.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    # P+ is (1, 0) and (0, 3); halfway to (4, 1) and (0, 1): (2.5, 0.5) and (0, 2); (2, 2) is 2.5
    # and 4 away
    loss = network(0.5).loss(embeddings, replace(DRAW, tasks=(task,)))
    assert loss.item() == pytest.approx(math.log1p(math.exp(-1.5)), rel=1e-5)


def test_the_papers_lambda() -> None:
    """0 for one shot, 0.5 for more, unless chosen."""
    assert LevelWiseSettings(EpisodeShape(5, 1)).own_weight == 0.0
    assert LevelWiseSettings(EpisodeShape(5, 5)).own_weight == 0.5
    assert LevelWiseSettings(EpisodeShape(5, 1), lambda_=0.3).own_weight == 0.3


def test_refresh_every_m_epochs() -> None:
    """Five epochs of a hundred iterations."""
    assert network(0.0).refresh_interval == 500


def test_refresh_samples_except_at_the_end() -> None:
    """During training so many images of each class as the settings say; without a generator all."""
    objective = PrototypePropagation(
        CornerBackbone(), 2, colour_training_set(), LevelWiseSettings(buffer_images=5)
    )
    embed = Lookup(torch.zeros(18 * 12, 2))
    objective.refresh(embed, np.random.default_rng(0))
    objective.refresh(embed)
    assert [len(asked) for asked in embed.asked] == [18 * 5, 18 * 12]


def test_two_steps_reach_the_grandparent() -> None:
    """For 1 above 0 above 2, lambda 0, the second step gives class 2 class 1's value: (0, 3)."""
    draw = replace(DRAW, tasks=(FEW_SHOT,), edge_index=np.array([[1, 0, 1], [0, 2, 3]]))
    # One step: class 2 is (1, 0), class 4 (0, 3). Two: both are (0, 3), so that nothing tells them
    # apart.
    assert network(0.0, steps=2).loss(EMBEDDINGS, draw).item() == pytest.approx(
        math.log(2), rel=1e-5
    )
    assert network(0.0).loss(EMBEDDINGS, draw).item() == pytest.approx(
        math.log1p(math.exp(-4)), rel=1e-5
    )


def test_raw_cosine_of_the_paper() -> None:
    """Eq. 5 as printed: (3, 0) and (1, 0) have cosine 1, and so have (0, 1) and (0, 3).

    As with a softmax over one.
    """
    objective = with_plain_cosine(network(0.0, normalisation="cosine"))
    assert objective.loss(EMBEDDINGS, DRAW).item() == pytest.approx(
        network(0.0).loss(EMBEDDINGS, DRAW).item(), rel=1e-5
    )
    turned = EMBEDDINGS.clone()
    turned[0] = torch.tensor([0.0, 3.0])  # cosine 0 with its parent: P+ is (0, 0)
    # (1, 1) is 2 and 5 away, (0, 2) of the second class 4 and 1
    expected = math.log1p(math.exp(-3)) + COARSE_LOSS
    assert objective.loss(turned, DRAW).item() == pytest.approx(expected, rel=1e-5)


def test_seed_of_the_attention() -> None:
    """The same seed gives the same first weights, whatever the global generator did."""
    sets = two_branches()
    weights = [
        PrototypePropagation(
            CornerBackbone(), 2, sets, LevelWiseSettings(EpisodeShape(2, 1)), seed=seed
        ).attention.g.weight
        for seed in (0, 0, 1)
    ]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_class_without_parents_keeps_what_its_images_say() -> None:
    """On a flat list the loss is that of a prototypical network, and attention learns nothing."""
    objective = network(0.0, two_branches(COUNTS, pairs=()))
    flat = LevelWiseDraw(np.arange(4), (FEW_SHOT,), ints(2, 4), np.zeros((2, 0), dtype=np.int64))
    embeddings = EMBEDDINGS[:4].clone().requires_grad_()
    loss = objective.loss(embeddings, flat)
    # prototypes (3, 0), (0, 1): (1, 1) is 5 and 1 away, (0, 2) of the second class 13 and 1
    assert loss.item() == pytest.approx(
        (math.log1p(math.exp(4)) + math.log1p(math.exp(-12))) / 2, rel=1e-5
    )
    torch.autograd.backward(loss)
    assert embeddings.grad is not None
    assert all(
        weight.grad is None or not weight.grad.any() for weight in objective.attention.parameters()
    )
