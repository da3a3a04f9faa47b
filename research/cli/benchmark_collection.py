"""`protoleaf benchmark collection` and `many-classes`: the cost of one more label."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.cli.output import print_result, progress_bar
from research.cli.verdicts import say_verdicts


def collection(
    images: Annotated[int, typer.Option(min=1000)] = 100_000,
    classes: Annotated[int, typer.Option(min=10)] = 200,
) -> None:
    """Time one label more with the collection stage and without, and the wait of other threads.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.beside_a_fit import measure_beside_a_fit
    from research.benchmarks.collection_stage import measure_collection_stage

    with progress_bar("Fitting") as on_progress:
        figures = measure_collection_stage(images, classes, on_progress=on_progress)
        beside = measure_beside_a_fit(images, on_progress=on_progress)
    say_verdicts(
        f"{images:,} embeddings of width {figures.width} x {classes} classes, and an open "
        "project of as many images, "
        "its fits on a thread of their own",
        (*figures.rows, *beside.rows),
        asdict(figures),
    )


def many_classes(
    classes: Annotated[int, typer.Option(min=10)] = 5_000,
    labels: Annotated[int, typer.Option(min=10)] = 5_000,
    parents: Annotated[int, typer.Option(min=2, help="Of one of the classes.")] = 200,
    images: Annotated[
        int, typer.Option(min=1000, help="Of the collection, labelled ones included.")
    ] = 10_000,
) -> None:
    """Time and memory of one label more with thousands of classes; effect of many parents."""
    from research.benchmarks.many_classes import Size, measure_many_classes

    beside = measure_many_classes(Size(classes, labels, parents, images))
    many, one = beside.many, beside.one
    print_result(
        f"{classes:,} classes x {labels:,} labels, {images:,} images, one class of {parents:,} "
        "parents\n"
        f"one label more       {many.label_s:7.2f} s   (limit {many.limit_s:g}; "
        f"{beside.time_ratio:.2f} times the {one.label_s:.2f} s without that class)\n"
        f"  fitting            {many.fit_s:7.2f} s\n"
        f"  classifying all    {many.pass_s:7.2f} s\n"
        f"memory at most       {many.peak_bytes / 1e6:7,.0f} MB  (limit "
        f"{many.limit_bytes / 1e6:,.0f}; "
        f"{beside.memory_ratio:.2f} times the {one.peak_bytes / 1e6:,.0f} MB without that class)",
        beside.fields(),
    )


def register(application: typer.Typer) -> None:
    """Add these commands."""
    application.command("collection")(collection)
    application.command("many-classes")(many_classes)
