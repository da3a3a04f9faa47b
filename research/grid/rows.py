"""Tests of a trained method: each a row of the table, with candidates to choose among."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial

from torch import Tensor

from engine.training.class_heads import ClassHeads
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import Objective
from engine.training.training_set import Positions
from research.baselines.baseline import Baseline
from research.baselines.prototypical_net import PrototypicalNet
from research.methods import BASELINES, HEADS, KINDS_OF_PPN, PPN_GUESSED
from research.testing.bench import Bench, EmbeddedTasks
from research.testing.fitted import STRENGTHS, Calibrated, fitted
from research.testing.posterior import (
    BETAS,
    TEMPERATURES,
    Blend,
    ByHeads,
    KnownClasses,
    Posterior,
    Shrunk,
    cluster_centres,
    level_choices,
    plain_means,
)
from research.testing.propagation import (
    LearnedPropagation,
    PropagationOptions,
    nearest_prototype,
    options_of,
    predict,
)
from research.testing.tasks import TASK_SEED

Predict = Callable[[EmbeddedTasks], Positions]
"""Predictions (T, N * Q) for tasks."""
Candidates = Mapping[str, Predict]
"""Predictions by description of the candidate."""
NOTHING_TO_CHOOSE = ""
LAMBDAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WEAK_IMAGES = 10  # of a task, of a parent that is not in training
CLUSTERS = (64, 256)
OF_ALL = frozenset(
    {
        "means",
        "shrunk",
        "posterior",
        "posterior-clusters",
        "fitted",
        "calibrated",
        "means-views",
        "posterior-views",
    }
)
# A classifier for each task: most of the time of a test.
FITTED = frozenset({"fitted", "calibrated"})
OF_PPN = frozenset(
    {
        "paper",
        "paper-tuned",
        "nearest",
        "plus",
        "plus-all",
        "plus-tuned",
        "plus-mean",
        "plus-whitened",
        "plus-2-steps",
    }
)


def row_names(method: str) -> frozenset[str]:
    """Names of the rows that a method is tested in."""
    if method.startswith(BASELINES[1:]):
        return frozenset({"own"})
    of_heads = {"heads"} if method.endswith(HEADS) or method == PPN_GUESSED else set()
    return OF_ALL | of_heads | (OF_PPN if method in KINDS_OF_PPN else frozenset())


def rows_of(bench: Bench, views: Bench, objective: Objective) -> dict[str, Candidates]:
    """All tests of a trained method, by name.

    A baseline that is no Prototypical Net has its `own` test alone. Those of `OF_ALL` are the same
    for all others, with the mean of several views of each support image in `-views` and with
    clusters of training's images in place of its classes in `-clusters`; `heads` takes parents that
    the heads of training name. What follows is PPN's: `paper` and `plus` have the paper's lambda,
    all others one that was chosen. A task gives `WEAK_IMAGES` of a parent that training did not
    see, in `plus-all` all there are.

    Args:
        bench: the data set's embeddings by the objective.
        views: the same of several views of each image.
        objective: trained; the paper's lambda and the normalisation of weights are those of its
            training.
    """
    if isinstance(objective, Baseline) and not isinstance(objective, PrototypicalNet):
        return {"own": {NOTHING_TO_CHOOSE: partial(_own, objective)}}
    known = KnownClasses(bench)
    posterior = _posteriors({"": known.vectors}, known.scatter)
    rows: dict[str, Candidates] = {
        "means": {NOTHING_TO_CHOOSE: partial(_nearest, plain_means)},
        "shrunk": {f"beta {beta}": partial(_nearest, Shrunk(known, beta)) for beta in BETAS},
        "posterior": posterior,
        "posterior-clusters": _posteriors(
            {f"{count} clusters, ": cluster_centres(known, count) for count in CLUSTERS},
            known.scatter,
        ),
        "fitted": {f"C {strength:g}": partial(fitted, strength) for strength in STRENGTHS},
        "calibrated": {NOTHING_TO_CHOOSE: Calibrated(known)},
        "means-views": {
            NOTHING_TO_CHOOSE: partial(_by_views, views, partial(_nearest, plain_means))
        },
        "posterior-views": {
            name: partial(_by_views, views, predict) for name, predict in posterior.items()
        },
    }
    if (heads := _heads_of(objective)) is not None:
        rows["heads"] = {
            f"beta {beta}, levels {' '.join(map(str, levels))}": partial(
                _nearest, ByHeads(known, heads, levels, beta)
            )
            for beta in BETAS
            for levels in level_choices(heads)
        }
    if isinstance(objective, PrototypePropagation):
        rows |= _given_rows(bench, objective)
    return rows


def _posteriors(prototypes: Mapping[str, Tensor], scatter: float) -> Candidates:
    """Candidates by description."""
    return {
        f"{words}beta {beta}, T {temperature}": partial(
            _nearest, Posterior(vectors, scatter, beta, temperature)
        )
        for words, vectors in prototypes.items()
        for beta in BETAS
        for temperature in TEMPERATURES
    }


def _by_views(views: Bench, predict: Predict, embedded: EmbeddedTasks) -> Positions:
    return predict(replace(embedded, support=views.embeddings_of(embedded.tasks.support)))


def _given_rows(bench: Bench, objective: PrototypePropagation) -> dict[str, Candidates]:
    trained = LearnedPropagation.of(objective)
    nearest, plus_all = (
        options_of(objective.settings, knows_edges=knows) for knows in (False, True)
    )
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
        "plus-mean": by_lambda(replace(plus, seen_parents="mean")),
        "plus-whitened": by_lambda(replace(plus, whitens=True)),
        "plus-2-steps": by_lambda(replace(plus, steps=2)),
    }


def _propagated(
    bench: Bench, trained: LearnedPropagation, options: PropagationOptions, embedded: EmbeddedTasks
) -> Positions:
    return predict(bench, embedded, trained, options)


def _own(baseline: Baseline, embedded: EmbeddedTasks) -> Positions:
    return baseline.predict(embedded.support.numpy(), embedded.queries.numpy(), seed=TASK_SEED)


def _nearest(blend: Blend, embedded: EmbeddedTasks) -> Positions:
    return nearest_prototype(embedded, blend(embedded))


def _heads_of(objective: Objective) -> ClassHeads | None:
    heads = (
        objective.heads if isinstance(objective, PrototypePropagation | PrototypicalNet) else None
    )
    return None if heads is None else deepcopy(heads).cpu()
