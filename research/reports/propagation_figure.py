"""Figure 4 of the paper: accuracy against the weight of the propagated prototype."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import InputError
from research import paper
from research.reports import drawing
from research.reports.folder import write_lines, writing_into

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEM = "accuracy-against-propagation"

CSV_COLUMNS = ("variant", "setting", "ways", "shots", "propagation", "mean", "interval")

COLOURS = {"ppn+": drawing.VERMILION, "ppn": drawing.BLUE}
"""Colours by setting, in the order of the legend."""

_STYLES = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))
"""Marker and line by number of ways, fewest first."""


@dataclass(frozen=True)
class PropagationPoint:
    """Accuracy at one weight of the propagated prototype.

    Attributes:
        propagation: 1 - lambda (Eq. 6), in [0, 1].
        mean: mean accuracy over the tasks, in [0, 1].
        interval: half width of its 95 % interval.
    """

    propagation: float
    mean: float
    interval: float


@dataclass(frozen=True)
class PropagationCurve:
    """One line of the figure: N-way 1-shot tasks of one data set in one setting.

    Attributes:
        variant: `pure` or `mix`.
        setting: `ppn` or `ppn+`.
        ways: classes of a task.
        points: by rising propagation.
        data: name of the data set, for the panel's title; the variant where it is empty.
    """

    variant: str
    setting: str
    ways: int
    points: tuple[PropagationPoint, ...]
    data: str = ""
    shots: int = 1


def accuracy_against_propagation(
    curves: Sequence[PropagationCurve], out: Path
) -> tuple[Path, Path, Path]:
    """Draw a panel per variant: a line with 95 % band for each setting and number of ways.

    Paper: Figure 4, which shows 1 - lambda in 0..0.9 for N-way 1-shot.

    Args:
        curves: the lines; each has at least one point.
        out: folder for the files; created if missing.

    Returns:
        PNG, SVG and CSV; the CSV holds the numbers of the curves, unrounded.

    Raises:
        InputError: there is no curve, a curve is empty, or its setting is unknown.
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    _check(curves)
    variants = list(dict.fromkeys(curve.variant for curve in curves))
    ways = sorted({curve.ways for curve in curves})
    styles = {count: _STYLES[place % len(_STYLES)] for place, count in enumerate(ways)}
    numbers = out / f"{STEM}.csv"
    with drawing.styled(), writing_into(out):
        figure = drawing.new_figure(4.2 * len(variants) + 0.6, 4.2)
        panels = figure.subplots(1, len(variants), sharey=True, squeeze=False)[0]
        for panel, variant in zip(panels, variants, strict=True):
            _draw_panel(panel, [curve for curve in curves if curve.variant == variant], styles)
        panels[0].set_ylabel("accuracy (%)")
        _draw_legend(figure, panels)
        pixels, vectors = drawing.save(figure, out / STEM)
        write_lines(numbers, _as_csv(curves))
    return pixels, vectors, numbers


def _check(curves: Sequence[PropagationCurve]) -> None:
    if not curves:
        raise InputError(
            "there is no curve to draw", remedy="test PPN or PPN+ at several weights first"
        )
    for curve in curves:
        if curve.setting not in COLOURS:
            raise InputError(
                "a curve has an unknown setting", expected=" or ".join(COLOURS), found=curve.setting
            )
        if not curve.points:
            raise InputError(
                f"a curve of {curve.setting} has no points",
                remedy="test it at several weights first",
            )


def _draw_panel(
    panel: "Axes", curves: Sequence[PropagationCurve], styles: dict[int, tuple[str, str]]
) -> None:
    """Draw one data set: lines from the most to the least propagation, so that PPN+ comes first."""
    settings = list(COLOURS)
    for curve in sorted(curves, key=lambda curve: (settings.index(curve.setting), curve.ways)):
        colour, (marker, line) = COLOURS[curve.setting], styles[curve.ways]
        weights = [point.propagation for point in curve.points]
        low = [100 * (point.mean - point.interval) for point in curve.points]
        high = [100 * (point.mean + point.interval) for point in curve.points]
        panel.fill_between(weights, low, high, color=colour, alpha=0.15, linewidth=0)
        label = f"{paper.title_of(curve.setting)}, {curve.ways}-way {curve.shots}-shot"
        means = [100 * point.mean for point in curve.points]
        panel.plot(
            weights,
            means,
            color=colour,
            marker=marker,
            linestyle=line,
            linewidth=1.8,
            markersize=5,
            label=label,
        )
    panel.set_title(curves[0].data or curves[0].variant)
    panel.set_xlabel("weight of the propagated prototype, 1 \N{MINUS SIGN} λ")
    panel.grid(visible=False, axis="x")


def _draw_legend(figure: "Figure", panels: Sequence["Axes"]) -> None:
    """One legend below all panels, with each kind of line once."""
    named: dict[str, Artist] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        named.update(zip(labels, handles, strict=True))
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=min(2 * len(panels), len(named)),
    )


def _as_csv(curves: Sequence[PropagationCurve]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for curve in curves:
        known = (curve.variant, curve.setting, curve.ways, curve.shots)
        writer.writerows(
            (*known, point.propagation, point.mean, point.interval) for point in curve.points
        )
    return text.getvalue()
