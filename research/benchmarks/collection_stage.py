"""How long one more label takes with the collection stage on: fit, checks, rounds, and a pass over every image."""

import statistics
import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.models import find_model
from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.prototypical.fit import fit, prior_of
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from research.benchmarks.synthetic import synthetic_embeddings

SHOTS: Final = 5
FAMILY: Final = 10
MANY_IMAGES: Final = 100_000  # more take longer to be classified all


@dataclass(frozen=True)
class StageFigures:
    """Seconds; medians over rounds, but for `basis_s`, which is taken once.

    Attributes:
        basis_s: whitening and neighbours of the whole collection, once when a project is first opened.
        anchor_s: linking everything to one newly labelled image.
        fit_s: prototypes, their check, the stage's check and its rounds.
        pass_s: probabilities and safe classes of all images.
        label_s: one label more, all of it: the sum of the three above.
        without_s: the same label with the stage off, by a full pass.
        limit_s: what the project promises for `label_s`: of more images those in view are answered within a second.
    """

    images: int
    classes: int
    width: int
    basis_s: float
    anchor_s: float
    fit_s: float
    pass_s: float
    label_s: float
    without_s: float
    limit_s: float


def measure_collection_stage(images: int = 100_000, classes: int = 200, *, rounds: int = 5) -> StageFigures:
    """Time one label more on synthetic embeddings of known spread."""
    model = find_model()
    width = model.card.embedding_width
    drawn = synthetic_embeddings(images, width, classes=classes)
    graph, leaves = _graph(classes)
    session, prior = PropagationSession(model.propagation), prior_of(model.card)
    kept = to_fixed(drawn.embeddings)
    members = [np.flatnonzero(drawn.classes == position) for position in range(classes)]
    labelled = np.sort(np.concatenate([rows[:SHOTS] for rows in members]))
    started_s = time.perf_counter()
    basis = collection_basis(np.arange(images), kept, labelled=labelled)
    basis_s = time.perf_counter() - started_s
    assert basis is not None, "drawn images differ"
    taken: list[list[float]] = []
    for turn in range(rounds):
        labelled = np.union1d(labelled, members[turn % classes][SHOTS + turn : SHOTS + turn + 1])
        shots = Shots(labelled, leaves[drawn.classes[labelled]], drawn.embeddings[labelled])
        times = [time.perf_counter()]
        basis = basis.with_anchors(kept, labelled)
        times.append(time.perf_counter())
        fitted = fit(graph, shots, session, prior, basis=basis)
        times.append(time.perf_counter())
        fitted.classify(kept)
        times.append(time.perf_counter())
        fit(graph, shots, session, prior).classify(kept)
        times.append(time.perf_counter())
        taken.append(np.diff(times).tolist())
    anchor_s, fit_s, pass_s, without_s = (statistics.median(column) for column in zip(*taken, strict=True))
    label_s = statistics.median(sum(row[:3]) for row in taken)
    return StageFigures(
        images,
        classes,
        width,
        basis_s,
        anchor_s,
        fit_s,
        pass_s,
        label_s,
        without_s,
        1.0 if images <= MANY_IMAGES else 12.0,
    )


def _graph(classes: int) -> tuple[CategoryGraph, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Families of `FAMILY` classes; the ids of the classes in order."""
    graph = CategoryGraph()
    families = [graph.add_class(f"Family {family + 1}") for family in range(-(-classes // FAMILY))]
    leaves = [graph.add_class(f"Class {leaf + 1}", (families[leaf // FAMILY],)) for leaf in range(classes)]
    return graph, np.array(leaves, dtype=np.int64)
