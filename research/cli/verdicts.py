"""Output of the verdicts of a benchmark."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from engine.cli.output import print_result

if TYPE_CHECKING:
    from research.reference import JudgedFigure


def say_verdicts(
    head: str,
    rows: Sequence["JudgedFigure"],
    fields: Mapping[str, Any],
    *,
    missed: Sequence[str] = (),
) -> None:
    """Print each figure beside its reference; the exit status is 1 when one is missed.

    Args:
        head: lines above them.
        rows: the figures.
        fields: further fields of the JSON output.
        missed: names of further misses.
    """
    every = [*missed, *(row.name for row in rows if not row.is_kept)]
    lines = [head, *(row.line for row in rows), *([f"missed: {', '.join(every)}"] if every else [])]
    print_result(
        "\n".join(lines),
        {**fields, "rows": [row.fields() for row in rows], "missed": every},
    )
    if every:
        raise typer.Exit(1)
