"""Figure 1 of the paper: prototypes of all classes in 2D, with edges from child to parent."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.reports import drawing
from research.reports.class_names import name_coarse_classes
from research.reports.folder import write_lines, writing_into
from research.reports.nearness import Nearness, nearness

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEM = "prototypes-in-2d"

CSV_COLUMNS = ("class", "x", "y", "name", "level", "parents")
"""Names may be equal, so parents are identified by their number in the first column."""

PARENT_SEPARATOR = ";"
"""Separator of several parents in the CSV."""

PERPLEXITY = 10.0
"""Of t-SNE: about the number of neighbours considered.

Families of classes are small; 30, usual for thousands of points, crowds each branch of a graph of
some hundred classes into one spot.
"""

FEWEST_CLASSES = 4

_LARGEST_DOT = 150.0
_SMALLEST_DOT = 16.0


@dataclass(frozen=True)
class PrototypeFigure:
    """Output of the figure.

    Attributes:
        pixels: PNG.
        vectors: SVG.
        classes: CSV with one line for each class.
        facts: JSON with both measurements.
        places: (C, 2) float64, where each class was drawn; the unit is t-SNE's.
        in_figure: distances of children to parents in the figure.
        in_full_space: the same among the prototypes themselves.
    """

    pixels: Path
    vectors: Path
    classes: Path
    facts: Path
    places: NDArray[np.float64]
    in_figure: Nearness
    in_full_space: Nearness

    @property
    def sentence(self) -> str:
        """The measurements in words."""
        return (
            "mean distance from child to parent, as share of that of random pairs of the same "
            "levels: "
            f"{self.in_figure.ratio:.2f} in the figure, {self.in_full_space.ratio:.2f} in the "
            "full space"
        )


def prototypes_in_2d(
    vectors: NDArray[np.floating],
    edge_index: NDArray[np.int64],
    levels: NDArray[np.int64],
    names: Sequence[str],
    out: Path,
    *,
    seed: int = 0,
) -> PrototypeFigure:
    """Draw the category graph at t-SNE positions of its prototypes, coarse classes larger.

    Paper: Figure 1.

    Args:
        vectors: (C, d) prototypes, any unit; d is at least 2.
        edge_index: (2, E) int64, row 0 parent, row 1 child.
        levels: (C,) int64, smaller is coarser.
        names: C names of the classes.
        out: folder for the files; created if missing.
        seed: of t-SNE.

    Returns:
        The files, the places and how well they follow the graph.

    Raises:
        InputError: fewer than four classes, no edge, arrays of unequal length, or equal or infinite
            prototypes.
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    _check(vectors, levels, names)
    in_full_space = nearness(vectors, edge_index, levels)
    places = _in_two_dimensions(vectors, seed)
    in_figure = nearness(places, edge_index, levels)
    record = {
        "classes": len(names),
        "edges": int(edge_index.shape[1]),
        "seed": seed,
        "perplexity": _perplexity(len(names)),
        "figure": _facts(in_figure),
        "full_space": _facts(in_full_space),
    }
    classes, facts = out / f"{STEM}.csv", out / f"{STEM}.json"
    with drawing.styled(), writing_into(out):
        figure = drawing.new_figure(9.0, 7.6)
        axes = figure.subplots()
        _draw(axes, places, edge_index, levels)
        name_coarse_classes(figure, axes, places, levels, names)
        pixels, image = drawing.save(figure, out / STEM)
        write_lines(classes, _as_csv(places, edge_index, levels, names))
        write_lines(facts, json.dumps(record, indent=1) + "\n")
    return PrototypeFigure(
        pixels, image, classes, facts, places, in_figure=in_figure, in_full_space=in_full_space
    )


def _check(vectors: NDArray[np.floating], levels: NDArray[np.int64], names: Sequence[str]) -> None:
    if not len(vectors) == len(levels) == len(names):
        found = f"{len(vectors)} prototypes, {len(levels)} levels, {len(names)} names"
        raise InputError(
            "the figure needs all facts of each class", expected="equal numbers", found=found
        )
    if len(vectors) < FEWEST_CLASSES:
        raise InputError(
            "too few classes for a figure",
            expected=f"{FEWEST_CLASSES} or more",
            found=str(len(vectors)),
        )
    if not np.isfinite(vectors).all():
        raise InputError(
            "some prototypes are not finite",
            remedy="train the model again with a smaller learning rate",
        )


def _perplexity(classes: int) -> float:
    return min(PERPLEXITY, (classes - 1) / 3)


def _in_two_dimensions(vectors: NDArray[np.floating], seed: int) -> NDArray[np.float64]:
    """Positions (C, 2) by t-SNE, initialised by PCA and so nearly independent of the seed."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    tsne = TSNE(n_components=2, perplexity=_perplexity(len(vectors)), init="pca", random_state=seed)
    with threadpool_limits(1):  # sums in one order: the same positions on any number of cores
        return np.asarray(
            tsne.fit_transform(np.asarray(vectors, dtype=np.float64)), dtype=np.float64
        )


def _draw(
    axes: "Axes",
    places: NDArray[np.float64],
    edge_index: NDArray[np.int64],
    levels: NDArray[np.int64],
) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    lines = LineCollection(
        [places[edge] for edge in edge_index.T],
        colors="#9a9a9a",
        linewidths=0.5,
        alpha=0.6,
        zorder=1,
    )
    axes.add_collection(lines)
    known = np.unique(levels)
    for rank, level in enumerate(known[::-1]):  # finest first: the few coarse classes stay on top
        coarseness = rank / max(1, len(known) - 1)
        at_level = places[levels == level]
        axes.scatter(
            at_level[:, 0],
            at_level[:, 1],
            s=_SMALLEST_DOT + (_LARGEST_DOT - _SMALLEST_DOT) * coarseness**2,
            # Its last shades are too light on white.
            color=colormaps["viridis"](0.85 * (1 - coarseness)),
            edgecolors="white",
            linewidths=0.6,
            zorder=2 + rank,
            label=f"level {level}: {len(at_level)}",
        )
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.set_axis_off()  # t-SNE's units mean nothing
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1], labels[::-1], title="classes", loc="upper left", bbox_to_anchor=(1, 1)
    )


def _as_csv(
    places: NDArray[np.float64],
    edge_index: NDArray[np.int64],
    levels: NDArray[np.int64],
    names: Sequence[str],
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for position, (x, y) in enumerate(places.tolist()):
        parents = PARENT_SEPARATOR.join(map(str, edge_index[0, edge_index[1] == position].tolist()))
        writer.writerow((position, x, y, names[position], int(levels[position]), parents))
    return text.getvalue()


def _facts(measured: Nearness) -> dict[str, Any]:
    return {
        "child_to_parent": measured.child_to_parent,
        "random_pairs": measured.random_pairs,
        "ratio": measured.ratio,
        "spread_by_level": {str(level): distance for level, distance in measured.spread.items()},
    }
