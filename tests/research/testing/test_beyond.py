"""Rows beyond the paper: options are tuned on training classes only."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.training.level_wise import PrototypePropagation
from engine.training.loop import embedder
from research.data_sets.stored import FewShotData
from research.methods import PPN, MethodSettings, make_objective, with_chosen
from research.testing import beyond
from research.testing.bench import Bench
from research.testing.beyond import Variation, beyond_accuracies, tuned, variations
from research.testing.propagation import LearnedPropagation, PropagationOptions
from research.testing.tasks import draw_tasks

PLUS = PropagationOptions(knows_edges=True, lambda_=0.0)


@pytest.fixture
def trained(colours: FewShotData) -> tuple[Bench, LearnedPropagation]:
    """An untrained network whose buffer is filled: its colours are enough for shots to classify well."""
    objective = make_objective(PPN, colours.training_set(), with_chosen(MethodSettings(), {"side": 16}))
    assert isinstance(objective, PrototypePropagation)
    embed = embedder(objective.eval(), colours.pixels, 16)
    objective.refresh(embed)
    return Bench(colours, embed), LearnedPropagation.of(objective)


def test_each_variation_changes_one_thing() -> None:
    """Besides lambda, which all may tune, a variation differs from the paper by what its name says."""
    for paper in (PLUS, replace(PLUS, knows_edges=False)):
        for variation in variations(paper):
            others = {replace(options, lambda_=paper.lambda_) for options in variation.options}
            assert len(others) == 1, variation.name
    assert {variation.name for variation in variations(PLUS)} >= {"tuned-lambda", "mean-of-seen", "whitened"}


def test_tuning_never_sees_a_test_image(
    trained: tuple[Bench, LearnedPropagation], monkeypatch: pytest.MonkeyPatch, colours: FewShotData
) -> None:
    """Without test images of the few-shot classes the same options are chosen."""
    monkeypatch.setattr(beyond, "VALIDATION_TASKS", 10)
    bench, parts = trained
    variation = Variation("tuned-lambda", (replace(PLUS, lambda_=1.0), PLUS))
    found = tuned(bench, parts, variation, ways=5, shots=1)
    assert found.lambda_ == 1.0
    used = np.flatnonzero(bench._rows >= 0)  # noqa: SLF001 (which images were drawn is not told)
    is_shot = np.isin(colours.class_positions, colours.test_few_shot)
    assert len(used)
    assert not is_shot[used].any()


def test_one_candidate_needs_no_tuning(trained: tuple[Bench, LearnedPropagation]) -> None:
    """It is taken as it is, without embedding anything."""
    bench, parts = trained
    assert tuned(bench, parts, Variation("fixed", (PLUS,)), ways=5, shots=1) is PLUS
    assert (bench._rows < 0).all()  # noqa: SLF001 (which images were drawn is not told)


def test_accuracies_of_every_variation(
    trained: tuple[Bench, LearnedPropagation], monkeypatch: pytest.MonkeyPatch, colours: FewShotData
) -> None:
    """One row each, over all tasks."""
    monkeypatch.setattr(beyond, "VALIDATION_TASKS", 4)
    bench, parts = trained
    images = {p: np.flatnonzero(colours.class_positions == p) for p in colours.test_few_shot.tolist()}
    embedded = bench.embed_tasks(draw_tasks(images, ways=5, shots=1, count=6))
    rows = list(beyond_accuracies(bench, embedded, parts, PLUS))
    assert [name for name, *_ in rows] == [variation.name for variation in variations(PLUS)]
    assert all(len(accuracies) == 6 and 0 <= min(accuracies) <= max(accuracies) <= 1 for *_, accuracies in rows)
    assert not torch.isnan(bench.whitening).any()
