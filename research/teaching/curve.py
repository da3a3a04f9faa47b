"""Accuracy against labels, a line for each method."""

from pathlib import Path
from typing import TYPE_CHECKING

from research.reports import drawing
from research.reports.folder import writing_into
from research.teaching.methods import METHODS, OURS, RANDOM
from research.teaching.person import ROUNDS
from research.teaching.report import TeachReport
from research.teaching.results import TeachResult
from research.transfer.estimates import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEM = "accuracy-against-labels"

_PEERS = (
    ("#0072b2", "o"),
    ("#56b4e9", "s"),
    ("#009e73", "^"),
    ("#e69f00", "D"),
    ("#cc79a7", "v"),
    ("#8a8a8a", "P"),
    ("#7f6000", "X"),
)
"""Colours of Okabe and Ito and two greys, each with a marker, distinguishable in grey too."""


def accuracy_against_labels(report: TeachReport, out: Path) -> tuple[Path, Path]:
    """Draw accuracy by labels a class, with the band of its 95 % interval.

    Args:
        report: of any methods.
        out: folder for the files; created if missing.

    Returns:
        PNG and SVG.

    Raises:
        UsageError: a library is missing.
        StorageError: the folder cannot be written.
    """
    drawing.check_libraries()
    with drawing.styled(), writing_into(out):
        figure = drawing.new_figure(6.4, 4.8)
        panel = figure.subplots()
        peers = iter(_PEERS * len(report.results))
        for result in report.results:
            _draw(
                panel,
                result,
                peers_style=None if result.cell.method in {OURS, RANDOM} else next(peers),
            )
        panel.set_title(f"{report.collection}: {report.classes} classes, {report.images:,} images")
        panel.set_xlabel("labels, as multiples of the number of classes")
        panel.set_ylabel("images whose leaf is right, labelled ones counted (%)")
        panel.set_xticks([1, 2, 3, 4, 5])
        panel.legend(loc="lower right")
        return drawing.save(figure, out / STEM)


def _draw(panel: "Axes", result: TeachResult, *, peers_style: tuple[str, str] | None) -> None:
    found = [estimate(result.values("named", each)) for each in ROUNDS]
    means = [100 * each.mean for each in found]
    method = result.cell.method
    colour, marker = peers_style or ((drawing.VERMILION if method == OURS else drawing.INK), "")
    panel.plot(
        ROUNDS,
        means,
        color=colour,
        marker=marker,
        markersize=4,
        label=METHODS[method].title,
        linewidth=2.6 if method == OURS else 1.3,
        linestyle="--" if method == RANDOM else "-",
        zorder=3 if method == OURS else 2,
    )
    if method in {OURS, RANDOM} and len(result.draws) > 1:
        low = [mean - 100 * each.half_width for mean, each in zip(means, found, strict=True)]
        high = [mean + 100 * each.half_width for mean, each in zip(means, found, strict=True)]
        panel.fill_between(ROUNDS, low, high, color=colour, alpha=0.15, linewidth=0)
