"""`protoleaf experiment train|test`: single models of the paper."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.output import print_result, progress_bar, stoppable
from engine.errors import UsageError
from engine.events import OnProgress, Progress, ignore_progress

if TYPE_CHECKING:
    from engine.training.curve import TrainingPoint
    from research.results import TestResult

DataSet = Annotated[
    Path, typer.Argument(metavar="DATA", help="Folder of a data set that `build` made.")
]
DataSets = Annotated[
    list[Path], typer.Argument(metavar="DATA...", help="Folders of data sets that `build` made.")
]
Runs = Annotated[Path, typer.Argument(metavar="RUNS", help="Folder of trained models and results.")]
Method = Annotated[
    str, typer.Option(help="ppn, prototypical-net, gnn, closer-look, or one of these with -star.")
]
Ways = Annotated[int, typer.Option(min=2, help="Classes of a task.")]
Shots = Annotated[int, typer.Option(min=1, help="Images of each class that a task gives.")]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--setting", metavar="NAME=VALUE", help="Such as iterations=3000; may be repeated."
    ),
]


def train(
    data: DataSet,
    runs: Runs,
    *,
    method: Method,
    ways: Ways = 5,
    shots: Shots = 1,
    setting: Setting = None,
) -> None:
    """Train a model end to end, or resume; Ctrl+C keeps the checkpoint."""
    from engine.collection.training.settings import parse_settings
    from research.cells import train_cell
    from research.data_sets.stored import load
    from research.methods import MethodSettings, with_chosen
    from research.trained_cells import chosen_cell

    chosen = parse_settings(setting or ())
    cell, settings = (
        chosen_cell(known_method(method), ways, shots, chosen),
        with_chosen(MethodSettings(), chosen),
    )
    opened = load(data)
    again = ["protoleaf", "experiment", "train", str(data), str(runs), "--method", method]
    again += ["--ways", str(ways), "--shots", str(shots)]
    again += [word for each in setting or () for word in ("--setting", each)]
    with (
        stoppable(f"resume with: {shlex.join(again)}") as cancel,
        _progress(f"Training {method}") as on_progress,
    ):
        note = _Note(on_progress)
        outcome = train_cell(
            opened, cell, settings, runs, on_point=note.keep, on_progress=note.show, cancel=cancel
        )
    if _is_speaker():
        last, folder = outcome.curve[-1], cell.folder(runs, opened.variant)
        print_result(
            f"Trained {method} for {ways}-way {shots}-shot tasks on {opened.name}: "
            f"{outcome.iterations:,} iterations, "
            f"{_of_point(last)}\n{folder}",
            {
                "method": method,
                "ways": ways,
                "shots": shots,
                "data": opened.name,
                "folder": str(folder),
                "iterations": outcome.iterations,
                "loss": last.loss,
                "accuracy": last.accuracy,
            },
        )


def run_tests(
    data: DataSet,
    runs: Runs,
    *,
    method: Method,
    ways: Ways = 5,
    shots: Shots = 1,
    setting: Setting = None,
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished",
            help="Test a training that was stopped, with the iterations that it reached.",
        ),
    ] = False,
) -> None:
    """Test a trained model on the 600 tasks of the column."""
    from engine.collection.training.settings import parse_settings
    from research.cells import load_cell, test_cell
    from research.data_sets.stored import load
    from research.trained_cells import as_reached, chosen_cell, refresh, trained_settings

    chosen = parse_settings(setting or ())
    cell, opened = chosen_cell(known_method(method), ways, shots, chosen), load(data)
    settings = trained_settings(opened, cell, runs, chosen)
    if unfinished:
        settings = as_reached(opened, cell, settings, runs)
    objective = load_cell(opened, cell, settings, runs)
    if unfinished:
        refresh(opened, objective, settings)
    found = test_cell(opened, cell, settings, objective)
    print_result(
        "\n".join(
            [
                f"{opened.name}, {ways}-way {shots}-shot, {len(found[0].accuracies)} tasks",
                *_lines(found),
            ]
        ),
        {"rows": [_fields(result) for result in found]},
    )


class _Note:
    """Text of a progress bar: the last point of the curve, or the last result."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._text = ""

    def show(self, progress: Progress) -> None:
        self._on_progress(replace(progress, note=self._text))

    def keep(self, point: "TrainingPoint") -> None:
        self._text = _of_point(point)


def _of_point(point: "TrainingPoint") -> str:
    watched = (
        "" if point.accuracy is None else f", {100 * point.accuracy:.1f}% right on some test tasks"
    )
    assert point.loss is not None, "of every point after the start"
    return f"loss {point.loss:.3f}{watched}"


def known_method(name: str) -> str:
    """Return the name if there is such a method.

    Raises:
        UsageError: there is none.
    """
    from research.methods import BEYOND, METHODS

    if name not in (*METHODS, *BEYOND):
        raise UsageError(
            "there is no such method", expected=", ".join((*METHODS, *BEYOND)), found=name
        )
    return name


def _lines(found: "Sequence[TestResult]") -> Iterator[str]:
    width = max(len(result.row) for result in found)
    return (f"{result.row:<{width}}  {_line(result)}" for result in found)


def _line(result: "TestResult") -> str:
    return f"{100 * result.mean:.2f} ± {100 * result.interval:.2f}%"


def _fields(result: "TestResult") -> Mapping[str, object]:
    return {
        "row": result.row,
        "variant": result.variant,
        "data": result.data,
        "ways": result.ways,
        "shots": result.shots,
        "tasks": len(result.accuracies),
        "mean": result.mean,
        "interval": result.interval,
        "settings": dict(result.settings),
    }


def _is_speaker() -> bool:
    """Whether this process prints: under `torchrun` only the first does."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def _progress(title: str) -> Iterator[OnProgress]:
    if not _is_speaker():
        yield ignore_progress
        return
    with progress_bar(title) as on_progress:
        yield on_progress


def register(application: typer.Typer) -> None:
    """Add these commands to `protoleaf experiment`."""
    application.command("train")(train)
    application.command("test")(run_tests)
