"""The draw of images, finest level first."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError
from research.data_sets.class_graph import ClassGraph, choose_classes
from research.data_sets.hierarchy import Hierarchy, read_hierarchy
from research.data_sets.recipe import Recipe
from research.data_sets.sampling import DrawnImages, draw_images
from research.data_sets.source import DataSetImages, open_source
from tests.support.small_imagenet import LEVELS, key

MANY = dict.fromkeys((key(name) for name in LEVELS[7]), 24)
PURE = Recipe("pure", factor=4.0, rate=0.6, fewest_images=4)
MIX = Recipe("mix", factor=4.0, rate=0.6, fewest_images=4)


class Everything(DataSetImages):
    """A source of names only: draws do not read images."""

    def _read(self, path: str) -> bytes:
        return path.encode()


@pytest.fixture(scope="module")
def source(small_imagenet: Path) -> Iterator[DataSetImages]:
    """The small source."""
    with open_source(small_imagenet) as opened:
        yield opened


@pytest.fixture(scope="module")
def hierarchy(source: DataSetImages, wordnet: Path) -> Hierarchy:
    """The hierarchy above the source."""
    return read_hierarchy(wordnet, source.folders)


@pytest.fixture(scope="module")
def graph(hierarchy: Hierarchy) -> ClassGraph:
    """Ten few-shot classes."""
    return choose_classes(hierarchy, MANY, PURE)


def folders_of(source: DataSetImages, drawn: DrawnImages) -> list[str]:
    """Id of the folder of each drawn image."""
    return [
        source.folders[position] for position in source.folder_positions[drawn.source_positions]
    ]


@pytest.mark.parametrize("recipe", [PURE, MIX])
def test_no_image_is_drawn_twice_and_each_belongs_to_its_class(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph, recipe: Recipe
) -> None:
    """The folder of an image is its class or a descendant."""
    drawn = draw_images(source, hierarchy, graph, recipe)
    assert len(np.unique(drawn.source_positions)) == len(drawn.source_positions) > 100
    for folder, position in zip(folders_of(source, drawn), drawn.class_positions, strict=True):
        assert graph.keys[position] in hierarchy.above(folder) | {folder}


def test_pure_and_mix_differ_in_what_coarse_classes_draw(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph
) -> None:
    """Only Mix draws images of unchosen level-7 classes; neither draws from folders above."""
    few_shot = {
        graph.keys[position] for position in (*graph.training_few_shot, *graph.test_few_shot)
    }
    pure, mix = (
        set(folders_of(source, draw_images(source, hierarchy, graph, recipe)))
        for recipe in (PURE, MIX)
    )
    below = {folder for folder in source.folders if (hierarchy.above(folder) | {folder}) & few_shot}
    assert pure == below
    assert mix == set(source.folders) - {key("ornament")}
    assert mix > pure


def test_shares_are_those_of_the_recipe(hierarchy: Hierarchy, graph: ClassGraph) -> None:
    """2,000 images a folder: each level draws its share of the images left by finer levels."""
    names = [f"{key(name)}/{number}.JPEG" for name in LEVELS[7] for number in range(2000)]
    source = Everything(names)
    recipe = Recipe("pure", factor=1.5, rate=0.8)
    drawn = draw_images(source, hierarchy, graph, recipe)
    left = 2000 * 10
    for level in reversed(recipe.levels):
        count = int((graph.levels[drawn.class_positions] == level).sum())
        wanted = left * recipe.share(level)
        assert count == pytest.approx(wanted, abs=5 * np.sqrt(wanted))
        left -= count


def test_a_few_shot_class_draws_until_it_has_its_fewest_images(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph
) -> None:
    """A tiny share would leave a class empty; it gets exactly the fewest images."""
    recipe = Recipe("pure", factor=0.001, rate=0.6, fewest_images=7)
    drawn = draw_images(source, hierarchy, graph, recipe)
    counts = np.bincount(drawn.class_positions, minlength=len(graph.keys))
    assert counts[graph.levels == 7].tolist() == [7] * 10


def test_too_few_images_are_refused(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph
) -> None:
    """The message has the class and a remedy."""
    recipe = Recipe("pure", factor=0.001, rate=0.6, fewest_images=50)
    with pytest.raises(
        InputError, match=r'"kind\d+" gets too few images: expected 50 or more, found \d+'
    ):
        draw_images(source, hierarchy, graph, recipe)


def test_parts(hierarchy: Hierarchy, graph: ClassGraph) -> None:
    """Few-shot images follow their class; a class above both parts is split 4:1."""
    names = [f"{key(name)}/{number}.JPEG" for name in LEVELS[7] for number in range(1000)]
    drawn = draw_images(Everything(names), hierarchy, graph, PURE)
    assert (np.diff(drawn.is_test.astype(int)) >= 0).all()
    training, test = graph.training_few_shot, graph.test_few_shot
    assert not drawn.is_test[np.isin(drawn.class_positions, training)].any()
    assert drawn.is_test[np.isin(drawn.class_positions, test)].all()
    above = {
        name: (
            any(graph.keys[position] in self_and_below(hierarchy, name) for position in training),
            any(graph.keys[position] in self_and_below(hierarchy, name) for position in test),
        )
        for name in graph.keys
    }
    shares = {
        name: drawn.is_test[drawn.class_positions == place] for place, name in enumerate(graph.keys)
    }
    for name, both in above.items():
        if both == (True, True):
            assert 0.1 < shares[name].mean() < 0.3
        else:
            assert shares[name].all() == both[1]
            assert shares[name].any() == both[1]
    assert list(above.values()).count((True, True)) > 3


def self_and_below(hierarchy: Hierarchy, name: str) -> set[str]:
    """A class and its descendants."""
    return {name} | {other for other in hierarchy.names if name in hierarchy.above(other)}


def test_same_seed_same_draw(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph
) -> None:
    """Another seed draws other images of the same classes."""
    first, again, other = (
        draw_images(source, hierarchy, graph, Recipe("pure", 4.0, 0.6, seed=seed, fewest_images=4))
        for seed in (0, 0, 1)
    )
    assert first.source_positions.tolist() == again.source_positions.tolist()
    assert first.is_test.tolist() == again.is_test.tolist()
    assert set(first.source_positions.tolist()) != set(other.source_positions.tolist())
