"""A part of the report: measurements, each of one row, made one after another until the part's time is over."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final

from engine.runtime.sessions import one_line
from research.gpu_report.rows import NotMeasuredError, ReportRow
from research.gpu_report.sizes import Sizes


@dataclass(frozen=True)
class Measurement:
    """Something that gives one row of its name."""

    name: str
    run: Callable[[], ReportRow]  # may raise: the row then says why


SHARES: Final[Mapping[str, float]] = {
    "machine": 0.12,
    "embedding": 0.36,
    "precision": 0.22,
    "training": 0.18,
    "classification": 0.12,
}
"""Parts in their order, each with its share of the time; what one leaves over, the next ones have."""

OUT_OF_TIME: Final = "the time of this part was over"


def measurements_of(part: str, sizes: Sizes) -> Sequence[Measurement]:
    """What a part measures; its module loads only what it needs."""
    module = import_module(f"research.gpu_report.{part}")
    found: Sequence[Measurement] = module.measurements(sizes)
    return found


def measure(
    part: str, planned: Sequence[Measurement], seconds: float, on_row: Callable[[ReportRow], None]
) -> None:
    """Make a part's measurements; one that fails, or comes too late, is a row with its reason."""
    end_s = time.monotonic() + seconds
    for measurement in planned:
        row = (
            ReportRow(measurement.name, reason=OUT_OF_TIME)
            if time.monotonic() >= end_s
            else _measured(measurement)
        )
        on_row(replace(row, part=part))


def _measured(measurement: Measurement) -> ReportRow:
    started_s = time.monotonic()
    try:
        row = measurement.run()
    except NotMeasuredError as why:
        return ReportRow(measurement.name, reason=str(why))
    except Exception as error:  # noqa: BLE001 (whatever fails here is a row, and the others go on)
        return ReportRow(measurement.name, reason=f"{type(error).__name__}: {one_line(error)}")
    return replace(
        row, name=measurement.name, details={**row.details, "took, s": time.monotonic() - started_s}
    )
