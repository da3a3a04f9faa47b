"""Layouts of the map by several libraries on the same embeddings (decision 62).

    python -m research.map_peers points PROJECT.protoleaf OUT.npz --count 100000
    python -m research.map_peers lay OUT.npz NAME

Points are the embeddings of a project, whitened and reduced as the map does it; missing ones are
interpolated between an image and a near neighbour, with noise. Times are processor seconds, of all
threads together.
"""

import json
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from engine.config import CacheFolders
from engine.everyday.layout.neighbours import NeighbourIndex

NEIGHBOURS = 10  # of trustworthiness
LOOKED_AT = 2_000  # images whose neighbours are compared
NEW = 1_000  # points that are placed later
SEED = 0

Floats = NDArray[np.float32]
Layout = Callable[
    [Floats], tuple[NDArray[np.float64], Callable[[Floats], NDArray[np.float64]] | None]
]
"""Positions (n, 2) of vectors, and a function that places others without moving these.

The function is None where the library has none.
"""

application = typer.Typer(help="Compare libraries that lay out images in the plane.")


@dataclass(frozen=True)
class PeerFigures:
    """Results of a library."""

    name: str
    points: int
    import_cpu_s: float
    cpu_s: float
    peak_mb: float
    trustworthiness: float  # at 10 neighbours, of 1
    class_accuracy: float  # of images whose class is that of most map neighbours
    new_cpu_s: float  # for 1,000 points
    new_trustworthiness: float
    is_repeatable: bool | None  # the same seed gives the same positions; None where not tried


def trustworthiness(
    vectors: Floats, places: NDArray[np.float64], asked: NDArray[np.int64]
) -> float:
    """Trustworthiness at `NEIGHBOURS` of some rows: 1 where map neighbours are true neighbours.

    As in Venna and Kaski (2001), with the mean over the given rows.
    """
    count, penalty = len(vectors), 0.0
    for start in range(0, len(asked), 200):
        rows = asked[start : start + 200]
        ranks = _ranks_of(vectors, rows, _nearest(places, rows))
        penalty += float(np.maximum(ranks - NEIGHBOURS, 0).sum())
    worst = len(asked) * NEIGHBOURS * (2 * count - 3 * NEIGHBOURS - 1) / 2
    return 1 - penalty / worst


def _nearest(places: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    squares = ((places[rows, None, :] - places[None, :, :]) ** 2).sum(axis=2)
    squares[np.arange(len(rows)), rows] = np.inf
    return np.argpartition(squares, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def _ranks_of(
    vectors: Floats, rows: NDArray[np.int64], found: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Ranks (k, 10), from 1, of the found rows among the vectors by their distance."""
    squares = np.einsum("nd,nd->n", vectors, vectors) - 2 * vectors[rows] @ vectors.T
    squares[np.arange(len(rows)), rows] = np.inf
    own = np.take_along_axis(squares, found, axis=1)
    return np.stack(
        [(squares < own[:, [place]]).sum(axis=1) + 1 for place in range(found.shape[1])], axis=1
    )


def class_accuracy(
    places: NDArray[np.float64], classes: NDArray[np.int64], asked: NDArray[np.int64]
) -> float:
    """Share of images whose class is that of most of their 10 map neighbours."""
    hits = 0
    for start in range(0, len(asked), 200):
        rows = asked[start : start + 200]
        near = classes[_nearest(places, rows)]
        hits += sum(
            np.bincount(each).argmax() == classes[row] for each, row in zip(near, rows, strict=True)
        )
    return hits / len(asked)


# -- the libraries


def _tsne(vectors: Floats, *, settings: dict[str, Any]) -> tuple[NDArray[np.float64], Any]:
    from openTSNE import TSNE

    laid = TSNE(random_state=SEED, n_jobs=2, **settings).fit(vectors.astype(np.float64))
    return np.asarray(laid), lambda new: np.asarray(laid.transform(new.astype(np.float64)))


def _umap(vectors: Floats, *, with_neighbours: bool) -> tuple[NDArray[np.float64], Any]:
    from umap import UMAP

    known: dict[str, Any] = {}
    if with_neighbours:
        rows, squares = NeighbourIndex.of(vectors).search(vectors, 15)
        known = {"precomputed_knn": (rows.astype(np.int32), np.sqrt(squares), None)}
    reducer = UMAP(random_state=SEED, n_neighbors=15, init="pca", **known)
    laid = reducer.fit_transform(vectors)
    return laid.astype(np.float64), None if with_neighbours else reducer.transform


def _pacmap(vectors: Floats) -> tuple[NDArray[np.float64], Any]:
    from pacmap import PaCMAP

    reducer = PaCMAP(random_state=SEED, save_tree=True, apply_pca=False)
    laid = reducer.fit_transform(vectors, init="pca")
    return laid.astype(np.float64), lambda new: reducer.transform(new, basis=vectors)


def _pca(vectors: Floats) -> tuple[NDArray[np.float64], Any]:
    mean = vectors.mean(axis=0)
    _values, axes = np.linalg.eigh(np.cov(vectors - mean, rowvar=False))
    return (vectors - mean) @ axes[:, -2:], lambda new: (new - mean) @ axes[:, -2:]


def _ours(vectors: Floats) -> tuple[NDArray[np.float64], Any]:
    from engine.everyday.layout.plane import lay_out, place_among

    laid, index = lay_out(vectors, threads=2), NeighbourIndex.of(vectors)
    return laid.astype(np.float64), lambda new: place_among(index, laid, new).astype(np.float64)


LAYOUTS: dict[str, Layout] = {
    "pca": _pca,
    "opentsne": lambda vectors: _tsne(vectors, settings={}),
    "umap": lambda vectors: _umap(vectors, with_neighbours=False),
    "umap-neighbours": lambda vectors: _umap(vectors, with_neighbours=True),
    "pacmap": _pacmap,
    "protoleaf": _ours,
}
LIBRARIES = {
    "opentsne": "openTSNE",
    "umap": "umap",
    "umap-neighbours": "umap",
    "pacmap": "pacmap",
}


def _cpu_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


def measure(
    name: str, vectors: Floats, classes: NDArray[np.int64], *, is_repeated: bool = False
) -> PeerFigures:
    """Lay out all but the last `NEW` points, then place these."""
    start_s = _cpu_s()
    if name in LIBRARIES:
        __import__(LIBRARIES[name])
    import_s, start_s = _cpu_s() - start_s, _cpu_s()
    known = vectors[:-NEW]
    places, transform = LAYOUTS[name](known)
    spent_s, start_s = _cpu_s() - start_s, _cpu_s()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    asked = np.sort(np.random.default_rng(1).choice(len(known), LOOKED_AT, replace=False))
    trust, right = (
        trustworthiness(known, places, asked),
        class_accuracy(places, classes[:-NEW], asked),
    )
    new_s, new_trust, start_s = float("nan"), float("nan"), _cpu_s()
    if transform is not None:
        new = transform(vectors[-NEW:])
        new_s = _cpu_s() - start_s
        new_trust = trustworthiness(
            vectors, np.concatenate([places, new]), np.arange(len(known), len(vectors))
        )
    again = bool(np.array_equal(LAYOUTS[name](known)[0], places)) if is_repeated else None
    return PeerFigures(
        name, len(known), import_s, spent_s, peak, trust, right, new_s, new_trust, again
    )


@application.command()
def points(project: Path, out: Path, count: int = 100_000) -> None:
    """Write whitened, reduced embeddings of a project with classes, extended to `count` points."""
    from engine.collection.live import LiveCollection
    from engine.everyday.blocks import to_floats
    from engine.everyday.layout.space import map_space

    live = LiveCollection.open(project, CacheFolders.default(), for_writing=False)
    live.load(fits=False)
    rows = live.embedded.ready_rows
    vectors = map_space(to_floats(live.embedded.store.embeddings[rows])).apply(
        live.embedded.store.embeddings[rows]
    )
    classes = live.state.label_class[live.embedded.is_ready]
    generator = np.random.default_rng(SEED)
    missing = max(count - len(vectors), 0)
    near, squares = NeighbourIndex.of(vectors).search(vectors, 5, leaves_out_itself=True)
    chosen = generator.choice(len(vectors), missing, replace=missing > len(vectors))
    between = generator.random((missing, 1), dtype=np.float32) * 0.5
    other = near[chosen, generator.integers(0, 5, missing)]
    noise = generator.standard_normal((missing, vectors.shape[1])) * np.sqrt(
        np.median(squares[:, 0]) / vectors.shape[1]
    )
    made = (1 - between) * vectors[chosen] + between * vectors[other] + noise.astype(np.float32) / 2
    order = generator.permutation(len(vectors) + missing)[:count]
    both = np.concatenate([vectors, made]).astype(np.float32)[order]
    np.savez(out, vectors=both, classes=np.concatenate([classes, classes[chosen]])[order])
    typer.echo(
        f"{len(vectors):,} images, {missing:,} points between them, of width {both.shape[1]}"
    )


@application.command()
def lay(
    file: Path, name: Annotated[str, typer.Argument(help=", ".join(LAYOUTS))], repeat: bool = False
) -> None:
    """Measure one library."""
    given = np.load(file)
    start_s = time.monotonic()
    figures = measure(name, given["vectors"], given["classes"], is_repeated=repeat)
    typer.echo(json.dumps(asdict(figures) | {"wall_s": time.monotonic() - start_s}))


if __name__ == "__main__":
    application()
