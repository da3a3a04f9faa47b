"""The three-way comparison: what the source said, what it says now, and what the person did between.

What the source changed is done here, unless the person changed the same thing otherwise: then the person's stays. What
the person did and the source never spoke of is not touched. No class is removed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import final

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import AttributesChanged, ClassAdded, ClassRenamed, EdgeAdded, EdgeRemoved, GraphEdit
from engine.graph.names import join_path
from engine.interchange.imported import ImportedGraph, parents_first
from engine.interchange.versions.match import Matching, match
from engine.interchange.versions.plan import Clash, ImportPlan, Kept, described_by
from engine.interchange.versions.source_version import SourceClass, SourceVersion, compared, version_of
from engine.interchange.versions.target import Target


def plan_update(graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None) -> ImportPlan:
    """Plan to take over what a source's new version changed.

    Args:
        graph: stays as it is.
        imported: the new version.
        name: of the file or folder.
        base: what the source said last time; None where that is not known: then classes are known by their ids and
            paths alone, and what the source says of them counts.
    """
    return _Update(graph, imported, name, base).plan()


@final
class _Update:
    def __init__(self, graph: CategoryGraph, imported: ImportedGraph, name: str, base: SourceVersion | None) -> None:
        self._graph = graph
        self._imported = imported
        self._base: Mapping[ClassId, SourceClass] = base.classes if base else {}
        self._matching: Matching = match(graph, imported, base)
        self._ids = self._with_new_ids()
        self._new = {class_id for key, class_id in self._ids.items() if key not in self._matching.class_ids}
        self._version = version_of(name, imported, self._ids)
        self._attributes: dict[ClassId, ClassAttributes] = {}
        for each in imported.classes:  # several keys may have become one class
            class_id = self._ids[each.key]
            self._attributes[class_id] = self._attributes.get(class_id, NO_ATTRIBUTES).filled_in(each.attributes)
        self._removed_here: list[str] = []
        self._homes = self._places()
        self._target = Target(graph)

    def plan(self) -> ImportPlan:
        """All of it."""
        for now in self._version.classes.values():
            if now.class_id in self._new:
                self._target.add(now.class_id, now.name, self._resolved(now.parents))
            elif now.class_id in self._graph:
                self._compare(now)
        self._target.make_possible()
        names, parents, matching = self._target.names, self._target.parents, self._matching
        here = self._graph.classes()
        split = {each: tuple(self._ids[key] for key in keys) for each, keys in matching.split.items()}
        merged = dict(self._merged())
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
            kept=tuple(self._kept()),
        )

    # -- who is where

    def _with_new_ids(self) -> dict[str, ClassId]:
        ids, next_id = dict(self._matching.class_ids), self._graph.next_id
        for key in parents_first(self._imported):
            if key not in ids:
                ids[key] = next_id
                next_id += 1
        return ids

    def _places(self) -> dict[ClassId, frozenset[ClassId]]:
        """For each class of the source where its children can go: itself, or what is left of it or above it."""
        homes: dict[ClassId, frozenset[ClassId]] = {}
        parent_keys = self._imported.parent_keys()
        for key in parents_first(self._imported):
            class_id = self._ids[key]
            if class_id in self._new or class_id in self._graph:
                homes[class_id] = frozenset({class_id})
            else:
                heir = self._heir_of(class_id)
                if heir is None:
                    self._removed_here.append(self._base[class_id].name)
                above = (homes[self._ids[parent]] for parent in parent_keys[key])
                homes[class_id] = frozenset({heir}) if heir is not None else frozenset().union(*above)
        return homes

    def _heir_of(self, class_id: ClassId) -> ClassId | None:
        """The class that a person merged this one into: it got its id or its name."""
        was = self._base[class_id]
        known = self._graph.fitting(was.source_id) if was.source_id else []
        known = known or [
            each for each in self._graph.fitting(was.name) if was.name in self._graph.attributes(each).synonyms
        ]
        return known[0] if len(known) == 1 else None

    def _resolved(self, parents: Iterable[ClassId]) -> frozenset[ClassId]:
        return frozenset().union(*(self._homes[parent] for parent in parents))

    # -- one class

    def _compare(self, now: SourceClass) -> None:
        was = self._base.get(now.class_id) or self._own(now.class_id)
        if now.name != was.name:
            self._rename(was, now)
        if now.parents != was.parents:
            self._move(was, now)

    def _own(self, class_id: ClassId) -> SourceClass:
        """A class that the source never spoke of: only its places under the source's classes are the source's."""
        parents = frozenset(self._graph.parents(class_id)) & self._version.classes.keys()
        return SourceClass(class_id, self._graph.name(class_id), compared(self._graph.attributes(class_id)), parents)

    def _rename(self, was: SourceClass, now: SourceClass) -> None:
        here = self._graph.name(now.class_id)
        if here == was.name:
            self._target.rename(now.class_id, now.name)
        elif here != now.name:
            self._target.keep(Kept(now.class_id, Clash.NAME, now.name))

    def _move(self, was: SourceClass, now: SourceClass) -> None:
        here = frozenset(self._graph.parents(now.class_id))
        added, cut = self._resolved(now.parents - was.parents), was.parents - now.parents
        after = (here - cut) | (added - {now.class_id})
        lost = {each for each in was.parents if each in self._graph} - here
        moved_here = bool(lost) and bool(here - was.parents)
        if moved_here and added and cut and not added <= here:
            self._target.keep(Kept(now.class_id, Clash.PLACE, self._place_text(now)))
        elif after != here and (after or not now.parents):
            self._target.move(now.class_id, after)

    def _place_text(self, now: SourceClass) -> str:
        return ", ".join(sorted(join_path([self._version.classes[parent].name, now.name]) for parent in now.parents))

    # -- the whole

    def _merged(self) -> Iterable[tuple[ClassId, ClassId]]:
        for class_id, key in self._matching.merged.items():
            homes = self._homes[self._ids[key]]
            if class_id in self._graph and len(homes) == 1:
                yield class_id, next(iter(homes))

    def _kept(self) -> Iterable[Kept]:
        for each in self._target.kept:
            now = self._version.classes[each.class_id]
            yield Kept(each.class_id, each.clash, each.theirs or self._place_text(now))

    def _described(self) -> Iterator[AttributesChanged]:
        """With what the source says beyond what is here, and what it changed unless a person did."""
        for class_id in self._version.classes:
            if class_id in self._graph:
                here, now = self._graph.attributes(class_id), self._attributes[class_id]
                after = self._possible(class_id, here, now)
                if news := here.differences(after):
                    yield AttributesChanged(class_id, news, after.differences(here))

    def _possible(self, class_id: ClassId, here: ClassAttributes, now: ClassAttributes) -> ClassAttributes:
        was = self._base.get(class_id)
        after = here.filled_in(now) if was is None else here.updated(was.attributes, now)
        try:
            return after.cleaned(self._target.name_of(class_id))
        except GraphError:  # too many synonyms: those that are there stay
            return replace(after, synonyms=here.synonyms)

    def _graph_edits(self) -> list[GraphEdit]:
        cut: list[GraphEdit] = []
        linked: list[GraphEdit] = []
        for class_id, after in self._target.parents.items():
            here = frozenset() if class_id in self._new else frozenset(self._graph.parents(class_id))
            cut += [EdgeRemoved(parent, class_id) for parent in sorted(here - after)]
            linked += [EdgeAdded(parent, class_id) for parent in sorted(after - here)]
        names = self._target.names
        renamed = [
            ClassRenamed(each, name, self._graph.name(each)) for each, name in names.items() if each not in self._new
        ]
        added = [
            ClassAdded(each, names[each], self._attributes[each].cleaned(names[each])) for each in sorted(self._new)
        ]
        return [*cut, *renamed, *added, *linked]
