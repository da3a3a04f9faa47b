"""The part of WordNet above the classes of a source, with levels by shortest paths.

Paper: "levels 3-7 of ImageNet WordNet hierarchy". The category graph of the product takes longest
paths instead; with shortest ones each class has a parent exactly one level above it, which is what
a data set in levels needs.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError, UnknownClassError
from engine.interchange.detect import restricted
from engine.interchange.imported import ImportedGraph
from engine.interchange.taxonomies.wordnet import read_imagenet


@dataclass(frozen=True)
class Hierarchy:
    """Some classes and all their ancestors.

    Attributes:
        names: first word of each class, by its id ("n01443537").
        parents: ids of the direct parents of each class.
        children: ids of the direct children of each class.
        levels: edges on the shortest path from a root.
    """

    names: Mapping[str, str]
    parents: Mapping[str, tuple[str, ...]]
    children: Mapping[str, tuple[str, ...]]
    levels: Mapping[str, int]

    def above(self, key: str) -> frozenset[str]:
        """Ids of all ancestors of a class."""
        found: set[str] = set()
        waiting = [key]
        while waiting:
            new = set(self.parents[waiting.pop()]) - found
            found |= new
            waiting += new
        return frozenset(found)

    def at(self, level: int) -> tuple[str, ...]:
        """Ids of the classes on a level, sorted."""
        return tuple(sorted(key for key, own in self.levels.items() if own == level))


def read_hierarchy(wordnet: Path, keys: Collection[str]) -> Hierarchy:
    """Read some classes and their ancestors.

    Args:
        wordnet: `wordnet.is_a.txt`, with `words.txt` next to it, or the folder of both.
        keys: ids of the classes.

    Raises:
        StorageError: a file cannot be read.
        FormatError: a file is not of this form.
        InputError: a class is not in it.
    """
    try:
        return hierarchy_of(restricted(read_imagenet(wordnet), only=keys))
    except UnknownClassError as error:
        raise InputError(
            "a class folder of the source is not in the WordNet file",
            expected="folders named by ids such as n01443537",
            found=error.what,
            remedy="use the file of WordNet 3.0, or remove the folder",
        ) from error


def hierarchy_of(imported: ImportedGraph) -> Hierarchy:
    """Hierarchy of an imported graph."""
    parents = {key: tuple(above) for key, above in imported.parent_keys.items()}
    children: dict[str, list[str]] = {key: [] for key in parents}
    for parent, child in imported.edges:
        children[parent].append(child)
    names = {each.key: each.name.removesuffix(f" ({each.key})") for each in imported.classes}
    below = {key: tuple(keys) for key, keys in children.items()}
    return Hierarchy(names, parents, below, _shortest_paths(parents, below))


def _shortest_paths(
    parents: Mapping[str, tuple[str, ...]], children: Mapping[str, tuple[str, ...]]
) -> dict[str, int]:
    levels = {key: 0 for key, above in parents.items() if not above}
    ordered = list(levels)
    for key in ordered:  # grows during iteration
        for child in children[key]:
            if child not in levels:
                levels[child] = levels[key] + 1
                ordered.append(child)
    return levels
