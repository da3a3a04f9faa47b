"""The confusion matrix folds along branches, keeps its sums, and is fast with 10,000 classes."""

import numpy as np
import pytest

from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN
from engine.report.branch_tree import branch_tree
from engine.report.classes import class_figures
from engine.report.confusion import DEFAULT_ROWS, Confusion, confusion_of
from engine.report.figures import Proportion
from engine.report.mistakes import GraphDistance, mistakes_of
from tests.support.reports import ANIMAL, AUK, BIRD, COAST, DOG, GULL, ROCK, confusion_in, zoo

PAIRS = (
    (GULL, GULL),
    (GULL, GULL),
    (GULL, AUK),
    (AUK, DOG),
    (DOG, DOG),
    (ROCK, GULL),
    (UNKNOWN, ROCK),
    (AUK, UNKNOWN),
    (BIRD, GULL),
)


@pytest.fixture
def matrix() -> Confusion:
    """A matrix of nine images."""
    return confusion_in(zoo(), PAIRS)


def names(confusion: Confusion, opened: set[int]) -> list[str]:
    """Indented names of the rows along a cut."""
    lines = confusion.lines(opened)
    return ["  " * line.depth + confusion.tree.names.get(line.class_id, "?") for line in lines]


def test_rows_open_branch_by_branch(matrix: Confusion) -> None:
    """A class with two parents is below the older; a class without images is omitted.

    None of the classes is last.
    """
    assert names(matrix, set()) == ["Animal", "Rock", "?"]
    assert names(matrix, {ANIMAL}) == ["Animal", "  Bird", "  Dog", "Rock", "?"]
    assert names(matrix, {BIRD}) == ["Animal", "Rock", "?"]  # it is in a collapsed branch
    assert names(matrix, {ANIMAL, BIRD}) == [
        "Animal",
        "  Bird",
        "    Auk",
        "    Gull",
        "  Dog",
        "Rock",
        "?",
    ]


def test_cells_by_hand(matrix: Confusion) -> None:
    """Collapsed: seven animals (six found), one rock as animal, one unknown as rock."""
    closed = matrix.folded(set())
    assert closed.cells == {(0, 0): 6, (0, 2): 1, (1, 0): 1, (2, 1): 1}
    assert closed.row_totals.tolist() == [7, 1, 1]
    opened = matrix.folded({ANIMAL, BIRD})
    assert opened.branch_totals.tolist() == [7, 6, 2, 3, 1, 1, 1]
    assert opened.row_totals.tolist() == [0, 1, 2, 3, 1, 1, 1]
    assert opened.cells[1, 3] == 1  # Bird itself, predicted Gull
    assert opened.cells[3, 3] == 2
    assert sum(opened.cells.values()) == len(PAIRS)


@pytest.mark.parametrize("opened", [set(), {ANIMAL}, {ANIMAL, BIRD}])
def test_every_image_is_in_one_cell(matrix: Confusion, opened: set[int]) -> None:
    """For any cut cells partition the images, and list as many as they count."""
    folded = matrix.folded(opened)
    seen = []
    for (row, column), count in folded.cells.items():
        images = matrix.images_of(folded.lines, row, column).tolist()
        assert len(images) == count
        seen += images
    assert sorted(seen) == list(range(101, 101 + len(PAIRS)))
    last = len(folded.lines) - 1  # none of the classes, never predicted
    assert not len(matrix.images_of(folded.lines, last, last))


def test_first_cut_opens_where_mistakes_hide(matrix: Confusion) -> None:
    """Gull for Auk and Auk for Dog are within Animal; a cut of three rows leaves it collapsed."""
    assert matrix.first_cut() == {ANIMAL, BIRD}
    assert matrix.first_cut(max_rows=3) == frozenset()


def test_class_figures_by_hand(matrix: Confusion) -> None:
    """Including all classes below.

    A coarse truth does not judge classes predicted below it.
    """
    graph = zoo()
    figures = {
        each.class_id: each for each in class_figures(graph, matrix, {GULL: 3, AUK: 2}, {DOG: 4})
    }
    gull = figures[GULL]
    assert (gull.recall, gull.precision) == (Proportion(2, 3), Proportion(2, 3))
    assert (gull.confused_with, gull.confused) == (AUK, 1)
    assert gull.f1 == pytest.approx(2 / 3)
    bird = figures[BIRD]
    assert (bird.recall, bird.precision, bird.labels) == (Proportion(4, 6), Proportion(4, 5), 5)
    assert bird.confused_with in (DOG, UNKNOWN)
    animal = figures[ANIMAL]
    assert (animal.recall, animal.precision) == (Proportion(6, 7), Proportion(6, 7))
    assert (animal.found, figures[COAST].labels) == (4, 3)
    assert figures[ROCK].precision == Proportion(0, 1)


def test_mistakes_by_distance(matrix: Confusion) -> None:
    """Gull for Auk: 2 edges, below Bird (height 1). Auk for Dog: 3, Animal (2).

    Rock for Gull: over the root. Rock is 1 below the top and Gull 2, by Coast; the top is above
    Animal: 3.
    """
    mistakes = mistakes_of(zoo(), matrix)
    assert mistakes.wrong == 3
    assert mistakes.by_distance == ((2, 1), (3, 2))
    assert mistakes.mean_height == pytest.approx((1 + 2 + 3) / 3)
    assert set(mistakes.worst) == {(GULL, AUK, 1), (AUK, DOG, 1), (ROCK, GULL, 1)}


def test_distance_takes_the_shortest_way() -> None:
    """By the nearest common ancestor, symmetric."""
    measure = GraphDistance(zoo())
    assert measure.between(GULL, AUK) == measure.between(AUK, GULL) == (2, 1)
    assert measure.between(GULL, COAST) == (1, 1)
    assert measure.between(DOG, ROCK) == (3, 3)


@pytest.mark.slow
def test_ten_thousand_classes_in_a_second() -> None:
    """Sums, a cut that fits a screen, and figures of each class, for 50,000 images."""
    graph = CategoryGraph()
    families = [graph.add_class(f"Family {number}") for number in range(100)]
    leaves = [
        graph.add_class(f"Leaf {number}", [families[number % 100]]) for number in range(10_000)
    ]
    generator = np.random.default_rng(0)
    true = np.array(5 * leaves)
    predicted = np.where(generator.random(50_000) < 0.7, true, generator.choice(leaves, 50_000))
    confusion = confusion_of(branch_tree(graph, leaves), np.arange(50_000), true, predicted)
    opened = confusion.first_cut()
    folded = confusion.folded(opened)
    whole = confusion.folded(families)
    figures = class_figures(graph, confusion, {}, {})
    assert folded.counts.sum() == whole.counts.sum() == 50_000
    assert len(folded.lines) <= max(DEFAULT_ROWS, 100)
    assert len(whole.lines) == 10_100
    assert len(figures) == 10_100
