"""Result of an instrument: one row of the table, with a line for each fault."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

FaultKind = Literal["lost", "traceback", "hang", "wrong", "stray", "other"]

COLUMNS = (
    "instrument",
    "trials",
    "acknowledged actions",
    "lost",
    "tracebacks",
    "hangs",
    "wrong in silence",
    "other faults",
    "left files behind",
    "peak memory",
)
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Fault:
    """A broken guarantee in one trial.

    Attributes:
        kind: lost (an acknowledged action), traceback (other than our errors), hang, wrong (content
            that differs silently), stray (files left behind), other (named in the text).
        text: one line about action and result.
        count: of lost actions.
    """

    kind: FaultKind
    text: str
    count: int = 1


@dataclass(frozen=True)
class Trial:
    """Result of one trial.

    Attributes:
        acknowledged: actions reported as done.
        faults: (); none if every guarantee was kept.
        peak_bytes: peak memory of any process of the trial.
    """

    acknowledged: int = 0
    faults: tuple[Fault, ...] = ()
    peak_bytes: int = 0


@dataclass(frozen=True)
class Outcome:
    """A row of the table: the results of all trials of an instrument."""

    instrument: str
    trials: int = 0
    acknowledged: int = 0
    faults: tuple[Fault, ...] = ()
    peak_bytes: int = 0

    def count(self, kind: FaultKind) -> int:
        """Number of faults of a kind."""
        return sum(fault.count for fault in self.faults if fault.kind == kind)

    @property
    def broken(self) -> tuple[Fault, ...]:
        """Faults that break a guarantee; files left behind do not."""
        return tuple(fault for fault in self.faults if fault.kind != "stray")

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of `COLUMNS`."""
        counts = (
            self.count("lost"),
            self.count("traceback"),
            self.count("hang"),
            self.count("wrong"),
        )
        return (
            self.instrument,
            f"{self.trials:,}",
            f"{self.acknowledged:,}",
            *(f"{count:,}" for count in counts),
            f"{self.count('other'):,}",
            f"{self.count('stray'):,}",
            f"{self.peak_bytes / _MEGABYTE:,.0f} MB",
        )


def outcome(instrument: str, trials: Iterable[Trial]) -> Outcome:
    """Sum trials to a row."""
    return reduce(_with_trial, trials, Outcome(instrument))


def _with_trial(row: Outcome, trial: Trial) -> Outcome:
    return Outcome(
        row.instrument,
        row.trials + 1,
        row.acknowledged + trial.acknowledged,
        row.faults + trial.faults,
        max(row.peak_bytes, trial.peak_bytes),
    )


def total(rows: Sequence[Outcome]) -> Outcome:
    """Sum rows."""
    return Outcome(
        "all",
        sum(row.trials for row in rows),
        sum(row.acknowledged for row in rows),
        tuple(fault for row in rows for fault in row.faults),
        max((row.peak_bytes for row in rows), default=0),
    )


def table(rows: Sequence[Outcome]) -> str:
    """Rows and their sum as a Markdown table."""
    lines = [COLUMNS, *(row.cells for row in (*rows, total(rows)))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    texts = ["| " + " | ".join(_aligned(line, widths)) + " |" for line in lines]
    rule = (
        "|"
        + "|".join(
            "-" * (width + 1) + ("-" if place == 0 else ":") for place, width in enumerate(widths)
        )
        + "|"
    )
    return "\n".join((texts[0], rule, *texts[1:]))


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
