"""Choose the few-shot classes of a data set, their coarse classes, and the edges between them.

- A class of the last level (7) with enough images is a candidate few-shot class; about 80 % are
  chosen, and split 4:1.
- Test few-shot classes have different parents as far as possible: the paper's statistics have as
  many test classes on level 6 as on level 7.
- Test few-shot classes are, as far as possible, those whose parents all have images of another
  class to draw: else all weakly labelled images of a parent would be of the class itself.
- A last-level class that is an ancestor of another one is excluded first: it would compete with its
  descendant.
- Coarse classes are all ancestors of few-shot classes on the levels above, down to the first level
  (3).
- Each edge of WordNet between two chosen classes on consecutive levels is an edge. Shortest-path
  levels rise by at most one along an edge, so every class has such a parent; some ancestors,
  though, are only reached through a class of their own level or a coarser one, or of a last-level
  class that was not chosen. Such an ancestor is joined to the nearest chosen classes one level
  deeper, so that ancestors are the same as in WordNet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from research.data_sets.hierarchy import Hierarchy
from research.data_sets.recipe import Recipe

FEWEST_CLASSES = 2
"""Minimum of each part: a task needs at least two classes."""
_CHOICE_STREAM = 0


@dataclass(frozen=True)
class ClassGraph:
    """C classes, coarsest level first, sorted by id within a level.

    Attributes:
        keys: C WordNet ids.
        names: C names.
        levels: (C,) int64.
        edge_index: (2, E) int64: row 0 parent, row 1 child, one level apart.
        training_few_shot: sorted positions, int64.
        test_few_shot: sorted positions, int64.
        other_last_level: ids of the last level's classes that were not chosen.
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]
    levels: NDArray[np.int64]
    edge_index: NDArray[np.int64]
    training_few_shot: NDArray[np.int64]
    test_few_shot: NDArray[np.int64]
    other_last_level: tuple[str, ...]


def choose_classes(
    hierarchy: Hierarchy, images_below: Mapping[str, int], recipe: Recipe
) -> ClassGraph:
    """Choose the classes of a data set.

    Args:
        hierarchy: WordNet above the classes of the source.
        images_below: number of the source's images that belong to each class of the last level.
        recipe: shares, levels and seed.

    Returns:
        The chosen classes and their edges.

    Raises:
        InputError: too few classes have enough images.
    """
    candidates = hierarchy.at(recipe.last_level)
    training, test = _choose_few_shot(hierarchy, candidates, images_below, recipe)
    few_shot = {*training, *test}
    above = frozenset[str]().union(*(hierarchy.above(key) for key in few_shot))
    coarse = {
        key for key in above if recipe.first_level <= hierarchy.levels[key] < recipe.last_level
    }
    keys = tuple(sorted(coarse | few_shot, key=lambda key: (hierarchy.levels[key], key)))
    place = {key: position for position, key in enumerate(keys)}
    edges = sorted(
        (place[parent], place[child])
        for parent in coarse
        for child in _children(hierarchy, parent, place)
    )
    return ClassGraph(
        keys,
        tuple(hierarchy.names[key] for key in keys),
        np.array([hierarchy.levels[key] for key in keys], dtype=np.int64),
        np.array(edges, dtype=np.int64).reshape(-1, 2).T.copy(),
        np.array(sorted(place[key] for key in training), dtype=np.int64),
        np.array(sorted(place[key] for key in test), dtype=np.int64),
        tuple(key for key in candidates if key not in few_shot),
    )


def _choose_few_shot(
    hierarchy: Hierarchy, candidates: Sequence[str], images_below: Mapping[str, int], recipe: Recipe
) -> tuple[list[str], list[str]]:
    rich = [key for key in candidates if images_below[key] >= recipe.fewest_images]
    covering = frozenset[str]().union(*(hierarchy.above(key) for key in rich))
    fitting = [key for key in rich if key not in covering]
    wanted = min(round(recipe.few_shot_share * len(rich)), len(fitting))
    test_count = round(recipe.test_share * wanted)
    if min(test_count, wanted - test_count) < FEWEST_CLASSES:
        raise InputError(
            "the source has too few classes for this recipe",
            expected=f"at least {FEWEST_CLASSES} few-shot classes to train and {FEWEST_CLASSES} "
            f"to test, each on level {recipe.last_level} of WordNet with "
            f"{recipe.fewest_images} images or more",
            found=f"{len(candidates)} classes on that level, {len(fitting)} of them with enough "
            f"images, of which {max(0, wanted - test_count)} to train and {test_count} to test",
            remedy="choose a source with more classes, or a larger share of few-shot or test "
            "classes",
        )
    generator = np.random.default_rng([recipe.seed, _CHOICE_STREAM])
    chosen = [fitting[position] for position in generator.permutation(len(fitting))[:wanted]]
    fair = _with_siblings(
        hierarchy, chosen, chosen if recipe.variant == "pure" else candidates, recipe
    )
    test = [*_strangers_first(hierarchy, fair), *(key for key in chosen if key not in fair)][
        :test_count
    ]
    return [key for key in chosen if key not in test], test


def _with_siblings(
    hierarchy: Hierarchy, keys: Sequence[str], drawn: Sequence[str], recipe: Recipe
) -> list[str]:
    """Keys whose parents are all above another class that coarse classes draw images from."""
    below = Counter(above for key in drawn for above in hierarchy.above(key))
    return [
        key
        for key in keys
        if all(
            below[above] > 1
            for above in _parents(hierarchy, key)
            if hierarchy.levels[above] >= recipe.first_level
        )
    ]


def _parents(hierarchy: Hierarchy, key: str) -> set[str]:
    return {above for above in hierarchy.above(key) if key in hierarchy.children[above]}


def _strangers_first(hierarchy: Hierarchy, keys: Sequence[str]) -> list[str]:
    """Keys in order, but those that share a parent with an earlier one come last."""
    taken: set[str] = set()
    strangers = []
    for key in keys:
        parents = _parents(hierarchy, key)
        if taken.isdisjoint(parents):
            taken |= parents
            strangers.append(key)
    return strangers + [key for key in keys if key not in strangers]


def _children(hierarchy: Hierarchy, parent: str, chosen: Mapping[str, int]) -> set[str]:
    """The nearest chosen classes below a class, on a deeper level."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = list(hierarchy.children[parent])
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        if key in chosen and hierarchy.levels[key] > hierarchy.levels[parent]:
            found.add(key)
        else:
            waiting += hierarchy.children[key]
    return found
