"""The grid: training data, choices and comparisons."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.collection.training.settings import Chosen
from engine.errors import FormatError, InputError, UsageError
from engine.model_card import read_card
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from engine.training.level_wise import PrototypePropagation
from engine.training.loop import embedder
from research.data_sets.stored import DATA_FILE, FewShotData
from research.grid import run
from research.grid.cell import GridCell, cells_of
from research.grid.curves import draw_curves, mean_curve
from research.grid.figures import AUTHORS, RowFigures, bootstrapped, rows_in
from research.grid.release import release
from research.grid.result import ColumnResult, GridResult, TriedChoice, read, read_all, write
from research.grid.rows import FITTED, row_names, rows_of
from research.grid.run import do_cell, missing, settings_of
from research.grid.summary import summary_of
from research.grid.table import TESTS, by_class, shared_test_classes, tables_of
from research.methods import MethodSettings, make_objective, with_chosen
from research.testing.bench import Bench, test_images, validation_images
from research.testing.tasks import draw_tasks
from tests.support.few_shot_data import write_data

CURVE = ((5, 0.5, None),)
FEW_TASKS = 20
SHARING = ((0, ("a", "b")), (1, ("b", "c")))


def hits(*numbers: int) -> NDArray[np.uint8]:
    """Correct predictions of tasks of ten images."""
    return np.array(numbers, dtype=np.uint8)


def result(
    method: str, rows: Mapping[str, tuple[TriedChoice, ...]], *, split: int = 0, tasks: str = "a"
) -> GridResult:
    """Result of a synthetic training."""
    name = f"pure/split{split}/seed0/1s/{method}"
    columns = {(5, 1): ColumnResult(tasks, 10, rows)}
    return GridResult(
        name,
        "pure",
        split,
        0,
        method,
        1,
        "Colours",
        {"iterations": 5},
        1.5,
        CURVE,
        columns,
        ("a", "b"),
    )


def test_nothing_of_a_validation_class_is_trained_on(colours: FewShotData) -> None:
    """Neither their images nor those of classes above only them; edges and levels stay."""
    data = colours.with_validation(3)
    aside = data.validation_few_shot
    assert len(aside) == 3
    assert not np.intersect1d(aside, data.training_few_shot).size
    training_set = data.training_set()
    assert not np.isin(training_set.class_positions, aside).any()
    assert not np.isin(training_set.edge_index, aside).any()
    assert np.array_equal(data.edge_index, colours.edge_index)
    assert len(training_set.pixels) == len(training_set.class_positions)
    kept = ~colours.is_test & ~np.isin(colours.class_positions, aside)
    assert np.array_equal(training_set.pixels, colours.pixels[kept][: len(training_set.pixels)])


def test_choices_and_tests_share_no_class(colours: FewShotData) -> None:
    """Test classes are not in training, either."""
    data = colours.with_validation(3)
    validation, test = set(validation_images(data)), set(test_images(data))
    assert validation == set(data.validation_few_shot.tolist())
    assert validation.isdisjoint(test)
    assert test.isdisjoint(data.training_few_shot.tolist())


def test_too_few_classes_are_left(colours: FewShotData) -> None:
    """The error comes before training."""
    with pytest.raises(InputError, match="too few few-shot classes"):
        colours.with_validation(len(colours.training_few_shot) - 1)


def test_validation_chooses_over_all_splits() -> None:
    """The second candidate is better on the mean of both splits, though worse on the test."""
    of_splits = ((0.9, 0.6, 0), (0.1, 0.6, 1))
    results = [
        result(
            "ppn",
            {"means": (TriedChoice("x", first, hits(9, 9)), TriedChoice("y", second, hits(5, 5)))},
            split=split,
        )
        for first, second, split in of_splits
    ]
    row = rows_in(results, "pure", (5, 1))[0]
    assert row.choice == "y"
    assert row.figure.mean == pytest.approx(0.5)


def test_the_authors_choice_is_on_the_test_and_a_row_of_its_own() -> None:
    """Their code takes the best lambda on test tasks; validation would take the other."""
    tried = (TriedChoice("lambda 0", 0.1, hits(9, 9)), TriedChoice("lambda 1", 0.9, hits(5, 5)))
    rows = rows_in([result("ppn", {"plus-tuned": tried})], "pure", (5, 1))
    assert [(row.test, row.choice) for row in rows] == [
        ("plus-tuned", "lambda 1"),
        ("plus-on-test", "lambda 0"),
    ]


def test_every_method_gets_as_much_computing(folder: Path) -> None:
    """Plain few-shot episodes are cheaper, so there are more of them."""
    plain, star = (
        settings_of(GridCell(folder, "pure", 4, 1, method, 1), {"iterations": 100}).training
        for method in ("prototypical-net-heads", "prototypical-net-star")
    )
    assert (plain.iterations, star.iterations) == (150, 100)
    assert plain.seed == star.seed == 1


def test_intervals_know_the_splits() -> None:
    """Differences between splits widen an interval more than those between tasks."""
    tasks = np.tile([0.4, 0.6], 300)
    alike = bootstrapped({(0, 0): tasks, (1, 0): tasks})
    apart = bootstrapped({(0, 0): tasks - 0.2, (1, 0): tasks + 0.2})
    assert alike.mean == pytest.approx(0.5)
    assert apart.mean == pytest.approx(0.5)
    assert alike.half_width < 0.01
    assert apart.half_width > 0.15


def test_differences_are_paired_and_refuse_other_tasks() -> None:
    """The same tasks cancel common variance; different ones are an error."""
    first = RowFigures("ppn", "means", "", {(0, 0): np.tile([0.2, 0.8], 50) + 0.1}, {(0, 0): "a"})
    second = RowFigures(
        "prototypical-net", "means", "", {(0, 0): np.tile([0.2, 0.8], 50)}, {(0, 0): "a"}
    )
    found = first.minus(second)
    assert found.mean == pytest.approx(0.1)
    assert found.half_width == pytest.approx(0, abs=1e-9)
    with pytest.raises(InputError, match="different ones"):
        first.minus(replace(second, tasks={(0, 0): "b"}))
    with pytest.raises(InputError, match="no split and seed"):
        first.minus(replace(second, tasks={(1, 0): "a"}))


def test_results_come_back_as_they_were(tmp_path: Path) -> None:
    """Small files, valid or a clear error."""
    written = result("ppn", {"means": (TriedChoice("", 0.25, hits(1, 10, 0)),)})
    path = write(written, tmp_path)
    found = read(path)
    assert (found.name, found.cpu_s, found.curve, found.settings) == (
        written.name,
        written.cpu_s,
        written.curve,
        written.settings,
    )
    assert found.columns[5, 1].rows["means"][0].hits.tolist() == [1, 10, 0]
    assert [each.name for each in read_all(tmp_path)] == [written.name]
    path.rename(path.with_name("other.json"))
    with pytest.raises(FormatError, match="wrong place"):
        read_all(tmp_path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(FormatError, match="holds no result"):
        read(path)


def test_the_table_sets_rows_beside_the_nets() -> None:
    """Differences to both, paired by task, and the paper's figure."""
    plain = {"means": (TriedChoice("", 0.5, hits(*[4] * 50)),)}
    better = {"posterior": (TriedChoice("beta 0.4", 0.5, hits(*[6] * 50)),)}
    results = [result("prototypical-net", plain), result("ppn-guessed", better)]
    ((title, table),) = tables_of(results, "pure")
    assert title.startswith("pure, 5-way 1-shot: 1 splits, 1 seeds")
    assert len(table.as_text().splitlines()) == 2 + len(table.rows)
    assert table.rows[0][:4] == ("Prototypical Net", "means", "40.00 ± 0.00", "33.17")
    assert table.rows[1][2:] == (
        "60.00 ± 0.00",
        "-",
        "+20.00 ± 0.00",
        "",
        "",
        "-",
        "-",
        "-",
        "beta 0.4",
    )


def test_classes_with_and_without_a_seen_parent() -> None:
    """By hand: 6 of 10 of the class with a parent seen in training, 1 of 10 of the other."""
    tried = TriedChoice("", 0.5, hits(7), (6, 1), 2.5)
    found = result("ppn", {"means": (tried,)})
    column = replace(found.columns[5, 1], class_queries=(10, 10))
    found = replace(found, columns={(5, 1): column}, has_seen_parent=(True, False))
    row = rows_in([found], "pure", (5, 1))[0]
    assert row.by_parent == (0.6, 0.1)
    assert row.distance == 2.5
    ((_, table),) = tables_of([found], "pure")
    assert table.rows[0][-4:-1] == ("60.0", "10.0", "2.50")


def test_the_summary_has_every_column_beside_the_papers() -> None:
    """By hand: the test with better validation is shown, and its lead over the baseline."""
    plain = result("prototypical-net", {"means": (TriedChoice("", 0.5, hits(*[4] * 50)),)})
    tried = {
        "posterior": (TriedChoice("beta 0.4", 0.6, hits(*[6] * 50)),),
        "heads": (TriedChoice("", 0.5, hits(*[9] * 50)),),
    }
    table = summary_of([plain, result("ppn-guessed", tried)], "pure")
    assert table.header == ("trained: tested", "5w1s")
    cells = {row[0]: row[1] for row in table.rows}
    assert cells["Prototypical Net: means"] == "40.0 ± 0.0 (33.2 ± 1.6)"
    name = "PPN, training and test chosen"
    assert (cells[name], cells[f"{name}: which"]) == ("60.0 ± 0.0", "ppn-guessed posterior")
    assert (
        cells[f"{name}, minus Prototypical Net"],
        cells[f"{name}, minus Prototypical Net*"],
    ) == ("+20.0 ± 0.0", "-")
    assert cells["PPN+, training and test chosen"] == "-"


def test_each_class_has_its_accuracy() -> None:
    """By hand over two splits: 6 + 2 of 20 of a, 1 + 1 of 20 of b; the worst first."""
    results = [
        replace(
            result(
                "ppn-guessed",
                {"plus-tuned": (TriedChoice("", 0.5, hits(7), of_classes),)},
                split=split,
            ),
            columns={
                (5, 1): ColumnResult(
                    "a", 10, {"plus-tuned": (TriedChoice("", 0.5, hits(7), of_classes),)}, (10, 10)
                )
            },
        )
        for split, of_classes in enumerate(((6, 1), (2, 1)))
    ]
    table = by_class(results, "pure", {"a": "apple"})
    assert table.rows == (("b", "10.0"), ("apple", "40.0"))


def test_rows_are_set_beside_what_they_vary() -> None:
    """A test beside the one it varies; a training with the raw cosine beside the softmax."""
    plus = {
        "plus": (TriedChoice("", 0.5, hits(*[4] * 9)),),
        "plus-all": (TriedChoice("", 0.5, hits(*[5] * 9)),),
    }
    cosine = {"plus": (TriedChoice("", 0.5, hits(*[1] * 9)),)}
    ((_, table),) = tables_of([result("ppn", plus), result("ppn-cosine", cosine)], "pure")
    beside = {row[:2]: row[6] for row in table.rows}
    assert beside["PPN, the paper's training", "PPN+, all weak images"] == "+10.00 ± 0.00"
    assert beside["PPN, trained with the raw cosine", "PPN+, the paper's lambda"] == "-30.00 ± 0.00"


def test_what_splits_share_is_reported() -> None:
    """Common test classes of each two splits of a variant."""
    results = [replace(result("ppn", {}, split=split), test_classes=ids) for split, ids in SHARING]
    assert shared_test_classes(results).rows == (("pure 0 and 1", "2", "1"),)


def test_curves_are_means_against_seconds(tmp_path: Path) -> None:
    """Two trainings of ten iterations in 1.5 and 3 seconds; a missing accuracy is a gap."""
    first = replace(result("ppn", {}), curve=((5, 2.0, 0.2), (10, 1.0, None)))
    second = replace(result("ppn", {}, split=1), curve=((5, 4.0, 0.4), (10, 1.0, 0.5)), cpu_s=3.0)
    seconds, losses, accuracies = mean_curve([first, second])
    assert seconds.tolist() == pytest.approx([1.125, 2.25])
    assert losses.tolist() == [3.0, 1.0]
    assert accuracies[0] == pytest.approx(0.3)
    assert np.isnan(accuracies[1])
    assert all(path.stat().st_size > 0 for path in draw_curves([first, second], tmp_path))


@pytest.fixture
def folder(tmp_path: Path, colours: FewShotData) -> Path:
    """A data set of split 4, as named by `build`."""
    found = write_data(colours, tmp_path / "colours")
    facts = json.loads((found / DATA_FILE).read_text(encoding="utf-8")) | {"recipe": {"seed": 4}}
    (found / DATA_FILE).write_text(json.dumps(facts), encoding="utf-8")
    return found


def test_cells_of_a_grid(folder: Path) -> None:
    """Fewer shots first, then by seed."""
    cells = cells_of([folder], seeds=2, methods=("ppn",), shots=(1, 5))
    assert [cell.name for cell in cells] == [
        f"pure/split4/seed{seed}/{shots}s/ppn" for shots in (1, 5) for seed in (0, 1)
    ]
    assert isinstance(cells[0], GridCell)
    assert cells[0].columns == ((5, 1), (10, 1))


def test_raw_cosine_is_tested_as_it_was_trained(colours: FewShotData) -> None:
    """Raw cosines near zero shrink prototypes to the origin; a softmax does not."""
    found = {}
    for method in ("ppn", "ppn-cosine"):
        settings = with_chosen(MethodSettings(), {"side": 16, "coarse_images": 3})
        objective = make_objective(method, colours.training_set(), settings)
        assert isinstance(objective, PrototypePropagation)
        embed = embedder(objective.eval(), colours.pixels, 16)
        objective.refresh(embed)
        bench = Bench(colours, embed)
        embedded = bench.embed_tasks(draw_tasks(test_images(colours), ways=5, shots=1, count=5))
        found[method] = rows_of(bench, bench, objective)["plus"][""](embedded)
    assert not np.array_equal(found["ppn"], found["ppn-cosine"])


def test_a_gnn_for_five_shots_goes_on_from_that_for_one(folder: Path) -> None:
    """No other method does."""
    start = GridCell(folder, "pure", 4, 1, "gnn-star", 5).start
    assert start is not None
    assert start.name == "pure/split4/seed1/1s/gnn-star"
    assert GridCell(folder, "pure", 4, 1, "ppn", 5).start is None
    assert GridCell(folder, "pure", 4, 1, "gnn", 1).start is None


@pytest.mark.slow
def test_only_rows_that_a_result_lacks_are_tested(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of the same network are kept; with another network, all are tested again."""
    monkeypatch.setattr(run, "TASK_COUNT", FEW_TASKS)
    monkeypatch.setattr(run, "VALIDATION_TASKS", 2)
    cell = GridCell(folder, "pure", 4, 0, "prototypical-net", 1, validation=5)
    chosen: Chosen = {
        "side": 16,
        "training_ways": 4,
        "episode_queries": 1,
        "precision": "float32",
        "iterations": 2,
    }
    places = (cell, tmp_path / "runs", tmp_path / "results", chosen)
    first = do_cell(*places)
    rows = dict(first.columns[5, 1].rows)
    marked = {**rows, "shrunk": (replace(rows["shrunk"][0], choice="marked"),)}
    del marked["means"]
    write(
        replace(first, columns={(5, 1): replace(first.columns[5, 1], rows=marked)}),
        tmp_path / "results",
    )
    assert missing([cell], tmp_path / "results", chosen) == (cell,)
    again = do_cell(*places)
    assert again.columns[5, 1].rows["shrunk"][0].choice == "marked"
    assert np.array_equal(again.columns[5, 1].rows["means"][0].hits, rows["means"][0].hits)
    assert again.cpu_s == first.cpu_s
    shutil.rmtree(tmp_path / "runs")
    assert do_cell(*places).columns[5, 1].rows["shrunk"][0].choice == rows["shrunk"][0].choice


@pytest.mark.slow
def test_rows_that_are_left_out_are_tested_later(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classifiers fitted to each task are slow, so other rows are tested without them."""
    monkeypatch.setattr(run, "TASK_COUNT", FEW_TASKS)
    monkeypatch.setattr(run, "VALIDATION_TASKS", 2)
    cell, results = (
        GridCell(folder, "pure", 4, 0, "prototypical-net", 1, validation=5),
        tmp_path / "results",
    )
    chosen: Chosen = {
        "side": 16,
        "training_ways": 4,
        "episode_queries": 1,
        "precision": "float32",
        "iterations": 2,
    }
    first = do_cell(cell, tmp_path / "runs", results, chosen, FITTED).columns[5, 1].rows
    assert first.keys() == row_names(cell.method) - FITTED
    assert missing([cell], results, chosen, FITTED) == ()
    assert missing([cell], results, chosen) == (cell,)
    again = do_cell(cell, tmp_path / "runs", results, chosen).columns[5, 1].rows
    assert again.keys() == row_names(cell.method)
    assert all(np.array_equal(again[row][0].hits, first[row][0].hits) for row in first)
    kept = do_cell(cell, tmp_path / "runs", results, chosen, FITTED).columns[5, 1].rows
    assert kept.keys() == again.keys()


def test_two_of_one_split_are_refused(folder: Path) -> None:
    """Their results would be in one file."""
    with pytest.raises(UsageError, match="the same split"):
        cells_of([folder, folder], seeds=1)


@pytest.mark.slow
def test_a_cell_is_trained_tested_and_found_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PPN with heads and guessed parents: every row has figures, and no cell is missing then."""
    monkeypatch.setattr(run, "TASK_COUNT", FEW_TASKS)
    monkeypatch.setattr(run, "VALIDATION_TASKS", 2)
    cell = GridCell(folder, "pure", 4, 0, "ppn-guessed", 1, validation=5)
    chosen: Chosen = {
        "side": 16,
        "training_ways": 4,
        "queries": 1,
        "coarse_images": 3,
        "coarse_shots": 1,
        "precision": "float32",
        "iterations": 4,
    }
    found = do_cell(cell, tmp_path / "runs", tmp_path / "results", chosen)
    column = found.columns[5, 1]
    assert (
        set(column.rows) == set(TESTS) - set(AUTHORS.values()) - {"own"} == row_names("ppn-guessed")
    )
    assert all(len(each.hits) == FEW_TASKS for tried in column.rows.values() for each in tried)
    read_again = read(tmp_path / "results" / f"{cell.name}.json")
    assert (read_again.cpu_s, read_again.has_seen_parent) == (found.cpu_s, found.has_seen_parent)
    assert found.has_seen_parent == (True, True, True, True, False, False)
    plain = read_again.columns[5, 1].rows["means"][0]
    assert sum(plain.class_hits) == plain.hits.sum()
    assert sum(column.class_queries) == FEW_TASKS * column.queries
    wrong = [
        each
        for tried in column.rows.values()
        for each in tried
        if sum(each.class_hits) < sum(column.class_queries)
    ]
    assert wrong
    assert all(2 <= each.distance <= 10 for each in wrong)
    assert missing([cell], tmp_path / "results", chosen) == ()
    backbone, propagation = release(
        cell, tmp_path / "runs", tmp_path / "results", chosen, tmp_path / "released"
    )
    card = read_card(backbone)
    assert (card.input_side, propagation.exists()) == (16, True)
    assert 0 <= card.figures["5-way 1-shot, posterior"] <= 1
    assert (
        BackboneSession(backbone, card, CPU_CHOICE)
        .embed(np.zeros((1, 16, 16, 3), np.uint8))
        .shape[0]
        == 1
    )
    assert missing([cell], tmp_path / "results", {**chosen, "iterations": 5}) == (cell,)
