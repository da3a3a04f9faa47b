"""What importing a source would do to a graph, as plain data: shown first, then done exactly so."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import AttributesChanged, ClassAdded, EdgeAdded, GraphEdit
from engine.interchange.imported import ImportedGraph
from engine.interchange.merge import merge_into
from engine.interchange.versions.source_version import SourceVersion, version_of

NOTED: Final = frozenset({"note", "colour"})
"""What people note for themselves, and a source may suggest."""


class Clash(Enum):
    """Why something that the source says stays as it is here."""

    NAME = "renamed here, and otherwise in the source"
    PLACE = "moved here, and elsewhere in the source"
    NAME_TAKEN = "another class has the name there"
    CYCLE = "it would lie below itself"


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that a person did and the source says otherwise: the person's stays."""

    class_id: ClassId
    clash: Clash  # why
    theirs: str  # the source's name of it, or the paths of its places there


@dataclass(frozen=True)
class ImportPlan:
    """What would be done."""

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
        """Whether anything would be done but remembering what the source says."""
        return bool(self.edits or self.merged)

    @property
    def same_count(self) -> int:
        """Classes of the source that are there, as it says."""
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
        base: what it said last time; classes that it does not have any more stay in what is remembered.

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
    """Classes from before of which edits tell facts, and classes that they give a note or a colour."""
    completed: dict[ClassId, None] = {}
    noted: dict[ClassId, None] = {}
    for edit in edits:
        if isinstance(edit, AttributesChanged):
            completed |= {edit.class_id: None} if edit.values.keys() - NOTED else {}
            noted |= {edit.class_id: None} if edit.values.keys() & NOTED else {}
        elif isinstance(edit, ClassAdded) and (edit.attributes.note or edit.attributes.colour):
            noted[edit.class_id] = None
    return tuple(completed), tuple(noted)
