"""`protoleaf experiment ...`: data sets, tables, figures and timings of the paper."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import command_group
from engine.cli.output import print_result, progress_bar, stoppable
from engine.errors import UsageError
from research.cli import (
    experiment_crops,
    experiment_graph_suggestions,
    experiment_honesty,
    experiment_label_errors,
    experiment_objects,
    experiment_peers,
    experiment_release,
    experiment_review,
    experiment_runs,
    experiment_similar,
    experiment_table,
    experiment_teach,
    experiment_training,
    experiment_transfer,
    experiment_unknown,
)
from research.cli.experiment_runs import DataSets, Setting

if TYPE_CHECKING:
    from research.data_sets.stored import FewShotData

FIGURES = ("prototypes", "propagation")

application = command_group(
    "Build the paper's data sets, train and test its models, make its tables and figures."
)


@application.command("build")
def build(
    *,
    source: Annotated[
        Path, typer.Option(metavar="IMAGENET", help="Folder or zip archive in ImageNet's layout.")
    ],
    wordnet: Annotated[
        Path, typer.Option(help="wordnet.is_a.txt, or the folder of it and words.txt.")
    ],
    variant: Annotated[str, typer.Option(help="pure or mix.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the data set.")],
    side: Annotated[
        int | None,
        typer.Option(help="Side of the stored images in pixels; by default 92, cropped to 84."),
    ] = None,
    factor: Annotated[
        float | None,
        typer.Option(
            help="c in the share min(1, c r^level) of images; by default as the source needs."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.")] = 0,
) -> None:
    """Draw a data set by the paper's recipe, and show its counts beside the paper's."""
    from research.data_sets.build import DEFAULT_SIDE
    from research.data_sets.build import build as run
    from research.data_sets.recipe import RATES, Recipe
    from research.data_sets.statistics import statistics

    if variant not in RATES:
        raise UsageError("there is no such variant", expected=" or ".join(RATES), found=variant)
    recipe = Recipe("pure" if variant == "pure" else "mix", factor=factor, seed=seed)
    with stoppable("run it again") as cancel, progress_bar("Building") as on_progress:
        data = run(
            source,
            wordnet,
            out,
            recipe,
            side=side or DEFAULT_SIDE,
            on_progress=on_progress,
            cancel=cancel,
        )
    found = statistics(data)
    levels = {str(level): asdict(counts) for level, counts in found.levels.items()}
    print_result(
        found.as_text(),
        {
            "name": data.name,
            "images": len(data.class_positions),
            "unreadable": list(data.unreadable),
            "levels": levels,
        },
    )


experiment_runs.register(application)
experiment_transfer.register(application)
experiment_peers.register(application)
experiment_crops.register(application)
experiment_label_errors.register(application)
experiment_objects.register(application)
experiment_unknown.register(application)
experiment_honesty.register(application)
experiment_similar.register(application)
experiment_training.register(application)
experiment_table.register(application)
experiment_release.register(application)
experiment_review.register(application)
experiment_teach.register(application)
experiment_graph_suggestions.register(application)


@application.command("figure")
def figure(
    name: Annotated[
        str, typer.Argument(metavar="prototypes|propagation", help="Figure 1, or Figure 4.")
    ],
    data: DataSets,
    *,
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the trained models.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the figure's files.")],
    ways: Annotated[
        list[int] | None,
        typer.Option(
            help="Ways of the 1-shot trainings; by default 5 (Figure 1), 5 and 10 (Figure 4)."
        ),
    ] = None,
    setting: Setting = None,
) -> None:
    """Draw prototypes in two dimensions (Figure 1), or accuracy against propagation (Figure 4)."""
    if name not in FIGURES:
        raise UsageError("there is no such figure", expected=" or ".join(FIGURES), found=name)
    from engine.collection.training.settings import parse_settings
    from research.figures import WAYS, draw_propagation, draw_prototypes
    from research.reports.drawing import check_libraries

    check_libraries()
    chosen = parse_settings(setting or ())
    data_sets = _by_variant(data)
    lines: list[str] = []
    files: list[Path] = []
    if name == "propagation":
        with progress_bar("Testing") as on_progress:
            files += draw_propagation(
                list(data_sets.values()),
                runs,
                out,
                ways=ways or WAYS,
                chosen=chosen,
                on_progress=on_progress,
            )
    for variant, opened in data_sets.items() if name == "prototypes" else ():
        drawn = draw_prototypes(opened, runs, out / variant, ways=(ways or WAYS)[0], chosen=chosen)
        files += [drawn.pixels, drawn.vectors, drawn.classes, drawn.facts]
        lines.append(f"{opened.name}: {drawn.sentence}")
    print_result(
        "\n".join([*lines, *map(str, files)]),
        {"files": [str(path) for path in files]},
    )


def _by_variant(folders: Sequence[Path]) -> "dict[str, FewShotData]":
    """Open data sets, at most one of each variant, as a folder of runs has one of each.

    Raises:
        UsageError: two are of one variant.
    """
    from research.data_sets.stored import load

    opened: dict[str, FewShotData] = {}
    for folder in folders:
        data = load(folder)
        if data.variant in opened:
            raise UsageError(
                "two data sets are of one variant",
                expected="one pure and one mix at most",
                found=str(folder),
            )
        opened[data.variant] = data
    return opened


@application.command("speed")
def speed(
    *,
    side: Annotated[int, typer.Option(min=16, help="Side of the training images in pixels.")] = 84,
    images_like_paper: Annotated[
        bool,
        typer.Option(
            "--images-like-paper/--few-images",
            help="About 170 images per iteration, or fewer for a quick try.",
        ),
    ] = True,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds, in each of which everything is timed in turn.")
    ] = 20,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of torch; by default its own choice.")
    ] = None,
    setting: Setting = None,
) -> None:
    """Time training iterations and test tasks of each model, beside the backbone and the paper."""
    from engine.collection.training.settings import parse_settings
    from research.generated_data import LIKE_PAPER, SMALL
    from research.methods import MethodSettings, with_chosen
    from research.speed import measure_speed

    settings = with_chosen(MethodSettings(), {**parse_settings(setting or ()), "side": side})
    with progress_bar("Measuring") as on_progress:
        figures = measure_speed(
            LIKE_PAPER if images_like_paper else SMALL,
            rounds=rounds,
            threads=threads,
            settings=settings,
            on_progress=on_progress,
        )
    fields = {
        **asdict(figures),
        "refresh_s": figures.refresh_s,
        "limit_over_float32": figures.limit_over_float32,
    }
    print_result(figures.as_text(), fields)
