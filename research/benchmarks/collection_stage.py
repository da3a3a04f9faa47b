"""Time of one more label with the collection stage: fit, checks, rounds, classifying all images."""

import time
from dataclasses import dataclass

import numpy as np

from engine.collection.models import find_model
from engine.events import OnProgress, ignore_progress
from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from research.benchmarks.synthetic import synthetic_embeddings
from research.reference import NUMPY, JudgedFigure, NumpyPass, judged, shown, within_budget

SHOTS = 5
FAMILY = 10
LIMIT = 7


@dataclass(frozen=True)
class StageFigures:
    """Measured figures.

    Attributes:
        images, classes, width: of the embeddings.
        rows: whitening and neighbours of the whole collection, once when a project is first opened;
            one more label, relative to a numpy pass; its parts: neighbours of the image, fit with
            checks and rounds, classifying all images; the same label with the stage off.
    """

    images: int
    classes: int
    width: int
    rows: tuple[JudgedFigure, ...]


def measure_collection_stage(
    images: int = 100_000,
    classes: int = 200,
    *,
    rounds: int = 5,
    on_progress: OnProgress = ignore_progress,
) -> StageFigures:
    """Time one more label on synthetic embeddings of known spread."""
    model = find_model()
    width = model.card.embedding_width
    drawn = synthetic_embeddings(images, width, classes=classes)
    graph, leaves = _graph(classes)
    session, prior = PropagationSession(model.propagation), model.card
    kept, numpy_pass = to_fixed(drawn.embeddings), NumpyPass(images)
    members = [np.flatnonzero(drawn.classes == position) for position in range(classes)]
    labelled = np.sort(np.concatenate([rows[:SHOTS] for rows in members]))
    started_s = time.perf_counter()
    basis = collection_basis(np.arange(images), kept, labelled=labelled)
    basis_s = time.perf_counter() - started_s
    assert basis is not None, "drawn images differ"
    taken: list[list[float]] = []
    for turn in within_budget(rounds, on_progress):
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
        taken.append([*np.diff(times).tolist(), numpy_pass.time_s()])
    anchors, fits, classified, without, passes = zip(*taken, strict=True)
    rows = (
        shown("whitening and neighbours, once", [basis_s]),
        judged("one label more", [sum(row[:3]) for row in taken], passes, LIMIT, against=NUMPY),
        shown("  linking the image", anchors),
        shown("  fitting and checking", fits),
        shown("  classifying all", classified),
        shown("one label without the stage", without),
    )
    return StageFigures(images, classes, width, rows)


def _graph(classes: int) -> tuple[CategoryGraph, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Graph of families of `FAMILY` classes, and the class ids in order."""
    graph = CategoryGraph()
    families = [graph.add_class(f"Family {family + 1}") for family in range(-(-classes // FAMILY))]
    leaves = [
        graph.add_class(f"Class {leaf + 1}", (families[leaf // FAMILY],)) for leaf in range(classes)
    ]
    return graph, np.array(leaves, dtype=np.int64)
