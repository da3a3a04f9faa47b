"""Category graphs of maximum depth, a chain, a ladder and a comb, and a collection of each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.collection.embed import embed_closer, embed_project
from engine.collection.importing.import_images import import_images
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.graph.category_graph import CategoryGraph
from engine.graph.limits import DEEPEST_LEVEL
from engine.project import Project
from tests.support.collections import LEAVES, Collection, write_shape
from tests.support.projects import named

Parents = Mapping[str, Sequence[str]]

ENDS = tuple(f"end {number}" for number in range(6))
"""The classes of images, on the deepest level: as many as training needs."""
SHOTS = 3
PER_CLASS = 4


def chain(levels: int = DEEPEST_LEVEL) -> Parents:
    """A class on each level, `ENDS` below the last."""
    line = {f"level {level}": [f"level {level - 1}"] if level else [] for level in range(levels)}
    return line | {end: [f"level {levels - 1}"] for end in ENDS}


def ladder(levels: int = DEEPEST_LEVEL) -> Parents:
    """Two classes on each level, each below both of the previous one: 2 ** levels paths."""
    made: dict[str, list[str]] = {}
    above: list[str] = []
    for level in range(levels):
        below = [f"left {level}", f"right {level}"]
        made |= dict.fromkeys(below, above)
        above = below
    return made | dict.fromkeys(ENDS, above)


def comb(levels: int = DEEPEST_LEVEL) -> Parents:
    """A chain with a leaf next to each class: as many leaves as levels."""
    teeth = {f"tooth {level}": [f"level {level - 1}"] for level in range(1, levels)}
    return dict(chain(levels)) | teeth


def add_all(graph: CategoryGraph, parents: Parents) -> dict[str, int]:
    """Add classes, parents first; return ids by name."""
    ids: dict[str, int] = {}
    for name, above in parents.items():
        ids[name] = graph.add_class(name, [ids[each] for each in above])
    return ids


def add_deep(project: Project, parents: Parents) -> dict[str, int]:
    """Add classes to a project in one action."""
    ids: dict[str, int] = {}
    project.classes.edit(
        lambda graph: ids.update(add_all(graph, parents)), named("Added many classes")
    )
    return ids


def deep_collection(folder: Path, caches: CacheFolders, parents: Parents) -> Collection:
    """A project with these classes and embedded pictures of `ENDS`, `SHOTS` of them labelled."""
    collection = Collection(folder, caches)
    for leaf, end in zip(LEAVES, ENDS, strict=False):
        for seed in range(PER_CLASS):
            write_shape(collection.unsorted / f"{end} {seed}.png", leaf, seed=seed)
    with new_project(collection.project) as project:
        ids = add_deep(project, parents)
        added = import_images(project, [collection.unsorted]).change.images_added
        with project.history.one_step(named("Labelled some")):
            for image_id in added:
                end, number = Path(project.images.record(image_id).path).stem.rsplit(" ", 1)
                if int(number) < SHOTS:
                    project.labels.set([image_id], ids[end])
            project.labels.set([added[-1]], project.classes.graph.parents(ids[ENDS[-1]])[0])
        embed_project(project, caches, device="cpu")
        embed_closer(project, caches, device="cpu")
    return collection
