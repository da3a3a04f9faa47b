"""Plan of importing a source into a graph: previewed first, then applied exactly."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from typing import Any, Literal, get_args

from engine.errors import CycleError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import AttributesChanged, ClassAdded, EdgeAdded, GraphEdit
from engine.graph.identities import NO_IDENTITY
from engine.graph.names import join_path
from engine.interchange.imported import (
    NAMED,
    ImportedClass,
    ImportedGraph,
    LeftOutGroup,
    left_out_groups,
    left_out_plain,
    levels_of,
)
from engine.interchange.versions.source_version import SourceVersion, version_of

NOTED = frozenset({"note", "colour"})  # personal attributes that a source may suggest


class Clash(Enum):
    """Why a change of the source is not taken over."""

    NAME = "renamed here, and otherwise in the source"
    PLACE = "moved here, and elsewhere in the source"
    NAME_TAKEN = "another class has the name there"
    CYCLE = "it would lie below itself"


@dataclass(frozen=True, slots=True)
class RetainedChange:
    """A change of a user that wins over a conflicting change of the source."""

    class_id: ClassId
    clash: Clash
    theirs: str  # its name or paths in the source


@dataclass(frozen=True)
class ImportPlan:
    """Edits of a graph, and their consequences for its classes."""

    class_ids: Mapping[str, ClassId]  # by key of the source, new classes included
    edits: tuple[GraphEdit, ...]  # of the graph, in order
    version: SourceVersion  # the base of the next update
    is_update: bool = False  # whether renames and moves are taken over, too
    new: tuple[ClassId, ...] = ()
    renamed: tuple[ClassId, ...] = ()  # old classes that get another name
    moved: tuple[ClassId, ...] = ()  # old classes that get other parents
    completed: tuple[ClassId, ...] = ()  # old classes that get a source id, synonyms or other facts
    noted: tuple[ClassId, ...] = ()  # new and old classes that get a note or a colour
    merged: tuple[tuple[ClassId, ClassId], ...] = ()  # old classes with the class they go into
    split: tuple[tuple[ClassId, tuple[ClassId, ...]], ...] = ()
    """Old classes with their successors in the source; they stay, with their labels."""
    gone: tuple[ClassId, ...] = ()  # old classes that the source has lost; they stay
    removed_here: tuple[str, ...] = ()  # classes of the source that a user removed; not restored
    kept: tuple[RetainedChange, ...] = ()

    @property
    def changes_graph(self) -> bool:
        """Whether the graph changes; else only the version is stored."""
        return bool(self.edits or self.merged)

    @property
    def same_count(self) -> int:
        """Number of classes of the source that the graph has unchanged."""
        others = {
            *self.new,
            *self.renamed,
            *self.moved,
            *self.completed,
            *(each.class_id for each in self.kept),
        }
        return len(set(self.class_ids.values()) - others) - len(self.removed_here)


def plan_addition(
    graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None = None
) -> ImportPlan:
    """Plan to add missing classes and edges; see `merge_into`.

    Args:
        graph: is not changed.
        imported: the source.
        name: of the file or folder.
        base: the version imported last; classes that only it has stay in the stored version.

    Raises:
        CycleError: together with the edges of the graph the new ones would close a cycle.
    """
    after = graph.copy()
    with after.record() as edits:
        class_ids = merge_into(after, imported)
    new = {edit.class_id: None for edit in edits if isinstance(edit, ClassAdded)}
    linked = dict.fromkeys(
        edit.child_id for edit in edits if isinstance(edit, EdgeAdded) and edit.child_id not in new
    )
    completed, noted = described_by(edits)
    return ImportPlan(
        class_ids=class_ids,
        edits=tuple(edits),
        version=version_of(name, imported, class_ids).completed_by(base),
        new=tuple(new),
        moved=tuple(linked),
        completed=completed,
        noted=noted,
    )


def described_by(edits: Iterable[GraphEdit]) -> tuple[tuple[ClassId, ...], tuple[ClassId, ...]]:
    """Old classes with new attributes, and classes with a new note or colour."""
    completed: dict[ClassId, None] = {}
    noted: dict[ClassId, None] = {}
    for edit in edits:
        if isinstance(edit, AttributesChanged):
            completed |= {edit.class_id: None} if edit.values.keys() - NOTED else {}
            noted |= {edit.class_id: None} if edit.values.keys() & NOTED else {}
        elif isinstance(edit, ClassAdded) and (edit.attributes.note or edit.attributes.colour):
            noted[edit.class_id] = None
    return tuple(completed), tuple(noted)


def merge_into(graph: CategoryGraph, imported: ImportedGraph) -> dict[str, ClassId]:
    """Add the missing classes and edges; all of them, or none if it fails.

    An imported class is the class of that name under one of its parents. Where several parents
    have different classes of that name, the first parent's is taken.

    Args:
        graph: is changed.
        imported: is not changed.

    Returns:
        The class of each imported key, new or not.

    Raises:
        CycleError: together with the edges of the graph the new ones would close a cycle.
    """
    classes = {each.key: each for each in imported.classes}
    if cycle := imported.cycle():
        raise CycleError(tuple(classes[key].name for key in cycle))
    parent_keys = imported.parent_keys
    ids: dict[str, ClassId] = {}
    here = graph.by_identity()
    with graph.record():
        for key in imported.parents_first:
            parents = tuple(dict.fromkeys(ids[parent] for parent in parent_keys[key]))
            identity = imported.identities.get(key, NO_IDENTITY)
            ids[key] = _merge_class(
                graph, classes[key], parents, NO_IDENTITY if identity in here else identity
            )
    return ids


def _merge_class(
    graph: CategoryGraph, imported: ImportedClass, parents: Sequence[ClassId], identity: str
) -> ClassId:
    known = [graph.child_named(parent, imported.name) for parent in parents or (None,)]
    class_id = next((each for each in known if each is not None), None)
    if class_id is None:
        return graph.add_class(
            imported.name, parents, attributes=imported.attributes, identity=identity
        )
    if imported.attributes:
        graph.set_attributes(class_id, graph.attributes(class_id).filled_in(imported.attributes))
    for parent, child in zip(parents, known, strict=False):
        if child is None:
            graph.link(parent, class_id)
    return class_id


ReportKind = Literal["new", "renamed", "moved", "merged", "split", "gone", "removed_here", "kept"]

REPORT_KINDS: tuple[ReportKind, ...] = get_args(ReportKind)  # in the order shown
MOST_PARTS = 5  # paths or successors in one line


@dataclass(frozen=True, slots=True)
class ReportLine:
    """What happens to one class."""

    path: str  # current path of the class; future path of a new one
    becomes: str = ""  # its new name, its new paths, its successors, or `KeptChange.theirs`
    why: str = ""  # of a kept change, the `Clash`
    labels: int = 0  # images that a user labelled with it


@dataclass(frozen=True)
class ImportReport:
    """Preview of an import."""

    source: str  # name of the file or folder
    classes: int  # of the source
    edges: int
    levels: tuple[int, ...]  # classes of the source on each level, the top level first
    is_update: bool  # whether renames and moves are taken over, too
    same: int  # unchanged classes
    completed: int  # classes that get a source id or synonyms
    counts: Mapping[ReportKind, int] = field(default_factory=dict)  # whole lengths of `lists`
    lists: Mapping[ReportKind, tuple[ReportLine, ...]] = field(default_factory=dict)  # truncated
    synonyms: int = 0  # of the source's classes, vernacular names included
    first_classes: tuple[str, ...] = ()  # paths in the source, the deepest first
    first_synonyms: tuple[str, ...] = ()  # "class: synonym"
    left_out: tuple[LeftOutGroup, ...] = ()  # skipped parts of the source

    def plain(self) -> dict[str, Any]:
        """The report as a JSON object."""
        lists: dict[str, Any] = {
            kind: [
                {
                    name: value
                    for name in ReportLine.__slots__
                    if (value := getattr(line, name)) or name == "path"
                }
                for line in lines
            ]
            for kind, lines in self.lists.items()
        }
        return {
            "source": self.source,
            "classes_in_source": self.classes,
            "edges_in_source": self.edges,
            "levels": list(self.levels),
            "update": self.is_update,
            "same": self.same,
            "completed": self.completed,
            "synonyms": self.synonyms,
            "first_classes": list(self.first_classes),
            "first_synonyms": list(self.first_synonyms),
            "left_out": left_out_plain(self.left_out),
            **lists,
        }


def import_report(
    graph: CategoryGraph,
    imported: ImportedGraph,
    plan: ImportPlan,
    labels: Mapping[ClassId, int],
    *,
    most: int | None = None,
) -> ImportReport:
    """Describe a plan.

    Args:
        graph: the graph before the import.
        imported: the source.
        plan: of the import.
        labels: number of images that a user labelled with exactly each class.
        most: maximum lines of each list; all by default.
    """
    after = graph.copy()
    after.apply(plan.edits)
    level_counts = Counter(levels_of(imported).values())
    makers: Mapping[ReportKind, tuple[Sequence[Any], Callable[[Any], ReportLine]]] = {
        "new": (plan.new, lambda each: ReportLine(after.path_text(each))),
        "renamed": (plan.renamed, lambda each: ReportLine(graph.path_text(each), after.name(each))),
        "moved": (plan.moved, lambda each: ReportLine(graph.path_text(each), _places(after, each))),
        "merged": (
            plan.merged,
            lambda pair: ReportLine(graph.path_text(pair[0]), after.path_text(pair[1])),
        ),
        "split": (
            plan.split,
            lambda pair: ReportLine(graph.path_text(pair[0]), _several(map(after.name, pair[1]))),
        ),
        "gone": (plan.gone, lambda each: ReportLine(graph.path_text(each))),
        "removed_here": (plan.removed_here, ReportLine),
        "kept": (
            plan.kept,
            lambda kept: ReportLine(_path_in(graph, kept.class_id), kept.theirs, kept.clash.value),
        ),
    }
    lists = {
        kind: tuple(
            replace(make(each), labels=labels.get(_class_of(each), 0))
            for each in (items if most is None else items[:most])
        )
        for kind, (items, make) in makers.items()
    }
    return ImportReport(
        source=plan.version.name,
        classes=len(imported.classes),
        edges=len(imported.edges),
        levels=tuple(level_counts[level] for level in range(len(level_counts))),
        is_update=plan.is_update,
        same=plan.same_count,
        completed=len(plan.completed),
        counts={kind: len(items) for kind, (items, _make) in makers.items()},
        lists=lists,
        synonyms=sum(len(each.attributes.synonyms) for each in imported.classes),
        first_classes=tuple(islice(_deepest_paths(imported), NAMED)),
        first_synonyms=tuple(
            islice(
                (
                    f"{each.name}: {text}"
                    for each in imported.classes
                    for text in each.attributes.synonyms
                ),
                NAMED,
            )
        ),
        left_out=tuple(left_out_groups(imported.left_out)),
    )


def _deepest_paths(imported: ImportedGraph) -> Iterator[str]:
    names, levels = {each.key: each.name for each in imported.classes}, levels_of(imported)
    for key in sorted(levels, key=levels.__getitem__, reverse=True):
        path = [key]
        while parents := imported.parent_keys[path[-1]]:
            path.append(parents[0])
        yield join_path(names[each] for each in reversed(path))


def _class_of(item: Any) -> ClassId:
    """The class of an item of the plan; 0 for the name of a removed one."""
    if isinstance(item, tuple):
        return int(item[0])
    return item if isinstance(item, int) else int(getattr(item, "class_id", 0))


def _places(graph: CategoryGraph, class_id: ClassId) -> str:
    return _several(join_path(map(graph.name, path)) for path in graph.paths(class_id))


def _several(texts: Iterable[str]) -> str:
    found = list(islice(texts, MOST_PARTS + 1))
    return ", ".join([*found[:MOST_PARTS], "…"] if len(found) > MOST_PARTS else found)


def _path_in(graph: CategoryGraph, class_id: ClassId) -> str:
    return graph.path_text(class_id) if class_id in graph else ""
