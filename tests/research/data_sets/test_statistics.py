"""Counts of a data set and of the paper."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from research.data_sets.statistics import PAPER, Counts, statistics, total
from research.data_sets.stored import FewShotData, load


def small_data() -> FewShotData:
    """A coarse class above both parts, one above the training class only; five images."""
    return FewShotData(
        name="WS-Test",
        variant="pure",
        side=8,
        pixels=np.zeros((5, 8, 8, 3), dtype=np.uint8),
        class_positions=np.array([0, 1, 2, 0, 3]),
        is_test=np.array([False, False, False, True, True]),
        edge_index=np.array([[0, 0, 1], [2, 3, 2]]),
        levels=np.array([6, 6, 7, 7]),
        class_names=("both", "one", "training", "test"),
        class_keys=("a", "b", "c", "d"),
        training_few_shot=np.array([2]),
        test_few_shot=np.array([3]),
    )


def test_counts() -> None:
    """A class above both parts counts in each; images count once."""
    counted = statistics(small_data())
    assert counted.levels == {6: Counts(2, 2, 1, 1), 7: Counts(1, 1, 1, 1)}
    assert total(counted.levels) == Counts(3, 3, 2, 2)
    assert counted.levels[6].images == 3


def test_the_papers_totals() -> None:
    """The last row of the paper."""
    assert total(PAPER["pure"]) == Counts(160, 39025, 52, 9977)
    assert total(PAPER["mix"]) == Counts(156, 249844, 59, 88704)
    assert [total(PAPER[variant]).images for variant in ("pure", "mix")] == [49002, 338548]


def test_the_table() -> None:
    """One aligned line a level; levels missing in one of both are shown as such."""
    text = statistics(replace(small_data(), unreadable=("a: broken",))).as_text()
    lines = text.splitlines()
    assert lines[0] == "WS-Test, and WS-ImageNet-Pure of the paper"
    table = [line for line in lines[2:] if line[:1].isdigit() or line.startswith(("level", "all"))]
    assert len({len(line) for line in table}) == 1
    assert table[1].split() == ["3", "-", "7", "-", "15140", "-", "1", "-", "3680", "-", "18820"]
    assert table[-2].split() == ["7", "1", "71", "1", "2538", "1", "18", "1", "646", "2", "3184"]
    assert table[-1].split() == [
        "all",
        "3",
        "160",
        "3",
        "39025",
        "2",
        "52",
        "2",
        "9977",
        "5",
        "49002",
    ]
    assert lines[-1] == "Images left out because they cannot be read: 1"


def test_all_images_are_counted(built_once: Path) -> None:
    """Counts of a built data set add up."""
    data = load(built_once)
    counts = total(statistics(data).levels)
    assert counts.images == len(data.pixels)
    assert counts.test_images == data.is_test.sum()
