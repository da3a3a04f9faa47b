"""The ways in which a trained method is tested: each a row of the table, with candidates to choose among."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Final

from engine.training.class_heads import ClassHeads
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import Objective
from engine.training.training_set import Positions
from research.baselines.prototypical_net import PrototypicalNet
from research.methods import MethodSettings
from research.testing.bench import Bench, EmbeddedTasks
from research.testing.beyond import LAMBDAS
from research.testing.posterior import (
    BETAS,
    TEMPERATURES,
    Blend,
    ByHeads,
    KnownClasses,
    Posterior,
    Shrunk,
    level_choices,
    plain_means,
)
from research.testing.propagation import LearnedPropagation, PropagationOptions, nearest_prototype, options_of, predict

Predict = Callable[[EmbeddedTasks], Positions]
"""Predictions (T, N * Q) for tasks."""
Candidates = Mapping[str, Predict]
"""By what is chosen, in words."""
NOTHING_TO_CHOOSE: Final = ""
WEAK_IMAGES: Final = 10  # that a task gives of a parent that training did not see


def rows_of(bench: Bench, objective: Objective, settings: MethodSettings) -> dict[str, Candidates]:
    """Every test of a trained method, by name.

    `means`, `shrunk` and `posterior` are the same for all methods; `heads` takes parents that the heads of training
    name. What follows is PPN's: `paper` and `plus` have the paper's lambda, `paper-tuned`, `nearest` and `plus-tuned`
    one that was chosen. A task gives `WEAK_IMAGES` of a parent that training did not see, in `plus-all` all there are.

    Args:
        bench: the data set's embeddings by the objective.
        objective: trained.
        settings: of the training, with the ways and shots of its tasks.
    """
    known = KnownClasses(bench)
    rows: dict[str, Candidates] = {
        "means": {NOTHING_TO_CHOOSE: partial(_nearest, plain_means)},
        "shrunk": {f"beta {beta}": partial(_nearest, Shrunk(known, beta)) for beta in BETAS},
        "posterior": {
            f"beta {beta}, T {temperature}": partial(_nearest, Posterior(known, beta, temperature))
            for beta in BETAS
            for temperature in TEMPERATURES
        },
    }
    if (heads := _heads_of(objective)) is not None:
        rows["heads"] = {
            f"beta {beta}, levels {' '.join(map(str, levels))}": partial(_nearest, ByHeads(known, heads, levels, beta))
            for beta in BETAS
            for levels in level_choices(heads)
        }
    if isinstance(objective, PrototypePropagation):
        rows |= _given_rows(bench, objective, settings)
    return rows


def _given_rows(bench: Bench, objective: PrototypePropagation, settings: MethodSettings) -> dict[str, Candidates]:
    trained = LearnedPropagation.of(objective)
    nearest, plus_all = (options_of(settings.propagation, knows_edges=knows) for knows in (False, True))
    plus = replace(plus_all, unseen_images=WEAK_IMAGES)

    def by_lambda(options: PropagationOptions) -> Candidates:
        each = {f"lambda {value}": replace(options, lambda_=value) for value in LAMBDAS}
        return {name: partial(_propagated, bench, trained, chosen) for name, chosen in each.items()}

    return {
        "paper": {NOTHING_TO_CHOOSE: partial(_propagated, bench, trained, nearest)},
        "paper-tuned": by_lambda(nearest),
        "nearest": by_lambda(replace(nearest, nearest=10)),
        "plus": {NOTHING_TO_CHOOSE: partial(_propagated, bench, trained, plus)},
        "plus-all": {NOTHING_TO_CHOOSE: partial(_propagated, bench, trained, plus_all)},
        "plus-tuned": by_lambda(plus),
    }


def _propagated(
    bench: Bench, trained: LearnedPropagation, options: PropagationOptions, embedded: EmbeddedTasks
) -> Positions:
    return predict(bench, embedded, trained, options)


def _nearest(blend: Blend, embedded: EmbeddedTasks) -> Positions:
    return nearest_prototype(embedded, blend(embedded))


def _heads_of(objective: Objective) -> ClassHeads | None:
    heads = objective.heads if isinstance(objective, PrototypePropagation | PrototypicalNet) else None
    return None if heads is None else deepcopy(heads).cpu()
