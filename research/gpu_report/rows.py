"""Rows of the report, and the tables that they make."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.new_file import ORDINARY_FILE, write_file

JSON_FILE = "gpu.json"
MARKDOWN_FILE = "gpu.md"
_SMALL = 10
"""Figures below it are shown with three digits, others without decimals."""

Detail = float | int | str | bool | None


@dataclass(frozen=True)
class ReportRow:
    """One row of the table."""

    name: str  # of the measurement
    value: float | str | None = None  # None: not measured
    unit: str = ""  # of the value
    details: Mapping[str, Detail] = field(default_factory=dict)  # further figures by name
    reason: str = ""  # why it was not measured
    part: str = ""  # of the report


class NotMeasuredError(Exception):
    """Something cannot be measured here; the message is the reason."""


def row_of(facts: Mapping[str, Any]) -> ReportRow:
    """A row from its JSON."""
    return ReportRow(
        name=facts["name"],
        value=facts["value"],
        unit=facts["unit"],
        details=facts["details"],
        reason=facts["reason"],
        part=facts["part"],
    )


def as_json(row: ReportRow) -> str:
    """A row on one line."""
    return json.dumps(asdict(row) | {"details": dict(row.details)}, ensure_ascii=False)


def markdown(rows: Sequence[ReportRow]) -> str:
    """The table of all rows."""
    lines = ["| part | what | figure | details |", "|---|---|---:|---|"]
    for row in rows:
        details = row.reason and f"not measured: {row.reason}"
        details = details or "; ".join(
            f"{name} {shown(value)}" for name, value in row.details.items()
        )
        figure = "" if row.value is None else f"{shown(row.value)} {row.unit}".strip()
        cells = (row.part, row.name, figure, details)
        lines.append(
            "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |"
        )
    return "\n".join(lines) + "\n"


def shown(value: Detail) -> str:
    """A figure as text."""
    if value is None or isinstance(value, bool | str):
        return (
            {True: "yes", False: "no", None: "unknown"}.get(value, "")
            if not isinstance(value, str)
            else value
        )
    if isinstance(value, int) or abs(value) >= _SMALL:
        return f"{value:,.0f}"
    return f"{value:.5f}" if 0.9 < value < 1 else f"{value:.3g}"  # noqa: PLR2004 (cosines and shares differ late)


def write_tables(rows: Sequence[ReportRow], folder: Path, notes: Mapping[str, Detail]) -> None:
    """Write `gpu.json` and `gpu.md`, each atomically."""
    facts = {"notes": dict(notes), "rows": [json.loads(as_json(row)) for row in rows]}
    write_file(
        folder / JSON_FILE,
        json.dumps(facts, indent=1, ensure_ascii=False) + "\n",
        mode=ORDINARY_FILE,
    )
    heading = "; ".join(f"{name} {shown(value)}" for name, value in notes.items())
    write_file(folder / MARKDOWN_FILE, f"{heading}\n\n{markdown(rows)}", mode=ORDINARY_FILE)
