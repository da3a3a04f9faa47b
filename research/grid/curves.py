"""Learning curves: accuracy on validation tasks and loss by processor time, for each method."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.grid.result import GridResult
from research.grid.table import TITLES
from research.reports import drawing
from research.reports.folder import writing_into

STEM = "training-curves"
LOOKS: Mapping[str, tuple[str, str]] = {
    "prototypical-net": ("#8a8a8a", "-"),
    "prototypical-net-star": ("#222222", "-"),
    "prototypical-net-heads": ("#8a8a8a", "--"),
    "prototypical-net-star-heads": ("#222222", "--"),
    "ppn": (drawing.VERMILION, "-"),
    "ppn-guessed": (drawing.BLUE, "-"),
}
"""Colour and line of each method."""


def draw_curves(results: Sequence[GridResult], out: Path) -> tuple[Path, Path]:
    """Draw accuracy above loss for each variant and number of shots; PNG and SVG.

    A line is the mean over splits and seeds whose time is known. Losses of different methods are
    not comparable.

    Raises:
        InputError: there is no result.
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    results = [result for result in results if result.cpu_s is not None]
    if not results:
        raise InputError("there is no curve to draw", remedy="train cells of the grid first")
    kinds = sorted(
        {(result.variant, result.shots) for result in results},
        key=lambda kind: (kind[0] != "pure", kind),
    )
    with drawing.styled(), writing_into(out):
        figure = drawing.new_figure(4.0 * len(kinds) + 0.6, 5.6)
        panels = figure.subplots(2, len(kinds), sharex="col", squeeze=False)
        for place, (variant, shots) in enumerate(kinds):
            upper, lower = panels[0][place], panels[1][place]
            for method, (colour, line) in LOOKS.items():
                own = [
                    each
                    for each in results
                    if (each.variant, each.shots, each.method) == (variant, shots, method)
                ]
                if own:
                    seconds, losses, accuracies = mean_curve(own)
                    look = {
                        "color": colour,
                        "linestyle": line,
                        "linewidth": 1.6,
                        "label": TITLES[method],
                    }
                    upper.plot(seconds, 100 * accuracies, **look)
                    lower.plot(seconds, losses, **look)
            upper.set_title(
                f"{variant.capitalize()}, trained for {shots} shot{'s' if shots > 1 else ''}"
            )
            lower.set_xlabel("seconds of processor time")
        panels[0][0].set_ylabel("validation accuracy (%)")
        panels[1][0].set_ylabel("loss")
        legends = [panel.get_legend_handles_labels() for panel in panels[0]]
        named = {label: handle for pair in legends for handle, label in zip(*pair, strict=True)}
        figure.legend(
            list(named.values()), list(named), loc="outside lower center", ncols=min(3, len(kinds))
        )
        return drawing.save(figure, out / STEM)


def mean_curve(
    results: Sequence[GridResult],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Seconds, losses and accuracies (p,): mean over trainings of a method at common points."""
    count = min(len(result.curve) for result in results)
    at, losses, accuracies = (
        # None is NaN.
        np.array(
            [[point[field] for point in each.curve[:count]] for each in results], dtype=np.float64
        )
        for field in range(3)
    )
    seconds = at * np.array([[(result.cpu_s or 0.0) / result.curve[-1][0]] for result in results])
    return seconds.mean(axis=0), losses.mean(axis=0), accuracies.mean(axis=0)
