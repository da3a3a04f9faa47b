"""`protoleaf experiment transfer`: few-shot transfer of backbones, everyday model and peers."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.collection.models import ModelFiles
    from research.transfer.collection import TransferCollection
    from research.transfer.measurement import TransferPlan
    from research.transfer.report import TransferReport
    from research.transfer.results import TransferResult

Source = Annotated[
    Path,
    typer.Argument(metavar="SOURCE", help="Folder of `train` and `val`, both of class folders."),
]


Backbones = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME|FILE", help="By default that of new projects; may be repeated."),
]
Hierarchy = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Graph whose ids the class folders bear, such as wordnet.is_a.txt; else they nest.",
    ),
]
Classes = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Draw so many leaves; only its card says whether a backbone was trained on them.",
    ),
]
Images = Annotated[
    int | None, typer.Option(min=2, help="At most so many of each class in `train` and in `val`.")
]
WithCoarseLabels = Annotated[
    bool,
    typer.Option(
        "--coarse-labels/--no-coarse-labels", help="Whether to measure with coarse labels too."
    ),
]
Elsewhere = Annotated[
    bool,
    typer.Option("--elsewhere", help="Label images of `train`, classify those of `val` alone."),
]
Sizes = Annotated[
    str,
    typer.Option(
        metavar="as-is|equal|zipf|one-large",
        help="Resample the images to classify to classes of such sizes.",
    ),
]
ShotSizes = Annotated[
    str,
    typer.Option(
        metavar="equal|proportional|common-first",
        help="As many shots of each class, or shots as people give them.",
    ),
]
Balanced = Annotated[
    bool,
    typer.Option(
        "--balanced",
        help="Balanced accuracy and macro-F1 too; with other sizes they are always there.",
    ),
]
Runs = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Keeps every draw, so that the same command resumes there."
    ),
]


def transfer(
    source: Source,
    *,
    backbone: Backbones = None,
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1, 2, 3, 5 and 10.")
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, max=30, help="Draws of shots, the same for all methods.")
    ] = 10,
    method: Annotated[
        list[str] | None, typer.Option(help="Only these methods; may be repeated.")
    ] = None,
    coarse_labels: WithCoarseLabels = True,
    elsewhere: Elsewhere = False,
    sizes: Sizes = "as-is",
    shot_sizes: ShotSizes = "equal",
    balanced: Balanced = False,
    hierarchy: Hierarchy = None,
    classes: Classes = None,
    images: Images = None,
    runs: Runs = None,
    workers: Annotated[int, typer.Option(min=1, help="Draws measured side by side.")] = 1,
    again: Annotated[
        bool, typer.Option("--again", help="Measure again what the folder already has.")
    ] = False,
    out: FiguresFile = None,
    is_overwriting: Overwrite = False,
    device: DeviceName = "auto",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables for a document.")
    ] = False,
) -> None:
    """Measure few-shot transfer to a collection: backbones, peers, everyday model, same draws."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from research.transfer.collection import Selection, read_collection
    from research.transfer.measurement import check_plan

    check_figures(out, is_overwriting=is_overwriting)
    plan = replace(
        _plan(shots, draws, method),
        with_coarse_labels=coarse_labels,
        is_elsewhere=elsewhere,
        sizes=sizes,
        shot_sizes=shot_sizes,
    )
    by_hash = {
        files.backbone_hash: files for files in map(find_model, backbone or [default_backbone()])
    }
    models = tuple(by_hash.values())
    collection = read_collection(source, Selection(hierarchy, classes, images))
    plan = check_plan(collection, plan)
    found = _measured(
        collection, models, plan, runs, device=device, is_from_scratch=again, workers=workers
    )
    report = replace(_report(collection, models, found), is_balanced=balanced)
    fields = report.as_fields()
    write_figures(out, fields)
    print_result(report.as_text(is_markdown=markdown), fields)


def _report(
    collection: "TransferCollection",
    models: "Sequence[ModelFiles]",
    found: "Sequence[TransferResult]",
) -> "TransferReport":
    from research.transfer.candidates import measure_candidates
    from research.transfer.report import TransferReport

    return TransferReport(
        collection=collection.source.name,
        images=len(collection.files),
        val_images=len(collection.files) - int(collection.is_train.sum()),
        classes=len(collection.leaf_ids),
        results=tuple(found),
        candidates=measure_candidates(collection, models) if len(models) > 1 else (),
    )


def _measured(
    collection: "TransferCollection",
    models: "Sequence[ModelFiles]",
    plan: "TransferPlan",
    runs: Path | None,
    *,
    device: str,
    is_from_scratch: bool,
    workers: int,
) -> "list[TransferResult]":
    from engine.config import CacheFolders
    from research.transfer.embedded import embed_collection
    from research.transfer.measurement import measure_transfer

    found: list[TransferResult] = []
    with stoppable(
        "run the same command again; with --runs FOLDER it resumes where it stopped"
    ) as cancel:
        for model in models:
            with progress_bar(f"Embedding by {model.name}") as on_progress:
                embedded = embed_collection(
                    collection,
                    model,
                    CacheFolders.default(),
                    device=device,
                    on_progress=on_progress,
                    cancel=cancel,
                )
            with progress_bar(f"Measuring {model.name}") as on_progress:
                found += measure_transfer(
                    embedded,
                    plan,
                    runs=runs,
                    is_from_scratch=is_from_scratch,
                    workers=workers,
                    on_progress=on_progress,
                    cancel=cancel,
                )
    return found


def _plan(
    shots: "Sequence[int] | None", draws: int, methods: "Sequence[str] | None"
) -> "TransferPlan":
    from research.transfer.measurement import TransferPlan
    from research.transfer.methods import check_libraries

    default = TransferPlan()
    chosen = tuple(dict.fromkeys(methods)) if methods else default.methods
    check_libraries(chosen)
    columns = tuple(sorted(set(shots))) if shots else default.shots
    return TransferPlan(columns, draws, chosen)


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("transfer")(transfer)
