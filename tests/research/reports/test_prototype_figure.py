"""Figure 1: prototypes in two dimensions."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import InputError
from research.reports import drawing
from research.reports.class_names import name_coarse_classes
from research.reports.nearness import nearness
from research.reports.prototype_figure import PrototypeFigure, prototypes_in_2d
from tests.support.figures import inked_share, vector_root


@dataclass(frozen=True)
class Tree:
    """Four roots with three children each, who have two each; children are near their parents."""

    vectors: NDArray[np.float32]
    edge_index: NDArray[np.int64]
    levels: NDArray[np.int64]
    names: tuple[str, ...]


def small_tree() -> Tree:
    """40 classes in 16 dimensions; the last one has a second parent."""
    generator = np.random.default_rng(7)
    parents = np.array(
        [-1] * 4 + [child // 3 for child in range(12)] + [4 + child // 2 for child in range(24)]
    )
    vectors = np.zeros((40, 16), dtype=np.float32)
    for child, parent in enumerate(parents.tolist()):
        vectors[child] = generator.normal(size=16) + (vectors[parent] if parent >= 0 else 0)
    children = np.flatnonzero(parents >= 0)
    edge_index = np.hstack([np.stack([parents[children], children]), np.array([[4], [39]])])
    levels = np.repeat([3, 4, 5], [4, 12, 24])
    return Tree(vectors, edge_index, levels, tuple(f"class {place}" for place in range(40)))


def draw(tree: Tree, out: Path, seed: int = 0) -> PrototypeFigure:
    """The figure of a tree."""
    return prototypes_in_2d(tree.vectors, tree.edge_index, tree.levels, tree.names, out, seed=seed)


def test_children_sit_nearer_than_random_pairs(tmp_path: Path) -> None:
    """t-SNE keeps families together; both ratios are reported."""
    tree = small_tree()
    figure = draw(tree, tmp_path)
    assert figure.in_full_space.ratio < 1
    assert figure.in_figure.ratio < 0.7
    assert figure.in_figure == nearness(figure.places, tree.edge_index, tree.levels)
    assert f"{figure.in_figure.ratio:.2f} in the figure" in figure.sentence


@pytest.mark.slow
def test_files_hold_what_was_drawn(tmp_path: Path) -> None:
    """CSV: positions, names, levels and parents; JSON: the measurements; pictures are not blank."""
    tree = small_tree()
    figure = draw(tree, tmp_path / "new")
    with figure.classes.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert np.array_equal([[float(row["x"]), float(row["y"])] for row in rows], figure.places)
    assert tuple(row["name"] for row in rows) == tree.names
    assert [int(row["level"]) for row in rows] == tree.levels.tolist()
    assert [rows[place]["parents"] for place in (0, 4, 39)] == ["", "0", "15;4"]
    facts = json.loads(figure.facts.read_text(encoding="utf-8"))
    assert (facts["classes"], facts["edges"], facts["seed"]) == (40, 37, 0)
    assert facts["figure"]["ratio"] == figure.in_figure.ratio
    assert facts["full_space"]["spread_by_level"]["3"] == figure.in_full_space.spread[3]
    assert 0.005 < inked_share(figure.pixels) < 0.5
    assert vector_root(figure.vectors) == "svg"


@pytest.mark.slow
def test_drawn_twice_is_the_same(tmp_path: Path) -> None:
    """The same seed gives the same files."""
    first, second = draw(small_tree(), tmp_path / "first"), draw(small_tree(), tmp_path / "second")
    for name in ("pixels", "vectors", "classes", "facts"):
        assert getattr(first, name).read_bytes() == getattr(second, name).read_bytes()


def test_names_do_not_overlap() -> None:
    """Of crowded coarse classes, names are written coarsest first, without overlap."""
    generator = np.random.default_rng(1)
    places = generator.uniform(size=(60, 2)) * 0.3
    levels = np.repeat([3, 4, 5], [5, 35, 20])
    names = [f"level {level} $class {place}" for place, level in enumerate(levels.tolist())]
    with drawing.styled():
        figure = drawing.new_figure(5.0, 5.0)
        axes = figure.subplots()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        written = name_coarse_classes(figure, axes, places, levels, names)
        boxes = [text.get_window_extent() for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == list(written)
    assert 0 < len(written) < 40
    assert written[0].startswith("level 3")
    assert not any(name.startswith("level 5") for name in written)
    assert not any(
        box.overlaps(other) for place, box in enumerate(boxes) for other in boxes[:place]
    )


def test_names_are_few() -> None:
    """At most a minority of classes gets names."""
    side = np.linspace(0.05, 0.95, 10)
    places = np.array([(x, y) for x in side for y in side])
    with drawing.styled():
        figure = drawing.new_figure(9.0, 9.0)
        axes = figure.subplots()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        written = name_coarse_classes(figure, axes, places, np.array([3] * 99 + [4]), ["x"] * 100)
    assert len(written) == 30


@pytest.mark.parametrize("count", [3, 39])
def test_wrong_numbers_of_classes_are_reported(tmp_path: Path, count: int) -> None:
    """Too few classes, or levels of another length, leave no files."""
    tree = small_tree()
    vectors = tree.vectors[:count]
    levels, names = (tree.levels[:3], tree.names[:3]) if count == 3 else (tree.levels, tree.names)
    with pytest.raises(InputError):
        prototypes_in_2d(vectors, np.array([[0], [1]]), levels, names, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_infinite_prototypes_are_reported(tmp_path: Path) -> None:
    """A diverged model is not drawn."""
    tree = small_tree()
    tree.vectors[5, 5] = np.inf
    with pytest.raises(InputError, match="not finite"):
        draw(tree, tmp_path)
