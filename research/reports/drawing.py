"""Style and output of figures, by Matplotlib objects without pyplot."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from engine.new_file import output_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIBRARIES = ("matplotlib", "sklearn")
DOTS_PER_INCH = 200
PIXEL_SUFFIX = ".png"
VECTOR_SUFFIX = ".svg"

BLUE = "#0072b2"
VERMILION = "#d55e00"
"""Two colours of Okabe and Ito, distinguishable with all kinds of colour vision and in grey."""

INK = "#222222"
FAINT = "#8a8a8a"

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters on every machine
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is no formula
    "svg.hashsalt": "protoleaf",  # identifiers inside the file: deterministic
    "path.simplify": False,
}


def check_libraries() -> None:
    """Check that the libraries for figures are installed.

    Raises:
        UsageError: a library is missing.
    """
    missing = [library for library in LIBRARIES if importlib.util.find_spec(library) is None]
    if missing:
        raise UsageError(
            f"figures need {' and '.join(missing)}",
            remedy="install the experiments' libraries: protoleaf[experiments]",
        )


def styled() -> Any:
    """Style of all figures, as a context around making and writing one."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE)


def new_figure(width_inches: float, height_inches: float) -> "Figure":
    """An empty figure with automatic layout, drawn in memory.

    Args:
        width_inches: width.
        height_inches: height.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(width_inches, height_inches),
        dpi=DOTS_PER_INCH,
        layout="constrained",
        facecolor="white",
    )
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", stem: Path) -> tuple[Path, Path]:
    """Write a figure as PNG and SVG, deterministically.

    Args:
        figure: made inside `styled`; call within the same context.
        stem: path without suffix; its folder exists.

    Returns:
        The PNG file and the SVG file.
    """
    pixels, vectors = (
        stem.with_name(stem.name + suffix) for suffix in (PIXEL_SUFFIX, VECTOR_SUFFIX)
    )
    with output_file(pixels) as file:
        figure.savefig(file, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    with output_file(vectors) as file:
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return pixels, vectors
