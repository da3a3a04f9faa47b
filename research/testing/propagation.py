"""Test settings PPN+ and PPN: propagation to classes that are not in training."""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from engine.model.propagation import (
    Attention,
    Normalisation,
    Prototypes,
    propagate,
    squared_distances,
)
from engine.training.level_wise import LevelWiseSettings, PrototypePropagation
from engine.training.training_set import Positions
from research.testing.bench import Bench, EmbeddedTasks
from research.testing.tasks import TASK_SEED

NEAREST = 3
SeenParents = Literal["buffered", "mean"]


@dataclass(frozen=True)
class PropagationOptions:
    """Options of propagation in a test; the defaults are the paper's.

    Attributes:
        knows_edges: PPN+ (True) or PPN (False), whose parents are the nearest prototypes of
            training.
        lambda_: weight of `P0` in Eq. 6.
        nearest: K of PPN.
        steps: propagation steps.
        normalisation: of the attention weights.
        seen_parents: prototype of a parent seen in training: "buffered" (the paper), or the "mean"
            of that and the one of its test images (the authors' code).
        parents_lambda: weight of `P0` in the coarse classes' own prototypes, from the second step
            on.
        unseen_images: most weakly labelled images of a parent unseen in training, per task; None
            for all.
        whitens: whether everything is first whitened by the shrunk covariance within the few-shot
            classes of training.
    """

    knows_edges: bool
    lambda_: float
    nearest: int = NEAREST
    steps: int = 1
    normalisation: Normalisation = "softmax"
    seen_parents: SeenParents = "buffered"
    parents_lambda: float = 0.5
    whitens: bool = False
    unseen_images: int | None = None


@dataclass(frozen=True)
class LearnedPropagation:
    """Results of a training of PPN other than the backbone, on the CPU.

    Attributes:
        attention: trained.
        buffered: `P0` of C classes at the end of training.
    """

    attention: Attention
    buffered: Prototypes

    @staticmethod
    def of(objective: PrototypePropagation) -> "LearnedPropagation":
        """Copy the results out of a trained objective."""
        buffered = Prototypes(objective.buffer.vectors.cpu(), objective.buffer.exists.cpu())
        return LearnedPropagation(deepcopy(objective.attention).cpu(), buffered)


def options_of(settings: LevelWiseSettings, *, knows_edges: bool) -> PropagationOptions:
    """The paper's test setting of a training: PPN+ where edges are known, else PPN."""
    return PropagationOptions(
        knows_edges=knows_edges,
        lambda_=settings.own_weight,
        steps=settings.steps,
        normalisation=settings.normalisation,
    )


def predict(
    bench: Bench, embedded: EmbeddedTasks, trained: LearnedPropagation, options: PropagationOptions
) -> Positions:
    """Predictions (T, N * Q) int64 of PPN+ or PPN for T tasks of N classes."""
    prototypes = final_prototypes(bench, embedded, trained, options)
    if options.whitens:
        transform = bench.whitening
        embedded = replace(embedded, queries=embedded.queries @ transform)
        prototypes = prototypes @ transform
    return nearest_prototype(embedded, prototypes)


@torch.no_grad()
def final_prototypes(
    bench: Bench, embedded: EmbeddedTasks, trained: LearnedPropagation, options: PropagationOptions
) -> Tensor:
    """Propagated prototypes of every task's classes.

    All tasks are one graph: T * N nodes for their classes, then the C classes of the data set as
    parents.

    Args:
        bench: data set and embeddings.
        embedded: T tasks of N classes.
        trained: attention and buffer.
        options: how.

    Returns:
        (T, N, d) float32.
    """
    initial = embedded.support.mean(dim=2).flatten(0, 1)
    given = _parent_prototypes(bench, trained.buffered, options)
    drawn = _drawn_parents(bench, embedded, trained.buffered, options)
    vectors = torch.cat([initial, given.vectors, *drawn.values()])
    exists = torch.ones(len(vectors), dtype=torch.bool)
    exists[len(initial) : len(initial) + len(given.exists)] = given.exists
    nodes = Prototypes(vectors, exists)
    edges = _edges(bench, embedded, trained.buffered, options, tuple(drawn))
    lambda_ = torch.full((len(nodes.exists),), options.parents_lambda)
    lambda_[: len(initial)] = options.lambda_
    result = propagate(
        trained.attention,
        nodes,
        edges,
        lambda_,
        steps=options.steps,
        normalisation=options.normalisation,
    )
    tasks, ways = embedded.tasks.classes.shape
    return result.final.vectors[: len(initial)].reshape(tasks, ways, -1)


def nearest_prototype(embedded: EmbeddedTasks, prototypes: Tensor) -> Positions:
    """Predictions (T, N * Q) int64 by the nearest of prototypes (T, N, d) (Eq. 2)."""
    return np.stack(
        [
            squared_distances(queries, candidates).argmin(dim=1).numpy()
            for queries, candidates in zip(embedded.queries, prototypes, strict=True)
        ]
    )


def _parent_prototypes(
    bench: Bench, buffered: Prototypes, options: PropagationOptions
) -> Prototypes:
    """Prototypes of the C classes: buffered for seen classes, else of their weak test images.

    PPN knows only the buffer. Unseen classes have no training images.
    """
    if not options.knows_edges:
        return buffered
    vectors, exists = buffered.vectors.clone(), buffered.exists.clone()
    data = bench.data
    few_shot = {*data.test_few_shot.tolist(), *data.validation_few_shot.tolist()}
    unseen = ~buffered.exists.numpy()
    for position in np.unique(
        data.class_positions[data.is_test | unseen[data.class_positions]]
    ).tolist():
        is_seen = not unseen[position]
        if position in few_shot or (is_seen and options.seen_parents == "buffered"):
            continue
        images = np.flatnonzero(
            (data.class_positions == position) & (data.is_test | unseen[position])
        )
        fresh = bench.embeddings_of(images).mean(dim=0)
        vectors[position] = (vectors[position] + fresh) / 2 if is_seen else fresh
        exists[position] = True
    return Prototypes(vectors, exists)


def _drawn_parents(
    bench: Bench, embedded: EmbeddedTasks, buffered: Prototypes, options: PropagationOptions
) -> dict[int, Tensor]:
    """Prototypes (T, d) of parents unseen in training, by class, from images drawn per task."""
    if not options.knows_edges or options.unseen_images is None:
        return {}
    data, generator, drawn = bench.data, np.random.default_rng(TASK_SEED), dict[int, Tensor]()
    asked = np.unique(embedded.tasks.classes).tolist()
    for parent in sorted({z for y in asked for z in bench.parents[y] if not buffered.exists[z]}):
        images = np.flatnonzero(data.class_positions == parent)
        if len(images):
            count = min(options.unseen_images, len(images))
            chosen = np.stack(
                [generator.choice(images, count, replace=False) for _ in embedded.tasks.classes]
            )
            drawn[parent] = bench.embeddings_of(chosen).mean(dim=1)
    return drawn


def _edges(
    bench: Bench,
    embedded: EmbeddedTasks,
    buffered: Prototypes,
    options: PropagationOptions,
    drawn: tuple[int, ...],
) -> Tensor:
    classes = embedded.tasks.classes.ravel()
    if options.knows_edges:
        tasks, ways = embedded.tasks.classes.shape
        # Of the nodes of drawn parents, all tasks of one after another.
        first = len(classes) + len(bench.parents)

        def node_of(parent: int, node: int) -> int:
            is_drawn = parent in drawn
            return (
                first + drawn.index(parent) * tasks + node // ways
                if is_drawn
                else len(classes) + parent
            )

        pairs = [
            (node_of(z, node), node)
            for node, y in enumerate(classes.tolist())
            for z in bench.parents[y]
        ]
        if options.steps > 1:
            pairs += [
                (len(classes) + z, len(classes) + y) for z, y in bench.data.edge_index.T.tolist()
            ]
        return torch.tensor(pairs, dtype=torch.int64).T
    known = torch.nonzero(buffered.exists).ravel()
    initial = embedded.support.mean(dim=2).flatten(0, 1)
    distances = squared_distances(initial, buffered.vectors[known])
    # In validation tasks the class itself is in the buffer; in tests it never is.
    distances[known[None, :] == torch.from_numpy(classes)[:, None]] = torch.inf
    nearest = known[distances.topk(options.nearest, largest=False).indices]
    nodes = torch.arange(len(classes))[:, None].expand_as(nearest)
    return torch.stack([(len(classes) + nearest).ravel(), nodes.ravel()])
