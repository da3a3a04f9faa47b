"""Time of one more label with thousands of classes, one of them with hundreds of parents."""

import time
from dataclasses import asdict, dataclass
from multiprocessing import get_context

import numpy as np

from engine.collection.models import find_model
from engine.everyday.blocks import to_fixed
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph
from engine.worker.limits import peak_memory_bytes
from research.benchmarks.synthetic import synthetic_embeddings

FAMILY = 25
"""Classes under one parent."""


@dataclass(frozen=True)
class Size:
    """Size of the project.

    Attributes:
        classes: leaves; parents are added, one for every `FAMILY`, at least `parents`.
        labels: of random images, so that some classes have none and some several.
        parents: of the last class.
        images: of the collection, labelled ones included.
    """

    classes: int
    labels: int
    parents: int
    images: int


@dataclass(frozen=True)
class ManyClassesFigures:
    """Figures of one process.

    Attributes:
        size: what was measured.
        fit_s: prototypes, held-out checks and the collection stage.
        pass_s: classifying all images.
        peak_bytes: peak memory of the process, program and collection included.
    """

    size: Size
    fit_s: float
    pass_s: float
    peak_bytes: int
    limit_s: float = 10.0
    limit_bytes: int = 1_000_000_000

    @property
    def label_s(self) -> float:
        """Seconds of one more label: fit and pass."""
        return self.fit_s + self.pass_s


@dataclass(frozen=True)
class ManyClassesBeside:
    """Figures with and without the class of many parents."""

    many: ManyClassesFigures
    one: ManyClassesFigures

    @property
    def time_ratio(self) -> float:
        """Time with the class of many parents over that without."""
        return self.many.label_s / self.one.label_s

    @property
    def memory_ratio(self) -> float:
        """Memory with the class of many parents over that without."""
        return self.many.peak_bytes / self.one.peak_bytes

    def fields(self) -> dict[str, object]:
        """All figures, for JSON."""
        return {**asdict(self), "time_ratio": self.time_ratio, "memory_ratio": self.memory_ratio}


def measure_many_classes(size: Size) -> ManyClassesBeside:
    """Measure in processes of their own, so that each has its own peak of memory."""
    alone = Size(size.classes, size.labels, 1, size.images)
    context = get_context("spawn")
    figures = []
    for each in (alone, size):
        with context.Pool(1) as pool:
            figures.append(pool.apply(_measure, (each,)))
    return ManyClassesBeside(many=figures[1], one=figures[0])


def _measure(size: Size) -> ManyClassesFigures:
    model = find_model()
    drawn = synthetic_embeddings(
        size.images, model.card.embedding_width, classes=size.classes, families=_families(size)
    )
    graph, leaves = _graph(size)
    kept = to_fixed(drawn.embeddings)
    labelled = np.sort(np.random.default_rng(0).choice(size.images, size.labels, replace=False))
    shots = Shots(labelled, leaves[drawn.classes[labelled]], drawn.embeddings[labelled])
    del drawn
    basis = collection_basis(np.arange(size.images), kept, labelled=labelled)
    times = [time.perf_counter()]
    fitted = fit(graph, shots, PropagationSession(model.propagation), model.card, basis=basis)
    times.append(time.perf_counter())
    fitted.classify(kept)
    times.append(time.perf_counter())
    return ManyClassesFigures(size, times[1] - times[0], times[2] - times[1], peak_memory_bytes())


def _families(size: Size) -> int:
    return max(size.parents, -(-size.classes // FAMILY))


def _graph(size: Size) -> tuple[CategoryGraph, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Families of classes, the last class below `size.parents` of them; the class ids in order."""
    graph, families = CategoryGraph(), _families(size)
    parents = [graph.add_class(f"Family {place + 1}") for place in range(families)]
    leaves = [
        graph.add_class(f"Class {place + 1}", (parents[place * families // size.classes],))
        for place in range(size.classes)
    ]
    for parent in parents[: size.parents - 1]:
        graph.link(parent, leaves[-1])
    return graph, np.array(leaves, dtype=np.int64)
