"""`protoleaf benchmark NAME`: the project's own figures, each beside its physical limit or a peer."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import AsJson, say

application = typer.Typer(help="Measure the program, each figure beside its limit.")


@application.command("reclassify")
def reclassify(
    images: Annotated[int, typer.Option(min=1000)] = 100_000,
    classes: Annotated[int, typer.Option(min=10)] = 200,
    as_json: AsJson = False,
) -> None:
    """Classify a whole collection, and again after one new shot, beside one matrix product."""
    from engine.workflows.benchmarks.reclassify import measure_reclassify

    figures = measure_reclassify(images, classes)
    say(
        f"{images:,} embeddings of width {figures.width} x {classes} classes\n"
        f"one matrix product  {figures.product_s * 1e3:8.1f} ms\n"
        f"classify all        {figures.full_s * 1e3:8.1f} ms   {figures.full_ratio:.2f} x"
        f"   (limit {figures.limit_full})\n"
        f"one class changed   {figures.one_class_s * 1e3:8.1f} ms   {figures.one_class_ratio:.3f} x"
        f"  (limit {figures.limit_one_class}), {figures.one_class_of_full:.3f} x the full pass",
        asdict(figures),
        as_json=as_json,
    )


@application.command("embed")
def embed(
    paths: Annotated[list[Path] | None, typer.Argument(help="Images or folders; by default drawn ones.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Embed files end to end, beside decoding alone and the backbone alone."""
    from engine.workflows.benchmarks.embedding import measure_embed

    figures = measure_embed(paths or (), device=device)
    say(
        f"{figures.images:,} images on {figures.device}\n"
        f"decode alone     {figures.decode:8.0f} images/s\n"
        f"backbone alone   {figures.inference:8.0f} images/s\n"
        f"end to end       {figures.pipeline:8.0f} images/s   {figures.share_of_limit:.2f} of the smaller"
        f" (limit {figures.limit}), {figures.share_of_reachable:.2f} of what both together allow",
        asdict(figures),
        as_json=as_json,
    )


@application.command("startup")
def startup(
    images: Annotated[int, typer.Option(min=0)] = 100_000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    as_json: AsJson = False,
) -> None:
    """Process start to visible window with a large project, beside a bare Qt window; memory and scrolling."""
    from engine.workflows.benchmarks.startup import measure_startup

    figures = measure_startup(images, rounds=rounds)
    say(
        f"bare Qt window        {figures.bare_s:6.2f} s\n"
        f"empty project         {figures.empty_s:6.2f} s\n"
        f"{images:,} images     {figures.large_s:6.2f} s   {figures.large_over_bare:.1f} x bare"
        f" (limit {figures.limit_over_bare}), {figures.large_over_empty:.2f} x empty"
        f" (limit {figures.limit_over_empty})\n"
        f"all predictions shown {figures.loaded_s:6.2f} s\n"
        f"memory                {figures.memory_mib:6.0f} MiB (limit {figures.limit_memory_mib})\n"
        f"longest pause while scrolling {figures.scroll_pause_ms:.0f} ms (limit {figures.limit_scroll_ms})",
        asdict(figures),
        as_json=as_json,
    )
