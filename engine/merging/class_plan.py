"""Plan for merging another category graph: new classes and edges, and missing attributes.

Our names, edges and attributes are not changed. What would close a cycle or give two siblings one
name is listed as a difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import final

from engine.errors import CycleError, GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.class_attributes import ATTRIBUTES, ClassAttributes
from engine.graph.edits import GraphEdit
from engine.graph.group_edits import check_growth
from engine.graph.identities import NO_IDENTITY
from engine.merging.class_match import ClassMatcher
from engine.project.fork import Fork

NOTHING_MERGED: Mapping[ClassId, ClassId] = {}


class Divergence(Enum):
    """Reason why a class is not merged as it is in the other project."""

    NAME_TAKEN = "another class has the name there"
    CYCLE = "it would lie below itself"
    REMOVED_HERE = "it was removed here"
    PARENT_MISSING = "the class above it is missing"
    RENAMED = "it has another name here"
    PLACED_OTHERWISE = "it lies elsewhere here"
    BY_NAME_ALONE = "only its name says that it is the same"
    AMBIGUOUS = "its path and its source id are those of two classes here"
    SOURCE_ID_TAKEN = "another class has its source id here"


@dataclass(frozen=True, slots=True)
class ClassDifference:
    """A class that differs between the projects."""

    kind: Divergence
    theirs: str  # its path there
    ours: str = ""  # its path here; "" if it is missing


@dataclass(frozen=True)
class ClassPlan:
    """Edits of our graph, and our class by theirs afterwards."""

    edits: tuple[GraphEdit, ...]
    pairs: Mapping[ClassId, ClassId]  # our class by theirs, new ones included
    new: Mapping[ClassId, ClassId]  # our ids of new classes by theirs
    to_remember: Mapping[ClassId, ClassId]  # pairs with different identities, and new ones
    completed: tuple[ClassId, ...]  # ours that get missing attributes: a note, a colour ...
    matched: int  # classes that both have
    differences: tuple[ClassDifference, ...]
    after: CategoryGraph  # our graph with these edits


def plan_classes(
    ours: CategoryGraph,
    theirs: CategoryGraph,
    fork: Fork | None,
    merged: Mapping[ClassId, ClassId] = NOTHING_MERGED,
) -> ClassPlan:
    """Plan to merge their graph; neither graph is changed.

    Args:
        merged: our class by theirs, of earlier merges.

    Raises:
        GraphError: together there would be too many classes, or levels.
    """
    matcher = ClassMatcher(ours, theirs, fork, merged)
    planner = _Planner(ours, theirs, matcher)
    with planner.after.record() as edits:
        planner.complete()
        planner.add()
        planner.link()
        check_growth(planner.after, edits)
    return ClassPlan(
        edits=tuple(edits),
        pairs=planner.pairs,
        new=planner.new,
        to_remember=planner.to_remember(),
        completed=tuple(planner.completed),
        matched=len(matcher.pairs),
        differences=tuple(planner.differences()),
        after=planner.after,
    )


@final
class _Planner:
    def __init__(self, ours: CategoryGraph, theirs: CategoryGraph, matcher: ClassMatcher) -> None:
        self._ours = ours
        self._theirs = theirs
        self._matcher = matcher
        self.after = ours.copy()
        self.pairs = dict(matcher.pairs)
        self.new: dict[ClassId, ClassId] = {}  # by their id
        self.completed: list[ClassId] = []
        self._identities = {ours.identity(each) for each in ours.classes()}
        self._source_ids = {each.source_id for _class_id, each in ours.all_attributes()} - {""}
        self._without_id: list[ClassId] = []  # theirs whose source id another class has
        self._left_out: dict[ClassId, Divergence] = {}
        self._unlinked: list[tuple[Divergence, ClassId]] = []

    def complete(self) -> None:
        """Fill in attributes that our classes lack."""
        for their_id, our_id in self._matcher.pairs.items():
            own, news = self._ours.attributes(our_id), self._theirs.attributes(their_id)
            if news.source_id != own.source_id and not own.source_id:
                news = self._with_free_id(their_id, news)
            news = self._with_free_key(news)
            if news and (whole := _completed(own, news)) != own and self._has_set(our_id, whole):
                self.completed.append(our_id)

    def _with_free_id(self, their_id: ClassId, news: ClassAttributes) -> ClassAttributes:
        """Their attributes, without a source id that another class has."""
        if news.source_id in self._source_ids:
            self._without_id.append(their_id)
            return replace(news, source_id="")
        self._source_ids |= {news.source_id} - {""}
        return news

    def _with_free_key(self, news: ClassAttributes) -> ClassAttributes:
        """Their attributes, without a key that another class has."""
        is_taken = news.label_key and self.after.class_of_key(news.label_key) is not None
        return replace(news, label_key=0) if is_taken else news

    def _has_set(self, our_id: ClassId, attributes: ClassAttributes) -> bool:
        try:
            self.after.set_attributes(our_id, attributes)
        except GraphError:
            return False
        return self.after.attributes(our_id) != self._ours.attributes(our_id)

    def add(self) -> None:
        """Add missing classes, parents first."""
        for their_id in self._matcher.ordered:
            if their_id in self.pairs:
                continue
            if their_id in self._matcher.removed_here:
                self._left_out[their_id] = Divergence.REMOVED_HERE
                continue
            if their_id in self._matcher.ambiguous:
                self._left_out[their_id] = Divergence.AMBIGUOUS
                continue
            above = list(dict.fromkeys(self._our_parents(self._theirs.parents(their_id))))
            is_top = not above and all(
                each in self._matcher.removed_here for each in self._theirs.parents(their_id)
            )
            self._add(their_id, above, is_top)

    def _add(self, their_id: ClassId, above: Sequence[ClassId], is_top: bool) -> None:
        name = self._theirs.name(their_id)
        free = [
            each
            for each in (above or ((None,) if is_top else ()))
            if self.after.child_named(each, name) is None
        ]
        if not free:
            self._left_out[their_id] = (
                Divergence.NAME_TAKEN if above or is_top else Divergence.PARENT_MISSING
            )
            return
        parents = [each for each in free if each is not None]
        attributes = self._with_free_key(
            self._with_free_id(their_id, self._theirs.attributes(their_id))
        )
        identity = self._theirs.identity(their_id)
        if identity in self._identities:  # a file that was edited by hand
            identity = NO_IDENTITY
        self._identities.add(identity)
        new_id = self.after.add_class(name, parents, attributes=attributes, identity=identity)
        self.pairs[their_id] = self.new[their_id] = new_id

    def _our_parents(self, parents: Sequence[ClassId]) -> Iterator[ClassId]:
        """Our classes of their parents; of one that we removed, of its parents."""
        waiting, seen = list(reversed(parents)), set(parents)
        while waiting:
            each = waiting.pop()
            if each in self.pairs:
                yield self.pairs[each]
            elif each in self._matcher.removed_here:
                above = [parent for parent in self._theirs.parents(each) if parent not in seen]
                seen.update(above)
                waiting += reversed(above)

    def link(self) -> None:
        """Link our classes below new ones, as they are there."""
        for their_parent, our_parent in self.new.items():
            for their_child in sorted(self._theirs.children(their_parent)):
                if their_child not in self.new and their_child in self.pairs:
                    self._link(our_parent, their_child)

    def _link(self, our_parent: ClassId, their_child: ClassId) -> None:
        our_child = self.pairs[their_child]
        if our_parent in self.after.parents(our_child):
            return
        try:
            self.after.link(our_parent, our_child)
        except CycleError:
            self._unlinked.append((Divergence.CYCLE, their_child))
        except GraphError:
            self._unlinked.append((Divergence.NAME_TAKEN, their_child))

    def to_remember(self) -> dict[ClassId, ClassId]:
        """Pairs that later merges cannot find by identity, and new classes.

        New ones may be removed here. Classes matched by name alone are not remembered.
        """
        guessed = set(self._matcher.by_name_alone)
        matched = (
            (each, our_id) for each, our_id in self._matcher.pairs.items() if each not in guessed
        )
        unlike = {
            each: our_id
            for each, our_id in matched
            if self._theirs.identity(each) != self._ours.identity(our_id)
        }
        return unlike | self.new

    def differences(self) -> Iterator[ClassDifference]:
        """All differences, missing classes first."""
        for their_id, kind in self._left_out.items():
            yield ClassDifference(kind, self._theirs.path_text(their_id))
        listed = {their_id for _kind, their_id in self._unlinked}
        for kind, their_id in self._unlinked:
            yield self._between(kind, their_id)
        for their_id in self._matcher.by_name_alone:
            yield self._between(Divergence.BY_NAME_ALONE, their_id)
        for their_id in self._without_id:
            yield self._between(Divergence.SOURCE_ID_TAKEN, their_id)
        for their_id, our_id in self._matcher.pairs.items():
            if self._theirs.name(their_id) != self._ours.name(our_id):
                yield self._between(Divergence.RENAMED, their_id)
            if (
                their_id not in listed
                and (place := self._other_place(their_id, our_id)) is not None
            ):
                yield self._between(place, their_id)

    def _other_place(self, their_id: ClassId, our_id: ClassId) -> Divergence | None:
        missing = [
            self.pairs[each]
            for each in self._theirs.parents(their_id)
            if each in self.pairs and self.pairs[each] not in self.after.parents(our_id)
        ]
        if not missing:
            return None
        below = self.after.descendants(our_id)
        return (
            Divergence.CYCLE
            if any(each in below for each in missing)
            else Divergence.PLACED_OTHERWISE
        )

    def _between(self, kind: Divergence, their_id: ClassId) -> ClassDifference:
        return ClassDifference(
            kind, self._theirs.path_text(their_id), self.after.path_text(self.pairs[their_id])
        )


SHARED = tuple(each for each in ATTRIBUTES if each.is_shared)


def _completed(own: ClassAttributes, news: ClassAttributes) -> ClassAttributes:
    """Our attributes, with theirs where ours have the default."""
    values = {each.name: each.of(news) for each in SHARED if each.of(own) == each.default}
    return ClassAttributes(**{each.name: each.of(own) for each in ATTRIBUTES} | values)
