"""Labels of coarse classes in a figure, as many as fit without overlap."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from research.reports.drawing import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

MOST_NAMES = 30
"""Limit of names; more would hide the dots."""

_OFFSET_POINTS = 8.0
_SIDES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
)
"""Positions of a name, best first: direction from the dot and alignment of the text."""


def name_coarse_classes(
    figure: "Figure",
    axes: "Axes",
    places: NDArray[np.float64],
    levels: NDArray[np.int64],
    names: Sequence[str],
) -> tuple[str, ...]:
    """Write names of coarse classes, coarsest first, each on the first free side.

    The layout is frozen afterwards: names measured in one layout may overlap in another.

    Args:
        figure: the figure, with all but names.
        axes: where the dots are.
        places: (C, 2) float64 in the axes' units.
        levels: (C,) int64; classes of the largest level get no name.
        names: C names.

    Returns:
        The names that are written.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    dots = axes.transData.transform(places)
    coarse = np.flatnonzero(levels < levels.max())
    taken: list[Bbox] = []
    written: list[str] = []
    for position in coarse[np.argsort(levels[coarse], kind="stable")].tolist():
        box = _write(
            axes, places[position], names[position], taken, dots[coarse[coarse != position]]
        )
        if box is not None:
            taken.append(box)
            written.append(names[position])
        if len(written) == MOST_NAMES:
            break
    return tuple(written)


def _write(
    axes: "Axes",
    place: NDArray[np.float64],
    name: str,
    taken: Sequence["Bbox"],
    dots: NDArray[np.float64],
) -> "Bbox | None":
    """Write one name if there is room; return its box in pixels."""
    for text in _tries(axes, place, name):
        box = text.get_window_extent().padded(2)
        covers_dot = bool(np.any(np.all((dots > box.min) & (dots < box.max), axis=1)))
        if (
            not covers_dot
            and not box.count_overlaps(taken)
            and axes.bbox.contains(*box.min)
            and axes.bbox.contains(*box.max)
        ):
            return box
        text.remove()
    return None


def _tries(axes: "Axes", place: NDArray[np.float64], name: str) -> Iterator["Annotation"]:
    from matplotlib.patheffects import withStroke

    for right, up, horizontal, vertical in _SIDES:
        yield axes.annotate(
            name,
            (float(place[0]), float(place[1])),
            (right * _OFFSET_POINTS, up * _OFFSET_POINTS),
            textcoords="offset points",
            ha=horizontal,
            va=vertical,
            fontsize=8,
            color=INK,
            zorder=20,
            path_effects=[withStroke(linewidth=2.2, foreground="white")],
        )
