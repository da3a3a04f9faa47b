"""Two versions of a source side by side, and which of their classes are known to be the same so far."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Final, TypeVar, final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.interchange.imported import ImportedClass, ImportedGraph, parents_first
from engine.interchange.versions.source_version import SourceVersion

TOP: Final[tuple[ClassId | None, ...]] = (None,)
"""Stands for the parents of a class that has none."""

A = TypeVar("A", bound=Hashable)
B = TypeVar("B")


@final
class TwoVersions:
    """What a source said and what it says now; `found` grows while classes are matched."""

    def __init__(self, graph: CategoryGraph, imported: ImportedGraph, base: SourceVersion | None) -> None:
        self.graph = graph
        self.base_classes = base.classes if base else {}
        self.base_by_name = grouped((each.name, class_id) for class_id, each in self.base_classes.items())
        self.base_children = grouped(  # by parent; None is the top level
            (top, class_id) for class_id, each in self.base_classes.items() for top in each.parents or TOP
        )
        self.classes = {each.key: each for each in imported.classes}
        self.parent_keys = imported.parent_keys()
        self.child_keys = grouped(imported.edges)
        self.found: dict[str, ClassId] = {}  # the class of each key that is known
        self.taken: dict[ClassId, str] = {}  # of each of these classes the first key
        self._ordered = parents_first(imported)

    def take(self, key: str, class_id: ClassId) -> None:
        """Match a key with a class."""
        self.found[key] = class_id
        self.taken.setdefault(class_id, key)

    def unmatched(self) -> Iterator[ImportedClass]:
        """What the source says now and is not matched, parents before children."""
        return (self.classes[key] for key in self._ordered if key not in self.found)

    def above(self, key: str) -> set[ClassId]:
        """The classes that a key is under now, as far as they are known."""
        return {self.found[parent] for parent in self.parent_keys[key] if parent in self.found}

    def places(self, key: str) -> Collection[ClassId | None]:
        """The classes that a key is under now, as far as they are known; None is the top level."""
        return self.above(key) if self.parent_keys[key] else TOP

    def is_in_place(self, key: str, class_id: ClassId) -> bool:
        """Whether the source had the class under one of the parents that the key has now."""
        was = self.base_classes[class_id].parents
        return bool(was & self.above(key)) if was else not self.parent_keys[key]

    def keys_naming(self) -> dict[ClassId, list[str]]:
        """For classes of before that are left: the keys that have their name or id among their synonyms now.

        A synonym that a class had before says nothing: many words mean several things.
        """
        left = [each for class_id, each in self.base_classes.items() if class_id not in self.taken]
        texts = grouped((text, each.class_id) for each in left for text in (each.name, each.source_id) if text)
        naming: dict[ClassId, list[str]] = {}
        for key, each in self.classes.items():
            known = self.synonyms_here(self.found.get(key))
            matches = (found for text in each.attributes.synonyms if text not in known for found in texts.get(text, ()))
            for class_id in dict.fromkeys(matches):
                naming.setdefault(class_id, []).append(key)
        return naming

    def synonyms_here(self, class_id: ClassId | None) -> tuple[str, ...]:
        """Synonyms that a class has in the project; none where it is not there."""
        return () if class_id is None or class_id not in self.graph else self.graph.attributes(class_id).synonyms


def grouped(pairs: Iterable[tuple[A, B]]) -> dict[A, list[B]]:
    """Second parts by the first ones, in their order."""
    groups: dict[A, list[B]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups
