"""Nearest neighbours by approximate indexes and by exhaustive search (decision 90).

    python -m research.neighbour_peers all|hnswlib|usearch|faiss [--count 100000]

Each library is measured in a process of its own; they are not dependencies of the program. Times
are processor seconds of all threads together, and wall-clock seconds of a query.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Protocol

import numpy as np
import psutil
import typer
from numpy.typing import NDArray

from engine.everyday.blocks import to_fixed
from engine.everyday.scores import similarity
from research.benchmarks.synthetic import synthetic_embeddings

WIDTH = 384
NEAREST = 10
QUERIES = 50
NEW_SHARE = 0.01  # of the images, added to an existing index
LINKS = 16  # of each node of a graph; the libraries' own default
BREADTH = 128  # candidates while building and searching
MIB = 1024 * 1024

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


class Index(Protocol):
    """An index of cosines."""

    def add(self, vectors: Floats, first: int) -> None:
        """Add vectors (n, d) of length 1, numbered from `first`."""

    def find(self, vector: Floats) -> Places:
        """Numbers (`NEAREST`,) of the nearest vectors to a vector (d,)."""


class Everything:
    """Exhaustive search, as in the program: products with all float16 embeddings, on all cores."""

    def __init__(self, _count: int) -> None:
        self._rows = np.zeros((0, WIDTH), dtype=np.int16)

    def add(self, vectors: Floats, _first: int) -> None:
        """Store them; the window has them memory-mapped."""
        self._rows = np.concatenate([self._rows, to_fixed(vectors)])

    def find(self, vector: Floats) -> Places:
        """The largest cosines."""
        found = similarity(self._rows, vector)
        best = np.argpartition(-found, NEAREST)[:NEAREST]
        return best[np.argsort(-found[best])]


class Hnswlib:
    """HNSW graph (Malkov and Yashunin, 2018), by the authors' library."""

    def __init__(self, count: int) -> None:
        self._index = import_module("hnswlib").Index("cosine", WIDTH)
        self._index.init_index(count, M=LINKS, ef_construction=BREADTH)
        self._index.set_ef(BREADTH)

    def add(self, vectors: Floats, first: int) -> None:
        """Add them on all cores."""
        self._index.add_items(vectors, np.arange(first, first + len(vectors)))

    def find(self, vector: Floats) -> Places:
        """Search the graph."""
        return np.asarray(self._index.knn_query(vector, NEAREST)[0][0], dtype=np.int64)


class Usearch:
    """HNSW graph over float16 vectors."""

    def __init__(self, _count: int) -> None:
        self._index = import_module("usearch.index").Index(
            ndim=WIDTH,
            metric="cos",
            dtype="f16",
            connectivity=LINKS,
            expansion_add=BREADTH,
            expansion_search=BREADTH,
        )

    def add(self, vectors: Floats, first: int) -> None:
        """Add them on all cores."""
        self._index.add(np.arange(first, first + len(vectors)), vectors)

    def find(self, vector: Floats) -> Places:
        """Search the graph."""
        return np.asarray(self._index.search(vector, NEAREST).keys, dtype=np.int64)


class Faiss:
    """HNSW graph over float16 vectors."""

    def __init__(self, _count: int) -> None:
        faiss = import_module("faiss")
        self._index = faiss.IndexHNSWSQ(
            WIDTH, faiss.ScalarQuantizer.QT_fp16, LINKS, faiss.METRIC_INNER_PRODUCT
        )
        for name in ("efConstruction", "efSearch"):
            setattr(self._index.hnsw, name, BREADTH)

    def add(self, vectors: Floats, _first: int) -> None:
        """Add them on all cores."""
        if not self._index.is_trained:
            self._index.train(vectors[:1000])
        self._index.add(vectors)

    def find(self, vector: Floats) -> Places:
        """Search the graph."""
        return np.asarray(self._index.search(vector[None], NEAREST)[1][0], dtype=np.int64)


KINDS: dict[str, Callable[[int], Index]] = {
    "all": Everything,
    "hnswlib": Hnswlib,
    "usearch": Usearch,
    "faiss": Faiss,
}


@dataclass(frozen=True)
class NeighbourFigures:
    """Results of a library."""

    name: str
    images: int
    build_cpu_s: float
    memory_mib: float  # of the process, beyond that before; without the input vectors
    query_ms: float  # median
    recall: float  # share of the true `NEAREST` that were found
    add_cpu_s: float  # for another hundredth of the images


def measure_neighbours(name: str, count: int) -> NeighbourFigures:
    """Build, query and add to an index of synthetic embeddings of 200 classes.

    Raises:
        ImportError: the library is not installed.
    """
    more = max(1, int(NEW_SHARE * count))
    drawn = synthetic_embeddings(count + more + QUERIES, WIDTH).embeddings
    kept, new, queries = drawn[:count], drawn[count : count + more], drawn[count + more :]
    before = _memory_mib()
    index = KINDS[name](count + more)
    build_cpu_s = _cpu_s(lambda: index.add(kept, 0))
    memory_mib = _memory_mib() - before
    query_s, found = zip(*(_timed(index, query) for query in queries), strict=True)
    truth = [np.argsort(-(kept @ query), kind="stable")[:NEAREST] for query in queries]
    hits = [len(np.intersect1d(one, other)) for one, other in zip(found, truth, strict=True)]
    add_cpu_s = _cpu_s(lambda: index.add(new, count))
    return NeighbourFigures(
        name,
        count,
        build_cpu_s,
        memory_mib,
        1000 * statistics.median(query_s),
        sum(hits) / (NEAREST * len(hits)),
        add_cpu_s,
    )


def _timed(index: Index, query: Floats) -> tuple[float, Places]:
    started_s = time.perf_counter()
    found = index.find(query)
    return time.perf_counter() - started_s, found


def _cpu_s(work: Callable[[], Any]) -> float:
    started_s = time.process_time()
    work()
    return time.process_time() - started_s


def _memory_mib() -> float:
    return float(psutil.Process().memory_info().rss) / MIB


application = typer.Typer(help="Compare libraries that find nearest neighbours.")


@application.command()
def main(
    name: Annotated[str, typer.Argument(help=", ".join(KINDS))],
    count: Annotated[int, typer.Option(min=1000)] = 100_000,
) -> None:
    """Measure one library, or all."""
    if name not in KINDS:
        raise typer.BadParameter(f"there is no “{name}”; expected one of {', '.join(KINDS)}")
    try:
        found = measure_neighbours(name, count)
    except ImportError:
        raise typer.BadParameter(
            f"{name} is not installed; install it beside the program to compare"
        ) from None
    typer.echo(
        f"{found.name}: {found.images:,} images, built in {found.build_cpu_s:.1f} s of CPU time, "
        f"{found.memory_mib:,.0f} MiB, {found.query_ms:.2f} ms a query, "
        f"{found.recall:.1%} of the {NEAREST} nearest found, another hundredth added in "
        f"{found.add_cpu_s:.2f} s"
    )


if __name__ == "__main__":
    application()
