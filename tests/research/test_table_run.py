"""What a table misses, and running it in processes of their own."""

from pathlib import Path

import pytest

from engine.errors import Cancelled, InputError
from engine.events import CancelToken, Progress
from research import results
from research.cells import COLUMNS, Cell, remembered, settings_for
from research.data_sets.stored import FewShotData
from research.methods import METHODS, MethodSettings
from research.results import TestResult
from research.table_run import Assignment, missing, run_missing
from tests.support.few_shot_data import write_data
from tests.support.quick_training import quick_settings


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, colours: FewShotData) -> Path:
    """Folder of the data set."""
    return write_data(colours, tmp_path_factory.mktemp("data") / "colours")


def put(runs: Path, row: str, settings: MethodSettings, *, ways: int = 5, shots: int = 1) -> None:
    """Write a result as a test of these settings would."""
    cell = Cell.of(row.removesuffix("+"), ways, shots, settings)
    kept = remembered(cell, settings_for(cell, settings))
    results.write(TestResult(row, "pure", "WS-Colours-Pure", ways, shots, (0.25, 0.5), kept), runs)


def cells(found: tuple[Assignment, ...]) -> list[str]:
    """In words."""
    return [f"{cell.method} {cell.ways}w{cell.shots}s" for each in found for cell in each.cells]


def test_everything_is_missing_at_first(data: Path, tmp_path: Path) -> None:
    """Column by column, PPN first; Closer Look's one training comes with the cells of all columns."""
    found = missing([data], tmp_path, quick_settings())
    assert sorted(cells(found)) == sorted(f"{m} {ways}w{shots}s" for m in METHODS for ways, shots in COLUMNS)
    assert cells(found)[0] == "ppn 5w1s"
    firsts = [each.cells[0] for each in found]
    assert [(cell.ways, cell.shots) for cell in firsts] == sorted((cell.ways, cell.shots) for cell in firsts)
    assert [len(each.cells) for each in found if each.cells[0].method == "closer-look"] == [len(COLUMNS)]


def test_ways_of_the_training_are_shared(data: Path, tmp_path: Path) -> None:
    """Trained at 10 ways, one PPN serves the 5-way and the 10-way column of the same shots."""
    found = missing([data], tmp_path, quick_settings(training_ways=10), methods=("ppn", "gnn"))
    of_ppn = [each for each in found if each.cells[0].method == "ppn"]
    assert [[cell.ways for cell in each.cells] for each in of_ppn] == [[5, 10], [5, 10]]
    assert len(found) == 2 + len(COLUMNS)


def test_what_has_results_is_not_missing(data: Path, tmp_path: Path) -> None:
    """PPN is done when both of its rows are; results of other settings do not count."""
    settings = quick_settings()
    put(tmp_path, "gnn", settings)
    put(tmp_path, "closer-look", quick_settings(seed=9))
    put(tmp_path, "ppn", settings)
    wanted = {"methods": ("gnn", "closer-look", "ppn"), "columns": ((5, 1),)}
    assert cells(missing([data], tmp_path, settings, **wanted)) == ["ppn 5w1s", "closer-look 5w1s"]  # type: ignore[arg-type]
    other = quick_settings(coarse_lambda=0.3)
    assert cells(missing([data], tmp_path, other, **wanted)) == ["ppn 5w1s", "closer-look 5w1s"]  # type: ignore[arg-type]
    put(tmp_path, "ppn+", settings)
    assert cells(missing([data], tmp_path, settings, **wanted)) == ["closer-look 5w1s"]  # type: ignore[arg-type]


def test_run_missing(data: Path, tmp_path: Path) -> None:
    """A cell is trained and tested elsewhere; results lie on disk, are told, and nothing is missing afterwards."""
    settings, told, seen = quick_settings(iterations=10), list[TestResult](), list[Progress]()
    columns = ((2, 1),)
    wanted = missing([data], tmp_path, settings, methods=("prototypical-net",), columns=columns)
    run_missing(wanted, tmp_path, settings, on_result=told.append, on_progress=seen.append)
    assert [result.row for result in told] == ["prototypical-net"]
    assert results.read_all(tmp_path, "pure") == tuple(told)
    assert missing([data], tmp_path, settings, methods=("prototypical-net",), columns=columns) == ()
    assert seen[-1].total == 10


def test_failures_reach_the_caller(data: Path, tmp_path: Path) -> None:
    """What a process refuses is told as if it had happened here."""
    wanted = (Assignment(data, "pure", (Cell("prototypical-net", 2, 1),)),)
    with pytest.raises(InputError, match="at most 16 px, found 32 px"):
        run_missing(wanted, tmp_path, quick_settings(side=32))


def test_cancelled(data: Path, tmp_path: Path) -> None:
    """Asked to stop, it stops before it waits for anything."""
    cancel = CancelToken()
    cancel.cancel()
    wanted = (Assignment(data, "pure", (Cell("prototypical-net", 2, 1),)),)
    with pytest.raises(Cancelled):
        run_missing(wanted, tmp_path, quick_settings(), cancel=cancel)
    assert results.read_all(tmp_path, "pure") == ()
