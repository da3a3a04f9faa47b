"""`protoleaf benchmark collection` and `many-classes`: what one more label costs."""

from dataclasses import asdict
from typing import Annotated

import typer

from engine.cli.output import AsJson, say


def collection(
    images: Annotated[int, typer.Option(min=1000)] = 100_000,
    classes: Annotated[int, typer.Option(min=10)] = 200,
    as_json: AsJson = False,
) -> None:
    """Time one label more with the collection stage on, beside the same without it, and what others wait meanwhile."""
    from research.benchmarks.beside_a_fit import measure_beside_a_fit
    from research.benchmarks.collection_stage import measure_collection_stage

    figures, beside = measure_collection_stage(images, classes), measure_beside_a_fit(images)
    say(
        f"{images:,} embeddings of width {figures.width} x {classes} classes\n"
        f"whitening and neighbours, once    {figures.basis_s:6.2f} s\n"
        f"one label more                   {figures.label_s:6.2f} s   (limit {figures.limit_s})\n"
        f"  linking the image              {figures.anchor_s:6.2f} s\n"
        f"  fitting and checking           {figures.fit_s:6.2f} s\n"
        f"  classifying all                {figures.pass_s:6.2f} s\n"
        f"one label without the stage      {figures.without_s:6.2f} s\n"
        f"an open project of {beside.images:,} images, its fits on a thread of their own\n"
        f"  one label more, images in view {beside.first_s:6.2f} s   (limit {beside.limit_first_s:g})\n"
        f"  another while the rest follows {beside.second_s:6.2f} s   (limit {beside.limit_first_s:g})\n"
        f"  all images, both labels        {beside.all_s:6.2f} s   (limit {beside.limit_all_s:g})\n"
        f"  taking a label                 {beside.take_ms:6.2f} ms  (limit {beside.limit_take_ms:g})\n"
        f"  laying out a fit               {beside.input_ms:6.2f} ms  (limit {beside.limit_input_ms:g})\n"
        f"  taking its outcome over        {beside.adopt_ms:6.2f} ms\n"
        f"  guessing, an image             {beside.guess_ms:6.2f} ms  (limit {beside.limit_guess_ms:g})\n"
        f"  other threads wait, 99%        {beside.waits_ms:6.2f} ms  (limit {beside.limit_waits_ms:g}; "
        f"without a fit {beside.idle_waits_ms:.2f})\n"
        f"  other threads wait, longest    {beside.longest_wait_ms:6.2f} ms  (limit {beside.limit_longest_wait_ms:g})\n"
        f"  a fit stops, longest           {beside.stop_ms:6.2f} ms  (limit {beside.limit_stop_ms:g})",
        {**asdict(figures), "beside_a_fit": asdict(beside)},
        as_json=as_json,
    )


def many_classes(
    classes: Annotated[int, typer.Option(min=10)] = 5_000,
    labels: Annotated[int, typer.Option(min=10)] = 5_000,
    parents: Annotated[int, typer.Option(min=2, help="Of one of the classes.")] = 200,
    images: Annotated[int, typer.Option(min=1000, help="Of the collection, labelled ones included.")] = 10_000,
    as_json: AsJson = False,
) -> None:
    """Time and memory of one label more with thousands of classes, beside the same without the one of many parents."""
    from research.benchmarks.many_classes import Size, measure_many_classes

    beside = measure_many_classes(Size(classes, labels, parents, images))
    many, one = beside.many, beside.one
    say(
        f"{classes:,} classes x {labels:,} labels, {images:,} images, one class of {parents:,} parents\n"
        f"one label more       {many.label_s:7.2f} s   (limit {many.limit_s:g}; "
        f"{beside.time_ratio:.2f} times the {one.label_s:.2f} s without that class)\n"
        f"  fitting            {many.fit_s:7.2f} s\n"
        f"  classifying all    {many.pass_s:7.2f} s\n"
        f"memory at most       {many.peak_bytes / 1e6:7,.0f} MB  (limit {many.limit_bytes / 1e6:,.0f}; "
        f"{beside.memory_ratio:.2f} times the {one.peak_bytes / 1e6:,.0f} MB without that class)",
        beside.fields(),
        as_json=as_json,
    )


def register(application: typer.Typer) -> None:
    """Add these commands."""
    application.command("collection")(collection)
    application.command("many-classes")(many_classes)
