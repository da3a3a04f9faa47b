"""`python -m research.gpu_report --out FOLDER`: measure what a GPU gains, as a table."""

from pathlib import Path
from typing import Annotated

import typer

from engine.config import settle
from research.gpu_report.part import SHARES
from research.gpu_report.run import make_report, run_part


def main(
    *,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the report.")] = Path(
        "build/gpu"
    ),
    minutes: Annotated[float, typer.Option(min=0.01, help="For all parts together.")] = 8.0,
    vendored: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder of converted backbones, by default that of the user."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(SHARES)}; may be repeated.")
    ] = None,
    few: Annotated[
        bool, typer.Option("--few", help="Measure next to nothing, to see that all works.")
    ] = False,
    part: Annotated[str, typer.Option(hidden=True)] = "",
    seconds: Annotated[float, typer.Option(hidden=True)] = 60.0,
    rows: Annotated[Path, typer.Option(hidden=True)] = Path("rows.jsonl"),
) -> None:
    """Measure embedding, mixed precision, training and classification on GPU and CPU."""
    settle()
    for name in (*(only or ()), *([part] if part else [])):
        if name not in SHARES:
            raise typer.BadParameter(f"{name} is none of {', '.join(SHARES)}")
    if part:
        run_part(part, seconds, rows, few=few)
    else:
        make_report(out, minutes=minutes, vendored=vendored, few=few, parts=tuple(only or SHARES))


if __name__ == "__main__":
    typer.run(main)
