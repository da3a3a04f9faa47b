"""`protoleaf benchmark similar`, `folds` and `sorting`: rank, group and sort large collections."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.cli.output import print_result


def similar(images: Annotated[int, typer.Option(min=1000)] = 100_000) -> None:
    """Rank a collection by similarity to an image, beside a numpy product and a copy in memory.

    The exit status is 1 when the limit is missed.
    """
    from research.benchmarks.similar import measure_similarity

    figures = measure_similarity(images)
    print_result(
        f"{figures.images:,} embeddings of width {figures.width}\n"
        f"cosines in the whitened space, and order   {1000 * figures.whitened_s:7.1f} ms "
        f"(limit {1000 * figures.limit_s:g})\n"
        f"plain cosines, and order                   {1000 * figures.plain_s:7.1f} ms\n"
        f"product of numpy alone, 32-bit floats      {1000 * figures.product_s:7.1f} ms\n"
        f"product of numpy alone, 16-bit floats      {1000 * figures.half_product_s:7.1f} ms\n"
        f"a copy of the embeddings, 16 bits each     {1000 * figures.copy_s:7.1f} ms",
        asdict(figures),
    )
    if not figures.is_kept:
        raise typer.Exit(1)


def folds(images: Annotated[int, typer.Option(min=1000)] = 100_000) -> None:
    """Find duplicates and sequences of ordinary and adversarial collections; exits 1 on a miss."""
    from research.benchmarks.folds import measure_folds

    figures = measure_folds(images)
    lines = [
        f"{each.name:36} {each.seconds:6.2f} s, {each.cpu_s:.2f} s of CPU time  "
        f"(limit {each.limit_s:g}{'' if each.is_kept else ', MISSED'})   "
        f"{each.folded_images:,} images in {each.folds:,} folds"
        for each in figures
    ]
    print_result(
        "\n".join((f"{images:,} images", *lines)),
        {"rows": [asdict(each) for each in figures]},
    )
    if not all(each.is_kept for each in figures):
        raise typer.Exit(1)


def sorting(
    count: Annotated[int, typer.Option("--names", min=100)] = 1_000_000,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
) -> None:
    """Sort names by the order of each language; exits 1 where natural order is faster."""
    from research.benchmarks.sorting import measure_sorting

    figures = measure_sorting(count, rounds)
    lines = [
        f"{each.names:26} {each.order:33} {each.seconds:6.2f} s"
        + (
            ""
            if each.limit_s is None
            else f"  (limit {each.limit_s:.2f}{'' if each.is_kept else ', MISSED'})"
        )
        for each in figures
    ]
    print_result(
        "\n".join((f"{count:,} names", *lines)),
        {"rows": [asdict(each) for each in figures]},
    )
    if not all(each.is_kept for each in figures):
        raise typer.Exit(1)


def register(application: typer.Typer) -> None:
    """Add these commands to `protoleaf benchmark`."""
    application.command("similar")(similar)
    application.command("folds")(folds)
    application.command("sorting")(sorting)
