"""Gains of trainings, as a table: one row for each backbone and number of shots."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from research.reports.text_table import MISSING, TextTable
from research.training_gain.results import TrainingGain

HEADER = (
    "backbone, shots",
    "everyday before",
    "after",
    "prototypes before",
    "after",
    "safe class right before",
    "after",
    "calibration error before",
    "after",
    "minutes told",
    "taken",
    "speed after / before",
)
_SHARES = ("everyday", "prototypes", "everyday_safe_accuracy")
_CALIBRATION = "everyday_calibration_error"

Figures = Mapping[str, float | None]


def gain_table(gains: Sequence[TrainingGain]) -> TextTable:
    """Means over draws; accuracies in percent, the second with the 95 % half-width of its gain."""
    rows = []
    for backbone, shots in dict.fromkeys((gain.cell.backbone, gain.cell.shots) for gain in gains):
        draws = [
            gain.figures
            for gain in gains
            if (gain.cell.backbone, gain.cell.shots) == (backbone, shots)
        ]
        cells = [f"{backbone}, {shots}"]
        for name in _SHARES:
            cells += [_mean(draws, f"before_{name}", 100, ".1f"), _after(draws, name)]
        cells += [_mean(draws, f"{when}_{_CALIBRATION}", 1, ".3f") for when in ("before", "after")]
        cells += [
            _mean(draws, "told_minutes", 1, ".1f"),
            _mean(draws, "minutes", 1, ".1f"),
            _speed(draws),
        ]
        rows.append(tuple(cells))
    return TextTable(HEADER, tuple(rows))


def as_fields(gains: Sequence[TrainingGain]) -> dict[str, object]:
    """All figures, as plain data."""
    return {"trainings": [asdict(gain) for gain in gains]}


def _known(draws: Sequence[Figures], name: str) -> list[float]:
    return [
        value for draw in draws if (value := draw.get(name)) is not None and not math.isnan(value)
    ]


def _mean(draws: Sequence[Figures], name: str, factor: float, form: str) -> str:
    values = _known(draws, name)
    return format(factor * statistics.fmean(values), form) if values else MISSING


def _after(draws: Sequence[Figures], name: str) -> str:
    text = _mean(draws, f"after_{name}", 100, ".1f")
    gains = [
        after - before
        for draw in draws
        if (after := draw.get(f"after_{name}")) is not None
        and (before := draw.get(f"before_{name}")) is not None
    ]
    if len(gains) < 2:  # noqa: PLR2004 (one draw has no spread)
        return text
    half_width = 1.96 * statistics.stdev(gains) / math.sqrt(len(gains))
    return f"{text} ±{100 * half_width:.1f}"


def _speed(draws: Sequence[Figures]) -> str:
    before, after = (_known(draws, f"images_per_s_{when}") for when in ("before", "after"))
    return (
        f"{statistics.fmean(after) / statistics.fmean(before):.2f}" if before and after else MISSING
    )
