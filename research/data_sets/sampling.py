"""Draw the images of each class, finest level first.

Paper: "we sample from all the images that belong to y and have not been sampled into its descendant
classes", each with probability r^j on level j (see `Recipe.share`). Not specified there: an image
that several classes of one level could draw is offered to a random one of them; a few-shot class
with fewer than `Recipe.fewest_images` draws more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.data_sets.ancestors import is_above
from research.data_sets.class_graph import ClassGraph
from research.data_sets.hierarchy import Hierarchy
from research.data_sets.recipe import Recipe
from research.data_sets.source import DataSetImages

NOT_DRAWN = -1
# One stream of random numbers for each purpose, so that they are independent of each other.
_LEVEL_STREAM = 100
_PART_STREAM = 1


@dataclass(frozen=True)
class DrawnImages:
    """The n images of a data set: training part first, ordered by class and then by name.

    Attributes:
        source_positions: (n,) int64, position in the source of each image; no two are the same.
        class_positions: (n,) int64, the one class of each image.
        is_test: (n,) bool, whether it belongs to the test part.
    """

    source_positions: NDArray[np.int64]
    class_positions: NDArray[np.int64]
    is_test: NDArray[np.bool_]


@dataclass(frozen=True)
class _Candidates:
    """F class folders, C classes.

    Attributes:
        member: (F, C) bool: the folder's images belong to the class.
        open_to_coarse: (F,) bool: coarse classes may draw from the folder.
    """

    member: NDArray[np.bool_]
    open_to_coarse: NDArray[np.bool_]


def draw_images(
    source: DataSetImages, hierarchy: Hierarchy, graph: ClassGraph, recipe: Recipe
) -> DrawnImages:
    """Draw the images of every class.

    Args:
        source: of the images.
        hierarchy: WordNet above the source's folders.
        graph: the chosen classes.
        recipe: resolved.

    Returns:
        The images of all classes, both parts.

    Raises:
        InputError: a few-shot class gets too few images.
    """
    candidates = _candidates(source.folders, hierarchy, graph, recipe)
    class_of = np.full(len(source.names), NOT_DRAWN, dtype=np.int64)
    for level in reversed(recipe.levels):
        _draw_level(class_of, source.folder_positions, candidates, graph, recipe, level=level)
        if level == recipe.last_level:
            _top_up(class_of, source.folder_positions, candidates, graph, recipe)
    drawn = np.flatnonzero(class_of != NOT_DRAWN)
    is_test = _share_out(class_of[drawn], graph, recipe)
    order = np.lexsort((class_of[drawn], is_test))
    return DrawnImages(drawn[order], class_of[drawn][order], is_test[order])


def _candidates(
    folders: tuple[str, ...], hierarchy: Hierarchy, graph: ClassGraph, recipe: Recipe
) -> _Candidates:
    few_shot = {
        graph.keys[position] for position in (*graph.training_few_shot, *graph.test_few_shot)
    }
    sources = few_shot if recipe.variant == "pure" else few_shot.union(graph.other_last_level)
    belongs = [hierarchy.above(key) | {key} for key in folders]
    return _Candidates(
        np.array([[key in classes for key in graph.keys] for classes in belongs], dtype=np.bool_),
        np.array([not classes.isdisjoint(sources) for classes in belongs], dtype=np.bool_),
    )


def _draw_level(
    class_of: NDArray[np.int64],
    folder_positions: NDArray[np.int64],
    candidates: _Candidates,
    graph: ClassGraph,
    recipe: Recipe,
    *,
    level: int,
) -> None:
    """Assign images that are not yet drawn to classes of one level, in place."""
    generator = np.random.default_rng([recipe.seed, _LEVEL_STREAM + level])
    classes = np.flatnonzero(graph.levels == level)
    member = candidates.member[:, classes] & candidates.open_to_coarse[:, None]
    counts = member.sum(axis=1)
    free = np.flatnonzero((class_of == NOT_DRAWN) & (counts[folder_positions] > 0))
    folders = folder_positions[free]
    lot = generator.integers(0, counts[folders])
    is_drawn = generator.random(len(free)) < recipe.share(level)
    # Members first, in order, so that column `lot` is the drawn class.
    ordered = np.argsort(~member, axis=1, kind="stable")
    class_of[free[is_drawn]] = classes[ordered[folders, lot]][is_drawn]


def _top_up(
    class_of: NDArray[np.int64],
    folder_positions: NDArray[np.int64],
    candidates: _Candidates,
    graph: ClassGraph,
    recipe: Recipe,
) -> None:
    """Draw more images for few-shot classes with too few, in place."""
    generator = np.random.default_rng([recipe.seed, _LEVEL_STREAM + recipe.last_level, 1])
    for position in np.flatnonzero(graph.levels == recipe.last_level):
        missing = recipe.fewest_images - int((class_of == position).sum())
        if missing <= 0:
            continue
        free = np.flatnonzero(
            (class_of == NOT_DRAWN) & candidates.member[folder_positions, position]
        )
        if len(free) < missing:
            raise InputError(
                f'the few-shot class "{graph.names[position]}" gets too few images',
                expected=f"{recipe.fewest_images} or more",
                found=f"{recipe.fewest_images - missing + len(free)}; other classes hold the rest",
                remedy="choose another seed, or ask for fewer images of a few-shot class",
            )
        class_of[generator.permutation(free)[:missing]] = position


def _share_out(
    class_positions: NDArray[np.int64], graph: ClassGraph, recipe: Recipe
) -> NDArray[np.bool_]:
    """Mask of test images; those of a class above both parts are split in the parts' ratio."""
    above_training = is_above(graph.training_few_shot, graph.edge_index, len(graph.keys))[
        class_positions
    ]
    above_test = is_above(graph.test_few_shot, graph.edge_index, len(graph.keys))[class_positions]
    generator = np.random.default_rng([recipe.seed, _PART_STREAM])
    by_lot = generator.random(len(class_positions)) < recipe.test_share
    return above_test & (~above_training | by_lot)
