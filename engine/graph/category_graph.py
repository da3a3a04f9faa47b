"""The category graph: a directed acyclic graph of classes, coarse above fine.

A class may have several parents, and is never its own ancestor.

Each edit is checked first and then made whole, or refused with nothing changed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import final

from engine.errors import GraphError
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
    inverse,
)
from engine.graph.find import (
    find_class,
    fitting_classes,
    nearest_classes,
    path_text,
    search_classes,
)
from engine.graph.identities import NO_IDENTITY, new_identity
from engine.graph.names import clean_name
from engine.graph.removal import (
    ChildrenOfRemoved,
    check_can_be_root,
    check_known,
    check_link,
    check_linked,
    check_name_is_free,
    check_origin,
    merging_edits,
    removal_edits,
)
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.graph.traversal import first_paths, longest_way, reachable

__all__ = ["CategoryGraph", "ClassId"]

MANY_EDITS = 32
EDITS_AT_ONCE = 1_000
"""Edits in memory while a graph is loaded; all of WordNet's would take more than the graph."""


@final
class CategoryGraph:
    """A directed acyclic graph of named classes; siblings, and roots, have distinct names.

    An id that no class has raises `UnknownClassError`, a name that a sibling has
    `DuplicateNameError`.

    Attributes:
        next_id: what the next class gets, if it is given none.
    """

    def __init__(self) -> None:
        self._structure = GraphStructure()
        self.next_id: ClassId = 1
        self._recorders: list[list[GraphEdit]] = []

    # -- edit --------------------------------------------------------------------------------------

    def add_class(
        self,
        name: str,
        parents: Sequence[ClassId] = (),
        *,
        class_id: ClassId | None = None,
        attributes: ClassAttributes = NO_ATTRIBUTES,
        identity: str = NO_IDENTITY,
    ) -> ClassId:
        """Add a class and return its id, by default the next unused one.

        `identity` is that of a class from another project.

        Raises:
            InputError: the name or an attribute is not valid, or the id is taken.
        """
        cleaned = clean_name(name)
        check_known(self._structure, *parents)
        new_id = self.next_id if class_id is None else class_id
        if new_id in self:
            raise GraphError(
                "the class number {new_id} is taken", found=f'"{self.name(new_id)}"', new_id=new_id
            )
        for parent_id in parents or (TOP,):
            check_name_is_free(self._structure, parent_id, cleaned)
        links = [EdgeAdded(parent_id, new_id) for parent_id in dict.fromkeys(parents)]
        made = ClassAdded(new_id, cleaned, attributes.cleaned(cleaned), identity or new_identity())
        self._commit([made, *links])
        return new_id

    def rename(self, class_id: ClassId, name: str) -> None:
        """Give a class another name; the same name again changes nothing.

        Raises:
            GraphError: the name is not valid.
        """
        check_known(self._structure, class_id)
        cleaned, old_name = clean_name(name), self.name(class_id)
        for parent_id in self.parents(class_id) or (TOP,):
            check_name_is_free(self._structure, parent_id, cleaned, ignoring=[class_id])
        if cleaned != old_name:
            self._commit([ClassRenamed(class_id, cleaned, old_name)])

    def set_attributes(self, class_id: ClassId, attributes: ClassAttributes) -> None:
        """Set the attributes of a class, see `ClassAttributes.cleaned`; same ones: no change."""
        known, cleaned = self.attributes(class_id), attributes.cleaned(self.name(class_id))
        if news := known.differences(cleaned):
            self._commit([AttributesChanged(class_id, news, cleaned.differences(known))])

    def link(self, parent_id: ClassId, child_id: ClassId) -> None:
        """Put a class under one more parent.

        Raises:
            GraphError: it is there already.
            CycleError: the parent is the child or its descendant; the error names the path of the
                cycle.
        """
        check_link(self._structure, parent_id, child_id)
        self._commit([EdgeAdded(parent_id, child_id)])

    def unlink(self, parent_id: ClassId, child_id: ClassId) -> None:
        """Take a class away from one parent; without any other it becomes a root.

        Raises:
            GraphError: the classes are not linked.
        """
        check_known(self._structure, parent_id, child_id)
        check_linked(self._structure, parent_id, child_id)
        if len(self.parents(child_id)) == 1:
            check_name_is_free(self._structure, TOP, self.name(child_id))
        self._commit([EdgeRemoved(parent_id, child_id)])

    def remove(
        self, *class_ids: ClassId, children: ChildrenOfRemoved = ChildrenOfRemoved.ADOPTED
    ) -> None:
        """Remove classes; see `engine.graph.removal.removal_edits` for those below."""
        self._commit(removal_edits(self._structure, class_ids, children))

    def merge(self, class_id: ClassId, heir_id: ClassId) -> None:
        """Merge a class into another; see `engine.graph.removal.merging_edits`.

        Raises:
            GraphError: both are the same class, or the heir would have too many synonyms.
        """
        self._commit(merging_edits(self._structure, class_id, heir_id))

    def move(
        self, class_id: ClassId, from_parent: ClassId | None, to_parent: ClassId | None
    ) -> None:
        """Move a class from one parent to another as one step; `None` stands for the top level.

        Raises:
            GraphError: the class is not where it is to be moved from, is already where it is to go,
                or has other parents and so cannot go to the top level.
            CycleError: the new parent is the class or its descendant.
        """
        check_origin(self._structure, class_id, from_parent)
        if from_parent == to_parent:
            return
        if to_parent is TOP:
            check_can_be_root(self._structure, class_id)
            self._commit([EdgeRemoved(parent_id, class_id) for parent_id in self.parents(class_id)])
            return
        check_link(self._structure, to_parent, class_id)
        cut = [] if from_parent is TOP else [EdgeRemoved(from_parent, class_id)]
        self._commit([EdgeAdded(to_parent, class_id), *cut])

    @contextmanager
    def record(self) -> Iterator[list[GraphEdit]]:
        """Record the edits of a `with` block, which may be nested; an exception rolls them back."""
        edits: list[GraphEdit] = []
        self._recorders.append(edits)
        try:
            yield edits
        except BaseException:
            self._take_back(edits)
            raise
        finally:
            self._recorders = [recorder for recorder in self._recorders if recorder is not edits]

    def apply(self, edits: Iterable[GraphEdit]) -> None:
        """Replay edits of another graph's `record`, or their `inverse`, without checks.

        For mirrors, undo and loading.
        """
        waiting = iter(edits)
        while some := list(islice(waiting, EDITS_AT_ONCE)):
            self._commit(some)

    def reserve_ids(self, through: ClassId) -> None:
        """Never assign an id up to `through`: these belonged to classes that were removed."""
        self.next_id = max(self.next_id, through + 1)

    # -- query -------------------------------------------------------------------------------------

    def __contains__(self, class_id: object) -> bool:
        return class_id in self._structure.names

    def __len__(self) -> int:
        return len(self._structure.names)

    def __repr__(self) -> str:
        return f"CategoryGraph({len(self)} classes, {self.edge_count} edges)"

    @property
    def edge_count(self) -> int:
        return len(self._structure.edges)

    def name(self, class_id: ClassId) -> str:
        check_known(self._structure, class_id)
        return self._structure.names[class_id]

    def shown_name(self, class_id: ClassId) -> str:
        """The name in the display language, else the class's; see `engine.graph.shown_language`."""
        check_known(self._structure, class_id)
        return self._structure.shown_name(class_id)

    def shown_as(self, name: str) -> str:
        """The displayed name of the classes with this name, see `shown_name`; else the name."""
        return self._structure.shown_as(name)

    def second_name(self, class_id: ClassId) -> str:
        """Its name where people see another one, such as the scientific name; else ""."""
        return "" if self.name(class_id) == self.shown_name(class_id) else self.name(class_id)

    def identity(self, class_id: ClassId) -> str:
        """The identity of a class across projects; `NO_IDENTITY` where it is unknown."""
        check_known(self._structure, class_id)
        return self._structure.identities[class_id]

    def by_identity(self) -> dict[str, ClassId]:
        """Classes by identity, but those that have none, or have it together with another one."""
        return self._structure.by_identity()

    def attributes(self, class_id: ClassId) -> ClassAttributes:
        check_known(self._structure, class_id)
        return self._structure.attributes.of(class_id)

    def all_attributes(self) -> Iterator[tuple[ClassId, ClassAttributes]]:
        """Classes that have any, oldest first."""
        return self._structure.attributes.items()

    def classes(self) -> Sequence[ClassId]:
        """All classes by ascending id, oldest first."""
        return self._structure.classes()

    def edges(self) -> Iterator[tuple[ClassId, ClassId]]:
        """All edges as (parent, child), by child and then by parent."""
        return (
            (parent_id, child_id)
            for child_id in self.classes()
            for parent_id in self._structure.parents(child_id)
        )

    def parents(self, class_id: ClassId) -> tuple[ClassId, ...]:
        """Classes directly above, oldest first."""
        check_known(self._structure, class_id)
        return self._structure.parents(class_id)

    def children(self, class_id: ClassId) -> tuple[ClassId, ...]:
        """Direct subclasses, ordered by displayed name ("Leaf 9" before "leaf 10").

        What is computed or stored goes by ids instead: names and order are those of a language, see
        `engine.collation`.
        """
        check_known(self._structure, class_id)
        return self._structure.children(class_id)

    def child_named(self, parent_id: ClassId | None, name: str) -> ClassId | None:
        """The child of a class, or the root for `None`, with this clean name; or `None`."""
        return next(iter(self._structure.children_named(parent_id, name)), None)

    def roots(self) -> tuple[ClassId, ...]:
        """Classes without parents, in the order of their names, as `children`."""
        return self._structure.children(TOP)

    def leaves(self) -> tuple[ClassId, ...]:
        """Classes without children, oldest first."""
        return self._structure.leaves()

    def ancestors(self, class_id: ClassId) -> frozenset[ClassId]:
        """All classes above, the class itself left out."""
        check_known(self._structure, class_id)
        return frozenset(reachable(self._structure.edges.parents, class_id))

    def descendants(self, class_id: ClassId) -> frozenset[ClassId]:
        """All classes below, the class itself left out."""
        check_known(self._structure, class_id)
        return frozenset(reachable(self._structure.edges.children, class_id))

    def leaves_below(self, class_id: ClassId) -> frozenset[ClassId]:
        """Distinct leaves below a class, each once; a leaf is its own leaf."""
        below = self.descendants(class_id) or {class_id}
        return frozenset(each for each in below if not self._structure.edges.children(each))

    def level(self, class_id: ClassId) -> int:
        """Edges on the longest path from a root; a root has level 0."""
        check_known(self._structure, class_id)
        return self._structure.levels.level(class_id)

    def height(self, class_id: ClassId) -> int:
        """Edges on the longest path down from a class; a leaf has height 0."""
        check_known(self._structure, class_id)
        return longest_way(self._structure.edges.children, class_id)

    def levels(self) -> tuple[tuple[ClassId, ...], ...]:
        """Classes of level 0, 1, ...; each class is in exactly one."""
        return self._structure.levels.by_level()

    def paths(self, class_id: ClassId) -> tuple[tuple[ClassId, ...], ...]:
        """Paths from a root to the class, both included; only the first of many or long ones."""
        check_known(self._structure, class_id)
        return first_paths(self._structure.parents, class_id)

    def path_count(self, class_id: ClassId) -> int:
        """Number of all paths from a root to the class, also where `paths` lists only the first."""
        counts: dict[ClassId, int] = {}
        for each in self.parents_first([class_id]):
            counts[each] = sum(counts[parent] for parent in self.parents(each)) or 1
        return counts[class_id]

    def parents_first(self, class_ids: Iterable[ClassId]) -> list[ClassId]:
        """Classes and all above them, each after its parents."""
        chosen = tuple(class_ids)
        return sorted(reachable(self.parents, *chosen).union(chosen), key=self.level)

    def path_text(self, class_id: ClassId) -> str:
        r"""First path of a class, "Animal/Bird/Gull", with "/" and "\" in names escaped by "\"."""
        check_known(self._structure, class_id)
        return path_text(self._structure, class_id)

    def find(self, text: str) -> ClassId:
        """See `engine.graph.find.find_class`."""
        return find_class(self._structure, text)

    def fitting(self, text: str) -> list[ClassId]:
        """See `engine.graph.find.fitting_classes`."""
        return fitting_classes(self._structure, text)

    def search(self, text: str, limit: int = 50, first: Collection[ClassId] = ()) -> list[ClassId]:
        """See `engine.graph.find.search_classes`."""
        return search_classes(self._structure, text, limit, first)

    def nearest(self, name: str, limit: int) -> list[ClassId]:
        """See `engine.graph.find.nearest_classes`."""
        return list(nearest_classes(self._structure, name, limit))

    def class_keys(self) -> Mapping[int, ClassId]:
        """Classes by the digit that is their key."""
        return self._structure.attributes.by_key()

    def class_of_key(self, digit: int) -> ClassId | None:
        """The class that has a digit as its key."""
        return self._structure.attributes.by_key().get(digit)

    def key_of(self, class_id: ClassId) -> int:
        """The digit that is the key of a class, 0 for none."""
        digit = self._structure.attributes.of(class_id).label_key
        return digit if digit and self.class_of_key(digit) == class_id else 0

    def make_searchable(self) -> None:
        """Build the indexes of the first search now; copies share them."""
        self._structure.attributes.by_folded()
        self._structure.attributes.by_rank()

    def copy(self) -> "CategoryGraph":
        twin = CategoryGraph()
        twin._structure = self._structure.copy()
        twin.next_id = self.next_id
        return twin

    # -- inside ------------------------------------------------------------------------------------

    def _commit(self, edits: Sequence[GraphEdit]) -> None:
        if len(edits) >= MANY_EDITS:
            self._structure.levels.forget()
        for edit in edits:
            recorded = self._structure.with_what_was(edit) if self._recorders else edit
            self._structure.perform(edit)
            if isinstance(edit, ClassAdded):
                self.reserve_ids(edit.class_id)
            for recorder in self._recorders:
                recorder.append(recorded)

    def _take_back(self, edits: list[GraphEdit]) -> None:
        self._structure.levels.forget()
        for edit in inverse(edits):
            self._structure.perform(edit)
        # Blocks close inside out, so the edits of this block are the end of what the outer ones
        # recorded.
        for recorder in self._recorders:
            del recorder[len(recorder) - len(edits) :]
