"""The table of accuracies as text, Markdown and CSV."""

import csv
import io
from pathlib import Path

import pytest

from engine.errors import InputError, StorageError
from research.reports.comparison import compare, facts_of
from research.reports.table import as_csv, as_markdown, as_text, write_table
from research.results import Setting, TestResult


def result(
    row: str, *accuracies: float, variant: str = "pure", ways: int = 5, settings: dict[str, Setting] | None = None
) -> TestResult:
    """One 1-shot result on a small data set."""
    return TestResult(row, variant, f"WS-Small-{variant.title()}", ways, 1, accuracies, settings or {})


PLAIN = result("ppn", 0.25, 0.35)
PLUS = result("ppn+", 0.40, 0.50, 0.60)
STEPS = result("ppn+:2-steps", 0.50, 0.61, 0.69)
WORSE = result("ppn+:worse", 0.50, 0.50, 0.50)


def lines_of(text: str, title: str) -> list[list[str]]:
    """Words of the lines that begin with a title."""
    return [line.removeprefix(title).split() for line in text.splitlines() if line.startswith(f"{title}  ")]


def test_ours_beside_the_papers() -> None:
    """A row shows ours and the paper's in each column, and "-" where ours is missing."""
    text = as_text([PLAIN], "pure")
    assert lines_of(text, "PPN") == [
        ["30.00±9.80<", "37.37±1.64", "-", "50.31±1.00", "-", "24.17±1.00", "-", "36.21±0.57"]
    ]
    assert lines_of(text, "GNN*") == [["-", "32.33±0.52", "-", "45.67±0.87", "-", "22.50±0.67", "-", "32.67±0.37"]]


def test_without_results_the_paper_stands_alone() -> None:
    """Nothing tested yet: the paper's table with empty cells."""
    text = as_text([], "mix")
    assert text.startswith("No results yet beside the paper's WS-ImageNet-Mix (600 tasks)")
    assert lines_of(text, "Prototypical Net") == [
        ["-", "31.93±1.62", "-", "49.80±0.90", "-", "21.02±0.97", "-", "36.42±0.62"]
    ]
    assert "Beyond" not in text


def test_best_of_a_column_is_marked() -> None:
    """Ours and the paper's each have their best; rows beyond the paper do not compete."""
    text = as_text([PLAIN, PLUS, STEPS], "pure")
    assert [line.split()[0] for line in text.splitlines() if "<" in line][1:] == ["PPN+"]
    markdown = as_markdown([PLAIN, PLUS, STEPS], "pure")
    assert "| PPN+ | **50.00±11.32** | **48.00±1.70** | - | **52.36±1.02** |" in markdown
    assert "| PPN | 30.00±9.80 | 37.37±1.64 |" in markdown


def test_rows_beyond_the_paper_are_compared_task_by_task() -> None:
    """Differences 0.10, 0.11 and 0.09 win; 0.10, 0 and -0.10 do not."""
    text = as_text([STEPS, WORSE, PLUS], "pure")
    assert lines_of(text, "PPN+: 2 steps")[0][:3] == ["60.00±10.79", "+10.00±1.13", "wins"]
    assert lines_of(text, "PPN+: worse")[0][:3] == ["50.00±0.00", "+0.00±11.32", "-"]
    assert text.index("PPN+: 2 steps") > text.index("Beyond the paper")


def test_a_row_beyond_without_its_base_has_no_difference() -> None:
    """No base, another number of tasks, and a model of its own each say what is known."""
    text = as_text([STEPS, result("gnn:deep", 0.2, 0.3), result("gnn", 0.1, 0.2, 0.3), result("own", 0.1, 0.2)], "pure")
    assert lines_of(text, "PPN+: 2 steps")[0] == ["60.00±10.79", *"-------"]
    assert lines_of(text, "GNN: deep")[0][:3] == ["25.00±9.80", "other", "tasks"]
    assert lines_of(text, "own")[0] == ["15.00±9.80", *"-------"]


def test_plain_text_lines_up() -> None:
    """All lines of a table are of one width, apart from blanks at their end, so it reads well in a pipe."""
    lines = as_text([PLAIN, PLUS], "pure").splitlines()
    table = lines[next(place for place, line in enumerate(lines) if line.startswith("Model")) :]
    assert max(map(len, table)) == len(table[1])
    plus = next(line for line in table if line.startswith("PPN+"))
    assert plus.index("48.00±1.70<") + len("48.00±1.70<") == table[0].index("paper") + len("paper")


def test_stars_survive_markdown() -> None:
    """A star of a name is no emphasis."""
    assert r"| Prototypical Net\* | - |" in as_markdown([], "pure")


def test_csv_holds_every_cell_unrounded() -> None:
    """What is read from the CSV are the very numbers."""
    lines = list(csv.DictReader(io.StringIO(as_csv([PLAIN, PLUS, STEPS], "pure"))))
    assert len(lines) == (8 + 1) * 4
    cells = {(line["row"], line["ways"], line["shots"]): line for line in lines}
    plus, steps = cells["ppn+", "5", "1"], cells["ppn+:2-steps", "5", "1"]
    assert float(plus["mean_percent"]) == 100 * PLUS.mean
    assert float(plus["interval_percent"]) == 100 * PLUS.interval
    assert (plus["best"], plus["tasks"], plus["paper_mean_percent"]) == ("True", "3", "48.0")
    assert (steps["compared_with"], steps["wins"], steps["paper_mean_percent"]) == ("ppn+", "True", "")
    assert float(steps["difference_percent"]) == pytest.approx(10)
    assert cells["gnn", "10", "5"]["mean_percent"] == ""


def test_table_is_written(tmp_path: Path) -> None:
    """Both files hold what the functions return."""
    paths = write_table([PLUS], "pure", tmp_path / "new")
    assert [path.name for path in paths] == ["table-pure.csv", "table-pure.md"]
    assert paths[0].read_text(encoding="utf-8") == as_csv([PLUS], "pure")
    assert paths[1].read_text(encoding="utf-8") == as_markdown([PLUS], "pure")


def test_a_folder_that_refuses_is_told(tmp_path: Path) -> None:
    """A file where the folder should be is an error for the person, not a crash."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="report cannot be written"):
        write_table([], "pure", tmp_path / "file")


def test_other_variants_and_columns_stay_out() -> None:
    """A result on Mix, or of 20-way tasks, is not in the table of Pure."""
    comparison = compare([result("ppn", 0.1, 0.2, variant="mix"), result("ppn", 0.1, 0.2, ways=20)], "pure")
    assert all(cell.result is None for row in comparison.paper_rows for cell in row.cells.values())
    assert comparison.data == ""


def test_facts_are_told_when_equal() -> None:
    """Tasks, side and iterations stand above the table, or that they differ."""
    same: dict[str, Setting] = {"side": 64, "iterations": 3000}
    equal = [result("ppn", 0.1, 0.2, settings=same), result("gnn", 0.3, 0.2, settings=same)]
    assert facts_of(equal) == "2 tasks, side 64 px, 3,000 training iterations"
    unequal = [*equal, result("ppn+", 0.1, 0.2, 0.3, settings={"side": 84, "iterations": 3000})]
    assert facts_of(unequal) == "tasks differ, side differs, 3,000 training iterations"
    assert facts_of([result("ppn", 0.1, 0.2)]) == "2 tasks"
    assert facts_of([]) == ""


def test_wrong_input_is_refused() -> None:
    """An unknown variant, or two results for one cell, are told."""
    with pytest.raises(InputError, match="pure or mix"):
        compare([], "large")
    with pytest.raises(InputError, match="two results for 5w1s"):
        compare([PLAIN, PLAIN], "pure")
