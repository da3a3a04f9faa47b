"""`protoleaf experiment train|test|table`: the paper's models, one by one or as a whole table."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from engine.cli.output import AsJson, progress_bar, say, stoppable
from engine.errors import UsageError
from engine.events import OnProgress, Progress, ignore_progress

if TYPE_CHECKING:
    from engine.training.curve import TrainingPoint
    from research.data_sets.stored import FewShotData
    from research.results import TestResult

COLUMN: Final = re.compile(r"(\d+)w(\d+)s")

DataSet = Annotated[Path, typer.Argument(metavar="DATA", help="Folder of a data set that `build` made.")]
DataSets = Annotated[list[Path], typer.Argument(metavar="DATA...", help="Folders of data sets that `build` made.")]
Runs = Annotated[Path, typer.Argument(metavar="RUNS", help="Folder of trained models and results.")]
Method = Annotated[str, typer.Option(help="ppn, prototypical-net, gnn, closer-look, or one of these with -star.")]
Ways = Annotated[int, typer.Option(min=2, help="Classes of a task.")]
Shots = Annotated[int, typer.Option(min=1, help="Images of each class that a task gives.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--setting", metavar="NAME=VALUE", help="Such as iterations=3000; may be repeated."),
]


def train(
    data: DataSet,
    runs: Runs,
    *,
    method: Method,
    ways: Ways = 5,
    shots: Shots = 1,
    setting: Setting = None,
    as_json: AsJson = False,
) -> None:
    """Train a model end to end, or resume; Ctrl+C keeps the progress so far."""
    from engine.collection.training.settings import parse_settings
    from research.cells import train_cell
    from research.data_sets.stored import load
    from research.methods import MethodSettings, with_chosen
    from research.trained_cells import chosen_cell

    chosen = parse_settings(setting or ())
    cell, settings = chosen_cell(_method(method), ways, shots, chosen), with_chosen(MethodSettings(), chosen)
    opened = load(data)
    again = ["protoleaf", "experiment", "train", str(data), str(runs), "--method", method]
    again += ["--ways", str(ways), "--shots", str(shots)]
    again += [word for each in setting or () for word in ("--setting", each)]
    with stoppable(f"resume with: {shlex.join(again)}") as cancel, _progress(f"Training {method}") as on_progress:
        note = _Note(on_progress)
        outcome = train_cell(
            opened, cell, settings, runs, on_point=note.keep, on_progress=note.show, cancel=cancel
        )  # fmt: skip
    if _is_speaker():
        last, folder = outcome.curve[-1], cell.folder(runs, opened.variant)
        say(
            f"Trained {method} for {ways}-way {shots}-shot tasks on {opened.name}: {outcome.iterations:,} iterations, "
            f"{_of_point(last)}\n{folder}",
            {
                "method": method, "ways": ways, "shots": shots, "data": opened.name, "folder": str(folder),
                "iterations": outcome.iterations, "loss": last.loss, "accuracy": last.accuracy,
            },
            as_json=as_json,
        )  # fmt: skip


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
        typer.Option("--unfinished", help="Test a training that was stopped, with the iterations that it reached."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Test a trained model on the column's 600 tasks; --setting normalisation=cosine adds rows of its own."""
    from engine.collection.training.settings import parse_settings
    from research import results
    from research.cells import load_cell, test_cell
    from research.data_sets.stored import load
    from research.trained_cells import as_reached, chosen_cell, ppn_of, raw_cosine_results, refresh, trained_settings

    chosen = parse_settings(setting or ())
    cell, opened = chosen_cell(_method(method), ways, shots, chosen), load(data)
    settings = trained_settings(opened, cell, runs, chosen)
    if unfinished:
        settings = as_reached(opened, cell, settings, runs)
    objective = load_cell(opened, cell, settings, runs)
    if unfinished:
        refresh(opened, objective, settings)
    if method == "ppn" and settings.propagation.normalisation == "cosine":
        found = raw_cosine_results(ppn_of(opened, objective, settings), cell)
    else:
        found = test_cell(opened, cell, settings, objective)
    files = [results.write(result, runs) for result in found]
    say(
        "\n".join([f"{opened.name}, {ways}-way {shots}-shot, {len(found[0].accuracies)} tasks", *_lines(found)]),
        {"rows": [_fields(result) for result in found], "files": [str(path) for path in files]},
        as_json=as_json,
    )


def table(
    data: DataSets,
    *,
    runs: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of trained models and results.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for CSV and Markdown; by default that of the runs.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Models trained side by side.")] = 1,
    setting: Setting = None,
    method: Annotated[list[str] | None, typer.Option(help="Only these methods; may be repeated.")] = None,
    column: Annotated[list[str] | None, typer.Option(help="Only these columns, such as 5w1s.")] = None,
    only_show: Annotated[bool, typer.Option("--only-show", help="Show existing results; train nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train and test what a table still lacks, and show our results beside the paper's."""
    from engine.collection.training.settings import parse_settings
    from research import results
    from research.cells import COLUMNS
    from research.methods import METHODS, MethodSettings, with_chosen
    from research.reports.table import as_text, write_table
    from research.table_run import missing, run_missing

    columns = [_column(text) for text in column or ()] or COLUMNS
    methods = [_method(name) for name in method or ()] or METHODS
    settings = with_chosen(MethodSettings(), parse_settings(setting or ()))
    data_sets = by_variant(data)
    if not only_show:
        wanted = missing(data, runs, settings, methods=methods, columns=columns)
        with stoppable("run the same command again to resume") as cancel, progress_bar("Training") as on_progress:
            note = _Note(on_progress)
            run_missing(
                wanted, runs, settings,
                workers=workers, on_result=note.tell, on_progress=note.show, cancel=cancel,
            )  # fmt: skip
    found = [result for variant in data_sets for result in results.read_all(runs, variant)]
    files = [path for variant in data_sets for path in write_table(found, variant, out or runs)]
    say(
        "\n".join([*(as_text(found, variant) for variant in data_sets), *map(str, files)]),
        {"rows": [_fields(result) for result in found], "files": [str(path) for path in files]},
        as_json=as_json,
    )


def by_variant(folders: Sequence[Path]) -> "dict[str, FewShotData]":
    """Open data sets, at most one of each variant: a folder of runs holds one of each.

    Raises:
        UsageError: two are of one variant.
    """
    from research.data_sets.stored import load

    opened: dict[str, FewShotData] = {}
    for folder in folders:
        data = load(folder)
        if data.variant in opened:
            raise UsageError(
                "two data sets are of one variant", expected="one pure and one mix at most", found=str(folder)
            )
        opened[data.variant] = data
    return opened


class _Note:
    """What a progress bar says besides numbers: the last point of the curve, or the last result."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._text = ""

    def show(self, progress: Progress) -> None:
        self._on_progress(replace(progress, note=self._text))

    def keep(self, point: "TrainingPoint") -> None:
        self._text = _of_point(point)

    def tell(self, result: "TestResult") -> None:
        self._text = f"{result.variant} {result.ways}w{result.shots}s {_line(result)}"


def _of_point(point: "TrainingPoint") -> str:
    watched = "" if point.accuracy is None else f", {100 * point.accuracy:.1f}% right on some test tasks"
    assert point.loss is not None, "of every point after the start"
    return f"loss {point.loss:.3f}{watched}"


def _method(name: str) -> str:
    from research.methods import METHODS

    if name not in METHODS:
        raise UsageError("there is no such method", expected=", ".join(METHODS), found=name)
    return name


def _column(text: str) -> tuple[int, int]:
    match = COLUMN.fullmatch(text)
    if match is None:
        raise UsageError("there is no such column", expected="ways and shots, such as 5w1s", found=text)
    return int(match[1]), int(match[2])


def _lines(found: "Sequence[TestResult]") -> Iterator[str]:
    width = max(len(result.row) for result in found)
    return (f"{result.row:<{width}}  {_line(result)}" for result in found)


def _line(result: "TestResult") -> str:
    return f"{100 * result.mean:.2f} ± {100 * result.interval:.2f}%"


def _fields(result: "TestResult") -> Mapping[str, object]:
    return {
        "row": result.row, "variant": result.variant, "data": result.data, "ways": result.ways,
        "shots": result.shots, "tasks": len(result.accuracies), "mean": result.mean, "interval": result.interval,
        "settings": dict(result.settings),
    }  # fmt: skip


def _is_speaker() -> bool:
    """Whether this process prints: under `torchrun` the first one does."""
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
    application.command("table")(table)
