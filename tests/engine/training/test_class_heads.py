"""Classification heads beside a training: losses worked by hand on a small graph."""

import math

import numpy as np
import pytest
import torch

from engine.training.class_heads import ClassHeads
from engine.training.training_set import TrainingSet

ROOT, LEFT, RIGHT, STRAY, CAT, DOG, FISH = range(7)


@pytest.fixture
def training_set() -> TrainingSet:
    """Two classes below the root, three few-shot classes; `FISH` below both.

    `STRAY` has images but no descendant.
    """
    classes = np.array([ROOT, LEFT, RIGHT, STRAY, CAT, DOG, FISH])
    edges = [(ROOT, LEFT), (ROOT, RIGHT), (LEFT, CAT), (LEFT, DOG), (LEFT, FISH), (RIGHT, FISH)]
    return TrainingSet(
        pixels=np.zeros((len(classes), 1, 1, 3), dtype=np.uint8),
        class_positions=classes,
        edge_index=np.array(edges).T,
        levels=np.array([0, 1, 1, 1, 2, 2, 2]),
        few_shot=np.array([CAT, DOG, FISH]),
        class_names=tuple("abcdefg"),
    )


def even(heads: ClassHeads) -> ClassHeads:
    """All logits 0, whatever the embedding."""
    torch.nn.init.zeros_(heads.weight)
    return heads


def test_an_image_counts_at_its_level_and_above(training_set: TrainingSet) -> None:
    """A cat is one of three, and of two above; the root alone has nothing to tell apart."""
    heads = even(ClassHeads(2, training_set))
    assert heads.seen_levels == (2, 1)
    found = heads.loss(torch.zeros(1, 2), np.array([CAT]))
    assert found.item() == pytest.approx(math.log(3) + math.log(2), abs=1e-5)


def test_a_coarse_image_counts_above_only(training_set: TrainingSet) -> None:
    """What lies below its class is not known."""
    heads = even(ClassHeads(2, training_set))
    assert heads.loss(torch.zeros(1, 2), np.array([LEFT])).item() == pytest.approx(
        math.log(2), abs=1e-5
    )
    assert heads.loss(torch.zeros(1, 2), np.array([ROOT])).item() == 0


def test_any_of_several_ancestors_is_right(training_set: TrainingSet) -> None:
    """A fish is below both classes of its level: nothing to lose there."""
    heads = even(ClassHeads(2, training_set))
    assert heads.loss(torch.zeros(1, 2), np.array([FISH])).item() == pytest.approx(
        math.log(3), abs=1e-5
    )


def test_classes_without_a_part_in_training_have_no_say(training_set: TrainingSet) -> None:
    """A class that no few-shot class lies below is not among the answers."""
    scores = even(ClassHeads(2, training_set)).log_probabilities(torch.zeros(1, 2))[0]
    assert scores[[LEFT, RIGHT]].exp().tolist() == pytest.approx([0.5, 0.5])
    assert torch.isinf(scores[STRAY])


def test_only_fine_classes(training_set: TrainingSet) -> None:
    """For a method that knows no coarse labels."""
    heads = even(ClassHeads(2, training_set, fine_only=True))
    assert heads.seen_levels == (2,)
    assert heads.loss(torch.zeros(2, 2), np.array([CAT, LEFT])).item() == pytest.approx(
        math.log(3), abs=1e-5
    )


@pytest.mark.slow
def test_training_it_tells_classes_apart(training_set: TrainingSet) -> None:
    """Embeddings that differ by class are distinguished after some steps."""
    heads = ClassHeads(3, training_set)
    embeddings, classes = torch.eye(3), np.array([CAT, DOG, FISH])
    optimizer = torch.optim.Adam(heads.parameters(), 0.1)
    for _ in range(200):
        optimizer.zero_grad()
        torch.autograd.backward(heads.loss(embeddings, classes))
        optimizer.step()
    scores = heads.log_probabilities(embeddings)[:, [CAT, DOG, FISH]]
    assert scores.argmax(dim=1).tolist() == [0, 1, 2]
