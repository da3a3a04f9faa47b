"""Results on disk, their means and intervals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import FormatError, InputError, StorageError
from research.results import TestResult, paired_difference, read_all, write

RESULT = TestResult("ppn+:2-steps", "pure", "WS-Small-Pure", 5, 1, (0.2, 0.4, 0.6, 0.8), {"side": 32, "lambda": None})


def test_mean_and_interval_by_hand() -> None:
    """Deviations of 0.3, 0.1, 0.1 and 0.3 from 0.5: variance 0.2 / 3, standard error sqrt(0.2 / 12) = 0.1291."""
    assert RESULT.mean == pytest.approx(0.5)
    assert RESULT.interval == pytest.approx(1.96 * 0.1290994, abs=1e-6)


def test_paired_difference_by_hand() -> None:
    """Differences 0.1, 0.1, 0.3 and 0.3: mean 0.2, variance 0.04 / 3, standard error sqrt(0.04 / 12) = 0.057735."""
    better = replace(RESULT, row="ppn+:other", accuracies=(0.3, 0.5, 0.9, 1.0))
    worse = replace(RESULT, accuracies=(0.2, 0.4, 0.6, 0.7))
    assert paired_difference(better, worse) == pytest.approx((0.2, 1.96 * 0.05773503))
    assert paired_difference(worse, better) == pytest.approx((-0.2, 1.96 * 0.05773503))


@pytest.mark.parametrize("change", [{"accuracies": (0.1, 0.2)}, {"ways": 10}, {"data": "WS-Other-Pure"}])
def test_results_of_other_tasks_are_not_paired(change: dict[str, object]) -> None:
    """Tasks that are not the same give no difference task by task."""
    other = TestResult(**{**vars(RESULT), **change})
    with pytest.raises(InputError, match="task by task"):
        paired_difference(RESULT, other)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """A result comes back whole from the place the table looks at; other variants stay out."""
    first = replace(RESULT, row="ppn+", ways=10)
    other = replace(RESULT, variant="mix")
    paths = [write(result, tmp_path) for result in (first, RESULT, other)]
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == [
        "pure/10w1s/results/ppn-plus.json",
        "pure/5w1s/results/ppn-plus--2-steps.json",
        "mix/5w1s/results/ppn-plus--2-steps.json",
    ]
    assert read_all(tmp_path, "pure") == (RESULT, first)
    assert read_all(tmp_path, "mix") == (other,)
    assert [path.name for path in tmp_path.rglob("*.part")] == []


def test_the_file_is_what_others_expect(tmp_path: Path) -> None:
    """Other programs read the file by these names."""
    facts = json.loads(write(RESULT, tmp_path).read_text(encoding="utf-8"))
    assert facts == {
        "row": "ppn+:2-steps",
        "variant": "pure",
        "data": "WS-Small-Pure",
        "ways": 5,
        "shots": 1,
        "accuracies": [0.2, 0.4, 0.6, 0.8],
        "settings": {"side": 32, "lambda": None},
    }


def test_a_newer_result_replaces_the_older(tmp_path: Path) -> None:
    """One row has one result in a column."""
    write(RESULT, tmp_path)
    newer = replace(RESULT, accuracies=(0.9, 0.8))
    write(newer, tmp_path)
    assert read_all(tmp_path, "pure") == (newer,)


def test_no_runs_are_no_results(tmp_path: Path) -> None:
    """Before the first test there is nothing, and that is no error."""
    assert read_all(tmp_path / "nothing", "pure") == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"row": "ppn", "accuracies": 3}'])
def test_a_torn_file_is_named(tmp_path: Path, text: str) -> None:
    """A file that holds no result says so with its name."""
    path = write(RESULT, tmp_path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"ppn-plus--2-steps\.json holds no result"):
        read_all(tmp_path, "pure")


def test_a_file_in_the_wrong_place_is_named(tmp_path: Path) -> None:
    """A result copied into another column does not count for that column."""
    path = write(RESULT, tmp_path)
    wrong = tmp_path / "pure" / "10w5s" / "results" / path.name
    wrong.parent.mkdir(parents=True)
    path.rename(wrong)
    with pytest.raises(FormatError, match="wrong place"):
        read_all(tmp_path, "pure")


def test_a_folder_that_refuses_is_told(tmp_path: Path) -> None:
    """A file where the folder should be is an error for the person, not a crash."""
    (tmp_path / "pure").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        write(RESULT, tmp_path)


@pytest.mark.parametrize("accuracies", [(), (0.5,), (0.5, 1.5), (0.5, -0.1), (0.5, float("nan"))])
def test_impossible_accuracies_are_refused(accuracies: tuple[float, ...]) -> None:
    """Accuracies are shares of two tasks or more."""
    with pytest.raises(InputError):
        replace(RESULT, accuracies=accuracies)
