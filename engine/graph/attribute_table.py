"""The attributes of all classes of a graph, and which classes are found by them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, final

from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes

ClassId = int


@final
class AttributeTable:
    """Keeps what classes have. The index by name is made when it is first asked for, since few sessions do."""

    def __init__(self) -> None:
        self._of: dict[ClassId, ClassAttributes] = {}
        self._classes_by_folded: Mapping[str, tuple[ClassId, ...]] | None = None

    def of(self, class_id: ClassId) -> ClassAttributes:
        """The attributes of a class."""
        return self._of.get(class_id, NO_ATTRIBUTES)

    def put(self, class_id: ClassId, attributes: ClassAttributes) -> None:
        """Give a class these attributes, in place of those that it has."""
        before = self._of.pop(class_id, NO_ATTRIBUTES)
        if self._classes_by_folded is not None and before.names != attributes.names:
            self._classes_by_folded = None
        if attributes:
            self._of[class_id] = attributes

    def change(self, class_id: ClassId, values: Mapping[str, Any]) -> None:
        """Give a class other values of some attributes."""
        self.put(class_id, replace(self.of(class_id), **values))

    def items(self) -> Iterator[tuple[ClassId, ClassAttributes]]:
        """Classes that have any, with them; ascending ids."""
        return iter(sorted(self._of.items()))

    def known_as(self, text: str) -> list[ClassId]:
        """Classes of which this is exactly the source id or a synonym, oldest first."""
        return [each for each in self.by_folded().get(text.casefold(), ()) if text in self._of[each].names]

    def by_folded(self) -> Mapping[str, tuple[ClassId, ...]]:
        """Classes by each case-folded source id and synonym, oldest first."""
        if self._classes_by_folded is None:
            index: dict[str, tuple[ClassId, ...]] = {}
            for class_id in sorted(self._of):
                for name in self._of[class_id].names:
                    known = index.setdefault(name.casefold(), (class_id,))
                    if known[-1] != class_id:
                        index[name.casefold()] = (*known, class_id)
            self._classes_by_folded = index
        return self._classes_by_folded

    def copy(self) -> "AttributeTable":
        """Make an equal table that goes its own way from here."""
        twin = AttributeTable()
        twin._of = self._of.copy()
        twin._classes_by_folded = self._classes_by_folded
        return twin
