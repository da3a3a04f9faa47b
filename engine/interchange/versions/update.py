"""Three-way merge of a source's old version, its new version and the project.

Changes of the source are taken over unless a user made a conflicting change, which wins. Classes
that the source never contained are not touched, and no class is removed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import final

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.graph.identities import new_identity
from engine.graph.limits import LONGEST_NAME
from engine.graph.names import join_path
from engine.interchange.imported import ImportedGraph, find_cycle
from engine.interchange.versions.match import Matching
from engine.interchange.versions.plan import Clash, ImportPlan, RetainedChange, described_by
from engine.interchange.versions.source_version import (
    SourceClass,
    SourceVersion,
    compared,
    version_of,
)


def plan_update(
    graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None
) -> ImportPlan:
    """Plan to take over the changes of a source's new version.

    Args:
        graph: is not changed.
        imported: the new version.
        name: of the file or folder.
        base: the version imported last; without it, classes are matched by ids and paths only,
            and the source wins.
    """
    return _Update(graph, imported, name, base).plan()


@final
class _Update:
    def __init__(
        self, graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None
    ) -> None:
        self._graph = graph
        self._imported = imported
        self._base: Mapping[ClassId, SourceClass] = base.classes if base else {}
        self._matching = Matching(graph, imported, base)
        self._ids = self._with_new_ids()
        self._new = {
            class_id for key, class_id in self._ids.items() if key not in self._matching.class_ids
        }
        self._version = version_of(name, imported, self._ids)
        self._attributes: dict[ClassId, ClassAttributes] = {}
        for each in imported.classes:  # several keys may be one class
            class_id = self._ids[each.key]
            self._attributes[class_id] = self._attributes.get(class_id, NO_ATTRIBUTES).filled_in(
                each.attributes
            )
        self._removed_here: list[str] = []
        self._targets = self._resolve_all()
        self._target = _Target(graph)

    def plan(self) -> ImportPlan:
        """Plan the update."""
        for now in self._version.classes.values():
            if now.class_id in self._new:
                self._target.names[now.class_id] = now.name
                self._target.parents[now.class_id] = self._resolved(now.parents)
            elif now.class_id in self._graph:
                self._compare(now)
        self._target.make_possible()
        names, parents, matching = self._target.names, self._target.parents, self._matching
        here = self._graph.classes()
        split = {
            each: tuple(self._ids[key] for key in keys) for each, keys in matching.split.items()
        }
        targets = {
            each: self._targets[self._ids[key]]
            for each, key in matching.merged.items()
            if each in self._graph
        }
        merged = {each: min(found) for each, found in targets.items() if len(found) == 1}
        left = {*matching.gone, *matching.merged.keys() - merged.keys()}
        edits = (*self._graph_edits(), *self._described())
        completed, noted = described_by(edits)
        return ImportPlan(
            class_ids=self._ids,
            edits=edits,
            version=self._version,
            is_update=True,
            new=tuple(sorted(self._new)),
            renamed=tuple(each for each in here if each in names),
            moved=tuple(each for each in here if each in parents),
            completed=completed,
            noted=noted,
            merged=tuple(merged.items()),
            split=tuple((each, parts) for each, parts in split.items() if each in self._graph),
            gone=tuple(each for each in here if each in left),
            removed_here=tuple(self._removed_here),
            kept=tuple(
                replace(each, theirs=each.theirs or self._place_text(each.class_id))
                for each in self._target.kept
            ),
        )

    # -- classes by key

    def _with_new_ids(self) -> dict[str, ClassId]:
        ids, next_id = dict(self._matching.class_ids), self._graph.next_id
        for key in self._imported.parents_first:
            if key not in ids:
                ids[key] = next_id
                next_id += 1
        return ids

    def _resolve_all(self) -> dict[ClassId, frozenset[ClassId]]:
        """The classes that stand for each class of the source as a parent.

        Itself; if it was removed here, the class that a user merged it into, else its parents.
        """
        targets: dict[ClassId, frozenset[ClassId]] = {}
        parent_keys = self._imported.parent_keys
        for key in self._imported.parents_first:
            class_id = self._ids[key]
            if class_id in self._new or class_id in self._graph:
                targets[class_id] = frozenset({class_id})
            else:
                successor = self._merged_into(class_id)
                if successor is None:
                    self._removed_here.append(self._base[class_id].name)
                    above = (targets[self._ids[parent]] for parent in parent_keys[key])
                    targets[class_id] = frozenset().union(*above)
                else:
                    targets[class_id] = frozenset({successor})
        return targets

    def _merged_into(self, class_id: ClassId) -> ClassId | None:
        """The class that a user merged this one into: it has its id or its name."""
        was = self._base[class_id]
        known = self._graph.fitting(was.source_id) if was.source_id else []
        known = known or [
            each
            for each in self._graph.fitting(was.name)
            if was.name in self._graph.attributes(each).other_names
        ]
        return known[0] if len(known) == 1 else None

    def _resolved(self, parents: Iterable[ClassId]) -> frozenset[ClassId]:
        return frozenset().union(*(self._targets[parent] for parent in parents))

    # -- one class

    def _compare(self, now: SourceClass) -> None:
        was = self._base.get(now.class_id) or self._own(now.class_id)
        here = self._graph.name(now.class_id)
        is_own = now.class_id in self._matching.known  # an export of this very project
        if now.name not in {was.name, here}:
            if is_own or here == was.name:
                self._target.names[now.class_id] = now.name
            else:
                self._target.kept.append(RetainedChange(now.class_id, Clash.NAME, now.name))
        if now.parents != was.parents:
            self._move(self._own(now.class_id) if is_own else was, now)

    def _own(self, class_id: ClassId) -> SourceClass:
        """A class that the base lacks, with those of its parents that are in the source."""
        parents = frozenset(self._graph.parents(class_id)) & self._version.classes.keys()
        return SourceClass(
            class_id,
            self._graph.name(class_id),
            compared(self._graph.attributes(class_id)),
            parents,
        )

    def _move(self, was: SourceClass, now: SourceClass) -> None:
        here = frozenset(self._graph.parents(now.class_id))
        added, cut = self._resolved(now.parents - was.parents), was.parents - now.parents
        after = (here - cut) | (added - {now.class_id})
        lost = {each for each in was.parents if each in self._graph} - here
        moved_here = bool(lost) and bool(here - was.parents)
        if moved_here and added and cut and not added <= here:
            self._target.kept.append(
                RetainedChange(now.class_id, Clash.PLACE, self._place_text(now.class_id))
            )
        elif after != here and (after or not now.parents):
            self._target.parents[now.class_id] = after

    def _place_text(self, class_id: ClassId) -> str:
        now = self._version.classes[class_id]
        return ", ".join(
            sorted(
                join_path([self._version.classes[parent].name, now.name]) for parent in now.parents
            )
        )

    # -- edits

    def _described(self) -> Iterator[AttributesChanged]:
        """Attributes that the project lacks, and those that only the source changed."""
        for class_id in self._version.classes:
            if class_id in self._graph:
                here, now = self._graph.attributes(class_id), self._attributes[class_id]
                after = self._possible(class_id, here, now)
                if news := here.differences(after):
                    yield AttributesChanged(class_id, news, after.differences(here))

    def _possible(
        self, class_id: ClassId, here: ClassAttributes, now: ClassAttributes
    ) -> ClassAttributes:
        was = self._base.get(class_id)
        after = here.filled_in(now) if was is None else here.updated(was.attributes, now)
        try:
            return after.cleaned(self._target.name_of(class_id))
        except GraphError:  # too many synonyms: no new ones
            return replace(after, synonyms=here.synonyms)

    def _graph_edits(self) -> list[GraphEdit]:
        cut: list[GraphEdit] = []
        linked: list[GraphEdit] = []
        for class_id, after in self._target.parents.items():
            here = (
                frozenset() if class_id in self._new else frozenset(self._graph.parents(class_id))
            )
            cut += [EdgeRemoved(parent, class_id) for parent in sorted(here - after)]
            linked += [EdgeAdded(parent, class_id) for parent in sorted(after - here)]
        names = self._target.names
        renamed = [
            ClassRenamed(each, name, self._graph.name(each))
            for each, name in names.items()
            if each not in self._new
        ]
        known, given = self._graph.by_identity(), self._imported.identities
        identities = {
            self._ids[key]: identity for key, identity in given.items() if identity not in known
        }
        added = [
            ClassAdded(
                each,
                names[each],
                self._attributes[each].cleaned(names[each]),
                identities.get(each) or new_identity(),
            )
            for each in sorted(self._new)
        ]
        return [*cut, *renamed, *added, *linked]


@final
class _Target:
    """New names and parents, decided together: names may be swapped and edges reversed."""

    def __init__(self, graph: CategoryGraph) -> None:
        self.names: dict[ClassId, str] = {}  # of new and renamed classes
        self.parents: dict[ClassId, frozenset[ClassId]] = {}  # of new and moved classes
        self.kept: list[RetainedChange] = []  # dropped changes, without the text of places
        self._graph = graph

    def name_of(self, class_id: ClassId) -> str:
        return self.names[class_id] if class_id in self.names else self._graph.name(class_id)

    def parents_of(self, class_id: ClassId) -> frozenset[ClassId]:
        known = self.parents.get(class_id)
        return frozenset(self._graph.parents(class_id)) if known is None else known

    def make_possible(self) -> None:
        """Drop changes that would close a cycle or give two siblings one name."""
        while self._break_cycle() or self._separate_namesakes():
            pass

    def _break_cycle(self) -> bool:
        if all(class_id not in self._graph for class_id in self.parents):
            return False  # only an old class with a new parent can close one
        classes = {*self._graph.classes(), *self.parents}
        cycle = find_cycle((parent, each) for each in classes for parent in self.parents_of(each))
        moved = next((each for each in cycle if each in self.parents and each in self._graph), None)
        if moved is not None:
            self._drop_move(moved, Clash.CYCLE)
        return moved is not None

    def _separate_namesakes(self) -> bool:
        clashes = list(self._namesakes())
        for first, second in clashes:
            if self._are_namesakes(first, second):  # dropped changes may have separated them
                self._separate((first, second))
        return bool(clashes)

    def _separate(self, pair: tuple[ClassId, ClassId]) -> None:
        """Drop a new name of one of two siblings of the same name, else a move."""
        for class_id in pair:
            if class_id in self.names and class_id in self._graph:
                self.kept.append(
                    RetainedChange(class_id, Clash.NAME_TAKEN, self.names.pop(class_id))
                )
                return
        for class_id in pair:
            if class_id in self.parents and class_id in self._graph:
                self._drop_move(class_id, Clash.NAME_TAKEN)
                return
        new = next((each for each in pair if each not in self._graph), None)
        if new is not None:
            self.names[new] = self._numbered(new)

    def _are_namesakes(self, first: ClassId, second: ClassId) -> bool:
        above, other = self.parents_of(first), self.parents_of(second)
        return self.name_of(first) == self.name_of(second) and (
            bool(above & other) or not above | other
        )

    def _drop_move(self, class_id: ClassId, clash: Clash) -> None:
        del self.parents[class_id]
        self.kept.append(RetainedChange(class_id, clash, ""))

    def _namesakes(self) -> Iterator[tuple[ClassId, ClassId]]:
        """Pairs of siblings of the same name, of which one at least is new or changed."""
        changed = {*self.names, *self.parents}
        places: dict[ClassId | None, list[ClassId]] = {}
        for class_id in sorted(changed):
            for parent in self.parents_of(class_id) or (None,):
                places.setdefault(parent, []).append(class_id)
        for parent, arrived in places.items():
            is_old = parent is None or parent in self._graph
            here = (
                (self._graph.roots() if parent is None else self._graph.children(parent))
                if is_old
                else ()
            )
            named: dict[str, ClassId] = {}
            for class_id in [*(each for each in here if each not in changed), *arrived]:
                other = named.setdefault(self.name_of(class_id), class_id)
                if other != class_id:
                    yield other, class_id

    def _numbered(self, class_id: ClassId) -> str:
        name, number = self.names[class_id], 2
        taken = {
            self.name_of(child)
            for parent in self.parents[class_id]
            for child in (self._graph.children(parent) if parent in self._graph else ())
        }
        taken |= {self.names[each] for each in self.names if each not in self._graph}
        if not self.parents[class_id]:
            taken |= {self.name_of(each) for each in self._graph.roots()}
        while (numbered := f"{name[: LONGEST_NAME - 8]} ({number})") in taken:
            number += 1
        return numbered
