"""`protoleaf benchmark NAME`: figures of the program, each beside a physical limit or a peer."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import command_group
from engine.cli.output import print_result, progress_bar
from research.cli import (
    benchmark_all,
    benchmark_cluster,
    benchmark_collection,
    benchmark_detection,
    benchmark_files,
    benchmark_loop,
    benchmark_map,
    benchmark_similar,
)
from research.cli.verdicts import say_verdicts

if TYPE_CHECKING:
    from research.benchmarks.embedding import EmbedFigures
    from research.benchmarks.embedding_memory import MemoryOfRun
    from research.benchmarks.graph import GraphFigure

BackboneText = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="“accurate”, “fast”, a backbone of `backbone list`, or a file.",
        show_default="that of new projects",
    ),
]

BoxesOfEach = Annotated[
    int, typer.Option(help="Boxes in each image, which are images, too.", min=0, max=9)
]

application = command_group("Benchmark the program, each figure with its limit.")


@application.command("embed")
def embed(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Images or folders; by default generated photos.")
    ] = None,
    *,
    photos: Annotated[
        str, typer.Option(help="Generated photos: small (500 pixels) or large (12 megapixels).")
    ] = "small",
    backbone: BackboneText = "",
    rounds: Annotated[int, typer.Option(min=1)] = 5,
    peer: Annotated[bool, typer.Option(help="Also time torch's DataLoader with Pillow.")] = True,
    device: Annotated[
        str,
        typer.Option(
            help=(
                "As for `embed`, or simulated:RATE, which takes the time of so many images a "
                "second."
            )
        ),
    ] = "auto",
    device_setting: Annotated[
        list[str] | None,
        typer.Option(
            "--device-setting",
            metavar="NAME=VALUE",
            help="A GPU setting, as in docs/gpu.md; repeatable.",
        ),
    ] = None,
    boxes: BoxesOfEach = 0,
    files: Annotated[int, typer.Option(help="Photos to generate with --boxes.", min=1)] = 480,
) -> None:
    """Embed files end to end, beside decoding alone, the backbone alone, plain decoders and torch.

    The exit status is 1 when the rate is less than 0.9 of what decoding and the backbone allow on
    this device. With --boxes: generated photos with boxes, beside the photos alone and the
    network's seconds for the boxes.
    """
    from engine.backbones.model_files import default_backbone
    from research.benchmarks.embedding import measure_embed
    from research.data_loader_peer import open_data_loader

    if boxes:
        _embed_boxes(
            boxes,
            files,
            photos,
            backbone or default_backbone(),
            device,
            rounds=rounds,
        )
        return
    figures = measure_embed(
        paths or (),
        photos=photos,
        backbone=backbone or default_backbone(),
        device=device,
        device_settings=device_setting or (),
        rounds=rounds,
        open_peer=open_data_loader if peer else None,
    )
    fields = {**asdict(figures), "reachable": figures.reachable, "share": figures.share}
    print_result(_embed_text(figures), fields)
    if not figures.is_kept:
        raise typer.Exit(1)


def _embed_boxes(
    boxes: int, files: int, photos: str, backbone: str, device: str, *, rounds: int
) -> None:
    from research.benchmarks.embedding_boxes import measure_boxes

    with progress_bar("Embedding") as on_progress:
        figures = measure_boxes(
            boxes,
            photos=photos,
            files=files,
            backbone=backbone,
            device=device,
            rounds=rounds,
            on_progress=on_progress,
        )
    head = f"{figures.photos:,} photos with {boxes} boxes each on {figures.device}"
    say_verdicts(head, figures.rows, asdict(figures))


def _embed_text(figures: "EmbedFigures") -> str:
    share = (
        f"{figures.share:.2f} of that (limit {figures.limit}), "
        f"{figures.share_of_limit:.2f} of the smaller"
    )
    best = (
        "the fastest of those tried, reading and decoding at reduced scale; end to end is "
        f"{figures.share_of_best_decode:.2f} of it (limit {figures.limit_large} for "
        "12-megapixel photos)"
    )
    lines = [
        (
            f"{figures.images:,} images of {figures.mean_bytes / 1024:,.0f} KB on "
            f"{figures.device}, all cores"
        ),
        f"decode alone     {figures.decode:8.0f} images/s   read, decode, cut, resize",
        f"backbone alone   {figures.inference:8.0f} images/s",
        (
            f"both together    {figures.reachable:8.0f} images/s   what these allow on "
            f"{_shared_cores(figures)}"
        ),
        f"end to end       {figures.pipeline:8.0f} images/s   {share}",
        f"plain decoder    {figures.best_decode:8.0f} images/s   {figures.best_decoder}: {best}",
    ]
    if figures.idle is not None:
        lines.append(
            f"the device was idle for {figures.idle:.1%} of the time; its batches were "
            f"{figures.fullness:.1%} full,"
            f" of {figures.batch_sizes} size{'' if figures.batch_sizes == 1 else 's'}"
        )
    if figures.peer is not None:
        faster = (
            f"end to end is {figures.over_peer:.1f} times as fast (limit "
            f"{figures.limit_over_peer:g})"
        )
        lines.append(
            f"torch and Pillow {figures.peer:8.0f} images/s   the same network in float32; {faster}"
        )
    return "\n".join(lines)


def _shared_cores(figures: "EmbedFigures") -> str:
    return "a GPU and these cores" if figures.is_on_gpu else "the same cores"


@application.command("embed-memory")
def embed_memory(
    files: Annotated[
        list[int] | None, typer.Option(min=1, help="Numbers of files; repeatable.")
    ] = None,
    backbone: BackboneText = "",
    large: Annotated[
        int,
        typer.Option(
            min=0,
            max=500,
            help="Megapixels of a PNG among the fewest files, in one more run; 0 for none.",
        ),
    ] = 484,
) -> None:
    """Peak memory of embedding 1,000 and 100,000 files, and the longest gap in progress reports."""
    from engine.backbones.model_files import default_backbone
    from research.benchmarks.embedding_memory import measure_memory

    figures = measure_memory(
        files or (1_000, 100_000), backbone=backbone or default_backbone(), large_megapixels=large
    )
    lines = [_memory_line(run) for run in figures.runs]
    lines.append(f"growth {figures.growth:.2f} x (limit {figures.limit})")
    if figures.with_large is not None:
        lines.append(
            f"{_memory_line(figures.with_large)}\none of them a PNG of "
            f"{figures.with_large.large_megapixels} megapixels (limit "
            f"{figures.large_limit_mib:,} MiB)"
        )
    print_result("\n".join(lines), asdict(figures))


def _memory_line(run: "MemoryOfRun") -> str:
    return (
        f"{run.files:9,} files   peak {run.peak_mib:6.0f} MiB   {run.images_per_s:6.0f} images/s"
        f"   progress at least every {run.longest_silence_s:.2f} s"
    )


@application.command("startup")
def startup(
    images: Annotated[int, typer.Option(min=0)] = 100_000,
    *,
    boxes: BoxesOfEach = 0,
    rounds: Annotated[int, typer.Option(min=1)] = 3,
) -> None:
    """Startup with a large project, relative to a bare Qt window; memory, scrolling, commands.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.startup import measure_startup

    with progress_bar("Starting windows") as on_progress:
        figures = measure_startup(images, boxes=boxes, rounds=rounds, on_progress=on_progress)
    fields = {"images": images, "boxes": boxes}
    say_verdicts(_images_text(images, boxes), figures.rows, fields)


def _images_text(images: int, boxes: int) -> str:
    return f"{images:,} images" + (f" with {boxes} boxes each" if boxes else "")


@application.command("labelling")
def labelling(
    images: Annotated[int, typer.Option(min=400)] = 2_900,
    *,
    boxes: BoxesOfEach = 0,
    keys: Annotated[int, typer.Option(min=1)] = 300,
    per_s: Annotated[float, typer.Option(help="Keys a second.", min=0.1)] = 5,
) -> None:
    """Label by keys in the window: labels on disk, key to next card, predictions after a key.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.labelling import measure_labelling

    figures = measure_labelling(images, boxes=boxes, keys=keys, per_s=per_s)
    say_verdicts(
        f"{figures.images:,} images, {figures.keys} keys at {per_s:g} a second\n"
        f"labels on disk                {figures.on_disk:6}   of {figures.keys}\n"
        f"for image and class as shown  {figures.as_shown:6}   of {figures.keys}",
        figures.rows,
        asdict(figures),
        missed=() if figures.are_labels_kept else ("labels",),
    )


@application.command("review")
def review(
    images: Annotated[int, typer.Option(min=2_000)] = 100_000,
    *,
    keys: Annotated[int, typer.Option(help="Single decisions.", min=1)] = 150,
    per_s: Annotated[float, typer.Option(help="Single decisions a second.", min=0.1)] = 5,
    groups: Annotated[int, typer.Option(help="Decisions on groups.", min=1)] = 20,
    groups_per_s: Annotated[float, typer.Option(help="Decisions on groups a second.", min=0.1)] = 1,
) -> None:
    """Review in the window, by single cards and groups: decisions a minute, key to next card.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.review import LIMIT_DECISIONS, measure_review

    figures = measure_review(
        images, keys=keys, per_s=per_s, groups=groups, groups_per_s=groups_per_s
    )
    say_verdicts(
        f"{figures.images:,} images, {figures.keys} single decisions at {per_s:g} a second, "
        f"{figures.groups} groups at {groups_per_s:g} a second\n"
        f"labels on disk, as shown      {figures.as_shown:6}   of "
        f"{figures.keys + figures.group_images}\n"
        f"decisions a minute, by groups {figures.decisions_a_minute:6.0f}   (limit "
        f"{LIMIT_DECISIONS})",
        figures.rows,
        asdict(figures),
        missed=figures.missed,
    )


@application.command("backup")
def backup(
    images: Annotated[int, typer.Option(min=1)] = 100_000,
    labels: Annotated[int, typer.Option(min=0)] = 20_000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
) -> None:
    """Back up a large project while labels are written: time of a backup, latency of a label."""
    from research.benchmarks.backup import measure_backup

    figures = measure_backup(images, labels, rounds=rounds)
    print_result(
        f"backup of {figures.images:,} images and {figures.labels:,} labels   "
        f"{figures.backup_s:.2f} s, "
        f"{figures.size_mb:.1f} MB, copied and verified\n"
        f"a label alone          median {figures.alone_median_ms:6.1f} ms   99%  "
        f"{figures.alone_p99_ms:6.1f} ms"
        f"   longest {figures.alone_longest_ms:6.1f} ms\n"
        f"a label beside backups median {figures.beside_median_ms:6.1f} ms   99%  "
        f"{figures.beside_p99_ms:6.1f} ms"
        f"   longest {figures.beside_longest_ms:6.1f} ms (limit {figures.limit_longest_ms:.0f})",
        asdict(figures),
    )


@application.command("drop")
def drop(
    images: Annotated[int, typer.Option(min=1000)] = 100_000,
    rounds: Annotated[int, typer.Option(min=1)] = 5,
) -> None:
    """Drop three photos into a large project: time until they are predicted, over that of a fit.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.drop import PHOTOS, measure_drop

    with progress_bar("Dropping photos") as on_progress:
        figures = measure_drop(images, rounds=rounds, on_progress=on_progress)
    say_verdicts(f"{PHOTOS} photos into {images:,} images", figures.rows, {"images": images})


@application.command("import")
def import_folder(
    photos: Annotated[int, typer.Option(min=20)] = 480,
    backbone: BackboneText = "",
) -> None:
    """Add a folder to an empty project: time until all is predicted, over the pass alone.

    The exit status is 1 where a limit is missed.
    """
    from engine.backbones.model_files import default_backbone
    from research.benchmarks.importing import measure_import

    figures = measure_import(photos, backbone=backbone or default_backbone())
    say_verdicts(f"{photos:,} photos of 500 pixels", figures.rows, {"photos": photos})


@application.command("edit")
def edit(
    images: Annotated[int, typer.Option(min=1200)] = 100_000,
    rounds: Annotated[int, typer.Option(min=1)] = 2,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Kind of edit, such as “move a class”; repeatable.", show_default="all"),
    ] = None,
) -> None:
    """Edit a large project: time until predictions follow and changed images are found.

    The exit status is 1 where a limit is missed.
    """
    from research.benchmarks.edits import measure_edits

    with progress_bar("Editing") as on_progress:
        figures = measure_edits(images, rounds=rounds, only=only or (), on_progress=on_progress)
    changed = ", ".join(f"{count:,} by “{name}”" for name, count in figures.changed.items())
    say_verdicts(
        f"{images:,} images; predictions changed: {changed}",
        figures.rows,
        asdict(figures),
    )


@application.command("graph")
def graph(
    wordnet: Annotated[
        Path | None,
        typer.Option(
            help="Folder with wordnet.is_a.txt and words.txt.",
            show_default="a taxonomy of that shape is made",
        ),
    ] = None,
    *,
    synsets: Annotated[
        int, typer.Option(min=100, help="Classes of the taxonomy that is made.")
    ] = 82_115,
    classes: Annotated[
        int, typer.Option(min=100, help="Classes of the graph that is drawn.")
    ] = 10_000,
    window: Annotated[bool, typer.Option(help="Also measure in the window.")] = True,
) -> None:
    """Import, open and search WordNet; draw a large graph, pan, zoom, move a class; memory.

    The exit status is 1 when a limit is missed.
    """
    from research.benchmarks.graph import measure_graph

    figures = measure_graph(wordnet, synsets=synsets, classes=classes, in_window=window)
    lines = [_graph_line(figure) for figure in figures.figures]
    head = f"WordNet: {figures.synsets:,} classes; drawn: {figures.classes:,} classes"
    print_result(
        "\n".join((head, *lines)),
        {**asdict(figures), "are_kept": figures.are_kept},
    )
    if not figures.are_kept:
        raise typer.Exit(1)


def _graph_line(figure: "GraphFigure") -> str:
    limit = (
        ""
        if figure.limit is None
        else f"   (limit {figure.limit:g}{'' if figure.is_kept else ', MISSED'})"
    )
    computing = "" if figure.computing is None else f", {figure.computing:.2f} of it computing"
    return f"{figure.name:40} {figure.value:12,.2f} {figure.unit}{computing}{limit}"


benchmark_all.register(application)
benchmark_similar.register(application)
benchmark_map.register(application)
benchmark_cluster.register(application)
benchmark_collection.register(application)
benchmark_files.register(application)
benchmark_detection.register(application)
benchmark_loop.register(application)
