"""A part of the report: a sequence of measurements, one row each, within a time limit."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from engine.runtime.sessions import one_line
from research.gpu_report.rows import NotMeasuredError, ReportRow
from research.gpu_report.sizes import Sizes


@dataclass(frozen=True)
class Measurement:
    """A measurement of one row."""

    name: str
    run: Callable[[], ReportRow]  # an exception becomes the reason in the row


SHARES: Mapping[str, float] = {
    "machine": 0.12,
    "embedding": 0.36,
    "precision": 0.22,
    "training": 0.18,
    "classification": 0.12,
}
"""Parts in order, with shares of the time; time left over goes to the next ones."""

OUT_OF_TIME = "the time of this part was over"


def measurements_of(part: str, sizes: Sizes) -> Sequence[Measurement]:
    """Measurements of a part; its module is imported on demand."""
    module = import_module(f"research.gpu_report.{part}")
    found: Sequence[Measurement] = module.measurements(sizes)
    return found


def measure(
    part: str, planned: Sequence[Measurement], seconds: float, on_row: Callable[[ReportRow], None]
) -> None:
    """Run the measurements of a part; a failed or late one is a row with its reason."""
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
