"""What a category graph stores: classes, names, edges and the tables that make questions fast.

Edits are taken as they come. Whether they may be made is decided above, in `category_graph`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, final

from engine.collation import collation, in_order
from engine.graph.adjacency import Adjacency, LevelTable, SharedSets
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.graph.identities import distinct
from engine.graph.shown_language import shown_language
from engine.search_folding import folded

ClassId = int

TOP = None  # no parent, where a parent id is expected


@final
class AttributeTable:
    """Attributes by class. Indexes by name and rank are built on demand."""

    def __init__(self) -> None:
        self._of: dict[ClassId, ClassAttributes] = {}
        self._indexes: dict[str, Mapping[Any, Any]] = {}  # by attribute

    def of(self, class_id: ClassId) -> ClassAttributes:
        return self._of.get(class_id, NO_ATTRIBUTES)

    def put(self, class_id: ClassId, attributes: ClassAttributes) -> None:
        before = self._of.pop(class_id, NO_ATTRIBUTES)
        for name in list(self._indexes):
            if getattr(before, name) != getattr(attributes, name):
                del self._indexes[name]
        if attributes:
            self._of[class_id] = attributes

    def items(self) -> Iterator[tuple[ClassId, ClassAttributes]]:
        """Classes that have any, with them; ascending ids."""
        return iter(sorted(self._of.items()))

    def known_as(self, text: str) -> list[ClassId]:
        """Classes of which this is exactly the source id or a synonym, oldest first."""
        return [
            each for each in self.by_folded().get(folded(text), ()) if text in self._of[each].names
        ]

    def by_folded(self) -> Mapping[str, Sequence[ClassId]]:
        """Classes by each folded source id and synonym, oldest first."""
        return self._index("names", lambda attributes: attributes.names)

    def by_rank(self) -> Mapping[str, Sequence[ClassId]]:
        """Classes by each folded rank, oldest first."""
        return self._index("rank", lambda attributes: (attributes.rank,) if attributes.rank else ())

    def by_key(self) -> Mapping[int, ClassId]:
        """The class of each key; the oldest where files were made by hand and several have it."""
        index = self._indexes.get("label_key")
        if index is None:
            newest_first = sorted(self._of.items(), reverse=True)
            index = {own.label_key: class_id for class_id, own in newest_first if own.label_key}
            self._indexes["label_key"] = index
        return index

    def _index(
        self, name: str, texts_of: Callable[[ClassAttributes], Sequence[str]]
    ) -> Mapping[str, Sequence[ClassId]]:
        if name in self._indexes:
            return self._indexes[name]
        index: dict[str, tuple[ClassId, ...] | list[ClassId]] = {}
        for class_id in sorted(self._of):
            for text in texts_of(self._of[class_id]):
                known = index.setdefault(folded(text), (class_id,))
                if known[-1] == class_id:
                    continue
                if isinstance(known, list):  # of several classes, which may be most of them
                    known.append(class_id)
                else:
                    index[folded(text)] = [*known, class_id]
        self._indexes[name] = index
        return index

    def copy(self) -> "AttributeTable":
        twin = AttributeTable()
        twin._of = self._of.copy()
        twin._indexes = self._indexes.copy()
        return twin


@final
class GraphStructure:
    """Classes and edges with their tables; every edit keeps the tables in step.

    Attributes:
        edges: parent to child.
        names: name of each class.
        identities: identity of each class.
        folded: the same, folded for searching.
        namesakes: classes of each name.
        attributes: what else each class has.
        levels: level of each class.
    """

    def __init__(self) -> None:
        self.edges = Adjacency()
        self.names: dict[ClassId, str] = {}
        self.identities: dict[ClassId, str] = {}
        self.folded: dict[ClassId, str] = {}
        self.namesakes: SharedSets[str] = SharedSets()
        self.attributes = AttributeTable()
        self.levels = LevelTable(self.names, self.edges)
        self._roots: set[ClassId] = set()
        self._children_in_order: dict[ClassId | None, tuple[ClassId, ...]] = {}
        self._shown_names: dict[ClassId, str] = {}
        # What people saw of removed classes, by their names
        self._removed_names: dict[str, str] = {}
        self._language = shown_language()  # that orders of children and shown names follow
        self._ordered_by = collation()
        self._classes: tuple[ClassId, ...] | None = None
        self._leaves: tuple[ClassId, ...] | None = None

    def perform(self, edit: GraphEdit) -> None:
        """Make one edit without checks."""
        match edit:
            case ClassAdded(class_id, name, attributes, identity):
                self._add_class(class_id, name, attributes)
                self.identities[class_id] = identity
            case AttributesChanged(class_id, values):
                own = self.attributes.of(class_id)
                self.attributes.put(class_id, replace(own, **values))
                self._forget_place(class_id)
            case ClassRenamed(class_id, name):
                self._drop_name(class_id)
                self._set_name(class_id, name)
                self._forget_place(class_id)
            case ClassRemoved(class_id):
                self._remove_class(class_id)
            case EdgeAdded(parent_id, child_id):
                self._add_edge(parent_id, child_id)
            case EdgeRemoved(parent_id, child_id):
                self._remove_edge(parent_id, child_id)

    def with_what_was(self, edit: GraphEdit) -> GraphEdit:
        """An edit that is about to be made, with the name and attributes that its inverse needs."""
        match edit:
            case ClassRenamed(class_id, name):
                return ClassRenamed(class_id, name, self.names[class_id])
            case AttributesChanged(class_id, values):
                own = self.attributes.of(class_id)
                return AttributesChanged(
                    class_id, values, {name: getattr(own, name) for name in values}
                )
            case ClassRemoved(class_id):
                name, attributes = self.names[class_id], self.attributes.of(class_id)
                return ClassRemoved(class_id, name, attributes, self.identities[class_id])
            case _:
                return edit

    def classes(self) -> tuple[ClassId, ...]:
        """All classes by ascending id: an order that undo and reopening do not change."""
        if self._classes is None:
            self._classes = tuple(sorted(self.names))
        return self._classes

    def by_identity(self) -> dict[str, ClassId]:
        """Classes by identity, without those that have none or one that another class has, too."""
        known = distinct(self.identities.values())
        return {
            identity: class_id
            for class_id, identity in self.identities.items()
            if identity in known
        }

    def leaves(self) -> tuple[ClassId, ...]:
        """Classes without children, ascending ids."""
        if self._leaves is None:
            self._leaves = tuple(each for each in self.classes() if not self.edges.children(each))
        return self._leaves

    def parents(self, class_id: ClassId) -> tuple[ClassId, ...]:
        """Parents by ascending id."""
        return tuple(sorted(self.edges.parents(class_id)))

    def children(self, parent_id: ClassId | None) -> tuple[ClassId, ...]:
        """Children of a class, or the roots, in the order of the names that people see."""
        self._follow_language()
        known = self._children_in_order.get(parent_id)
        if known is None:
            unordered = self._roots if parent_id is TOP else self.edges.children(parent_id)
            known = tuple(in_order(sorted(unordered), self.shown_name))
            self._children_in_order[parent_id] = known
        return known

    def shown_name(self, class_id: ClassId) -> str:
        """The first of its synonyms in the language that people see names in; else its name."""
        self._follow_language()
        if not self._language:
            return self.names[class_id]
        known = self._shown_names.get(class_id)
        if (
            known is None
        ):  # a species may have names in a hundred languages, and rows are painted often
            known = self.attributes.of(class_id).name_in(self._language) or self.names[class_id]
            self._shown_names[class_id] = known
        return known

    def shown_as(self, name: str) -> str:
        """The displayed name of classes with a name, or of a removed one, if it differs."""
        self._follow_language()
        if not self._language:
            return name
        shown = {self.shown_name(each) for each in self.namesakes.of(name)} or {
            self._removed_names.get(name, name)
        }
        return shown.pop() if len(shown) == 1 else name

    def children_named(self, parent_id: ClassId | None, name: str) -> tuple[ClassId, ...]:
        """Children of a class, or roots, with exactly this name; several only within an edit."""
        namesakes = self.namesakes.of(name)
        if parent_id is TOP:
            return tuple(each for each in namesakes if each in self._roots)
        # Either list may be long ("other" under each class; 20,000 children of one), rarely both.
        if len(namesakes) <= len(self.edges.children(parent_id)):
            return tuple(each for each in namesakes if self.edges.has(parent_id, each))
        return tuple(each for each in self.edges.children(parent_id) if self.names[each] == name)

    def copy(self) -> "GraphStructure":
        twin = GraphStructure()
        twin.edges = self.edges.copy()
        twin.names = self.names.copy()
        twin.identities = self.identities.copy()
        twin.folded = self.folded.copy()
        twin.namesakes = self.namesakes.copy()
        twin.attributes = self.attributes.copy()
        twin._roots = self._roots.copy()
        twin.levels = LevelTable(twin.names, twin.edges)
        return twin

    def _add_class(self, class_id: ClassId, name: str, attributes: ClassAttributes) -> None:
        self._set_name(class_id, name)
        self.attributes.put(class_id, attributes)
        self._roots.add(class_id)
        self.levels.class_added(class_id)
        self._forget_order(TOP)
        self._classes = self._leaves = None

    def _remove_class(self, class_id: ClassId) -> None:
        if (shown := self.shown_name(class_id)) != self.names[class_id]:
            self._removed_names[self.names[class_id]] = shown
        self._drop_name(class_id)
        del self.identities[class_id]
        self._shown_names.pop(class_id, None)
        self.attributes.put(class_id, NO_ATTRIBUTES)
        self._roots.discard(class_id)
        self.levels.class_removed(class_id)
        self._forget_order(TOP)
        self._forget_order(class_id)
        self._classes = self._leaves = None

    def _add_edge(self, parent_id: ClassId, child_id: ClassId) -> None:
        self.edges.add(parent_id, child_id)
        self.levels.edge_added(parent_id, child_id)
        self._forget_order(parent_id)
        if child_id in self._roots:
            self._roots.remove(child_id)
            self._forget_order(TOP)
        self._leaves = None

    def _remove_edge(self, parent_id: ClassId, child_id: ClassId) -> None:
        self.edges.remove(parent_id, child_id)
        self.levels.edge_removed(parent_id, child_id)
        self._forget_order(parent_id)
        if not self.edges.parents(child_id):
            self._roots.add(child_id)
            self._forget_order(TOP)
        self._leaves = None

    def _set_name(self, class_id: ClassId, name: str) -> None:
        self.names[class_id] = name
        plain = folded(name)
        self.folded[class_id] = name if plain == name else plain  # one text less to hold
        self.namesakes.add(name, class_id)

    def _drop_name(self, class_id: ClassId) -> None:
        name = self.names.pop(class_id)
        del self.folded[class_id]
        self.namesakes.discard(name, class_id)

    def _follow_language(self) -> None:
        if self._language != shown_language():
            self._children_in_order.clear()
            self._shown_names.clear()
            self._removed_names.clear()
            self._language = shown_language()
        if self._ordered_by is not collation():
            self._children_in_order.clear()
            self._ordered_by = collation()

    def _forget_place(self, class_id: ClassId) -> None:
        """Invalidate the displayed name of a class, and the order of its siblings."""
        self._shown_names.pop(class_id, None)
        for parent_id in self.parents(class_id) or (TOP,):
            self._forget_order(parent_id)

    def _forget_order(self, parent_id: ClassId | None) -> None:
        self._children_in_order.pop(parent_id, None)
