"""Build a data set of the paper's recipe from a source in ImageNet's layout."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.events import CancelToken, OnProgress, ignore_progress
from research.data_sets.class_graph import ClassGraph, choose_classes
from research.data_sets.hierarchy import Hierarchy, read_hierarchy
from research.data_sets.recipe import Recipe
from research.data_sets.sampling import DrawnImages, draw_images
from research.data_sets.source import DataSetImages, open_source
from research.data_sets.store import refuse_foreign, write_data_set
from research.data_sets.stored import FewShotData, load

DEFAULT_SIDE = 92
"""Training uses 84 pixels, as in the paper; the rest is room for random shifts."""
SMALLEST_SIDE = 8
_IMAGENET_FOLDERS = 1000
_TINY_IMAGENET_FOLDERS = 200


def build(
    source: Path,
    wordnet: Path,
    out: Path,
    recipe: Recipe,
    *,
    side: int = DEFAULT_SIDE,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> FewShotData:
    """Draw classes and images, decode them once, and write them to a folder.

    The same source, recipe and side give the same bytes, whether the source is a folder or an
    archive of it.

    Args:
        source: folder or zip archive in ImageNet's layout; see `research.data_sets.source`.
        wordnet: `wordnet.is_a.txt`, with `words.txt` next to it, or the folder of both.
        out: folder of the data set; an older data set there is replaced once the new one is
            complete.
        recipe: which classes and images.
        side: of the stored pixels.
        on_progress: receives the number of images decoded.
        cancel: stops the work and removes its files.

    Returns:
        The data set, opened from `out`.

    Raises:
        UsageError: the side is too small.
        InputError: the source is not of this layout or too small for the recipe, or `out` is no
            data set.
        StorageError: a file cannot be read, or the disk is full.
        FormatError: the WordNet files have another format.
        Cancelled: it was stopped.
    """
    if side < SMALLEST_SIDE:
        raise UsageError(
            "the side of the stored images is too small",
            expected=f"{SMALLEST_SIDE}",
            found=str(side),
        )
    token = cancel or CancelToken()
    refuse_foreign(out)
    with open_source(source) as images:
        token.raise_if_cancelled()
        settled = recipe.resolved(images.images_per_folder)
        hierarchy = read_hierarchy(wordnet, images.folders)
        graph = choose_classes(
            hierarchy, _images_below(hierarchy, images, settled.last_level), settled
        )
        drawn = draw_images(images, hierarchy, graph, settled)
        _assert_sound(graph, drawn)
        write_data_set(
            out,
            _facts(images, graph, settled, side),
            images,
            drawn,
            side=side,
            fewest=np.where(graph.levels == settled.last_level, settled.fewest_images, 0),
            on_progress=on_progress,
            cancel=token,
        )
    return load(out)


def _images_below(hierarchy: Hierarchy, source: DataSetImages, level: int) -> dict[str, int]:
    """Count the images of each class on a level, those of its descendants included."""
    counts = dict.fromkeys(hierarchy.at(level), 0)
    per_folder = np.bincount(source.folder_positions, minlength=len(source.folders)).tolist()
    for folder, count in zip(source.folders, per_folder, strict=True):
        for key in (hierarchy.above(folder) | {folder}) & counts.keys():
            counts[key] += count
    return counts


def _assert_sound(graph: ClassGraph, drawn: DrawnImages) -> None:
    """Assert what the experiments rely on; a failure is a bug of this program."""
    assert not np.intersect1d(graph.training_few_shot, graph.test_few_shot).size, (
        "a few-shot class is in both parts"
    )
    assert np.unique(drawn.source_positions).size == drawn.source_positions.size, (
        "an image is in two classes"
    )
    assert not drawn.is_test[np.isin(drawn.class_positions, graph.training_few_shot)].any(), (
        "training shots in test"
    )
    assert drawn.is_test[np.isin(drawn.class_positions, graph.test_few_shot)].all(), (
        "test shots in training"
    )
    steps = np.diff(graph.levels[graph.edge_index], axis=0)
    assert (steps == 1).all(), "an edge skips a level"
    orphans = np.setdiff1d(np.flatnonzero(graph.levels > graph.levels.min()), graph.edge_index[1])
    assert not orphans.size, "a class has no parent"


def _facts(source: DataSetImages, graph: ClassGraph, recipe: Recipe, side: int) -> dict[str, Any]:
    return {
        "name": data_set_name(len(source.folders), recipe),
        "variant": recipe.variant,
        "side": side,
        "recipe": asdict(recipe),
        "class_keys": list(graph.keys),
        "class_names": list(graph.names),
        "levels": _listed(graph.levels),
        "edges": _listed(graph.edge_index.T),
        "training_few_shot": _listed(graph.training_few_shot),
        "test_few_shot": _listed(graph.test_few_shot),
    }


def _listed(values: NDArray[np.int64]) -> Sequence[Any]:
    return values.tolist()


def data_set_name(folder_count: int, recipe: Recipe) -> str:
    """Name a data set by its source; only one of ILSVRC-12 with the paper's shares gets its name.

    Args:
        folder_count: class folders of the source.
        recipe: resolved.
    """
    if folder_count == _IMAGENET_FOLDERS and recipe.factor == 1:
        source = "ImageNet"
    elif folder_count == _TINY_IMAGENET_FOLDERS:
        source = "TinyImageNet"
    else:
        source = f"ImageNet{folder_count}"
    return f"WS-{source}-{recipe.variant.capitalize()}"
