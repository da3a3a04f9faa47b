"""What importing a source would do to a graph, as plain data: shown first, then done exactly so."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from engine.errors import CycleError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import AttributesChanged, ClassAdded, EdgeAdded, GraphEdit
from engine.interchange.imported import ImportedClass, ImportedGraph, find_cycle, parents_first
from engine.interchange.versions.source_version import SourceVersion, version_of

NOTED: Final = frozenset({"note", "colour"})  # what people note for themselves, and a source may suggest


class Clash(Enum):
    """Why something stays as it is here though the source has it otherwise."""

    NAME = "renamed here, and otherwise in the source"
    PLACE = "moved here, and elsewhere in the source"
    NAME_TAKEN = "another class has the name there"
    CYCLE = "it would lie below itself"


@dataclass(frozen=True, slots=True)
class Kept:
    """A person's change that stays though the source has it otherwise."""

    class_id: ClassId
    clash: Clash  # why
    theirs: str  # the source's name of it, or the paths of its places there


@dataclass(frozen=True)
class ImportPlan:
    """Edits of a graph, and what they mean for its classes."""

    class_ids: Mapping[str, ClassId]  # the class of each key of the source; new ones have the ids that they would get
    edits: tuple[GraphEdit, ...]  # of the graph, to be applied as they are
    version: SourceVersion  # what the source says now, to be remembered
    is_update: bool = False  # whether renames, moves and so on are taken over, or only what is new
    new: tuple[ClassId, ...] = ()  # classes that come
    renamed: tuple[ClassId, ...] = ()  # classes from before that get another name
    moved: tuple[ClassId, ...] = ()  # those that get other parents
    completed: tuple[ClassId, ...] = ()  # classes from before that get a source id, synonyms or other facts
    noted: tuple[ClassId, ...] = ()  # classes that get a note or a colour, new ones among them
    merged: tuple[tuple[ClassId, ClassId], ...] = ()  # classes from before that go into another one
    split: tuple[tuple[ClassId, tuple[ClassId, ...]], ...] = ()
    """Classes from before that are several in the source now; they stay, with their labels."""
    gone: tuple[ClassId, ...] = ()  # classes from before that the source does not have any more; they stay
    removed_here: tuple[str, ...] = ()  # classes of the source that a person removed here; they are not brought back
    kept: tuple[Kept, ...] = ()  # where the person's word stands against the source's

    @property
    def changes_graph(self) -> bool:
        """Whether anything would be done but remembering the version."""
        return bool(self.edits or self.merged)

    @property
    def same_count(self) -> int:
        """Number of classes of the source that are there unchanged."""
        others = {*self.new, *self.renamed, *self.moved, *self.completed, *(each.class_id for each in self.kept)}
        return len(set(self.class_ids.values()) - others) - len(self.removed_here)


def plan_addition(
    graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None = None
) -> ImportPlan:
    """Plan to add what is not there yet; see `merge_into`.

    Args:
        graph: stays as it is.
        imported: the source.
        name: of the file or folder.
        base: its version imported last; classes that only this one has stay in what is remembered.

    Raises:
        CycleError: together with the edges of the graph the new ones would close a cycle.
    """
    after = graph.copy()
    with after.record() as edits:
        class_ids = merge_into(after, imported).class_ids
    new = {edit.class_id: None for edit in edits if isinstance(edit, ClassAdded)}
    linked = dict.fromkeys(edit.child_id for edit in edits if isinstance(edit, EdgeAdded) and edit.child_id not in new)
    completed, noted = described_by(edits)
    return ImportPlan(
        class_ids=class_ids,
        edits=tuple(edits),
        version=version_of(name, imported, class_ids).beside(base),
        new=tuple(new),
        moved=tuple(linked),
        completed=completed,
        noted=noted,
    )


def described_by(edits: Iterable[GraphEdit]) -> tuple[tuple[ClassId, ...], tuple[ClassId, ...]]:
    """Old classes that edits complete, and classes that get a note or a colour."""
    completed: dict[ClassId, None] = {}
    noted: dict[ClassId, None] = {}
    for edit in edits:
        if isinstance(edit, AttributesChanged):
            completed |= {edit.class_id: None} if edit.values.keys() - NOTED else {}
            noted |= {edit.class_id: None} if edit.values.keys() & NOTED else {}
        elif isinstance(edit, ClassAdded) and (edit.attributes.note or edit.attributes.colour):
            noted[edit.class_id] = None
    return tuple(completed), tuple(noted)


@dataclass(frozen=True)
class MergeResult:
    """What a merge did."""

    classes_added: int  # number of new classes
    edges_added: int  # number of new edges
    aliases_added: int = 0  # number of classes from before that got further attributes
    class_ids: Mapping[str, ClassId] = field(default_factory=dict)
    """For each imported key its class in the graph, new or not."""


def merge_into(graph: CategoryGraph, imported: ImportedGraph) -> MergeResult:
    """Add the classes and edges that are not there yet; all of them, or none if it fails.

    An imported class is the class of that name under one of its parents. Where several parents have different classes
    of that name, the first parent's is taken and the others are left as they are.

    Args:
        graph: is changed.
        imported: stays as it is.

    Returns:
        What was added.

    Raises:
        CycleError: together with the edges of the graph the new ones would close a cycle.
    """
    ordered = parents_first(imported)
    if len(ordered) < len(imported.classes):
        names = {each.key: each.name for each in imported.classes}
        raise CycleError(tuple(names[key] for key in find_cycle(imported.edges)))
    classes_before, edges_before = len(graph), graph.edge_count
    classes = {each.key: each for each in imported.classes}
    parent_keys = imported.parent_keys()
    ids: dict[str, ClassId] = {}
    with graph.record() as edits:
        for key in ordered:
            parents = tuple(dict.fromkeys(ids[parent] for parent in parent_keys[key]))
            ids[key] = _merge_class(graph, classes[key], parents)
        filled_in = {edit.class_id for edit in edits if isinstance(edit, AttributesChanged)}
    return MergeResult(len(graph) - classes_before, graph.edge_count - edges_before, len(filled_in), ids)


def _merge_class(graph: CategoryGraph, imported: ImportedClass, parents: Sequence[ClassId]) -> ClassId:
    known = [graph.child_named(parent, imported.name) for parent in parents or (None,)]
    class_id = next((each for each in known if each is not None), None)
    if class_id is None:
        return graph.add_class(imported.name, parents, attributes=imported.attributes)
    if imported.attributes:
        graph.set_attributes(class_id, graph.attributes(class_id).filled_in(imported.attributes))
    for parent, child in zip(parents, known, strict=False):
        if child is None:
            graph.link(parent, class_id)
    return class_id
