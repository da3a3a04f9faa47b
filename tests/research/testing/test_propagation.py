"""PPN+ and PPN in tests, by hand in the plane; see `tests/support/planar_bench.py`."""

import math

import pytest
import torch
from torch import Tensor

from engine.training.level_wise import EpisodeShape, LevelWiseSettings, PrototypePropagation
from research.data_sets.stored import FewShotData
from research.methods import PPN, MethodSettings, make_objective, with_chosen
from research.testing.propagation import (
    LearnedPropagation,
    PropagationOptions,
    final_prototypes,
    options_of,
    predict,
)
from tests.support.planar_bench import planar_bench, planar_training, test_task, validation_task

PPN_PLUS_0 = PropagationOptions(knows_edges=True, lambda_=0.0)
PPN_0 = PropagationOptions(knows_edges=False, lambda_=0.0, nearest=1)


def prototypes(**changes: object) -> list[Tensor]:
    """Prototypes of lone, (1, 1), and both, (0, 1), with options changed from PPN+ at lambda 0."""
    options = PropagationOptions(**{"knows_edges": True, "lambda_": 0.0, **changes})  # type: ignore[arg-type]
    bench = planar_bench()
    return list(final_prototypes(bench, test_task(bench), planar_training(), options)[0])


def vector(*numbers: float) -> object:
    """An expected prototype."""
    return pytest.approx(list(numbers), abs=1e-5)


def test_parents_of_both_kinds() -> None:
    """A seen parent gives its buffer, (4, 0); an unseen one the mean of its test images, (0, 4)."""
    lone, both = prototypes()
    assert lone.tolist() == vector(4, 0)
    assert both.tolist() == vector(2, 2)


def test_lambda_keeps_a_share_of_the_shots() -> None:
    """At one half the class is midway between its shot and its parents; at 1 at its shot."""
    lone, both = prototypes(lambda_=0.5)
    assert lone.tolist() == vector(2.5, 0.5)
    assert both.tolist() == vector(1, 1.5)
    assert prototypes(lambda_=1.0)[0].tolist() == vector(1, 1)


def test_weak_images_of_an_unseen_parent_are_drawn_for_each_task() -> None:
    """One of (0, 6) and (0, 2) is drawn, and averaged with the seen parent at (4, 0)."""
    lone, both = prototypes(unseen_images=1)
    assert lone.tolist() == vector(4, 0)
    assert both.tolist() in ([2.0, 3.0], [2.0, 1.0])
    assert prototypes(unseen_images=2)[1].tolist() == vector(2, 2)


def test_mean_of_seen() -> None:
    """As in the authors' code: the mean of the buffer and of the test images."""
    lone, both = prototypes(seen_parents="mean")
    assert lone.tolist() == vector(6, 0)
    assert both.tolist() == vector(3, 2)


def test_two_steps() -> None:
    """Parents first take half of the root: (7, 0) and (5, 2)."""
    lone, both = prototypes(steps=2)
    assert lone.tolist() == vector(7, 0)
    assert both.tolist() == vector(6, 1)


def test_raw_cosine() -> None:
    """Eq. 5 as printed: the prototype of a parent is scaled by its cosine with the child."""
    bench = planar_bench()
    options = PropagationOptions(knows_edges=True, lambda_=0.0, normalisation="cosine")
    found = final_prototypes(bench, test_task(bench), planar_training(identity=True), options)[0]
    assert found[0].tolist() == vector(4 / math.sqrt(2), 0)
    assert found[1].tolist() == vector(0, 4)


@pytest.mark.parametrize(
    ("nearest", "lone", "both"), [(1, (4, 0), (4, 0)), (2, (4, 1.5), (4, 1.5))]
)
def test_nearest_stand_in_for_parents(
    nearest: int, lone: tuple[float, float], both: tuple[float, float]
) -> None:
    """PPN uses the K nearest buffered prototypes, not the unseen class at (0, 4)."""
    found = prototypes(knows_edges=False, nearest=nearest)
    assert found[0].tolist() == vector(*lone)
    assert found[1].tolist() == vector(*both)


def test_validation_leaves_out_the_class_itself() -> None:
    """The nearest prototype of a training class is its own; the next one, (4, 0), is used."""
    bench = planar_bench()
    found = final_prototypes(bench, validation_task(bench), planar_training(), PPN_0)[0]
    assert found.tolist() == [vector(4, 0), vector(4, 0)]


def test_predictions() -> None:
    """Query (3, 0) of lone is nearer to (4, 0) than to (2, 2); (1, 2) of both is not."""
    bench = planar_bench()
    assert predict(bench, test_task(bench), planar_training(), PPN_PLUS_0).tolist() == [[0, 1]]


@pytest.mark.parametrize(("whitens", "answers"), [(False, [0, 1]), (True, [0, 0])])
def test_whitened_predictions(whitens: bool, answers: list[int]) -> None:
    """Queries and prototypes are transformed alike: both queries are then nearest to lone."""
    bench = planar_bench()
    vars(bench)["whitening"] = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    options = PropagationOptions(knows_edges=True, lambda_=0.5, whitens=whitens)
    assert predict(bench, test_task(bench), planar_training(), options).tolist() == [answers]


@pytest.mark.parametrize(("shots", "lambda_"), [(1, 0.0), (5, 0.5)])
def test_options_of_a_training(shots: int, lambda_: float) -> None:
    """The paper's lambda depends on the shots; the rest is from the training."""
    settings = LevelWiseSettings(shape=EpisodeShape(shots=shots), steps=2, normalisation="cosine")
    options = options_of(settings, knows_edges=True)
    assert options == PropagationOptions(
        knows_edges=True, lambda_=lambda_, steps=2, normalisation="cosine"
    )


def test_trained_parts_are_copies(colours: FewShotData) -> None:
    """Parts copied out of an objective do not change when training continues."""
    settings = with_chosen(MethodSettings(), {"side": 16})
    objective = make_objective(PPN, colours.training_set(), settings)
    assert isinstance(objective, PrototypePropagation)
    trained = LearnedPropagation.of(objective)
    before = trained.attention.g.weight.clone()
    with torch.no_grad():
        objective.attention.g.weight.add_(1.0)
    assert torch.equal(trained.attention.g.weight, before)
