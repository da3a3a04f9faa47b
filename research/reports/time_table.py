"""Seconds per iteration of each model beside the paper's, and relative to Prototypical Net."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.errors import InputError
from research import paper
from research.paper import PublishedTime
from research.reports.text_table import MISSING, TextTable


@dataclass(frozen=True)
class MeasuredTime:
    """Seconds per iteration of one row of the table.

    Attributes:
        row: identifier of the model, such as `ppn+`.
        training_s: seconds of one training iteration; None where it is not measured.
        test_s: seconds of one test task; None where it is not measured.
    """

    row: str
    training_s: float | None
    test_s: float | None


def time_table(rows: Sequence[MeasuredTime]) -> TextTable:
    """Our seconds beside the paper's Table 4; machines differ, so ratios are to be compared.

    Args:
        rows: our times, each row once.

    Returns:
        The paper's models in the order of its tables, then others; "-" where something is missing.
        Call `as_text` or `as_markdown` of it.

    Raises:
        InputError: duplicate row, or a time is not above 0.
    """
    measured = {row.row: row for row in rows}
    if len(measured) < len(rows):
        raise InputError("a row has two times", remedy="keep one of them")
    wrong = [
        row.row
        for row in rows
        for seconds in (row.training_s, row.test_s)
        if seconds is not None and seconds <= 0
    ]
    if wrong:
        raise InputError(f"a time of '{wrong[0]}' is not above 0", remedy="measure it again")
    order = [row for row in paper.TITLES if row in paper.TIMES or row in measured]
    order += [row.row for row in rows if row.row not in paper.TITLES]
    return TextTable(_header(), tuple(_cells(row, measured) for row in order))


def _header() -> tuple[str, ...]:
    columns = [(f"{phase} s", "ratio", "paper s", "ratio") for phase in ("training", "test")]
    return ("Model", *(name for phase in columns for name in phase))


def _cells(row: str, measured: Mapping[str, MeasuredTime]) -> tuple[str, ...]:
    ours = zip(_seconds(measured.get(row)), _seconds(measured.get(paper.PEER)), strict=True)
    theirs = zip(_seconds(paper.TIMES.get(row)), _seconds(paper.TIMES[paper.PEER]), strict=True)
    phases = [(*_pair(*our), *_pair(*their)) for our, their in zip(ours, theirs, strict=True)]
    return (paper.title_of(row), *(cell for phase in phases for cell in phase))


def _seconds(time: MeasuredTime | PublishedTime | None) -> tuple[float | None, float | None]:
    return (None, None) if time is None else (time.training_s, time.test_s)


def _pair(seconds: float | None, peer: float | None) -> tuple[str, str]:
    """Seconds and their ratio to the peer's, as texts."""
    if seconds is None:
        return MISSING, MISSING
    return f"{seconds:.3g}", MISSING if peer is None else f"{seconds / peer:.2f}"
