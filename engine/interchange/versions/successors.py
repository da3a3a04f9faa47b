"""What became of the classes of before that a new version does not have: merged, split, or gone."""

from collections import Counter
from collections.abc import Mapping
from typing import final

from engine.graph.category_graph import ClassId
from engine.interchange.imported import ImportedClass
from engine.interchange.versions.similarity import words
from engine.interchange.versions.two_versions import TOP, TwoVersions, grouped


@final
class Successors:
    """Tells it, once all classes are matched that can be.

    Args:
        both: the two versions.
    """

    def __init__(self, both: TwoVersions) -> None:
        self._both = both
        self._naming = both.keys_naming()
        self._new_at: Mapping[ClassId | None, list[ImportedClass]] = grouped(
            (place, each) for each in both.unmatched() for place in both.places(each.key)
        )

    def heirs(self, class_id: ClassId) -> tuple[str, ...]:
        """The key that a class of before is part of now, or those that it became; none where it is gone."""
        if class_id in self._naming:
            return tuple(self._naming[class_id])
        takers = self._takers(class_id)
        if len(takers) == 1 and next(iter(takers.values())) > 1:
            return tuple(takers)
        if len(takers) > 1 and not takers.keys() & self._both.found.keys():
            return tuple(takers)
        parts = self._longer_names(class_id)
        return parts if len(parts) > 1 else ()

    def _takers(self, class_id: ClassId) -> Counter[str]:
        """Keys that all children of a class of before are under now, and were not before; with how many."""
        both = self._both
        takers: Counter[str] = Counter()
        for child in both.base_children.get(class_id, ()):
            if child not in both.taken:
                continue
            was = both.base_classes[child].parents | both.base_classes[class_id].parents
            above = [parent for parent in both.parent_keys[both.taken[child]] if both.found.get(parent) not in was]
            if not above:
                return Counter()
            takers.update(above)
        return takers

    def _longer_names(self, class_id: ClassId) -> tuple[str, ...]:
        """New classes in the place of a class of before whose names say all of its name and more."""
        was = self._both.base_classes[class_id]
        near = (each for place in was.parents or TOP for each in self._new_at.get(place, ()))
        return tuple(dict.fromkeys(each.key for each in near if words(was.name) < words(each.name)))
