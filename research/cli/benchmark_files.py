"""`protoleaf benchmark files`: scan, add, back up, check, export, relink, by number of images."""

from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.output import print_result

if TYPE_CHECKING:
    from research.benchmarks.files import FilesFigures, FilesRun
    from research.benchmarks.files_steps import StepFigures

_HEAD = (
    f"{'':18}{'s':>8}{'cpu s':>8}{'images/s':>10}{'peak MiB':>10}   limit, its s and cpu "
    "s, cpu over that"
)


def files(
    images: Annotated[
        list[int] | None,
        typer.Option(min=10, help="Numbers of images; repeatable.", show_default="100000"),
    ] = None,
    *,
    only: Annotated[
        list[str] | None, typer.Option(help="Name of a step; repeatable.", show_default="all")
    ] = None,
) -> None:
    """Scan, add, back up, check, open, restore, export and relink images, each beside its limit.

    With several numbers the exit status is 1 where an image costs more in the largest collection
    than in the smallest.
    """
    from research.benchmarks.files import measure_files

    figures = measure_files(images or (100_000,), only=only or ())
    print_result(
        "\n\n".join([*map(_run_text, figures.runs), *_growth_text(figures)]),
        figures.fields(),
    )
    if not figures.are_kept:
        raise typer.Exit(1)


def _run_text(run: "FilesRun") -> str:
    head = f"{run.images:,} images, a project of {run.project_bytes / 1e6:,.1f} MB"
    return "\n".join([head, _HEAD, *(_line(step, run.images) for step in run.steps)])


def _line(step: "StepFigures", images: int) -> str:
    return (
        f"{step.name:18}{step.seconds:8.2f}{step.cpu_s:8.2f}"
        f"{images / step.seconds:10,.0f}{step.peak_mib:10,.0f}   "
        f"{step.limit}: {step.limit_s:.2f}, {step.limit_cpu_s:.2f}; {step.over_limit:.1f} x"
    )


def _growth_text(figures: "FilesFigures") -> list[str]:
    if len(figures.runs) == 1:
        return []
    lines = [
        f"{name:18}{value:8.2f} x{'' if figures.is_kept(name) else '   MISSED'}"
        for name, value in figures.growth.items()
    ]
    head = f"an image in the largest costs, beside the smallest (limit {figures.limit_growth:g})"
    return ["\n".join([head, *lines])]


def register(application: typer.Typer) -> None:
    """Add the command to `protoleaf benchmark`."""
    application.command("files")(files)
