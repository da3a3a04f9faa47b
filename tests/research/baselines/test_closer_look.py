from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from engine.errors import InputError
from engine.model.backbone import Conv4
from engine.training.training_set import TrainingSet
from research.baselines.closer_look import CloserLook, CloserLookSettings
from tests.support.few_shot_problems import as_input, colour_tasks, colour_training_set, train

SETTINGS = CloserLookSettings(batch_size=48, coarse_batch_size=20)


def closer_look(
    training_set: TrainingSet, *, level_wise: bool, backbone: nn.Module | None = None
) -> CloserLook:
    """Closer Look for embeddings of width 8."""
    return CloserLook(backbone or nn.Identity(), 8, training_set, SETTINGS, level_wise=level_wise)


def class_counts(objective: CloserLook) -> list[int]:
    """Number of classes of each classifier."""
    return [classifier.get_parameter("directions").shape[0] for classifier in objective.classifiers]


def without_images_of(training_set: TrainingSet, *classes: int) -> TrainingSet:
    """The same classes, some of them without images."""
    kept = ~np.isin(training_set.class_positions, classes)
    return replace(
        training_set,
        pixels=training_set.pixels[kept],
        class_positions=training_set.class_positions[kept],
    )


def test_plain_batches_hold_few_shot_classes_only() -> None:
    """Without the star there is one classifier, of the twelve few-shot classes."""
    training_set = colour_training_set()
    draw = closer_look(training_set, level_wise=False).draw(np.random.default_rng(0))
    assert len(draw.batches) == 1
    assert len(set(draw.images.tolist())) == 48
    classes = training_set.class_positions[draw.images]
    assert np.array_equal(classes, training_set.few_shot[draw.batches[0].targets])


def test_level_wise_batches_hold_images_of_every_level() -> None:
    """Few-shot classes come first, then levels 4 and 3; targets are positions within a level."""
    training_set = colour_training_set()
    objective = closer_look(training_set, level_wise=True)
    draw = objective.draw(np.random.default_rng(0))
    first_classes = (6, 2, 0)
    for batch, size, first in zip(draw.batches, (48, 20, 20), first_classes, strict=True):
        assert len(batch.rows) == size
        assert np.array_equal(
            training_set.class_positions[draw.images[batch.rows]], first + batch.targets
        )
    assert class_counts(objective) == [12, 4, 2]


def test_loss_is_the_sum_over_levels() -> None:
    """The loss sums the mean cross entropies of the levels' classifiers."""
    objective = closer_look(colour_training_set(), level_wise=True)
    draw = objective.draw(np.random.default_rng(0))
    embeddings = torch.randn(len(draw.images), 8, generator=torch.Generator().manual_seed(0))
    expected = sum(
        functional.cross_entropy(
            classifier(embeddings[batch.rows]), torch.from_numpy(batch.targets)
        ).item()
        for classifier, batch in zip(objective.classifiers, draw.batches, strict=True)
    )
    assert objective.loss(embeddings, draw).item() == pytest.approx(expected, rel=1e-6)


def test_classes_without_images_get_no_weights() -> None:
    """A level with a single class with images is left out."""
    training_set = without_images_of(colour_training_set(), 0, 3, 8)
    objective = closer_look(training_set, level_wise=True)
    assert class_counts(objective) == [11, 3]
    few_shot = objective.draw(np.random.default_rng(0)).batches[0]
    assert set(few_shot.targets.tolist()) <= set(range(11))


def test_a_small_level_gives_all_it_has() -> None:
    """A batch larger than the level has each of its images once."""
    training_set = without_images_of(colour_training_set(), *range(8, 18))
    draw = closer_look(training_set, level_wise=False).draw(np.random.default_rng(0))
    assert np.array_equal(np.sort(draw.images), np.flatnonzero(training_set.class_positions >= 6))


def test_one_few_shot_class_is_refused() -> None:
    """A single class cannot be classified."""
    with pytest.raises(InputError, match=r"tell apart.*found 1"):
        closer_look(without_images_of(colour_training_set(), *range(7, 18)), level_wise=False)


def test_gradient_reaches_the_backbone() -> None:
    """Every image of every level contributes to the gradient."""
    training_set = colour_training_set()
    objective = CloserLook(nn.Flatten(), 16 * 16 * 3, training_set, SETTINGS, level_wise=True)
    draw = objective.draw(np.random.default_rng(0))
    images = as_input(training_set.pixels[draw.images]).requires_grad_()
    objective(images, draw).backward()
    assert images.grad is not None
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("level_wise", [False, True])
def test_learns_colours(level_wise: bool) -> None:
    """The loss falls, and accuracy on new colours is far above the chance of a quarter."""
    torch.manual_seed(0)
    objective = closer_look(colour_training_set(), level_wise=level_wise, backbone=Conv4(16, 8))
    losses = train(objective, colour_training_set(), 60)
    tasks = colour_tasks(objective)
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:5])
    assert (objective.predict(tasks.support, tasks.queries, seed=0) == tasks.targets).mean() > 0.5
