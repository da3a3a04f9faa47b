"""`protoleaf experiment honesty`: claimed and true accuracy with examples of some classes only."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import DeviceName
from engine.cli.output import Overwrite, print_result, progress_bar, stoppable
from engine.errors import UsageError
from research.cli.experiment_transfer import Classes, Elsewhere, Hierarchy, Images, Runs, Source
from research.cli.figures_file import FiguresFile, check_figures, write_figures

if TYPE_CHECKING:
    from engine.collection.models import ModelFiles
    from research.honesty.measurement import HonestyPlan, StageResult
    from research.honesty.replay import ReplayedSession
    from research.transfer.collection import TransferCollection


def honesty(
    source: Source,
    *,
    backbone: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="By default that of new projects.")
    ] = "",
    shots: Annotated[
        list[int] | None, typer.Option(min=1, help="Per class; by default 1, 3 and 10.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=30, help="Draws of classes and labels.")] = 10,
    labels: Annotated[
        str, typer.Option(metavar="random|teach-first|bulk", help="How the person labels.")
    ] = "random",
    elsewhere: Elsewhere = False,
    stages: Annotated[bool, typer.Option(help="Measure with some classes and with all.")] = True,
    replay: Annotated[
        int,
        typer.Option(
            min=0, metavar="LABELS", help="Replay sessions of so many labels; 0 for none."
        ),
    ] = 300,
    curve: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the sessions as CSV, PNG and SVG."),
    ] = None,
    hierarchy: Hierarchy = None,
    classes: Classes = None,
    images: Images = None,
    runs: Runs = None,
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
    """Compare claimed and true accuracy while 1, 5, a quarter, half and all classes have examples.

    Sessions label the whole collection, from the first image on: in the order of Teach first, and
    by group.
    """
    from engine.backbones.model_files import default_backbone
    from engine.collection.models import find_model
    from research.honesty.measurement import HonestyPlan, check_collection
    from research.honesty.report import HonestyReport
    from research.honesty.session_report import write_curve
    from research.transfer.collection import Selection, read_collection

    check_figures(out, is_overwriting=is_overwriting)
    _check_options(labels, replay, curve, with_stages=stages)
    model = find_model(backbone or default_backbone())
    collection = read_collection(source, Selection(hierarchy, classes, images))
    check_collection(collection, is_elsewhere=elsewhere)
    columns = tuple(sorted(set(shots))) if shots else HonestyPlan().shots
    plan = HonestyPlan(columns, draws, labels, elsewhere) if stages else None
    found, sessions = _measured(
        collection, model, plan, replay, runs, device=device, is_from_scratch=again
    )
    ways = len(collection.leaf_ids)
    report = HonestyReport(
        collection.source.name, model.name, ways, labels, elsewhere, found, sessions
    )
    fields = report.as_fields()
    write_figures(out, fields)
    if curve is not None:
        write_curve(sessions, f"{report.collection}, {ways} classes", curve)
    print_result(report.as_text(is_markdown=markdown), fields)


def _check_options(labels: str, replay: int, curve: Path | None, *, with_stages: bool) -> None:
    """Validate options before anything is read.

    Raises:
        UsageError: unknown way to label, nothing to measure, nothing to draw, or a library is
            missing.
    """
    from research.honesty.labels import check_labels
    from research.reports.drawing import check_libraries

    check_labels(labels)
    if not with_stages and not replay:
        raise UsageError(
            "there is nothing to measure", expected="--stages, or --replay with some labels"
        )
    if curve is not None and not replay:
        raise UsageError("--curve draws sessions", expected="--replay with some labels")
    if curve is not None:
        check_libraries()


def _measured(
    collection: "TransferCollection",
    model: "ModelFiles",
    plan: "HonestyPlan | None",
    labels: int,
    runs: Path | None,
    *,
    device: str,
    is_from_scratch: bool,
) -> "tuple[tuple[StageResult, ...], tuple[ReplayedSession, ...]]":
    from engine.config import CacheFolders
    from research.honesty.measurement import measure_honesty
    from research.honesty.replay import replay
    from research.transfer.embedded import embed_collection

    found: tuple[StageResult, ...] = ()
    sessions: tuple[ReplayedSession, ...] = ()
    with stoppable(
        "run the same command again; with --runs FOLDER it resumes where it stopped"
    ) as cancel:
        with progress_bar(f"Embedding by {model.name}") as on_progress:
            embedded = embed_collection(
                collection,
                model,
                CacheFolders.default(),
                device=device,
                on_progress=on_progress,
                cancel=cancel,
            )
        if plan is not None:
            with progress_bar("Measuring") as on_progress:
                found = measure_honesty(
                    embedded,
                    plan,
                    runs=runs,
                    is_from_scratch=is_from_scratch,
                    on_progress=on_progress,
                    cancel=cancel,
                )
        if labels:
            with progress_bar("Replaying") as on_progress:
                sessions = replay(embedded, labels, on_progress=on_progress, cancel=cancel)
    return found, sessions


def register(application: typer.Typer) -> None:
    """Add this command to `protoleaf experiment`."""
    application.command("honesty")(honesty)
